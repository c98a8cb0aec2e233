"""`gateway` as far as it needs no server, and what --take-over and unpublish need."""

import hashlib
import json
import socket
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from cli_sandbox import make
from command_here import CommandHere
from golden_cases import check_golden

from vault_gateway.commands import authority, grant, print_vaults, unpublish
from vault_gateway.milvus import MilvusVaults, VaultState
from vault_gateway.unpublish import drop_publication, take_over
from vault_indexer.bootstrap import resolve_target
from vault_indexer.cli.commands.serve import take_over_for
from vault_indexer.cli.parameters import Output, VaultSelection
from vault_indexer.daemon.lock import IndexLock
from vault_indexer.errors import LockedError, UnknownVaultError, UsageError


@pytest.fixture
def here(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandHere:
    """The command in this process, on a vault without an index."""
    return CommandHere(make(tmp_path), capsys, monkeypatch)


def test_what_an_action_takes(here: CommandHere) -> None:
    def refusal(arguments: str) -> str:
        ran = here.run("gateway", *arguments.split())
        assert (ran.code, ran.out) == (2, "")
        return ran.err.strip()

    check_golden(Path(__file__).parent / "fixtures" / "commands.md", {"": refusal})


def test_a_token_is_for_the_user_and_its_digest_for_the_file(here: CommandHere) -> None:
    ran = here.run("gateway", "token")
    token, line = ran.out.splitlines()
    digest = hashlib.sha256(token.encode()).hexdigest()
    assert (ran.code, line) == (0, f'token_sha256 = "{digest}"')
    assert ran.err == "The first line is for the user, the second for [[users]] in the configuration.\n"
    assert here.run("gateway", "token").out.splitlines()[0] != token
    made = json.loads(here.run("gateway", "token", "--json").out)
    assert hashlib.sha256(made["token"].encode()).hexdigest() == made["token_sha256"]


def test_without_a_server_there_is_nothing_to_unpublish(here: CommandHere) -> None:
    ran = here.indexer("gateway", "unpublish")
    said = "indexer: milvus.uri is not set: there is no server to which the vault is published\n"
    assert (ran.code, ran.out, ran.err) == (2, "", said)


def test_a_vault_that_was_never_published_is_said_to_be_none(here: CommandHere) -> None:
    here.configure('milvus.uri = "http://127.0.0.1:9"\n')
    ran = here.indexer("gateway", "unpublish")
    said = f"{here.sandbox.vault} is not published on http://127.0.0.1:9.\n"
    assert (ran.code, ran.out, ran.err) == (0, "", said)


def test_what_a_daemon_would_publish_again_is_not_removed(here: CommandHere) -> None:
    here.configure('index.backend = "milvus"\nmilvus.uri = "http://127.0.0.1:9"\n')
    here.sandbox.index_dir.mkdir(mode=0o700)
    target = resolve_target(
        here.sandbox.vault, here.sandbox.index_dir, None, environ=here.sandbox.environ, options={}
    )
    with IndexLock(here.sandbox.index_dir, "a test"):
        with pytest.raises(LockedError) as refused:
            drop_publication(target, here.sandbox.environ)
        with pytest.raises(LockedError, match="a test"):
            take_over(target, here.sandbox.environ)
    said = str(refused.value)
    assert "a test" in said
    assert said.endswith('which would publish the vault again: stop it, or set index.backend = "embedded"')


def test_only_what_is_published_is_taken_over(here: CommandHere) -> None:
    with pytest.raises(UsageError, match="--take-over: name one vault with --vault"):
        take_over_for(VaultSelection(here.sandbox.vault), is_shared=True)
    said = '--take-over: index.backend is not "milvus", so nothing is published'
    with pytest.raises(UsageError, match=said):
        take_over_for(VaultSelection(here.sandbox.vault, here.sandbox.index_dir), is_shared=False)
    assert not here.sandbox.index_dir.exists()


def published(vault: str, name: str, keeper: str, notes: int, chunks: int) -> VaultState:
    state = VaultState(vault, name, keeper, "c", "m", "", ("en",), 1, 1, 1, chunks, notes)
    return replace(state, published_ms=1_700_000_000_000, seen_ms=1_700_000_060_000)


class Server:
    """The part of a Milvus server that is asked about vaults."""

    def __init__(self, *states: VaultState) -> None:
        self.states = {one.vault: one for one in states}

    def all(self) -> Mapping[str, VaultState]:
        return self.states

    def drop(self, vault: str, _now_ms: int) -> VaultState | None:
        return self.states.pop(vault, None)

    @property
    def vaults(self) -> MilvusVaults:
        return cast("MilvusVaults", self)


WORK = published("work-1111111111111111", "work", "beta", 1, 2)
HOME = published("home-2222222222222222", "home", "alpha", 2, 1)


def test_what_is_published_is_listed_by_keeper(capsys: pytest.CaptureFixture[str]) -> None:
    server = Server(WORK, HOME)
    print_vaults(server.vaults, Output())
    printed = capsys.readouterr()
    times = "published 2023-11-14T22:13:20Z  seen 2023-11-14T22:14:20Z"
    assert printed.out.splitlines() == [
        f"{HOME.vault}  alpha/home  2 notes  1 chunk  {times}",
        f"{WORK.vault}  beta/work  1 note  2 chunks  {times}",
    ]
    assert printed.err == ""
    print_vaults(server.vaults, Output(json=True))
    first, second = json.loads(capsys.readouterr().out)["vaults"]
    assert first == {
        "id": "home-2222222222222222",
        "name": "home",
        "keeper": "alpha",
        "notes": 2,
        "chunks": 1,
        "published_at": "2023-11-14T22:13:20Z",
        "seen_at": "2023-11-14T22:14:20Z",
    }
    assert second["id"] == "work-1111111111111111"


def test_where_nothing_is_published_a_person_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    print_vaults(Server().vaults, Output())
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "No vault is published.\n")
    print_vaults(Server().vaults, Output(json=True))
    printed = capsys.readouterr()
    assert (json.loads(printed.out), printed.err) == ({"vaults": []}, "")


