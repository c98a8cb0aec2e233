"""Which candidates become questions: a sample that nobody chose, at most one a target and a source."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from vault_indexer.evals.generate.candidates import Candidate, Survey
from vault_indexer.evals.questions import GENERATED_KINDS, LINK, Edit, Question, question_id

DEFAULT_PER_KIND = 300


def choose_questions(
    survey: Survey, per_kind: int = DEFAULT_PER_KIND, kinds: Sequence[str] = GENERATED_KINDS
) -> list[Question]:
    """Up to `per_kind` questions of each kind, in the order of a SHA-256 of what they are.

    Within a kind no two questions share a target or a source. No two questions of all hide the same text.
    """
    taken: dict[str, list[Edit]] = {}
    questions: list[Question] = []
    for kind in kinds:
        targets: set[str] = set()
        sources: set[str] = set()
        for one in sorted((one for one in survey.candidates if one.kind == kind), key=_order):
            if len(targets) >= per_kind:
                break
            if one.target in targets or one.source in sources or _overlaps(one, taken):
                continue
            targets.add(one.target)
            sources.add(one.source)
            for edit in one.edits:
                taken.setdefault(edit.path, []).append(edit)
            questions.append(_question(one, survey))
    return questions


def _question(one: Candidate, survey: Survey) -> Question:
    return Question(
        id=question_id(one.kind, one.target, one.source, one.text),
        text=one.text,
        grades={one.target: 1},
        kind=one.kind,
        language=one.language,
        excluded=(one.source,) if one.kind == LINK else (),
        edits=one.edits,
        sha256={path: survey.sha256[path] for path in dict.fromkeys((one.target, one.source))},
    )


def _order(one: Candidate) -> bytes:
    return hashlib.sha256("\0".join((one.kind, one.target, one.source, one.text)).encode()).digest()


def _overlaps(one: Candidate, taken: dict[str, list[Edit]]) -> bool:
    return any(
        edit.start < other.end and other.start < edit.end
        for edit in one.edits
        for other in taken.get(edit.path, ())
    )
