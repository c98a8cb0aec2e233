"""The application of the HTTP API, asked in this process about vaults of a few lines."""

import asyncio
import hmac
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any, cast

import pytest
from asgi import INFO, PORT, TOKEN, Exchange, ask_vaults, request
from golden_cases import check_golden
from mcp_in_process import StrategyInMemory
from waiting import DEADLINE_S, wait_until

from vault_indexer import errors, model
from vault_indexer.config.settings import ServerSettings
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.serve.api.endpoints import ENDPOINTS, PROOF
from vault_indexer.serve.api.events import MAX_STREAMS
from vault_indexer.serve.api.respond import AgentActions
from vault_indexer.serve.app import Site, make_app
from vault_indexer.service import VaultService
from vault_indexer.vaults import ClosedVault, OpenVault, VaultRuntime, Vaults

ANSWERED = model.AskAnswer("why?", "quotes", "strong", (), (), (), (), "", 1.0, model.IndexState(1, 1, 0))
SENTENCE = model.AnswerSentence("Wégen.", (), "quoted")
REPORT = model.RebuildReport(2, 3, 4, (), 1.0)


@dataclass
class Service:
    """The part of a service that these requests ask."""

    vault: Path
    events: tuple[object, ...] = (ANSWERED, SENTENCE, replace(ANSWERED, model="m"))
    rebuilt: list[RebuildOptions] = field(default_factory=list)
    failure: Exception | None = None
    released: Event | None = None

    def status(self) -> model.StatusReport:
        return model.StatusReport(str(self.vault), "/i", "ready", 1, 1, 0, model.IndexCounts(3, 4, 0, 0))

    def path_of(self, note: str) -> str:
        return f"{note}.md"

    def asked_vaults(self, is_cancelled: Callable[[], bool]) -> object:
        assert callable(is_cancelled)
        return self

    def ask_events(self, _request: model.AskRequest) -> Iterator[object]:
        for one in self.events:
            if isinstance(one, errors.VaultIndexerError):
                raise one
            yield one

    def rebuild(self, _report: object, options: RebuildOptions) -> model.RebuildReport:
        self.rebuilt.append(options)
        if self.released is not None:
            self.released.wait(60)
        if self.failure:
            raise self.failure
        return REPORT


def holder(service: Service, name: str = "own") -> VaultRuntime:
    return OpenVault(name, service.vault, cast("VaultService", service))


GONE = ClosedVault("gone", Path("/gone"), errors.UnavailableError("the disk is gone"))


def several(*names: str) -> Vaults:
    return Vaults([*(holder(Service(Path(f"/{name}")), name) for name in names), GONE])


def ask(asked: Vaults | Service, *target: Any, **options: Any) -> Exchange:
    """The answer to one request about these vaults or the one of this service."""
    vaults = asked if isinstance(asked, Vaults) else Vaults([holder(asked)])
    return ask_vaults(vaults, *target, **options)


OWN = Service(Path("/own"))


def test_the_status_says_which_daemon_answers() -> None:
    found = ask(OWN, "/v1/status").json
    assert (found["vault"], found["notes"]) == (str(Path("/own")), 3)
    assert found["daemon"] == {"running": True, "pid": os.getpid(), "url": f"http://127.0.0.1:{PORT}"}


def test_the_files_of_the_page_and_the_proof_need_no_token() -> None:
    assert ask(OWN, "/", token="").status == 200
    proof = ask(OWN, f"/v1/proof?challenge={'c' * 32}", token="")
    digest = hmac.digest(TOKEN.encode(), f"{PORT}:{'c' * 32}".encode(), "sha256").hex()
    assert (proof.status, proof.json) == (200, {"proof": digest, "pid": os.getpid()})
    for path in ("/v1/status", "/v1/events", "/metrics", "/openapi.json", "/mcp"):
        assert ask(OWN, path, "POST" if path == "/mcp" else "GET", token="").status == 401