def test_a_right_is_given_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, server = tmp_path / "gateway.toml", Server(WORK, HOME)
    file.write_text('[[users]]\nname = "ana"\nvaults = []\n')
    for written in ("alpha/home", "home-2222222222222222"):
        grant(server.vaults, file, "ana", written)
    assert capsys.readouterr().err.splitlines() == [
        "ana may read alpha/home (home-2222222222222222).",
        "ana may already read alpha/home (home-2222222222222222).",
    ]
    assert 'vaults = ["home-2222222222222222"]' in file.read_text()
    with pytest.raises(
        UnknownVaultError, match="a name without a keeper is not enough; did you mean alpha/home"
    ):
        grant(server.vaults, file, "ana", "home")


def test_a_vault_that_is_removed_does_not_come_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, server = tmp_path / "gateway.toml", Server(WORK, HOME)
    file.write_text("withdrawn = []\n")
    for written in ("beta/work", "work-1111111111111111"):
        unpublish(server.vaults, file, written)
    with pytest.raises(UnknownVaultError, match="no vault beta/work is published"):
        unpublish(server.vaults, file, "beta/work")
    assert capsys.readouterr().err.splitlines() == [
        f"Removed beta/work (work-1111111111111111). {file} now blocks it.",
        f"Vault work-1111111111111111 is not published. {file} now blocks it.",
    ]
    assert (list(server.states), file.read_text()) == (
        ["home-2222222222222222"],
        'withdrawn = ["work-1111111111111111"]\n',
    )


@pytest.mark.parametrize(("host", "shown"), [("0.0.0.0", "0.0.0.0"), ("gate", "gate"), ("::1", "[::1]")])
def test_the_address_of_a_gateway_is_one_of_http(host: str, shown: str) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        assert authority(listener, host) == f"{shown}:{listener.getsockname()[1]}"
