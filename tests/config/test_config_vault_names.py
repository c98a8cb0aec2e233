"""The name of a vault that has none."""

from __future__ import annotations

from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from vault_indexer.config import is_vault_name, vault_name_of


@example("a" * 41)
@example("a" * 39 + " b")
@given(st.text(st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1, max_size=60))
def test_a_name_made_from_a_folder_may_stand_in_the_table(folder: str) -> None:
    assert is_vault_name(vault_name_of(Path("/notes", folder)))
