"""The socket, the address and the token of a server."""

import asyncio
import os
import shutil
import signal
import socket
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from asgi import no_content

from vault_indexer.config.settings import ServerSettings
from vault_indexer.daemon.discovery import DaemonInfo, KeptAddress
from vault_indexer.errors import DaemonError, IndexUnusableError, UsageError
from vault_indexer.serve.app import Site
from vault_indexer.serve.http.guard import App, Message, Receive, Send
from vault_indexer.serve.server import (
    Announcements,
    address_to_keep,
    bind,
    bind_again,
    bind_unix,
    daemon_info,
    ended_by_signals,
    run,
    serve_app,
)
from vault_indexer.vaults import Vaults

KEPT = "k" * 32


def test_an_occupied_port_is_named_with_the_key_that_chooses_another() -> None:
    with bind(0) as held:
        port = held.getsockname()[1]
        with pytest.raises(DaemonError, match=rf"cannot bind to port {port}: .*; .* or set gateway\.port"):
            bind(port, key="gateway.port")
        with bind_again(ServerSettings(), KeptAddress(port, KEPT)) as other:
            assert other.getsockname()[1] != port


def test_the_port_of_the_settings_counts_else_that_of_the_last_server() -> None:
    with bind(0) as held:
        port = held.getsockname()[1]
    with bind_again(ServerSettings(), KeptAddress(port, KEPT)) as again:
        assert again.getsockname()[1] == port
    with (
        bind(0) as held,
        bind_again(ServerSettings(port=port), KeptAddress(held.getsockname()[1], "")) as own,
    ):
        assert own.getsockname()[1] == port


@pytest.mark.posix("sockets of files")
def test_a_socket_of_a_file_takes_the_place_of_one_that_nobody_listens_on(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    bind_unix(path).close()
    assert path.is_socket()
    with bind_unix(path) as held:
        assert path.stat().st_mode & 0o777 == 0o660
        with pytest.raises(DaemonError) as refused:
            bind_unix(path)
        assert str(refused.value) == f"cannot listen on the socket {path}: Address already in use"
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            held.accept()[0].close()
    file = tmp_path / "note.md"
    file.write_text("Kept.")
    with pytest.raises(DaemonError, match="cannot listen on the socket"):
        bind_unix(file)
    assert file.read_text() == "Kept."
    with pytest.raises(DaemonError, match="No such file or directory"):
        bind_unix(tmp_path / "missing" / "socket")


@pytest.mark.posix("an address that is used again")
def test_a_socket_listens_on_the_host_that_is_named() -> None:
    with bind(0) as own, bind(0, "0.0.0.0") as every:
        assert (own.getsockname()[0], every.getsockname()[0]) == ("127.0.0.1", "0.0.0.0")
        assert own.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)


def test_the_token_is_kept_with_the_port_alone() -> None:
    with bind(0) as listener:
        port = listener.getsockname()[1]
        tokens = {
            name: daemon_info(listener, "/v", ServerSettings(), kept=kept).token
            for name, kept in {
                "same": KeptAddress(port, KEPT),
                "other port": KeptAddress(port + 1, KEPT),
                "lower port": KeptAddress(port - 1, KEPT),
                "short": KeptAddress(port, "k" * 31),
                "none": None,
            }.items()
        }
        info = daemon_info(listener, "/v", ServerSettings(), ["indexer", "serve"])
    assert tokens.pop("same") == KEPT
    assert len({*tokens.values(), KEPT}) == 5
    assert all(len(one) >= 32 for one in tokens.values())
    assert (info.pid, info.url, info.vault) == (os.getpid(), f"http://127.0.0.1:{port}", "/v")
    assert info.command == ("indexer", "serve")
    assert address_to_keep(info, ServerSettings()) == KeptAddress(port, info.token)
    assert address_to_keep(info, ServerSettings(token_env="X")) == KeptAddress(port, "")


