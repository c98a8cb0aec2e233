"""One ranking of all candidates: the stages, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vault_indexer.config.settings import SearchSettings
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank.candidates import Candidates, RankRequest
from vault_indexer.search.rank.chunk_coverage import cover
from vault_indexer.search.rank.complete import complete
from vault_indexer.search.rank.fuse import fuse
from vault_indexer.search.rank.link import link
from vault_indexer.search.rank.note_evidence import weigh_notes
from vault_indexer.search.rank.notes import group
from vault_indexer.search.rank.recency import age
from vault_indexer.search.rank.rerank import rerank
from vault_indexer.search.rank.retrieve import retrieve
from vault_indexer.search.rank.titles import first_chunks_by_name, name

MIN_CANDIDATES = 60
"""Each ranking gives at least this many: what both half know is found deep in each. With 100 nDCG@10 is .004
higher on the help vault, .002 lower on the large one and the same on all others; a search takes longer."""

Stage = Callable[[Candidates, RankRequest], None]

STAGES: tuple[Stage, ...] = (
    retrieve,
    link,
    fuse,
    complete,
    weigh_notes,
    cover,
    rerank,
    age,
    group,
    name,
)
"""Each adds candidates or fills columns; see the module of each. Three rankings (`retrieve`, `link`) become
one list (`fuse`). All evidence for its first rows is gathered (`complete`, `weigh_notes`, `cover`) and orders
them (`rerank`). Then come the rules on age, notes and names."""


def depth_of(settings: SearchSettings, limit: int) -> int:
    """How many chunks each ranking gives for an answer of so many hits."""
    return settings.candidates or max(MIN_CANDIDATES, 2 * limit)


def rank(
    queries: Sequence[PreparedQuery], settings: SearchSettings, *, by_note: bool, limit: int
) -> Candidates:
    """All candidates of a query that has words, best first, those of several vaults as those of one.

    Cosines and statistics of words have to be comparable: the models are the same, and so are the collections
    of words (`WordStatistics`). With `by_note` each note is there once, by its best chunk.
    """
    request = RankRequest(queries, settings, limit, by_note)
    table = Candidates(depth_of(settings, limit))
    table.named = first_chunks_by_name(queries)
    for stage in STAGES:
        stage(table, request)
    table.take(table.best_first(table.score))
    return table
