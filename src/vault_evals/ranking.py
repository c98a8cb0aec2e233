"""Runs questions with several configurations, and measures the results for every question."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory

from vault_evals.generate import current_hashes, shadow_vault
from vault_evals.questions import Question
from vault_evals.statistics import each_once, judged, ndcg, recall, reciprocal_rank
from vault_evals.variants import (
    Report,
    Variant,
    built_index,
    own_index,
    parse_variants,
    settings_with,
    target_of_variant,
)
from vault_indexer.config.settings import SearchSettings, Settings
from vault_indexer.contract.marks import MAX_LIMIT, MAX_QUERY_BYTES
from vault_indexer.daemon.assembly import Target
from vault_indexer.errors import QueryError
from vault_indexer.model import SearchRequest
from vault_indexer.search import IndexReader, RepeatedQuery, Searcher
from vault_indexer.search.query import parse_query
from vault_indexer.store import Snapshot
from vault_indexer.system import record
from vault_indexer.text.phrases import quantity

DEFAULT_K = 10
POOL_DEPTH = 10
POOLED = ("keyword", "vector", "configured")
"""The variants whose notes the user grades."""

_SAY_EVERY_S = 10.0
_BEGINNING_LINES = 3
_BEGINNING_CHARS = 600
_OPERATORS = str.maketrans(dict.fromkeys('"[]()/:-|', " "))


@record
class Scores:
    """The scores of one configuration for one question; all in [0, 1]."""

    ndcg: float
    mrr: float
    recall: float
    judged: float


@record
class RankingRun:
    """The scores of every variant, in the order of `questions`.

    `stale` questions were not run, because a note that they were made from has changed, or all their expected
    notes are gone. They neither pass nor fail.
    """

    k: int
    questions: tuple[Question, ...]
    stale: tuple[Question, ...]
    scores: Mapping[str, tuple[Scores, ...]]
    seconds: float = 0.0


ShowLine = Callable[[str], None]

_Collected = dict[str, dict[str, Scores]]
"""The scores so far: by variant, by the id of the question."""


def run_ranking(
    target: Target,
    questions: Sequence[Question],
    variants: Sequence[Variant],
    *,
    k: int = DEFAULT_K,
    report: Report = lambda _: None,
    say: ShowLine = lambda _: None,
) -> RankingRun:
    """Runs every question with every variant; `k` notes of each answer count.

    User questions run on the vault's own index, or on one that is built for a variant. Generated questions
    run on a shadow of the vault in which their text is hidden. Temporary folders are removed at the end.
    `report` gets the progress of builds, `say` the current activity.
    """
    started = time.perf_counter()
    hashes = current_hashes(target, questions)
    fresh = [question for question in questions if not is_stale(question, hashes)]
    collected: _Collected = {variant.name: {} for variant in variants}
    by_person = [one for one in fresh if not one.is_generated]
    generated = [one for one in fresh if one.is_generated]
    with TemporaryDirectory(prefix="vault-indexer-eval-", ignore_cleanup_errors=True) as made:
        folder = Path(made).resolve()
        if by_person:
            place = _EvaluatedVault(target, target.vault, folder / "own", True, report, say)
            _ask_all(collected, place, by_person, variants, k)
        if generated:
            say(f"hiding the text of {len(generated)} questions in a shadow of the vault")
            with shadow_vault(target, generated, folder / "vault") as vault:
                place = _EvaluatedVault(target, vault, folder / "shadow", False, report, say)
                _ask_all(collected, place, generated, variants, k)
    asked = (*by_person, *generated)
    return RankingRun(
        k,
        asked,
        tuple(one for one in questions if is_stale(one, hashes)),
        {name: tuple(scores[one.id] for one in asked) for name, scores in collected.items()},
        time.perf_counter() - started,
    )


def is_stale(question: Question, hashes: Mapping[str, str]) -> bool:
    """Whether a note that the question was made from has changed, or all its expected notes are gone.

    `hashes` contains the hash of every relevant note that exists.
    """
    if any(hashes.get(path) != sha256 for path, sha256 in question.sha256.items()):
        return True
    return not any(path in hashes for path, grade in question.grades.items() if grade > 0)


@record
class _EvaluatedVault:
    """The vault that is searched, and the folder for its indices."""

    target: Target
    vault: Path
    folder: Path
    has_index: bool
    report: Report
    say: ShowLine


def _ask_all(
    collected: _Collected,
    place: _EvaluatedVault,
    questions: Sequence[Question],
    variants: Sequence[Variant],
    k: int,
) -> None:
    """Runs variants that share an index together: each index is built once, and results that do not depend on
    their settings are computed once per question."""
    groups: dict[tuple[tuple[str, str], ...], list[Variant]] = {}
    for variant in variants:
        groups.setdefault(tuple(sorted(variant.index_options.items())), []).append(variant)
    left = RemainingTime(len(groups), len(questions) * len(variants))
    for number, group in enumerate(groups.values()):
        with _index_of(place, group[0], number) as reader, reader.holder.lease() as snapshot:
            left.is_built()
            active = place.target.config.settings
            settings = {
                one.name: settings_with(active, one.options, f"variant {one.name}").search for one in group
            }
            of_all = f"index {number + 1} of {len(groups)}" if len(groups) > 1 else "one index"
            asked = f"of {len(questions)} questions asked of {quantity(len(group), 'variant')} ({of_all}"
            place.say(f"0 {asked}{left.text()})")
            for done, question in enumerate(questions, start=1):
                query = repeated_query(reader, snapshot, question, k)
                for name, one in settings.items():
                    collected[name][question.id] = _scores(query, one, question, k)
                left.is_asked(len(group))
                if left.is_due():
                    place.say(f"{done} {asked}{left.text()})")


class RemainingTime:
    """Estimates the remaining time of a run that builds some indices and runs some questions, from the
    durations of the first ones. `clock` returns seconds."""

    def __init__(self, indices: int, questions: int, clock: Callable[[], float] = time.perf_counter) -> None:
        """`questions` is the total over all variants."""
        self._indices, self._questions = indices, questions
        self._built = self._asked = 0
        self._building = self._asking = 0.0
        self._clock = clock
        self._since = self._said = clock()

    def is_built(self) -> None:
        self._built += 1
        self._building += self._passed()

    def is_asked(self, count: int) -> None:
        """Records that this number of questions was run since the last call."""
        self._asked += count
        self._asking += self._passed()

    def is_due(self) -> bool:
        """Whether nothing was reported for some seconds."""
        return self._since - self._said >= _SAY_EVERY_S

    def text(self) -> str:
        """The estimate of the remaining time: ", about 3 min left"; "" if it is not known yet."""
        self._said = self._since
        if not self._asked:
            return ""
        seconds = self._asking / self._asked * (self._questions - self._asked)
        seconds += self._building / self._built * (self._indices - self._built)
        minutes = round(seconds / 60)
        return f", about {minutes} min left" if minutes else f", about {math.ceil(seconds)} s left"

    def _passed(self) -> float:
        before, self._since = self._since, self._clock()
        return self._since - before


def _index_of(place: _EvaluatedVault, variant: Variant, number: int) -> AbstractContextManager[IndexReader]:
    target = place.target
    if place.has_index and not variant.index_options:
        return own_index(target, place.report)
    place.say(f"building an index for {variant.name}")
    changed = target_of_variant(target, place.vault, place.folder / f"{number:02}", variant)
    return built_index(changed, place.report, target.index_dir)


def _scores(query: RepeatedQuery | None, settings: SearchSettings, question: Question, k: int) -> Scores:
    found = query.paths(settings) if query else []
    paths = [path for path in each_once(found) if path not in question.excluded][:k]
    return Scores(
        ndcg(paths, question.grades, k),
        reciprocal_rank(paths, question.grades, k),
        recall(paths, question.grades, k),
        judged(paths, question.grades, k),
    )


def repeated_query(
    reader: IndexReader, snapshot: Snapshot, question: Question, k: int
) -> RepeatedQuery | None:
    """The words of a question, for runs with many settings; None if it has no words."""
    words = plain_query(question.text)
    limit = min(k + len(question.excluded), MAX_LIMIT)
    return RepeatedQuery(reader.searcher.embedder, snapshot, words, limit) if words else None


def ranked_paths(searcher: Searcher, snapshot: Snapshot, text: str, k: int) -> list[str]:
    """The first `k` distinct notes of the answer to a text."""
    words = plain_query(text)
    if not words:
        return []
    request = SearchRequest(words, min(k, MAX_LIMIT), by_note=True, min_relevance=0.0)
    return each_once(hit.path for hit in searcher.search(snapshot, request).hits)[:k]


def plain_query(text: str) -> str:
    """The text without anything that the query language would read as an operator: only the words are
    used."""
    text = text.encode()[:MAX_QUERY_BYTES].decode(errors="ignore").strip()
    try:
        query = parse_query(text)
        is_plain = bool(query.text) and not query.conditions
    except QueryError:
        is_plain = False
    return text if is_plain else " ".join(text.translate(_OPERATORS).split())


def pool_of(
    searcher: Searcher, snapshot: Snapshot, settings: Settings, text: str, depth: int = POOL_DEPTH
) -> list[str]:
    """The notes among the first `depth` of any of the pooled rankings, sorted by path."""
    found: set[str] = set()
    for variant in parse_variants(POOLED):
        own = searcher.with_settings(settings_with(settings, variant.options, variant.name).search)
        found.update(ranked_paths(own, snapshot, text, depth))
    return sorted(found)


@record
class PooledNote:
    """A note to be graded: its path, its title, and its snippet from the search, or its beginning."""

    path: str
    title: str
    excerpt: str


def pooled_notes(
    searcher: Searcher, snapshot: Snapshot, text: str, paths: Sequence[str]
) -> Iterator[PooledNote]:
    """The notes of a pool for display, in the order of `paths`; nothing in them reveals a rank."""
    if not paths:
        return
    request = SearchRequest(plain_query(text), MAX_LIMIT, by_note=True, min_relevance=0.0)
    snippets = {hit.path: hit.snippet for hit in searcher.search(snapshot, request).hits}
    for path in paths:
        row = snapshot.catalog.note(path)
        if row is not None:
            beginning = snapshot.catalog.text(row.note_id).strip().splitlines()[:_BEGINNING_LINES]
            excerpt = snippets.get(path) or "\n".join(beginning)[:_BEGINNING_CHARS]
            yield PooledNote(path, row.title, excerpt)
