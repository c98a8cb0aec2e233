"""What is quoted of a note, and in which order: lists, rows and code, and the worth of a sentence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts
from hit_maker import make_hit

from vault_indexer.answer.asked_kind import AskedKind
from vault_indexer.answer.evidence import Question
from vault_indexer.answer.extract import choose_quotes, is_supported
from vault_indexer.answer.quotable import LONGEST_CODE, LONGEST_LIST, quotable, whole_steps
from vault_indexer.answer.sentences import NoteText, Sentence
from vault_indexer.model import NoteRow
from vault_indexer.search import QuestionWord

ROW = NoteRow(1, "n.md", "Tower", "en", "{}", "[]", "[]", 0)
HIT = make_hit("n.md", title="Tower", chunk_id="n_chunk_0", end_pos=10)


def quoted(text: str, *parts: str, code: str = "") -> list[tuple[str, str]]:
    """What these parts of a note make as quotes: as written, and as read. `code` is the block of code."""
    note = NoteText(ROW, text, "")
    at = text.find(code)
    block = (at, at + len(code)) if code else None
    sentences, start = [], 0
    for part in parts:
        start = text.index(part, start)
        within = block if block and block[0] <= start < block[1] else None
        sentences.append(Sentence(note, start, start + len(part), part, 0, within))
        start += len(part)
    return [(one.quote, one.readable) for one in quotable(sentences)]


def chosen_of(words: str, options: str, *sentences: str) -> list[str]:
    read = [(text, int(hit)) for hit, _, text in (one.partition(" ") for one in sentences)]
    return chosen(words, *read, **json.loads(options))


def step(text: str, part: str) -> str:
    start = text.index(part)
    return whole_steps(Sentence(NoteText(ROW, text, ""), start, start + len(part), part, 0)).quote


def test_parts_of_notes_are_quoted_as_the_golden_says() -> None:
    check_golden(
        Path(__file__).parent / "fixtures" / "quoted_parts.md",
        {
            "A lead-in is quoted with all its list, and without one not at all": lambda text: str(
                quoted(text, text.partition("\n")[0])
            ),
            "What is only links or bold is no quote": lambda text: str(quoted(text, text)),
            "A step is quoted with the other steps": of_parts(step),
            "The quotes for a question of some words": of_parts(chosen_of),
        },
    )
    assert step("Do:\n1. " + "x" * LONGEST_LIST + "\n2. two", "2. two") == "2. two"


def test_a_list_of_a_thousand_characters_is_quoted_and_a_longer_one_is_not() -> None:
    item = "- " + "x" * 96 + "\n"  # 99 characters
    fits = "Take:\n" + item * 10
    assert quoted(fits, "Take:")[0][0] == fits.rstrip()
    assert LONGEST_LIST == 1_000
    assert quoted("Take:\n" + item * 11 + "- last\n", "Take:") == []


TABLE = "Before | it\n\n| a | b **c** |\n| --- | :-: |\n| 1 | `2` |\n| 3 | x<br>y |\n| 4\\|5 | 6 |\n"


def test_a_row_is_quoted_with_the_header_above_the_delimiters() -> None:
    assert quoted(TABLE, "1") == [("| 1 | `2` |", "a: 1; b c: 2")]
    assert quoted(TABLE, "4\\|5") == [("| 4\\|5 | 6 |", "a: 4|5; b c: 6")]
    assert quoted(TABLE, "b **c**") == []
    assert quoted(TABLE, "x<br>y") == []
    assert quoted(TABLE, "Before | it") == [("Before | it", "Before | it")]
    assert quoted("a | b\n-|-\n1 | 2", "1") == [("1 | 2", "a: 1; b: 2")]
    assert quoted("|---|\n| 1 |", "1") == [("1", "1")]  # no header
    assert quoted("x\n| 1 |\n", "1") == [("1", "1")]


CODE = "```sh\nrun --fast\n\nstop\n```"


def test_code_is_quoted_once_and_whole_with_the_sentence_before_it() -> None:
    text = f"Do this: now.\n\n{CODE}\n\nDone."
    assert quoted(text, "Do this: now.", "run --fast", "stop", "Done.", code=CODE) == [
        ("Do this: now.", "Do this: now."),
        (f"Do this: now.\n\n{CODE}", "Do this: now.\nrun --fast\n\nstop"),
        ("Done.", "Done."),
    ]
    assert quoted(text, "stop", code=CODE) == [(CODE, "run --fast\n\nstop")]
    text = f"First.\n\nWords between.\n\n{CODE}"
    assert quoted(text, "First.", "stop", code=CODE)[1] == (CODE, "run --fast\n\nstop")


def test_a_lead_in_without_a_list_is_quoted_with_its_code() -> None:
    text = f"Do this:\n\n{CODE}\n"
    assert quoted(text, "Do this:", "stop", code=CODE) == [
        (f"Do this:\n\n{CODE}", "Do this:\nrun --fast\n\nstop")
    ]


def test_code_of_a_thousand_characters_is_quoted_and_a_longer_one_is_not() -> None:
    for size, found in ((LONGEST_CODE, 1), (LONGEST_CODE + 1, 0)):
        code = "~~~\n" + "x" * (size - 8) + "\n~~~"
        assert len(quoted(code, "xx", code=code)) == found
    blank = " " * LONGEST_CODE
    assert quoted(f"Do.{blank}{CODE}", "Do.", "stop", code=CODE)[1][0].startswith("Do.")
    assert quoted(f"Do. {blank}{CODE}", "Do.", "stop", code=CODE)[1][0] == CODE


def word(text: str, weight: float = 1.0) -> QuestionWord:
    return QuestionWord(text, weight, frozenset({text}), True)


def chosen(
    words: str,
    *sentences: tuple[str, int],
    limit: int = 9,
    scores: Sequence[float] = (1.0, 1.0),
    header: str = "",
    is_code: bool = False,
    question: str = "",
) -> list[str]:
    """The quotes for a question of these words, of sentences each with the number of its hit."""
    text = " ".join(one for one, _ in sentences)
    note, start = NoteText(ROW, text, ""), 0
    headings = (header,) if header else ()
    read: list[Sentence] = []
    for one, hit in sentences:
        block = (start, start + len(one)) if is_code and not read else None
        read.append(Sentence(note, start, start + len(one), one, hit, block, None, headings))
        start += len(one) + 1
    hits = [replace(HIT, score=score) for score in scores]
    asked = Question(AskedKind("", "en", question or words), [word(one) for one in words.split()])
    found = choose_quotes(read, hits, asked, limit)
    return [one.readable for one in found]


@pytest.mark.parametrize(
    ("relevance", "weights", "held", "supported"),
    [
        (0.25, (2.5, 1.0), "red", True),  # 8 * .25 + 2.5
        (0.25, (2.4, 1.0), "red", False),
        (0.2, (2.5, 0.4), "red green", True),
        (0.2, (2.5, 0.4), "red", False),
        (0.6, (1.0,), "x", True),
        (0.5, (1.0,), "x", False),
    ],
)
def test_passages_may_answer_by_relevance_and_the_words_of_one_sentence(
    relevance: float, weights: tuple[float, ...], held: str, supported: bool
) -> None:
    words = [word(name, weight) for name, weight in zip(("red", "green"), weights, strict=False)]
    sentences = [Sentence(NoteText(ROW, held, ""), 0, len(held), held, 0)]
    hits = [replace(HIT, relevance=relevance), replace(HIT, relevance=1.0)]
    assert is_supported(sentences, hits, words) is supported


def test_without_a_hit_or_a_sentence_nothing_is_supported() -> None:
    assert not is_supported([], [], [word("red", 9.0)])
    assert is_supported([], [replace(HIT, relevance=0.6)], [])
