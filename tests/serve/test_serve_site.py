"""The socket, the address and the token of a server."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from vault_indexer.config.settings import ServerSettings
from vault_indexer.daemon.discovery import DaemonInfo, KeptAddress
from vault_indexer.errors import DaemonError, IndexUnusableError, UsageError
from vault_indexer.serve.server import Site, address_to_keep, bind, bind_again, daemon_info, run
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


def test_the_token_is_kept_with_the_port_alone() -> None:
    with bind(0) as listener:
        port = listener.getsockname()[1]
        tokens = {
            name: daemon_info(listener, "/v", ServerSettings(), kept=kept).token
            for name, kept in {
                "same": KeptAddress(port, KEPT),
                "other port": KeptAddress(port + 1, KEPT),
                "short": KeptAddress(port, "k" * 31),
                "none": None,
            }.items()
        }
        info = daemon_info(listener, "/v", ServerSettings(), ["indexer", "serve"])
    assert tokens.pop("same") == KEPT
    assert len({*tokens.values(), KEPT}) == 4
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
    with bind(0) as listener, pytest.raises(UsageError, match="TEST_TOKEN holds no token; set it to 32"):
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
        info = daemon_info(listener, str(tmp_path), ServerSettings())
        site = Site(Vaults([]), info, lambda: announced.append(1), failure)
        with pytest.raises(IndexUnusableError, match="the index is gone"):
            run(site, listener, ServerSettings(), is_ready)
    assert ready == [info]
    assert announced
