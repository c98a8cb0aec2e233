"""`indexer uninstall` lists and removes what the program wrote outside of vaults, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from command_here import CommandHere

from vault_indexer.cli.known_vaults import remember_vault


def files_of(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def used(copied_here: CommandHere) -> CommandHere:
    """A computer on which the program has been used: an index elsewhere with grades, an unfinished build
    in the state folder, a configuration next to a file of the user, and a service."""
    here, copied = copied_here, copied_here.sandbox
    here.configure(f'[vaults]\nnotes = "{copied.vault}"\n')
    (here.config.parent / "synonyms.txt").write_text("cat, kitten\n")
    remember_vault(copied.vault, copied.index_dir)
    (copied.index_dir / "evals").mkdir()
    (copied.index_dir / "evals" / "grades.json").write_text("{}")
    (copied.index_dir / "start.json").write_text("{}")
    (here.daemons.parents[1] / "Other-0123" / "generations" / "0001").mkdir(parents=True)
    here.daemons.mkdir(parents=True)
    unit = copied.root / "config" / "systemd" / "user" / "vault-indexer.service"
    unit.parent.mkdir(parents=True)
    unit.write_text("[Unit]\n")
    (copied.vault / ".indexer.toml").write_text("")
    return here


def test_a_dry_run_lists_everything_and_removes_nothing(used: CommandHere) -> None:
    root = used.sandbox.root
    before = files_of(root)
    ran = used.run("uninstall", "--dry-run")
    assert ran.code == 0, ran.err
    named = {line.split()[0]: line for line in ran.err.splitlines()}
    assert {"service", "index", "records", "configuration"} <= set(named)
    assert f"index          {used.sandbox.index_dir} (" in ran.err
    assert f"{used.daemons.parents[1] / 'Other-0123'}" in ran.err
    assert files_of(root) == before


def test_without_a_terminal_it_needs_yes(used: CommandHere) -> None:
    before = files_of(used.sandbox.root)
    ran = used.run("uninstall")
    assert ran.code == 2
    assert ran.err.endswith("\nindexer: uninstall: add --yes to remove this without a question\n")
    assert files_of(used.sandbox.root) == before


def test_it_removes_all_but_notes_grades_and_files_of_others(used: CommandHere) -> None:
    root, vault = used.sandbox.root, files_of(used.sandbox.vault)
    ran = used.run("uninstall", "--yes")
    assert ran.code == 0, ran.err
    kept = {
        used.sandbox.index_dir / "evals" / "grades.json": b"{}",
        used.config.parent / "synonyms.txt": b"cat, kitten\n",
    }
    assert files_of(root) == vault | kept
    assert not used.daemons.parents[1].exists()
    assert f"Other files stay in {used.sandbox.index_dir}." in ran.err
    assert used.run("uninstall").err == "Nothing is left to remove.\n"


def test_records_that_contain_a_vault_stay(used: CommandHere) -> None:
    notes = used.daemons.parents[1] / "logs" / "Notes"
    shutil.copytree(used.sandbox.vault, notes)
    used.configure(f'[vaults]\nnotes = "{notes}"\n')
    before = files_of(notes)
    assert used.run("uninstall", "--yes").code == 0
    assert files_of(notes) == before