def test_a_path_takes_its_own_methods() -> None:
    def allowed(path: str) -> str:
        refused = ask(OWN, path, "DELETE")
        assert refused.status == 405
        return refused.headers["allow"]

    check_golden(Path(__file__).parent / "fixtures" / "methods.md", {"": allowed})


def test_what_no_route_answers_is_not_found_in_the_shape_of_an_error() -> None:
    assert ask(OWN, "/v1/nowhere").error == (404, "request", "Not Found")
    status, kind, said = ask(OWN, "/openapi.json?x=1").error
    assert (status, kind) == (422, "request") and "unknown parameter 'x'" in said


@pytest.mark.parametrize(
    ("vaults", "may_change", "names"),
    [(("a",), False, False), (("a",), True, True), (("a", "b"), False, True), ((), True, True)],
)
def test_requests_may_name_a_vault_where_there_are_or_can_be_several(
    vaults: tuple[str, ...], may_change: bool, names: bool
) -> None:
    held = [holder(Service(Path(f"/{name}")), name) for name in vaults]
    document = ask(Vaults(held, may_change=may_change), "/openapi.json").json
    for endpoint in (*ENDPOINTS, PROOF):
        found = document["paths"][endpoint.path][endpoint.method.lower()]
        named = [one["name"] for one in found.get("parameters", ()) if one["in"] == "query"]
        assert ("vault" in named) == (names and endpoint.vaults != "none"), endpoint.name
    assert "text/event-stream" in str(document["paths"]["/v1/events"]["get"]["responses"]["200"])
    assert "/metrics" not in document["paths"]


@dataclass
class SearchedService(Service):
    """A search is given up when nobody waits for it any more; it remembers whether it was from the first."""

    given_up: list[bool] = field(default_factory=list)

    def asked_vaults(self, is_cancelled: Callable[[], bool]) -> object:
        def search(request: model.SearchRequest) -> model.SearchAnswer:
            self.given_up.append(is_cancelled())
            if request.query == "slow":
                wait_until(is_cancelled)
            return model.SearchAnswer(request.query, 1.0, model.IndexState(1, 1, 0), ())

        return SimpleNamespace(search=search)


def test_a_search_is_given_up_where_it_is_too_late_or_the_server_stops() -> None:
    service = SearchedService(Path("/own"))
    assert ask(service, "/v1/search?q=quick&limit=5&fresh=yes").status == 200
    late = ask(service, "/v1/search?q=slow", settings=ServerSettings(timeout_s=0.5))
    assert late.error == (504, "timeout", "no answer within 0.5 seconds")
    assert ask(service, "/v1/search?q=slow", stopping=lambda: True).status == 200
    assert service.given_up == [False, False, True]


def test_the_status_is_answered_while_searches_take_every_thread() -> None:
    stop = Event()
    service = SearchedService(Path("/own"))
    site = Site(Vaults([holder(service)]), INFO, ServerSettings(max_concurrent=100))
    app = make_app(site, stop.is_set)

    async def run() -> int:
        searches = [asyncio.create_task(request(app, "/v1/search?q=slow")) for _ in range(50)]
        await asyncio.to_thread(wait_until, lambda: len(service.given_up) == 40)
        status = (await asyncio.wait_for(request(app, "/v1/status"), DEADLINE_S)).status
        stop.set()
        assert {one.status for one in await asyncio.gather(*searches)} == {200}
        return status

    assert asyncio.run(run()) == 200


def test_a_question_is_answered_whole_or_in_lines() -> None:
    whole = ask(OWN, "/v1/ask", "POST", {"q": "why?"})
    assert (whole.headers["content-type"], whole.json["model"]) == ("application/json", "m")
    assert ask(OWN, "/v1/ask", "POST", {"q": "why?", "stream": False}).json["model"] == "m"
    lines = ask(OWN, "/v1/ask", "POST", {"q": "why?", "stream": True})
    assert (lines.status, lines.headers["content-type"]) == (200, "application/x-ndjson")
    assert "Wégen.".encode() in lines.body
    found = [json.loads(line) for line in lines.body.splitlines()]
    assert [one["event"] for one in found] == ["passages", "sentence", "answer"]
    assert lines.body.endswith(b"}\n")


