"""How well questions are answered without a model: does the answer stand in the quoted sentences, and is a
question declined that no note answers.

    python benchmarks/ask.py DATA [--work DIR] [--sets NAME,…] [--large FOLDER] [--misses N] [--table]

The sets: `XQuAD <language>` (every paragraph a note; a question counts as answered if the text of an answer
stands in a quoted sentence), `near <language>` (every other paragraph hidden; the questions on those have no
answer, though other paragraphs of their article are there), `far <language>` (half of the articles hidden;
the questions on them have no answer), `obsidian-help` (judged queries: answered if a judged note is quoted)
and its queries without an answer. Every citation of every answer is compared with its file. Figures are of
the part kept aside, and of all.
`ms` is the processor time of a whole answer, and of a search alone, in the median. Prints Markdown.

With `--large`, the time on that vault is printed as well, for the first 50 judged queries. `--table`
prints the table of `ask_table` instead; its vaults are parts of the one of `--large`.
"""

from __future__ import annotations

import hashlib
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ask_table import print_table
from quality.engine import plain
from quality.queries import ASIDE, Query, read_queries
from quality.sets import judged, written
from quality.unanswerable import is_kept_far, is_kept_near, languages_in, numbered_paragraphs
from quality.written import QUERIES
from search_quality import folder, is_wanted, options
from vault_indexer import open_vault
from vault_indexer.api import Vault
from vault_indexer.model import AskAnswer

ANSWERED_BAR, DECLINED_BAR, LARGE_BAR_MS = 0.75, 0.9, 200.0

IsAnswer = Callable[[AskAnswer], bool]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and what tells whether an answer to it is right; None: the vault has no answer."""

    text: str
    is_right: IsAnswer | None

    @property
    def is_aside(self) -> bool:
        """Whether it is kept aside from tuning."""
        return Query("", self.text, {}).split == ASIDE


@dataclass(frozen=True, slots=True)
class AskSet:
    """A vault and what is asked of it."""

    name: str
    vault: Path
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its answer and the processor time of answer and search, in ms."""

    question: Question
    answer: AskAnswer
    ask_ms: float
    search_ms: float


def ask_sets(data: Path, work: Path) -> Iterator[AskSet]:
    """All sets."""
    for language in languages_in(data / "bench" / "xquad"):
        yield _xquad(data, work, f"XQuAD {language}", language, lambda *_: True)
        yield _xquad(data, work, f"near {language}", language, is_kept_near)
        yield _xquad(data, work, f"far {language}", language, is_kept_far)
    help_vault = judged("obsidian-help", data / "vaults" / "obsidian-help")
    without = read_queries(QUERIES / "unanswerable.txt", ())
    questions = [Question(query.text, _quotes_any(query)) for query in help_vault.queries]
    questions += [Question(query.text, None) for query in without]
    yield AskSet("obsidian-help", help_vault.vault, tuple(questions))


def _xquad(data: Path, work: Path, name: str, language: str, is_kept: Callable[[int, int], bool]) -> AskSet:
    notes: dict[str, str] = {}
    questions: list[Question] = []
    for path, kept, paragraph in numbered_paragraphs(data / "bench" / "xquad", language, is_kept):
        if kept:
            notes[path] = paragraph["context"]
        for one in paragraph["qas"]:
            texts = [answer["text"] for answer in one["answers"]]
            questions.append(Question(one["question"], _holds(path, texts) if kept else None))
    vault = written(work / f"ask-{name.replace(' ', '-')}", notes)
    return AskSet(name, vault, tuple(questions))


def _holds(path: str, texts: Sequence[str]) -> IsAnswer:
    def is_right(answer: AskAnswer) -> bool:
        cited = [one for sentence in answer.sentences for one in sentence.citations]
        return any(text in one.quote for one in cited for text in texts if one.path == path)

    return is_right


def _quotes_any(query: Query) -> IsAnswer:
    def is_right(answer: AskAnswer) -> bool:
        cited = [one for sentence in answer.sentences for one in sentence.citations]
        return any(query.grades.get(one.path, 0) > 0 for one in cited)

    return is_right


def asked(vault: Vault, questions: Sequence[Question]) -> Iterator[Asked]:
    """Ask every question, and search for it."""
    for question in questions:
        text = plain(question.text)
        before = time.process_time()
        vault.search(text)
        between = time.process_time()
        answer = vault.ask(text, use_model=False)
        after = time.process_time()
        yield Asked(question, answer, (after - between) * 1000, (between - before) * 1000)


