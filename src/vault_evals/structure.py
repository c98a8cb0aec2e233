"""Layer 1: whether an answer has the expected shape: findings, their sources, their order."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vault_evals.agents import AgentAnswer
from vault_evals.cases import StructureExpected
from vault_evals.results import Outcome
from vault_evals.wording import holds

_SHOWN_PATHS = 5


class _Check(NamedTuple):
    passed: bool
    reason: str


def check_structure(expected: StructureExpected, answer: AgentAnswer) -> Outcome:
    """The outcome of all expected checks; the score is the share that passed."""
    checks = list(_checks(expected, answer))
    failed = tuple(check.reason for check in checks if not check.passed)
    return Outcome("fail" if failed else "pass", 1 - len(failed) / len(checks), failed)


def _checks(expected: StructureExpected, answer: AgentAnswer) -> Iterator[_Check]:
    paths = [_same_form(path) for path in answer.paths]
    found = len(answer.findings)
    if expected.min_findings is not None:
        enough = found >= expected.min_findings
        yield _Check(enough, f"min_findings: {found} of at least {expected.min_findings}")
    for source in expected.must_have_source:
        yield _Check(_same_form(source) in paths, f"must_have_source: {source} is not in {_shown(paths)}")
    if expected.sources_in_order:
        yield _in_order(expected.sources_in_order, paths)
    if expected.must_have_citation:
        cites = bool(answer.citations or answer.sources)
        yield _Check(cites, "must_have_citation: the answer cites nothing")
    for keyword in expected.forbidden_keywords_in_findings:
        yield _forbidden(keyword, answer)
    top = paths[: expected.expected_in_top_k]
    for path in expected.expected_paths:
        yield _Check(_same_form(path) in top, f"expected_paths: {path} {_rank(path, paths, len(top))}")
    if expected.expected_empty:
        empty = answer.declined or not answer.findings
        yield _Check(empty, f"expected_empty: found {_shown(paths)}")


def _in_order(sources: Sequence[str], paths: Sequence[str]) -> _Check:
    missing = [source for source in sources if _same_form(source) not in paths]
    if missing:
        return _Check(False, f"sources_in_order: {', '.join(missing)} not in {_shown(paths)}")
    places = [paths.index(_same_form(source)) + 1 for source in sources]
    ranks = ", ".join(f"{source} at {place}" for source, place in zip(sources, places, strict=True))
    return _Check(places == sorted(set(places)), f"sources_in_order: {ranks}")


def _forbidden(keyword: str, answer: AgentAnswer) -> _Check:
    where = [finding.path for finding in answer.findings if holds(finding.text, keyword)]
    return _Check(not where, f"forbidden_keywords_in_findings: {keyword!r} stands in {_shown(where)}")


def _rank(path: str, paths: Sequence[str], top: int) -> str:
    if _same_form(path) not in paths:
        return f"is not in {_shown(paths)}"
    return f"is note {paths.index(_same_form(path)) + 1}, expected among the first {top}"


def _shown(paths: Sequence[str]) -> str:
    more = len(paths) - _SHOWN_PATHS
    return ", ".join(paths[:_SHOWN_PATHS]) + (f" and {more} more" if more > 0 else "") or "nothing"


def _same_form(path: str) -> str:
    return unicodedata.normalize("NFC", path)
