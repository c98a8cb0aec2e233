"""Chooses search settings on one half of the questions, and tests them on the other half.

The choice uses only the part *tune*. The report uses the part *aside*, which did not influence the choice. A
choice is worth writing only if the lower bound of its paired difference on *aside* is not below 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import tomli

from vault_evals.comparison import RankingReport, Slice, compare, source_of
from vault_evals.questions import ASIDE, TUNE, Question
from vault_evals.ranking import DEFAULT_K, RankingRun, ShowLine, run_ranking
from vault_evals.variants import CONFIGURED, Options, Report, Variant, parse_variants, settings_with
from vault_indexer.config.edits import config_text, replace_config, with_values
from vault_indexer.config.schema import SCHEMA, value_of, vault_may_set
from vault_indexer.config.settings import Settings
from vault_indexer.config.values import toml_text
from vault_indexer.daemon.assembly import Target
from vault_indexer.errors import UsageError
from vault_indexer.system import VAULT_CONFIG_NAME, record

WEIGHTS: tuple[tuple[float, float], ...] = tuple(
    (keyword, graph) for graph in (0.5, 0.0, 1.0) for keyword in (1.0, 0.7, 1.4, 0.5, 2.0)
)
"""The pairs of `search.weights.keyword` and `search.weights.graph` to try. Only the ratio to the weight of
the vectors matters, so that one stays 1."""

LEAST_QUESTIONS = 20
"""The minimum number of questions in each half: with fewer, any choice is chance."""


@record
class Tuning:
    """The settings chosen on *tune* and their results on *aside*, for one source of questions.

    `values` are the settings that differ from the active ones; empty if those are the best. `is_better` means
    that the lower bound of the paired difference on *aside* is above 0.
    """

    source: str
    chosen: Variant
    values: Mapping[str, str]
    tune: RankingReport
    aside: RankingReport
    is_better: bool


def tuning_variants(strategies: Sequence[str] = ()) -> tuple[Variant, ...]:
    """The active configuration first, then all candidates: each order and pair of weights with the active
    strategy and with each of `strategies`. Raises UsageError for an unknown strategy."""
    tried = [Variant(CONFIGURED, {})]
    for one in (Variant("", {}), *parse_variants(strategies)):
        tried += [Variant(one.name, one.options)] if one.options else []
        for order, rerank in (("evidence", "100"), ("rrf", "0")):
            for keyword, graph in WEIGHTS:
                name = " ".join(filter(None, (one.name, order, f"1:{keyword:g}:{graph:g}")))
                tried.append(Variant(name, {**one.options, **_weights(rerank, keyword, graph)}))
    return tuple(tried)


def _weights(rerank: str, keyword: float, graph: float) -> Options:
    return {
        "search.rerank": rerank,
        "search.weights.vector": "1",
        "search.weights.keyword": f"{keyword:g}",
        "search.weights.graph": f"{graph:g}",
    }


def tune(
    target: Target,
    questions: Sequence[Question],
    variants: Sequence[Variant],
    *,
    k: int = DEFAULT_K,
    report: Report,
    say: ShowLine,
) -> Tuning:
    """Chooses the variant with the best mean nDCG on *tune* and compares it with the active settings on
    *aside*.

    Raises UsageError for questions of more than one source, or too few of them.
    """
    sources = {source_of(question) for question in questions}
    if len(sources) != 1:
        named = ", ".join(sorted(sources)) or "none"
        raise UsageError(f"use questions of one source, generated or a person's; there are {named}")
    run = run_ranking(target, questions, variants, k=k, report=report, say=say)
    sizes = {part: sum(one.part == part for one in run.questions) for part in (TUNE, ASIDE)}
    if min(sizes.values()) < LEAST_QUESTIONS:
        counts = ", ".join(f"{part} has {size}" for part, size in sizes.items())
        raise UsageError(f"each half needs {LEAST_QUESTIONS} questions: {counts}")
    return choose(run, variants, target.config.settings)


def choose(run: RankingRun, variants: Sequence[Variant], settings: Settings) -> Tuning:
    """The tuning that follows from a run of all variants; the first of them is the active configuration."""
    baseline = variants[0].name
    on_tune = compare(run, baseline, part=TUNE)
    best = max(_whole(on_tune).rows, key=lambda row: row.ndcg.mean).variant
    chosen = next(variant for variant in variants if variant.name == best)
    # Only the chosen variant: each further comparison would raise its p-value (Holm).
    kept = {baseline: run.scores[baseline], best: run.scores[best]}
    two = RankingRun(run.k, run.questions, run.stale, kept, run.seconds)
    on_aside = compare(two, baseline, part=ASIDE)
    against = next((row.against for row in _whole(on_aside).rows if row.variant == best), None)
    return Tuning(
        _whole(on_tune).source,
        chosen,
        changed_values(settings, chosen.options),
        on_tune,
        on_aside,
        is_better=against is not None and against.difference.low > 0,
    )


def changed_values(settings: Settings, options: Options) -> dict[str, str]:
    changed = settings_with(settings, options, "tuning")
    return {
        key: toml_text(value_of(changed, key))
        for key in options
        if value_of(changed, key) != value_of(settings, key)
    }


def apply(vault: Path, values: Mapping[str, str]) -> Path:
    """Writes the values into the vault's `.indexer.toml`, and preserves its comments and other lines.

    The file is replaced atomically; a link is not followed. Returns its path. Raises VaultError if it cannot
    be read or written, UsageError if it is not a regular TOML file that this function can change.
    """
    file = vault / VAULT_CONFIG_NAME
    text = config_text(file, "the settings", follow_links=False) or ""
    new = with_settings(text, values, file)
    replace_config(file, new)
    return file


def with_settings(text: str, values: Mapping[str, str], file: Path) -> str:
    """The text of a vault's configuration with values for these keys, each written as TOML. Comments are
    preserved.

    Raises UsageError for a key that does not exist or that a vault must not set, and the errors of
    `with_values`.
    """
    new: dict[tuple[str, ...], object] = {}
    for key, written in values.items():
        value = tomli.loads(f"v = {written}")["v"]
        if key not in SCHEMA:
            raise UsageError(f"no setting {key!r}")
        if not vault_may_set(key, value):
            raise UsageError(
                f"{key} = {written}: a vault's file must not set this; use your own configuration"
            )
        new[tuple(key.split("."))] = value
    return with_values(text, new, file)


def _whole(report: RankingReport) -> Slice:
    return next(one for one in report.slices if one.name == "all")