def wrong_citations(answer: AskAnswer, vault: Path) -> list[str]:
    """The ids of the citations that do not say what stands in the file."""
    found = []
    for sentence in (*answer.sentences, *answer.dropped):
        for one in sentence.citations:
            text = (vault / one.path).read_bytes().decode("utf-8-sig", "replace")
            quote = text[one.start_pos : one.end_pos]
            lines = text.count("\n", 0, one.start_pos) + 1, text.count("\n", 0, one.end_pos) + 1
            digest = hashlib.sha256(quote.encode()).hexdigest()
            if (quote, digest, lines) != (one.quote, one.sha256, (one.start_line, one.end_line)):
                found.append(one.id)
    return found


def _share(flags: Sequence[bool]) -> str:
    return f"{sum(flags) / len(flags):.3f}" if flags else "–"


def rows(name: str, found: Sequence[Asked], vault: Path) -> Iterator[str]:
    """A Markdown row for the part kept aside and one for all questions."""
    for part, chosen in (("aside", [one for one in found if one.question.is_aside]), ("all", list(found))):
        known = [one for one in chosen if one.question.is_right]
        others = [one for one in chosen if not one.question.is_right]
        right = [bool(one.question.is_right and one.question.is_right(one.answer)) for one in known]
        declined = [one.answer.kind == "declined" for one in others]
        silent = [one.answer.kind in ("declined", "passages") for one in others]
        refused = [one.answer.kind == "declined" for one in known]
        wrong = sum(len(wrong_citations(one.answer, vault)) for one in chosen)
        yield (
            f"| {name} | {part} | {len(known)} | {_share(right)} | {_share(refused)} | {len(others)} |"
            f" {_share(declined)} | {_share(silent)} | {wrong} | {_times(chosen)} |"
        )


def _times(found: Sequence[Asked]) -> str:
    ask, search = (
        statistics.median(times)
        for times in ([one.ask_ms for one in found], [one.search_ms for one in found])
    )
    return f"{ask:.1f} / {search:.1f}"


def large_rows(vault: Path, work: Path) -> Iterator[str]:
    """The time on a large vault."""
    queries = read_queries(
        QUERIES / "large.txt", [path.relative_to(vault).as_posix() for path in vault.rglob("*.md")]
    )
    with open_vault(vault, work / "ask-index-large") as opened:
        found = list(asked(opened, [Question(query.text, None) for query in queries[:50]]))
    beyond = statistics.median(one.ask_ms - one.search_ms for one in found)
    yield f"\nlarge: {_times(found)} ms; beyond the search {beyond:.1f} ms, bar {LARGE_BAR_MS:g}"


def main() -> None:
    """Print the table."""
    parser = options(__doc__, chosen="")
    parser.add_argument("--misses", type=int, default=0)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if given.data is None:
        parser.error("DATA is missing")
    if given.table:
        with folder(given.work) as work:
            print_table(given.data, given.large, work, misses=bool(given.misses))
        return
    print(
        "| set | part | known | answered | declined | unknown | declined | no sentence | wrong |"
        " ms ask / search |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    with folder(given.work) as work:
        for one in ask_sets(given.data, work):
            if not is_wanted(one.name, given.sets):
                continue
            with open_vault(one.vault, work / f"index-{one.name.replace(' ', '-')}") as vault:
                found = list(asked(vault, one.questions))
            for row in rows(one.name, found, one.vault):
                print(row, flush=True)
            for miss in _misses(found)[: given.misses]:
                print(f"- {miss}")
        if given.large is not None:
            for row in large_rows(given.large, work):
                print(row)
    print(f"\nbars: answered ≥ {ANSWERED_BAR}, declined ≥ {DECLINED_BAR}, wrong citations 0")


def _misses(found: Sequence[Asked]) -> list[str]:
    known = [one for one in found if one.question.is_right and not one.question.is_aside]
    return [
        f"{one.question.text} → {one.answer.kind}: {[sentence.text for sentence in one.answer.sentences]}"
        for one in known
        if one.question.is_right and not one.question.is_right(one.answer)
    ]


if __name__ == "__main__":
    main()
