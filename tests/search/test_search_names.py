"""Conditions on paths and file names: short ones by SQLite, long ones over all names at once."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from indexed_vault import Indexed
from query_trees import trees

from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.filters.path_filter import NameReader, name_contains
from vault_indexer.search.filters.text_pattern import plain
from vault_indexer.search.query import Node, Phrase, Regex, Scope, Word, holds

LEAVES: st.SearchStrategy[Node] = st.sampled_from(
    [
        *(Word(text, 0) for text in ("garden", "e", "md", "/", ".", "Sky", "zz", "é", "компост")),
        *(Phrase(text, 0, match_case=True) for text in ("Sky", "sky")),
        *(Regex(text, 0) for text in ("^g", r"\.md$", "o{2}")),
    ]
)
TREES = trees(LEAVES, parts=(2, 4))


@pytest.mark.parametrize("scope", [Scope.PATH, Scope.FILE])
@settings(deadline=None, max_examples=80)
@given(TREES)
def test_names_are_those_of_each_looked_at_by_itself(indexed: Indexed, scope: Scope, inside: Node) -> None:
    with indexed[1].holder.lease() as snapshot:
        rows = snapshot.catalog.rows("SELECT note_id, path FROM notes")
        found = NameReader(snapshot.catalog, QueryDeadline(600)).notes_with(scope, inside)
    names = {note_id: path.rpartition("/")[2] if scope is Scope.FILE else path for note_id, path in rows}
    wanted = {
        note_id
        for note_id, name in names.items()
        if holds(inside, lambda leaf: name_contains(name, plain(name), leaf))  # noqa: B023
    }
    assert found == wanted
