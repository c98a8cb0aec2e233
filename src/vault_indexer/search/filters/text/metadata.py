"""Titles, aliases, tags and properties of notes: a phrase is found there as it is in the text."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from vault_indexer.model import names_of_json
from vault_indexer.parse import property_lines
from vault_indexer.search.deadline import WorkBudget
from vault_indexer.search.filters import costs
from vault_indexer.search.filters.candidates import Pattern, TextCandidates
from vault_indexer.search.filters.matches import Ids
from vault_indexer.search.filters.text.pattern_search import PatternSearch
from vault_indexer.search.filters.text_pattern import SearchedText, TextPattern
from vault_indexer.search.query import RegexMatcher, encode
from vault_indexer.store.catalog import CatalogReader

_BETWEEN_TEXTS = "\n\n"
"""One search for all: a blank line keeps a phrase within one of them."""


class MetadataReader:
    """Looks for patterns in titles, aliases, tags and properties.

    `TextReader` owns one, for one query over one snapshot in one thread. Of notes that the keyword index lets
    through the metadata are read, once between two calls of `forget`. Reading and looking count in the
    budget, but do not stop where it is spent.
    """

    def __init__(
        self,
        catalog: CatalogReader,
        budget: WorkBudget,
        candidates: TextCandidates,
        position: Callable[[int], int],
        search: PatternSearch,
    ) -> None:
        """`position` gives the place of a note in the masks of the candidates."""
        self._catalog = catalog
        self._budget = budget
        self._candidates = candidates
        self._position = position
        self._search = search
        self._read: dict[int, tuple[str, bool]] = {}

    def forget(self) -> None:
        """Forget what was read."""
        self._read = {}

    def notes_with(self, pattern: Pattern, notes: Ids) -> Ids:
        """Those of the notes with the pattern in title, an alias, a tag or a property. All of them are looked
        through at once first."""
        if not notes:
            return notes
        bare, with_properties = self._candidates.of_names(pattern)
        at = {note_id: self._position(note_id) for note_id in sorted(notes)}
        likely = [note_id for note_id, position in at.items() if with_properties[position]]
        self._load([note_id for note_id in likely if note_id not in self._read])
        likely = [note_id for note_id in likely if self._read[note_id][1] or bare[at[note_id]]]
        if isinstance(pattern, TextPattern) or not pattern.has_flags:
            together = _BETWEEN_TEXTS.join(self._read[note_id][0] for note_id in likely)
            if not self._search.may_hold(pattern, SearchedText(encode(together))):
                return frozenset()
        return frozenset(note_id for note_id in likely if self._is_in(pattern, self._read[note_id][0]))

    def _is_in(self, pattern: Pattern, metadata: str) -> bool:
        if isinstance(pattern, RegexMatcher):
            return self._search.find(pattern, encode(metadata)) is not None
        searched = SearchedText(metadata)
        self._budget.spend(costs.TEST)
        self._search.count_chars(pattern, searched, len(metadata))
        return pattern.is_in(searched)

    def _load(self, notes: Sequence[int]) -> None:
        """Read the metadata of notes as one text each, and whether they have properties."""
        sql = "SELECT note_id, title, aliases, tags, frontmatter FROM notes WHERE note_id IN (%s)"
        self._budget.spend(costs.NAMED * len(notes))
        for note_id, title, aliases, tags, frontmatter in self._catalog.rows_in(sql, notes):
            texts = [title]
            for several in (aliases, tags):
                texts += names_of_json(several)
            has_properties = frontmatter != "{}"
            if has_properties:
                self._budget.spend(costs.PROPERTY_CHAR * len(frontmatter))
                texts += property_lines(json.loads(frontmatter))
            self._read[note_id] = _BETWEEN_TEXTS.join(texts), has_properties
