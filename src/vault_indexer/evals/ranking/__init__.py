"""How well search ranks: measures, their intervals, comparisons of configurations."""

from vault_indexer.evals.ranking.comparison import RankingReport, Slice, compare, source_of
from vault_indexer.evals.ranking.documents import as_json, as_markdown
from vault_indexer.evals.ranking.indices import Report, own_index
from vault_indexer.evals.ranking.measures import each_once
from vault_indexer.evals.ranking.run import (
    DEFAULT_K,
    RankingRun,
    Scores,
    ShowLine,
    plain_query,
    ranked_paths,
    run_ranking,
)
from vault_indexer.evals.ranking.variants import (
    CONFIGURED,
    DEFAULT_VARIANTS,
    Options,
    Variant,
    parse_variants,
    settings_with,
)

__all__ = [
    "CONFIGURED",
    "DEFAULT_K",
    "DEFAULT_VARIANTS",
    "Options",
    "RankingReport",
    "RankingRun",
    "Report",
    "Scores",
    "ShowLine",
    "Slice",
    "Variant",
    "as_json",
    "as_markdown",
    "compare",
    "each_once",
    "own_index",
    "parse_variants",
    "plain_query",
    "ranked_paths",
    "run_ranking",
    "settings_with",
    "source_of",
]
