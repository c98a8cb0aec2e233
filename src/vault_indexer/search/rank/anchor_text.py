"""The ranking by link text: notes whose links hold the query's words.

The text of a link is another author's name for its target. Neighbours of the strongest hits, by one hop, by
their number of links or by personalised PageRank, moved no measure beyond chance; the text of links did.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from vault_indexer.store import Snapshot
from vault_indexer.store.graph import LinkText
from vault_indexer.text.terms import QueryTerm
from vault_indexer.text.tokens import analyze

STRONGEST = 30
"""Only links to the strongest notes count: deeper ones changed nothing."""

_SHOWN = 3
"""At most this number of notes with such links are named. A rule of thumb."""


@dataclass(frozen=True, slots=True)
class AnchorMatch:
    """A note and how far links to it say what the query says, in (0, 1]; `via` are notes with such links."""

    path: str
    weight: float
    via: tuple[str, ...]


@dataclass(slots=True)
class _Texts:
    """Of the links to one note: how often their texts hold a term, and by which notes."""

    held: Counter[str] = field(default_factory=Counter)
    sources: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def match_anchor_text(
    snapshot: Snapshot, languages: Mapping[str, str], terms: Sequence[QueryTerm]
) -> list[AnchorMatch]:
    """Those of the notes (path to language) to which links with words of the query lead, best first.

    The weight is the query words' share that the texts hold, each word at its own weight, times n / (n + 1)
    for n links that hold it.
    """
    total = sum(term.weight for term in terms)
    words = [(term.weight, term.forms) for term in terms]
    texts = _texts(snapshot, languages)
    found = [_match(path, own, words, total) for path, own in texts.items()] if total else []
    return sorted((one for one in found if one.weight), key=lambda one: (-one.weight, one.path))


def _match(
    path: str, texts: _Texts, words: Iterable[tuple[float, frozenset[str]]], total: float
) -> AnchorMatch:
    weight = 0.0
    via: dict[str, None] = {}
    for worth, forms in words:
        held = forms & texts.held.keys()
        if held:
            links, form = max((texts.held[form], form) for form in held)
            weight += worth * links / (links + 1)
            via.update(dict.fromkeys(texts.sources[form]))
    return AnchorMatch(path, weight / total, tuple(via)[:_SHOWN])


def _texts(snapshot: Snapshot, languages: Mapping[str, str]) -> dict[str, _Texts]:
    """Of links with a text of their own: one without shows its target's path, which is indexed anyway."""
    shown = snapshot.graph.texts(languages)
    return {path: _texts_of(texts, languages[path]) for path, texts in shown.items()}


@lru_cache(maxsize=1 << 12)
def _texts_of(texts: tuple[LinkText, ...], language: str) -> _Texts:
    own = _Texts()
    for text, links, source in texts:
        for form in _forms(text, language):
            own.held[form] += links
            own.sources[form].append(source)
    return own


@lru_cache(maxsize=1 << 14)
def _forms(display: str, language: str) -> frozenset[str]:
    return frozenset(analyze(display, language))