def test_an_error_before_the_first_line_has_a_status_and_a_later_one_is_a_line() -> None:
    question = {"q": "why?", "stream": True}

    def asked(name: str) -> str:
        error = getattr(errors, name)("x")
        refused = ask(Service(Path("/own"), (error,)), "/v1/ask", "POST", question)
        status, kind, message = refused.error
        assert (refused.json["type"], refused.json["status"]) == ("about:blank", status)
        assert refused.json["detail"] == message == "x"
        assert refused.headers["content-type"] == "application/problem+json"
        lines = ask(Service(Path("/own"), (ANSWERED, error, SENTENCE)), "/v1/ask", "POST", question)
        events = [json.loads(line) for line in lines.body.splitlines()]
        assert (lines.status, [one["event"] for one in events]) == (200, ["passages", "error"])
        assert events[1]["data"] == {"kind": kind, "message": "x"}
        return f"{status} {refused.json['title']}, {kind}, {refused.headers.get('retry-after')}"

    def body(written: str) -> str:
        sent = written.encode().replace(b"\\xff", b"\xff")
        status, kind, message = ask(OWN, "/v1/ask", "POST", sent).error
        return f"{status} {kind} {message.partition(' JSON: ')[0]}"

    check_golden(
        Path(__file__).parent / "fixtures" / "errors.md",
        {"Of a question, by its class": asked, "Of a body that is no question": body},
    )


@pytest.mark.parametrize("given", [{}, {"force": True}, {"better": True}])
def test_a_rebuild_is_begun_with_its_options_and_waited_for(given: dict[str, bool]) -> None:
    service = Service(Path("/own"))
    ended = ask(service, "/v1/rebuild", "POST", {**given, "wait": True})
    assert (ended.status, ended.json["notes"], service.rebuilt) == (200, 3, [RebuildOptions(**given)])


def test_a_rebuild_that_is_not_waited_for_is_watched_and_does_not_hold_up_the_end() -> None:
    service = Service(Path("/own"), released=Event())
    assert service.released is not None
    stops: list[bool] = []
    app = make_app(Site(Vaults([holder(service)]), INFO, ServerSettings()), lambda: bool(stops))
    assert ask(OWN, "/v1/rebuild", app=app).json["running"] is False
    begun = ask(OWN, "/v1/rebuild", "POST", {"wait": False}, app=app)
    assert (begun.status, begun.json["running"]) == (202, True)
    assert ask(OWN, "/v1/rebuild", app=app).json["running"] is True
    stops.append(True)
    stopped = ask(OWN, "/v1/rebuild", "POST", {"wait": True}, app=app)
    assert stopped.error == (503, "stopping", "the daemon is stopping; the previous index stays in use")
    threads = [one.daemon for one in threading.enumerate() if one.name == "rebuild"]
    assert threads and all(threads), "the process ends without waiting for it"
    assert len(service.rebuilt) == 1, "one runs at a time"
    stops.clear()
    service.released.set()
    assert ask(OWN, "/v1/rebuild", "POST", {"wait": True}, app=app).json["notes"] == 3
    assert ask(OWN, "/v1/rebuild", app=app).json["report"]["notes"] == 3


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (KeyError("x"), (500, "internal", "the rebuild failed; see the daemon's log")),
        (errors.ProviderError("no model"), (502, "provider", "no model")),
        (errors.VaultError("it is gone"), (503, "vault", "it is gone")),
    ],
)
def test_a_rebuild_that_fails_is_answered_by_the_kind_of_its_error_and_another_may_begin(
    failure: Exception, said: tuple[int, str, str]
) -> None:
    service = Service(Path("/own"), failure=failure)
    app = make_app(Site(Vaults([holder(service)]), INFO, ServerSettings()))
    assert ask(OWN, "/v1/rebuild", "POST", {"wait": True}, app=app).error == said
    service.failure = None
    assert ask(OWN, "/v1/rebuild", "POST", {"wait": True}, app=app).status == 200


