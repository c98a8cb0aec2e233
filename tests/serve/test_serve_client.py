"""The client of a daemon: what it sends, and what it makes of every kind of answer."""

import os
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from answering_daemon import TOKEN, AnsweringDaemon, AskedFor, Reply, answering_daemon
from golden_cases import check_golden
from http_servers import serving

from vault_indexer import errors
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.discovery import DaemonInfo
from vault_indexer.model import ErrorReport, PauseState, Progress, RebuildReport, RebuildRun
from vault_indexer.serve.api.endpoints import LINKS, PAUSE, REBUILD, REBUILD_STATE, SEARCH, STATUS, VERIFY
from vault_indexer.serve.client import DaemonClient, NotListeningError


@pytest.fixture
def daemon() -> Iterator[AnsweringDaemon]:
    with answering_daemon() as made:
        yield made


@pytest.fixture
def client(daemon: AnsweringDaemon) -> DaemonClient:
    return DaemonClient(daemon.info())


def test_an_error_keeps_its_class_and_its_words(daemon: AnsweringDaemon, client: DaemonClient) -> None:
    def raised(kind: str) -> str:
        daemon.fail(STATUS, kind, "why it is so")
        with pytest.raises(errors.VaultIndexerError) as found:
            client.ask(STATUS)
        public = next(one for one in type(found.value).__mro__ if one.__module__ == errors.__name__)
        return f"{public.__name__}: {found.value}"

    check_golden(Path(__file__).parent / "fixtures" / "client_errors.md", {"": raised})


def test_defaults_are_not_sent_and_parameters_of_a_post_keep_their_types(
    daemon: AnsweringDaemon, client: DaemonClient
) -> None:
    daemon.reply(SEARCH, Reply(200, b'{"query": "x"}'))
    daemon.reply(VERIFY, Reply(399, b'{"ok": true}'))
    assert client.ask(SEARCH, q="a&b ä", limit=0, fresh=True, correct=False)["query"] == "x"
    client.ask(SEARCH, q="x", fresh=False, correct=True)
    assert client.ask(VERIFY, repair=True)["ok"] is True
    client.ask(VERIFY, repair=False)
    daemon.answer(PAUSE, PauseState(True, "", 0))
    assert client.ask(PAUSE, seconds=1.5)["paused"] is True
    assert daemon.requests == [
        AskedFor(SEARCH.path, {"q": "a&b ä", "fresh": "true", "correct": "false"}),
        AskedFor(SEARCH.path, {"q": "x"}),
        AskedFor(VERIFY.path, {"repair": True}),
        AskedFor(VERIFY.path, {}),
        AskedFor(PAUSE.path, {"seconds": 1.5}),
    ]


def test_a_text_that_is_too_long_is_refused_without_a_request(
    daemon: AnsweringDaemon, client: DaemonClient
) -> None:
    with pytest.raises(errors.UsageError):
        client.ask(SEARCH, q="x" * 5000)
    with pytest.raises(TypeError, match="links takes"):
        client.ask(LINKS, query="x")
    assert daemon.requests == []


@pytest.mark.parametrize(
    "body", [b"<html>", b"[]", b'{"error": "no"}', b'{"error": {"kind": "usage"}}', b"\xff"]
)
def test_the_answer_of_another_program_is_told_as_one(
    daemon: AnsweringDaemon, client: DaemonClient, body: bytes
) -> None:
    daemon.reply(STATUS, Reply(400, body))
    with pytest.raises(errors.DaemonError) as raised:
        client.ask(STATUS)
    assert str(raised.value) == f"the answer of {daemon.url} is not one of vault-indexer (status 400)"


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (b"", "Remote end closed connection without response"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "IncompleteRead(2 bytes read, 7 more expected)"),
    ],
)
def test_a_daemon_that_hangs_up_does_not_answer(sent: bytes, reason: str) -> None:
    def hang_up(request: BaseHTTPRequestHandler) -> None:
        request.wfile.write(sent)

    with serving(hang_up) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        with pytest.raises(errors.DaemonError) as raised:
            DaemonClient(DaemonInfo(os.getpid(), url, TOKEN, "", "")).ask(STATUS)
    assert type(raised.value) is errors.DaemonError
    said = f"the daemon (process {os.getpid()}) at {url} does not answer: {reason}"
    assert str(raised.value) == said
    with pytest.raises(NotListeningError) as refused:
        DaemonClient(DaemonInfo(1, url, TOKEN, "", "")).ask(STATUS)
    assert str(refused.value) == f"no daemon listens at {url}"


def test_the_address_of_a_vault_stands_before_every_path(daemon: AnsweringDaemon) -> None:
    info = DaemonInfo(1, f"{daemon.url}/vault/work", TOKEN, "/v", "")
    with pytest.raises(errors.DaemonError, match="no answer"):
        DaemonClient(info).ask(STATUS)
    assert daemon.requests == [AskedFor("/vault/work/v1/status", {})]


def test_a_rebuild_is_watched_until_its_end(daemon: AnsweringDaemon, client: DaemonClient) -> None:
    running = RebuildRun(True, None, None, None)
    report = RebuildReport(2, 3, 4, (), 1.0)
    progress = Progress("notes", 1, 3, 2, 0.5)
    daemon.answer(REBUILD, running)
    daemon.answer(
        REBUILD_STATE, RebuildRun(True, progress, None, None), RebuildRun(False, progress, report, None)
    )
    shown: list[int] = []
    done = client.rebuild(lambda found: shown.append(found["notes"]), RebuildOptions())
    assert (done["notes"], shown) == (3, [1])
    assert daemon.take_requests()[0] == AskedFor(REBUILD.path, {"wait": False})
    error = ErrorReport("locked", "somebody writes it")
    daemon.answer(REBUILD_STATE, RebuildRun(False, None, report, error))
    with pytest.raises(errors.LockedError, match="somebody writes it"):
        client.rebuild(lambda _: None, RebuildOptions(force=True, better=True))
    assert daemon.requests[0].parameters == {"wait": False, "force": True, "better": True}
