"""The duration of a pause. What `status`, `pause` and `resume` print: test_cli_states_in_words.py."""

from __future__ import annotations

from pathlib import Path

from golden_cases import check_golden

from vault_indexer.cli.commands.status import seconds
from vault_indexer.errors import UsageError


def test_a_time_is_read_as_a_person_writes_it() -> None:
    def read(length: str) -> str:
        try:
            return str(seconds(length))
        except UsageError as error:
            return str(error).removeprefix(f"--for {length}: ")

    check_golden(Path(__file__).parent / "fixtures" / "lengths.md", {"": read})
