"""`indexer serve`: one vault or all of them, where it is announced and what it remembers."""

from __future__ import annotations

import re
import stat

import pytest
from command_here import CommandHere
from serving_here import while_serving
from waiting import wait_until

from vault_indexer.cli.known_vaults import known_vaults
from vault_indexer.daemon.discovery import DaemonInfo, read_daemon, read_index_pointer
from vault_indexer.serve.api.endpoints import SEARCH, STATUS, VAULTS
from vault_indexer.serve.client import DaemonClient

pytestmark = pytest.mark.long


@pytest.fixture
def here(copied_here: CommandHere) -> CommandHere:
    return copied_here


def best(info: DaemonInfo, query: str) -> str:
    """The path of the first result."""
    return DaemonClient(info).ask(SEARCH, q=query)["results"][0]["path"]


def two_vaults(here: CommandHere, *names: str) -> None:
    """The table names these of `vault`, which has an index, and `other`, a vault of one note."""
    root = here.sandbox.root
    (root / "other").mkdir(exist_ok=True)
    (root / "other" / "Moon.md").write_text("# Moon\n\nCraters.\n", encoding="utf-8")
    index_dirs = {"vault": here.sandbox.index_dir, "other": root / "index of the other"}
    lines = [f'{name} = {{ path = "{root / name}", index_dir = "{index_dirs[name]}" }}' for name in names]
    here.configure("\n".join(["[vaults]", *lines, ""]))


@pytest.mark.parametrize("pinned", [True, False])
def test_one_vault_is_served_and_remembered_unless_its_index_was_named(
    here: CommandHere, pinned: bool
) -> None:
    vault, index_dir = here.sandbox.vault, here.sandbox.index_dir
    two_vaults(here, "vault")
    place = ("--index-dir", str(index_dir)) if pinned else ()

    def ask(info: DaemonInfo) -> tuple[str, str]:
        return info.vault, best(info, "telescope")

    ran, found = while_serving(here, index_dir, ask, "--vault", str(vault), *place)
    assert (ran.code, ran.out, found) == (0, "", (str(vault), "Sky/Night sky.md"))
    said = rf"Watching {re.escape(str(vault))} \(3 notes\) at http://127\.0\.0\.1:\d+\. Ctrl-C stops\."
    assert re.fullmatch(said, ran.err.strip().splitlines()[-1])
    assert read_daemon(index_dir) is None
    remembered = (None, {}) if pinned else (index_dir, {"vault": vault})
    assert (read_index_pointer(vault), dict(known_vaults())) == remembered


def test_all_vaults_are_served_as_the_table_names_them(here: CommandHere) -> None:
    two_vaults(here, "vault", "other")
    index_dir = here.sandbox.index_dir

    def states(info: DaemonInfo) -> dict[str, str]:
        return {one["name"]: one["state"] for one in DaemonClient(info).ask(VAULTS)["vaults"]}

    def ask(info: DaemonInfo) -> list[object]:
        wait_until(lambda: states(info) == {"vault": "ready", "other": "ready"})
        own = read_daemon(index_dir)
        assert own is not None
        assert stat.S_IMODE(here.daemons.stat().st_mode) == 0o700, "for this user alone: it has the token"
        found: list[object] = [own.url.removeprefix(info.url), own.vault, best(own, "telescope")]
        found += [best(info, "telescope"), best(info, "craters")]
        found.append(DaemonClient(own).ask(STATUS)["vault"])
        two_vaults(here, "other")
        wait_until(lambda: states(info) == {"other": "ready"})
        found += [read_daemon(index_dir), best(info, "craters")]
        here.config.unlink()
        wait_until(lambda: "does not exist" in DaemonClient(info).ask(VAULTS)["problem"])
        found.append(states(info))
        return found

    ran, found = while_serving(here, here.daemons, ask)
    vault = str(here.sandbox.vault)
    assert found == [
        *("/vault/vault", vault, "Sky/Night sky.md", "Sky/Night sky.md", "Moon.md", vault),
        *(None, "Moon.md", {"other": "ready"}),
    ]
    assert (ran.code, ran.out) == (0, "")
    assert f"vault: {vault}, index in {index_dir}" in ran.err
    assert re.search(r"^Watching other, vault at http://127\.0\.0\.1:\d+\. Ctrl-C stops\.$", ran.err, re.M)
    assert read_daemon(here.daemons) is None
    assert set(known_vaults()) == {"vault"}, "the other had no index yet when it was opened"


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_second_daemon_is_refused_and_changes_nothing(here: CommandHere, is_shared: bool) -> None:
    two_vaults(here, "other")
    announced = here.daemons if is_shared else here.sandbox.index_dir
    place = ("--all-vaults",) if is_shared else here.sandbox.place

    def serve_again(info: DaemonInfo) -> tuple[int, str, bool]:
        second = here.sandbox.run("serve", *place)
        return second.code, second.err, read_daemon(announced) == info

    ran, (code, err, same) = while_serving(here, announced, serve_again, *place)
    assert (ran.code, code, same) == (0, 3, True)
    what = "folder" if is_shared else "index"
    assert re.search(rf"the {what} {re.escape(str(announced))} is in use by process \d+ \(the daemon\)", err)


def test_without_vaults_or_configuration_there_is_nothing_to_serve(here: CommandHere) -> None:
    ran = here.run("serve", "--all-vaults")
    assert (ran.code, ran.out) == (2, "")
    assert ran.complains(f"({here.config} does not exist)")
    here.configure("[index]\nworkers = 1\n")
    empty = here.run("serve", "--all-vaults")
    assert (empty.code, empty.out, "does not exist" in empty.err) == (2, "", False)
