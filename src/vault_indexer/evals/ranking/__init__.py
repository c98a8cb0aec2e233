"""How well search ranks: measures, their intervals, comparisons of configurations."""

from vault_indexer.evals.ranking.comparison import RankingReport, compare, source_of
from vault_indexer.evals.ranking.documents import as_json, as_markdown
from vault_indexer.evals.ranking.indices import own_index
from vault_indexer.evals.ranking.run import DEFAULT_K, RankingRun, Scores, plain_query, run_ranking
from vault_indexer.evals.ranking.variants import DEFAULT_VARIANTS, Variant, parse_variants

__all__ = [
    "DEFAULT_K",
    "DEFAULT_VARIANTS",
    "RankingReport",
    "RankingRun",
    "Scores",
    "Variant",
    "as_json",
    "as_markdown",
    "compare",
    "own_index",
    "parse_variants",
    "plain_query",
    "run_ranking",
    "source_of",
]
