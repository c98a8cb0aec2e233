"""One note is not "1 notes"."""

from __future__ import annotations

import re

import pytest
from cli_sandbox import Sandbox

from vault_indexer.cli.output.progress import note_rate
from vault_indexer.text.phrases import quantity

ONE_OF_MANY = re.compile(r"(?<![\d,.])1 (\w+s)\b")
"""A plural after the number one."""


@pytest.mark.parametrize(
    ("number", "shown"), [(0, "0 changes"), (1, "1 change"), (2, "2 changes"), (1200, "1,200 changes")]
)
def test_a_count_has_its_number(number: int, shown: str) -> None:
    assert quantity(number, "change") == shown


@pytest.mark.parametrize(("notes", "shown"), [(2, "1 note/s"), (3, "2 notes/s"), (4000, "2,000 notes/s")])
def test_so_does_a_rate(notes: int, shown: str) -> None:
    assert note_rate(notes, 2.0) == shown


@pytest.mark.long
def test_a_vault_of_one_note_is_reported_in_the_singular(tmp_path_factory: pytest.TempPathFactory) -> None:
    sandbox = Sandbox(tmp_path_factory.mktemp("one"))
    sandbox.write("Only.md", "# Only\n\nOne note.\n")
    (sandbox.vault / "Broken.md").write_bytes(b"\xff\xfe\x00not text")
    rebuilt = sandbox.indexer("rebuild")
    assert rebuilt.out.startswith("Indexed 1 note in ")
    assert "1 file skipped:" in rebuilt.err
    status = sandbox.indexer("status")
    assert "1 note, up to date, 1 skipped" in status.out
    for ran in (rebuilt, status):
        assert ONE_OF_MANY.findall(ran.out + ran.err) == []
