"""What is about all vaults of the table: a daemon that is started, and a question."""

from __future__ import annotations

from pathlib import Path

import pytest
from answering_daemon import AnsweringDaemon, Reply, answering_daemon
from command_here import CommandHere

from vault_indexer.cli.connection.in_process import DirectDispatcher
from vault_indexer.cli.known_vaults import remember_vault
from vault_indexer.cli.parameters import VaultSelection
from vault_indexer.cli.vault_folder import (
    asks_all,
    is_pinned,
    keeps_all,
    names_one,
    names_vaults,
    only_vault,
    vaults_meant,
    vaults_to_choose,
)
from vault_indexer.config import NamedVault
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.errors import UsageError
from vault_indexer.serve.api.endpoints import SEARCH, STATUS


@pytest.mark.parametrize(
    ("table", "here", "expected"),
    [
        ("[vaults]\nwork = 'Work'\n", "", True),
        ("[vaults]\nwork = 'Work'\n", "Work/Plans", True),
        ("[vaults]\nwork = 'Work'\n", "Other/Plans", False),  # a vault that the table lacks
        ("[vaults]\nother = 'Other'\n", "Work/Plans", False),
        ("[vaults]\nother = 'Other'\nwork = 'Work'\n", "Work", True),
        ("", "", False),
        ("", "Other/Plans", False),
    ],
)
def test_a_daemon_that_starts_in_a_vault_of_the_table_or_in_none_keeps_all(
    table: str, here: str, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for vault in ("Work", "Other"):
        (tmp_path / vault / "Plans").mkdir(parents=True)
        (tmp_path / vault / ".obsidian").mkdir()
    config = tmp_path / "config.toml"
    config.write_text(table, "utf-8")
    monkeypatch.chdir(tmp_path / here)
    assert keeps_all(VaultSelection(config=config), {}) is expected
    assert not keeps_all(VaultSelection(config=config, vault=tmp_path / "Work"), {}), "one is named"


def table(here: CommandHere, *names: str) -> None:
    here.configure("[vaults]\n" + "".join(f'{name} = "{here.sandbox.root / name}"\n' for name in names))


HITS = (
    b'{"query": "x", "verdict": "strong", "missing_words": [], "notices": [], "results": [{"vault": "b", '
    b'"path": "A.md", "kind": "base", "line": 1, "snippet": "", "marks": [], "stale": false, "why": '
    b'{"keyword": null, "vector": null, "graph": null, "title": 0, "recency": 1, "filters": []}}]}'
)


def test_a_search_of_several_vaults_is_answered_by_their_daemon(
    here: CommandHere, daemon: AnsweringDaemon
) -> None:
    table(here, "a", "b")
    daemon.announce(here.daemons)
    daemon.reply(SEARCH, Reply(200, HITS))
    for arguments in (("search", "x"), ("search", "x", "--all-vaults", "--vault", "a")):
        ran = here.run(*arguments)
        assert (ran.code, ran.out, ran.err) == (0, "b: A.md  name\n", "")
    assert here.run("search", "x", "--paths").out == "b/A.md:1\n"
    one = here.run("search", "x", "--vault", "a")
    assert (one.code, one.complains("no such vault")) == (3, True)
    assert len(daemon.requests) == 3
    table(here, "a")
    assert here.run("search", "x").code == 3, "one alone is meant itself"


def test_where_their_daemon_listens_nowhere_the_vaults_are_opened_here(here: CommandHere) -> None:
    table(here, "a", "b")
    with answering_daemon() as ended:
        ended.announce(here.daemons)
    ran = here.run("ask", "x")
    assert (ran.code, ran.out) == (3, "")
    (line,) = ran.err.splitlines()
    assert line.startswith(f"indexer: a is not searched: no such vault: {here.sandbox.root}/a")
    assert f"; b is not searched: no such vault: {here.sandbox.root}/b" in line


def test_without_a_table_there_are_no_vaults_to_search(here: CommandHere) -> None:
    ran = here.run("search", "x", "--all-vaults")
    assert (ran.code, ran.err) == (2, 'indexer: There are no vaults. Run "indexer init ~/Notes" once.\n')


def test_what_is_about_one_vault_is_not_asked_of_several(tmp_path: Path) -> None:
    both = DirectDispatcher(None, [NamedVault(name, tmp_path / name) for name in "ab"], None, remember=False)
    with pytest.raises(UsageError, match=r"^Which vault\? Add --vault a or --vault b\.$"):
        both.ask(STATUS)
    with pytest.raises(UsageError, match=r"^Which vault\? Add --vault a or --vault b\.$"):
        both.rebuild(lambda _: None, RebuildOptions())


def test_of_several_known_vaults_a_command_names_the_choices(here: CommandHere) -> None:
    for part in "ab":
        folder = here.sandbox.root / part / "Notes"
        folder.mkdir(parents=True)
        (folder.parent / "CURRENT").touch()
        remember_vault(folder, folder.parent)
    ran = here.run("search", "x")
    said = "indexer: Which vault? Add --vault notes or --vault notes-2.\n"
    assert (ran.code, ran.out, ran.err) == (2, "", said)


NAMED = VaultSelection(Path("work")), VaultSelection(index_dir=Path("i"))


@pytest.mark.parametrize(
    ("names", "key", "inside", "environ", "asks", "meant", "choices"),
    [
        ("", "", False, {}, False, "", ""),
        ("a", "", False, {}, False, "", "a"),
        ("a b", "", False, {}, True, "a b", "a b"),
        ("a b", "", True, {}, False, "", "a b"),
        ("a b", "c", False, {}, False, "", "c"),
        ("a b", "", False, {"INDEXER_VAULT": "a"}, False, "", "a b"),
        ("a b", "", False, {"INDEXER_INDEX_DIR": "a"}, False, "", "a b"),
        ("a b", "", False, {"INDEXER_CONFIG": "none.toml"}, False, "", ""),
    ],
)
def test_a_question_means_all_vaults_where_it_means_none_of_them(
    here: CommandHere,
    monkeypatch: pytest.MonkeyPatch,
    names: str,
    key: str,
    inside: bool,
    environ: dict[str, str],
    asks: bool,
    meant: str,
    choices: str,
) -> None:
    lines = [f'vault = "{here.sandbox.root / key}"'] if key else []
    lines += ["[vaults]", *(f'{name} = "{here.sandbox.root / name}"' for name in names.split())]
    here.configure("\n".join(lines))
    (here.sandbox.root / "other" / ".obsidian").mkdir(parents=True)
    if inside:
        monkeypatch.chdir(here.sandbox.root / "other")
    full = {**here.sandbox.environ, **environ}
    selection = VaultSelection()
    assert asks_all(selection, full) == asks
    assert " ".join(vaults_meant(selection, full)) == meant
    assert " ".join(vaults_to_choose(selection, full)) == choices
    assert names_vaults(selection, full) == bool(choices)
    only = only_vault(selection, full)
    assert (only is not None) == (len(choices.split()) == 1)
    for one in NAMED:
        assert (names_one(one, full), asks_all(one, full), vaults_meant(one, full)) == (True, False, {})
    assert names_one(selection, full) == bool(environ.keys() & {"INDEXER_VAULT", "INDEXER_INDEX_DIR"})


@pytest.mark.parametrize(
    ("selection", "environ", "pinned"),
    [
        (VaultSelection(), {}, False),
        (VaultSelection(Path("a")), {"INDEXER_VAULT": "a"}, False),
        (VaultSelection(index_dir=Path("a")), {}, True),
        (VaultSelection(config=Path("a")), {}, True),
        (VaultSelection(), {"INDEXER_INDEX_DIR": "a"}, True),
        (VaultSelection(), {"INDEXER_CONFIG": "a"}, True),
        (VaultSelection(), {"INDEXER_CONFIG": "", "INDEXER_INDEX_DIR": ""}, False),
    ],
)
def test_an_index_or_configuration_is_named_for_one_command_alone(
    selection: VaultSelection, environ: dict[str, str], pinned: bool
) -> None:
    assert is_pinned(selection, environ) == pinned
