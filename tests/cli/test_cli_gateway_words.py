"""`gateway` as far as it needs no server, and what --take-over and unpublish need."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from command_here import CommandHere

from vault_indexer.bootstrap import named_vaults, resolve_target, take_over_publication, unpublish
from vault_indexer.cli.commands.unpublish import take_over_at
from vault_indexer.cli.parameters import VaultSelection
from vault_indexer.daemon.lock import IndexLock
from vault_indexer.errors import LockedError, UsageError


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("token", "x"), "gateway token takes no more words"),
        (("serve", "x"), "gateway serve takes no more words"),
        (("vaults", "x"), "gateway vaults takes no more words"),
        (("grant", "ana"), "gateway grant takes a user and a vault"),
        (("grant", "ana", "b", "c"), "gateway grant takes a user and a vault"),
        (("unpublish", "a", "b"), "gateway unpublish takes the id of a vault"),
        (("vaults",), "--config FILE is missing: the gateway has a configuration of its own"),
        (("grant", "ana", "b"), "--config FILE is missing: the gateway has a configuration of its own"),
        (("unpublish", "a"), "--config FILE is missing: the gateway has a configuration of its own"),
        ((), "--config FILE is missing: the gateway has a configuration of its own"),
    ],
)
def test_what_an_action_takes(here: CommandHere, arguments: tuple[str, ...], said: str) -> None:
    ran = here.run("gateway", *arguments)
    assert (ran.code, ran.out, ran.err) == (2, "", f"indexer: {said}\n")


def test_a_token_is_for_the_user_and_its_digest_for_the_file(here: CommandHere) -> None:
    ran = here.run("gateway", "token")
    token, line = ran.out.splitlines()
    digest = hashlib.sha256(token.encode()).hexdigest()
    assert (ran.code, line) == (0, f'token_sha256 = "{digest}"')
    assert ran.err == "The first line is for the user, the second for [[users]] in the configuration.\n"
    assert here.run("gateway", "token").out.splitlines()[0] != token


@pytest.mark.parametrize("command", [("gateway", "unpublish"), ("unpublish",)])
def test_without_a_server_there_is_nothing_to_unpublish(here: CommandHere, command: tuple[str, ...]) -> None:
    ran = here.indexer(*command)
    said = "indexer: milvus.uri is not set: there is no server to which the vault is published\n"
    assert (ran.code, ran.out, ran.err) == (2, "", said)


def test_what_a_daemon_would_publish_again_is_not_removed(here: CommandHere) -> None:
    here.configure('index.backend = "milvus"\nmilvus.uri = "http://127.0.0.1:9"\n')
    here.sandbox.index_dir.mkdir(mode=0o700)
    target = resolve_target(
        here.sandbox.vault, here.sandbox.index_dir, None, environ=here.sandbox.environ, options={}
    )
    with IndexLock(here.sandbox.index_dir, "a test"):
        with pytest.raises(LockedError) as refused:
            unpublish(target, here.sandbox.environ)
        with pytest.raises(LockedError, match="a test"):
            take_over_publication(target, here.sandbox.environ)
    said = str(refused.value)
    assert "a test" in said
    assert said.endswith('which would publish the vault again: stop it, or set index.backend = "embedded"')


def test_only_what_is_published_is_taken_over(here: CommandHere) -> None:
    with pytest.raises(UsageError, match="--take-over: name one vault with --vault"):
        take_over_at(VaultSelection(here.sandbox.vault), is_shared=True)
    said = '--take-over: index.backend is not "milvus", so nothing is published'
    with pytest.raises(UsageError, match=said):
        take_over_at(VaultSelection(here.sandbox.vault, here.sandbox.index_dir), is_shared=False)
    assert not here.sandbox.index_dir.exists()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('a = "x"\nb = "x"', "a and b are the same folder, {root}/x"),
        (
            'a = { path = "x", index_dir = "i" }\nb = { path = "y", index_dir = "i" }',
            "a and b have the same index folder, {root}/i",
        ),
    ],
)
def test_two_vaults_share_neither_folder_nor_index(here: CommandHere, table: str, said: str) -> None:
    file = here.sandbox.root / "c.toml"
    file.write_text(f"[vaults]\n{table}\n")
    with pytest.raises(UsageError) as refused:
        named_vaults(file, here.sandbox.environ)
    told = said.format(root=here.sandbox.root)
    assert str(refused.value) == f"[vaults]: {told}: give each its own"


def test_of_several_vaults_one_is_named(here: CommandHere) -> None:
    here.configure('[vaults]\na = "x"\nb = "y"\n')
    environ = here.sandbox.environ
    with pytest.raises(UsageError, match=r"^Which vault\? Add --vault a or --vault b\."):
        resolve_target(None, None, None, environ=environ, options={})
    here.configure(f'[vaults]\na = {{ path = "{here.sandbox.vault}", index_dir = "i" }}\n')
    target = resolve_target(None, None, None, environ=environ, options={})
    assert (target.vault, target.index_dir) == (here.sandbox.vault, here.config.parent / "i")
    with_option = resolve_target(None, Path("/tmp/other"), None, environ=environ, options={})
    assert with_option.index_dir == Path("/tmp/other")
