"""The keys of a hit that a request chooses, and one that costs more than reading a field."""

from __future__ import annotations

from dataclasses import replace

from vault_indexer.contract.codec import json_fields
from vault_indexer.contract.marks import OMIT_EMPTY
from vault_indexer.errors import UsageError
from vault_indexer.model import Hit, SearchAnswer, Shares, Why

_NAME_CHARS = 60


def hit_keys(fields: str) -> frozenset[str] | None:
    """The keys that the parameter `fields` names; None means all.

    Raises UsageError for a key that hits do not have.
    """
    wanted = frozenset(name.strip() for name in fields.split(",") if name.strip())
    keys = json_fields(Hit)
    unknown = sorted(wanted - {one.key for one in keys})
    if unknown:
        known = sorted(one.key for one in keys if OMIT_EMPTY not in one.marks)
        named = ", ".join(repr(name[:_NAME_CHARS]) for name in unknown)
        raise UsageError(f"fields: a hit has no key {named}; it has {', '.join(known)}")
    return wanted or None


def with_shares(answer: SearchAnswer) -> SearchAnswer:
    """The answer with the `shares` of each hit."""
    strongest = max((hit.why.keyword.score for hit in answer.results if hit.why.keyword), default=0.0)
    hits = (replace(hit, shares=_shares(hit.why, strongest)) for hit in answer.results)
    return replace(answer, results=tuple(hits))


def _shares(why: Why, strongest: float) -> Shares:
    return Shares(
        words=why.keyword.score / strongest if why.keyword and strongest > 0 else 0.0,
        meaning=why.vector.score if why.vector else 0.0,
        links=why.graph.score if why.graph else 0.0,
    )
