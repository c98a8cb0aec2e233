"""A request made ready for retrieval: parsed, filtered, corrected, analysed, embedded."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from vault_indexer.errors import ProviderError, QueryError
from vault_indexer.model import SearchRequest
from vault_indexer.ports import Embedder
from vault_indexer.search.concepts import expanded
from vault_indexer.search.filters import Allowed, allowed_chunks
from vault_indexer.search.knowledge import language_of, trust
from vault_indexer.search.query_ast import Condition
from vault_indexer.search.query_parser import parse_query
from vault_indexer.search.rarity import weighed
from vault_indexer.search.spelling import corrected
from vault_indexer.store.keyword_schema import FieldWeights
from vault_indexer.store.snapshot import Snapshot
from vault_indexer.text.query import analyze_query
from vault_indexer.text.terms import QueryTerm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vault_indexer.ports import Vectors

    Keys = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Asked:
    """`text` ranks ("": only filters), as corrected. `terms` are its words, each at its weight, `vector` its
    meaning, `trust` how far to trust that, in (0, 1]. `allowed` None: nothing is filtered."""

    text: str
    terms: tuple[QueryTerm, ...]
    vector: Vectors
    trust: float
    conditions: tuple[Condition, ...]
    allowed: Allowed | None
    notices: tuple[str, ...]

    @property
    def keys(self) -> Keys | None:
        """The chunks that may be found; None: all."""
        return None if self.allowed is None else self.allowed.keys

    @property
    def filters(self) -> tuple[str, ...]:
        """The conditions as written."""
        return tuple(condition.source for condition in self.conditions)


def asked(
    snapshot: Snapshot, request: SearchRequest, embedder: Embedder, weights: FieldWeights, now: datetime
) -> Asked:
    """Raises QueryError for a query that is wrong, or that says nothing. If the model cannot be used, words
    and links are searched without it, and that is said."""
    query = parse_query(request.query)
    if not query.text and not query.conditions:
        raise QueryError("there is nothing to look for", 1)
    allowed = allowed_chunks(snapshot, query.conditions, now)
    typing = request.as_you_type and query.open_end
    terms = analyze_query(query.text, snapshot.languages, typing=typing)
    text, corrections = corrected(snapshot, query.text, terms, weights)
    if corrections:
        terms = analyze_query(text, snapshot.languages, typing=typing)
    notices = [f"no match for {wrong!r}: searched for {right!r}" for wrong, right in corrections]
    if not request.as_you_type:
        notices = [*query.notices, *notices]
    if allowed is not None and not len(allowed.keys):
        notices.append(_nothing_left(query.conditions))
    # Among the words only: in the vector, expansions cost .03 to .09 nDCG@10.
    others = expanded(snapshot, text)
    vector, trouble = _meaning(snapshot, embedder, text)
    return Asked(
        text=text,
        terms=(*weighed(snapshot, terms), *others),
        vector=vector,
        trust=trust(embedder.model, language_of(text, snapshot.languages)),
        conditions=query.conditions,
        allowed=allowed,
        notices=(*notices, *trouble),
    )


def _meaning(snapshot: Snapshot, embedder: Embedder, text: str) -> tuple[Vectors, tuple[str, ...]]:
    try:
        return embedder.embed_query(text), ()
    except ProviderError as error:
        import numpy as np

        nowhere = np.zeros(snapshot.vectors.dimension, np.float32)
        return nowhere, (f"only words and links were searched: {error}",)


def _nothing_left(conditions: tuple[Condition, ...]) -> str:
    told = " ".join(condition.source for condition in conditions)
    return f"nothing fulfils {told} (put quotes around it to look for it as text)"