@pytest.mark.parametrize("token", ["", "x" * 31, "x" * 31 + "é", "x" * 31 + "\t", "x" * 16 + " " + "x" * 16])
def test_a_token_of_the_environment_that_can_be_guessed_is_refused(
    monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv("TEST_TOKEN", token)
    with bind(0) as listener, pytest.raises(UsageError, match="TEST_TOKEN contains no token; set it to 32"):
        daemon_info(listener, "/v", ServerSettings(token_env="TEST_TOKEN"), kept=KeptAddress(1, KEPT))
    monkeypatch.setenv("TEST_TOKEN", "x" * 32)
    with bind(0) as listener:
        assert daemon_info(listener, "/v", ServerSettings(token_env="TEST_TOKEN")).token == "x" * 32


def test_a_site_that_fails_ends_its_server_with_its_failure(tmp_path: Path) -> None:
    failures: list[IndexUnusableError] = []
    ready: list[DaemonInfo] = []
    announced: list[int] = []

    def is_ready(info: DaemonInfo) -> None:
        ready.append(info)
        with socket.create_connection(("127.0.0.1", int(info.url.rpartition(":")[2]))):
            failures.append(IndexUnusableError("the index is gone"))

    def failure() -> IndexUnusableError | None:
        return failures[0] if failures else None

    with bind(0) as listener:
        settings = ServerSettings()
        info = daemon_info(listener, str(tmp_path), settings)
        site = Site(Vaults([]), info, settings, announce_again=lambda: announced.append(1), failure=failure)
        with pytest.raises(IndexUnusableError, match="the index is gone"):
            run(site, listener, is_ready)
    assert ready == [info]
    assert announced


def test_a_server_that_ends_answers_until_it_is_drained_and_hardly_works_meanwhile() -> None:
    states: list[bool] = []
    clients: list[str] = []
    asked: list[Callable[[], bool]] = []

    def make(stopping: Callable[[], bool]) -> App:
        asked.append(stopping)
        return answer

    async def answer(scope: Message, receive: Receive, send: Send) -> None:
        clients.append(scope["client"][0])
        await no_content(scope, receive, send)

    async def drained() -> None:
        states.append(asked[0]())
        reader, writer = await asyncio.open_connection(*listener.getsockname()[:2])
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\n")
        writer.write(b"X-Long: %b" % (b"x" * (40 << 10)))
        with suppress(TimeoutError):
            async with asyncio.timeout(0.05):
                assert await reader.read() == b"", "the server waits for the end of the head"
        writer.write(b"\r\n\r\n")
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 204 No Content\r\n\r\n"
        writer.close()
        before, over = time.thread_time(), asyncio.Event()
        asyncio.get_running_loop().call_later(0.3, over.set)
        await over.wait()
        states.append(time.thread_time() - before < 0.1)

    with bind(0) as listener:
        serve_app(make, listener, 4, lambda: states.append(asked[0]()), lambda: True, drained)
    assert states == [False, True, True]
    assert clients == ["127.0.0.1"], "whatever a header says"


def test_an_interrupt_ends_a_server_that_is_not_drained_yet() -> None:
    ended: list[str] = []

    async def drained() -> None:
        signal.raise_signal(signal.SIGINT)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    with ended_by_signals(), bind(0) as listener:
        serve_app(lambda _: no_content, listener, 4, lambda: None, lambda: True, drained)
    assert ended == ["cancelled"]


def test_whether_a_server_must_end_is_asked_at_once_and_then_every_second() -> None:
    asked: list[bool] = []

    def must_end() -> bool:
        asked.append(True)
        return False

    def end_soon() -> None:
        asyncio.get_running_loop().call_later(0.35, signal.raise_signal, signal.SIGTERM)

    with ended_by_signals(), bind(0) as listener:
        serve_app(lambda _: no_content, listener, 4, end_soon, must_end)
    assert asked == [True]


INFO = DaemonInfo(os.getpid(), "http://127.0.0.1:1", "the-token", "/v", "")


def test_an_announcement_that_was_deleted_with_its_folder_is_written_again(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("kept", "made again", "gone")]
    back = tmp_path / "taken back"
    with closing(Announcements()) as announced:
        for folder in folders:
            folder.mkdir()
            announced.add(folder, INFO)
        back.mkdir()
        announced.add(back, INFO)
        announced.remove(back)
        kept, again, gone = (folder / "daemon.json" for folder in folders)
        whole = kept.read_text("utf-8")
        kept.write_text("of another process")
        for folder in folders[1:]:
            shutil.rmtree(folder)
        folders[1].mkdir()
        announced.again()
        assert (kept.read_text("utf-8"), again.read_text("utf-8")) == ("of another process", whole)
        assert not gone.parent.exists()
        assert list(back.iterdir()) == []
    assert not again.exists()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with closing(Announcements()) as announced:
        with pytest.raises(
            IndexUnusableError, match=r"cannot write .*missing.daemon\.json: (No such file|Path not found)"
        ):
            announced.add(missing, INFO)
        with pytest.raises(
            IndexUnusableError, match=r"cannot write .*missing.address\.json: (No such file|Path not found)"
        ):
            announced.keep(missing, KeptAddress(1, "the-token"))
        missing.mkdir()
        announced.again()
        assert (missing / "daemon.json").exists()


async def has_no_delay(listener: socket.socket) -> bool:
    """Whether the system sends what is written to an accepted connection at once."""
    found: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    async with await asyncio.start_server(accept, sock=listener):
        _, writer = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
        try:
            return bool(await found)
        finally:
            writer.close()


@pytest.mark.posix("options of a listener that its connections have")
def test_no_part_of_an_answer_waits_for_the_client_to_acknowledge_another() -> None:
    """Else head and body, two writes, are 40 ms apart on every connection that is kept."""
    assert asyncio.run(has_no_delay(bind(0)))
