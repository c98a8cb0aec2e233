"""Choose search settings on one half of the questions, and show on the other half whether they help.

The choice sees the part *tune* alone. What is reported comes from the part *aside*, which nothing was chosen
on. A choice is worth writing only where the lower bound of its paired difference on *aside* is not below 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import tomli

from vault_indexer.config import vault_config_file
from vault_indexer.config.file_edit import config_text, replace_config
from vault_indexer.config.schema import SCHEMA
from vault_indexer.config.settings import Settings
from vault_indexer.config.show import value_of
from vault_indexer.config.trust import vault_may_set
from vault_indexer.config.values import toml_text
from vault_indexer.daemon.assembly import Target
from vault_indexer.errors import UsageError
from vault_indexer.evals.questions import ASIDE, TUNE, Question
from vault_indexer.evals.ranking import (
    CONFIGURED,
    DEFAULT_K,
    Options,
    RankingReport,
    RankingRun,
    Report,
    Said,
    Slice,
    Variant,
    compare,
    parse_variants,
    run_ranking,
    settings_with,
    source_of,
)

WEIGHTS: tuple[tuple[float, float], ...] = tuple(
    (keyword, graph) for graph in (0.5, 0.0, 1.0) for keyword in (1.0, 0.7, 1.4, 0.5, 2.0)
)
"""Pairs of `search.weights.keyword` and `search.weights.graph` that are tried; only the ratio to the weight
of the vectors counts, so that stays 1."""

LEAST_QUESTIONS = 20
"""Of each half: with fewer, any choice is chance."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """What was chosen on *tune* and what it gives on *aside*, for one source of questions.

    `values` are the settings that differ from the active ones; none if those are the best. `is_better` says
    that the lower bound of the paired difference on *aside* is above 0.
    """

    source: str
    chosen: Variant
    values: Mapping[str, str]
    tune: RankingReport
    aside: RankingReport
    is_better: bool


def tuning_variants(strategies: Sequence[str] = ()) -> tuple[Variant, ...]:
    """The active configuration first, then all that are tried: each order and pair of weights with the
    active strategy and with each of `strategies`. Raises UsageError for a strategy that does not exist."""
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
    say: Said,
) -> Tuning:
    """Choose the variant with the best mean nDCG on *tune*; compare it with the active settings on *aside*.

    Raises UsageError for questions of more than one source, or too few of them.
    """
    sources = {source_of(one) for one in questions}
    if len(sources) != 1:
        named = ", ".join(sorted(sources)) or "none"
        raise UsageError(f"questions of one source are wanted, generated or a person's; there are {named}")
    run = run_ranking(target, questions, variants, k=k, report=report, say=say)
    sizes = {part: sum(one.part == part for one in run.questions) for part in (TUNE, ASIDE)}
    if min(sizes.values()) < LEAST_QUESTIONS:
        counts = ", ".join(f"{part} has {size}" for part, size in sizes.items())
        raise UsageError(f"each half needs {LEAST_QUESTIONS} questions: {counts}")
    return choose(run, variants, target.config.settings)


def choose(run: RankingRun, variants: Sequence[Variant], settings: Settings) -> Tuning:
    """The tuning that a run of all variants gives; the first of them is the active configuration."""
    baseline = variants[0].name
    on_tune = compare(run, baseline, part=TUNE)
    best = max(_whole(on_tune).rows, key=lambda row: row.ndcg.mean).variant
    chosen = next(one for one in variants if one.name == best)
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
    """Those options that differ from the settings, as TOML."""
    changed = settings_with(settings, options, "tuning")
    return {
        key: toml_text(value_of(changed, key))
        for key in options
        if value_of(changed, key) != value_of(settings, key)
    }


def apply(vault: Path, values: Mapping[str, str]) -> Path:
    """Write the values into the vault's `.indexer.toml`, which keeps its comments and other lines.

    The file is replaced atomically; a link is not followed. Returns its path. Raises VaultError if it cannot
    be read or written, UsageError if it is no regular file of TOML that this can change.
    """
    file = vault_config_file(vault)
    text = config_text(file, "the settings", follow_links=False) or ""
    new = with_values(text, values)
    _check(new, values, file)
    replace_config(file, new)
    return file


def with_values(text: str, values: Mapping[str, str]) -> str:
    """The TOML text with the values set: in their line where one stands, else in their table, else in a new
    table at the end. Comments stay, also one behind a value."""
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    for key, value in values.items():
        if key not in SCHEMA:
            raise UsageError(f"no setting {key!r}")
        if not vault_may_set(key, tomli.loads(f"v = {value}")["v"]):
            raise UsageError(f"{key} = {value}: a vault's file must not set this; use your own configuration")
        lines = _with_value(lines, key, value)
    return "".join(lines)


_TABLE = re.compile(r"^\s*\[(?P<name>[^\[\]]+)\]\s*(?:#.*)?$")
_ANY_TABLE = re.compile(r"^\s*\[")


def _with_value(lines: list[str], key: str, value: str) -> list[str]:
    table, _, name = key.rpartition(".")
    current = ""
    last_of_table = 0 if not table else None
    for at, line in enumerate(lines):
        header = _TABLE.match(line)
        if header:
            current = re.sub(r"\s|\"", "", header["name"])
        elif _ANY_TABLE.match(line):
            current = "\0"  # an array of tables: none of its lines are ours
        else:
            full = f"{current}.{name_of(line)}" if current else name_of(line)
            if full == key:
                return [*lines[:at], _replaced(line, value), *lines[at + 1 :]]
        if current == table and (header or line.strip()):
            last_of_table = at + 1
    if last_of_table is not None:
        return [*lines[:last_of_table], f"{name} = {value}\n", *lines[last_of_table:]]
    gap = ["\n"] if lines and lines[-1].strip() else []
    return [*lines, *gap, f"[{table}]\n", f"{name} = {value}\n"]


_ASSIGNMENT = re.compile(
    r"^(?P<before>\s*(?P<name>[\w.\s-]+?)\s*=\s*)(?P<value>\"[^\"]*\"|'[^']*'|[^#\"']*?)(?P<after>\s*(?:#.*)?)$"
)


def name_of(line: str) -> str:
    """The dotted name that the line gives a value to, "" for none."""
    found = _ASSIGNMENT.match(line.rstrip("\n"))
    return re.sub(r"\s", "", found["name"]) if found else ""


def _replaced(line: str, value: str) -> str:
    found = _ASSIGNMENT.match(line.rstrip("\n"))
    assert found is not None
    return f"{found['before']}{value}{found['after']}\n"


def _check(text: str, values: Mapping[str, str], file: Path) -> None:
    """Raises UsageError unless the text is TOML and holds the values."""
    try:
        root = tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        raise UsageError(
            f"{file}: cannot be changed by a program: {error}; set the values by hand"
        ) from error
    for key, value in values.items():
        found: object = root
        for name in key.split("."):
            found = found.get(name) if isinstance(found, dict) else None
        if toml_text(found) != value and found != tomli.loads(f"v = {value}")["v"]:
            raise UsageError(f"{file}: {key} cannot be changed by a program; set it to {value} by hand")


def _whole(report: RankingReport) -> Slice:
    return next(one for one in report.slices if one.name == "all")