def test_each_vault_has_rebuilds_of_its_own() -> None:
    one, other = Service(Path("/one")), Service(Path("/other"))
    vaults = Vaults([holder(one, "one"), holder(other, "other"), GONE])
    assert ask(vaults, "/vault/one/v1/rebuild", "POST", {"wait": True}).status == 200
    assert (len(one.rebuilt), len(other.rebuilt)) == (1, 0)
    assert ask(vaults, "/v1/rebuild?vault=gone").error == (503, "unavailable", "the disk is gone")


def test_events_tell_the_status_of_the_vault_that_is_named() -> None:
    vaults = several("one", "other")
    told = ask(vaults, "/v1/events?vault=other", leaves_at=b"event: status")
    assert (told.status, told.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    data = json.loads(told.body.partition(b"data: ")[2])
    assert (data["vault"], data["daemon"]["pid"]) == (str(Path("/other")), os.getpid())
    assert ask(vaults, "/v1/events?vault=gone").error == (503, "unavailable", "the disk is gone")
    assert ask(vaults, "/v1/events").error[:2] == (422, "usage")


def test_the_figures_are_of_the_vaults_that_can_be_asked() -> None:
    pytest.importorskip("prometheus_client")
    vaults = several("one", "other")
    app = make_app(Site(vaults, INFO, ServerSettings()))
    assert ask(vaults, "/metrics", app=app).headers["content-type"].startswith("text/plain; version=")
    for path in ("/v1/status?vault=one", "/v1/events?vault=gone", "/v1/nowhere", "/v1/proof", "/mcp"):
        ask(vaults, path, app=app)
    ask(vaults, "/metrics", app=app)
    figures = ask(vaults, "/metrics", app=app).body.decode()
    for name in ("one", "other"):
        assert f'vault_indexer_notes{{vault="{name}"}} 3.0' in figures
    assert 'vault="gone"' not in figures
    counted = ("/v1/status 200", "/v1/events 503", "other 404", "/v1/proof 422", "/mcp 405", "/metrics 200")
    for route, status in (one.split() for one in counted):
        assert f'vault_indexer_requests_total{{route="{route}",status="{status}"}} 1.0' in figures, route


def test_an_event_stream_too_many_is_refused() -> None:
    stop = Event()
    app = make_app(Site(Vaults([holder(OWN)]), INFO, ServerSettings()), stop.is_set)

    async def run() -> tuple[Exchange, list[Exchange]]:
        streams = []
        for _ in range(MAX_STREAMS):
            told = asyncio.Event()
            streams.append(asyncio.create_task(request(app, "/v1/events", told=told)))
            await asyncio.wait_for(told.wait(), DEADLINE_S)
        refused = await request(app, "/v1/events", leaves_at=b"event")
        stop.set()
        return refused, await asyncio.gather(*streams)

    refused, streams = asyncio.run(run())
    assert refused.error == (503, "busy", "too many event streams are open")
    assert {one.status for one in streams} == {200}


def test_without_the_client_of_prometheus_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    status, kind, said = ask(OWN, "/metrics").error
    assert (status, kind) == (501, "provider")
    assert said.endswith('pip install "vault-indexer[milvus]"')


def test_tools_act_on_the_vault_that_a_call_names() -> None:
    current = {"": "word", "one": "heading", "other": "paragraph"}
    strategies = {name: StrategyInMemory(strategy) for name, strategy in current.items()}

    def actions_of(vault: str) -> AgentActions:
        return AgentActions(strategies[vault])

    def asked(vaults: Vaults, **given: str) -> str:
        call = {"name": "set_chunker", "arguments": {"strategy": "paragraph", **given}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        result = ask(vaults, "/mcp?tools=admin", "POST", message, actions_of=actions_of).json["result"]
        return str(result["content"][0]["text"])

    assert "Split notes by paragraph instead of heading?" in asked(several("one", "other"), vault="one")
    assert "paragraph already" in asked(several("one", "other"), vault="other")
    assert "instead of word?" in asked(Vaults([holder(OWN)]))
