"""A search whose answer nobody waits for any more ends."""

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from http.client import HTTPException
from pathlib import Path
from urllib.parse import quote

import pytest
from asgi import PORT, TOKEN, ask_vaults, request
from indexed_vault import indexed_vault, write_notes
from serve_api import Answer, Api, serve

from vault_indexer.serve.http.guard import GIVEN_UP, Guard, GuardRules, Message, Receive, Send
from vault_indexer.vaults import Vaults

LIMIT_S = 60
SEARCH = "/v1/search?q=bread"


def run_guard(timeout_s: float, leaves: Callable[[threading.Event], Awaitable[object]]) -> int:
    """The status of a request whose handler, in a thread, waits until it is given up."""
    working = threading.Event()

    def work() -> bool:
        given_up = GIVEN_UP.get()
        assert given_up is not None
        working.set()
        return given_up.wait(LIMIT_S)

    async def app(_scope: Message, _receive: Receive, send: Send) -> None:
        ended = await asyncio.to_thread(work)
        await send({"type": "http.response.start", "status": 503 if ended else 200, "headers": []})

    guarded = Guard(app, GuardRules(TOKEN, PORT, frozenset(), 4, timeout_s))
    return asyncio.run(request(guarded, "/", received=(), leaves=partial(leaves, working))).status


def test_the_work_ends_when_the_client_has_gone_or_its_time_is_over() -> None:
    async def leave(working: threading.Event) -> object:
        return await asyncio.to_thread(working.wait, LIMIT_S)

    async def stay(_working: threading.Event) -> object:
        return await asyncio.Event().wait()

    assert run_guard(10 * LIMIT_S, leave) == 503
    assert run_guard(0.01, stay) == 504


@pytest.fixture(scope="module")
def vaults(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vaults]:
    """One small vault, in this process."""
    root = tmp_path_factory.mktemp("cancelled")
    vault = write_notes(root / "vault", {"Bread.md": "# Bread\n\nFlour, water, salt and a ripe starter.\n"})
    with indexed_vault(vault, root / "index") as (service, _):
        yield Vaults.of(service)


def test_a_server_that_stops_gives_up_its_searches_and_those_of_its_tools(vaults: Vaults) -> None:
    assert ask_vaults(vaults, SEARCH, stopping=lambda: True).error[:2] == (503, "query_cancelled")
    call = {"name": "search", "arguments": {"q": "bread"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    for stops, said in ((False, "Bread.md"), (True, "the search was cancelled")):
        found = ask_vaults(vaults, "/mcp", "POST", message, stopping=partial(bool, stops))
        result = found.json["result"]
        assert (found.status, result.get("isError", False)) == (200, stops)
        assert said in str(result["content"])


def test_the_search_of_a_client_that_has_gone_is_given_up(vaults: Vaults) -> None:
    gone = threading.Event()

    def stopping() -> bool:
        """The search asks this as it works: the client leaves, and the search goes on once that is known."""
        given_up = GIVEN_UP.get()
        gone.set()
        assert given_up is not None
        assert given_up.wait(LIMIT_S)
        return False

    left = partial(asyncio.to_thread, gone.wait, LIMIT_S)
    answered = ask_vaults(vaults, SEARCH, stopping=stopping, leaves=left)
    assert answered.error[:2] == (503, "query_cancelled")


def ask_all(api: Api, count: int) -> tuple[list[threading.Thread], list[Answer]]:
    """Clients that ask at once; the answers come in while they do. One whose connection ends has none."""
    answers: list[Answer] = []
    query = quote("line:(the heap -zebra -leaves)")

    def ask() -> None:
        try:
            answers.append(api.ask(f"/v1/search?q={query}"))
        except (OSError, HTTPException):
            return

    clients = [threading.Thread(target=ask, daemon=True) for _ in range(count)]
    for client in clients:
        client.start()
    return clients, answers


@pytest.mark.long
def test_sigterm_ends_the_daemon_whatever_it_works_on(tmp_path: Path) -> None:
    # All lines hold the words of the query, so that it looks into each.
    text = "".join(f"The heap of line {number} is the one of the leaves.\n" for number in range(500))
    notes = {f"Note {number}.md": f"# Note {number}\n\n{text}" for number in range(20)}
    tuning = "[search]\ndeadline_s = 600\n[server]\ntimeout_s = 600\nmax_concurrent = 100\n"
    process, api = serve(tmp_path, tuning=tuning, notes=notes)
    try:
        clients, answers = ask_all(api, 100)
        assert api.ask("/v1/status").status == 200
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=LIMIT_S)
        for client in clients:
            client.join(LIMIT_S)
        assert (process.returncode, "Traceback" in said) == (0, False), said
        kinds = {answer.kind for answer in answers if answer.status == 503}
        assert "query_cancelled" in kinds
        assert kinds <= {"query_cancelled", "stopping"}, "what no thread had begun"
        assert len([answer for answer in answers if answer.status == 200]) < len(clients)
    finally:
        process.kill()
        process.communicate(timeout=LIMIT_S)
