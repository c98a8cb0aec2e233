"""What is quoted of a note, and in which order: lists, rows and code, and the worth of a sentence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts
from hit_maker import make_hit

from vault_indexer.answer.extract import Question, choose_quotes, is_supported
from vault_indexer.answer.question import AskedKind
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
    scores: tuple[float, ...] = (1.0, 1.0),
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


def test_the_sentence_with_most_words_comes_first_and_a_better_hit_counts() -> None:
    three, four = ("red green blue", 0), ("red green blue pink", 1)
    words = "red green blue pink"
    assert chosen(words, three, four) == ["red green blue pink", "red green blue"]
    assert chosen(words, three, four, limit=1) == ["red green blue pink"]
    # 3 / 4 of a hit of 1 are .75; all of a hit of .6 are .72
    assert chosen(words, three, four, scores=(1.0, 0.6)) == ["red green blue", "red green blue pink"]
    assert chosen(words, three, four, scores=(1.0, 0.7))[0] == "red green blue pink"
    assert chosen(words, three, four, limit=0) == []


@pytest.mark.parametrize(
    ("question", "text", "header", "is_quote"),
    [
        ("red green", "red", "", False),
        ("red green", "red", "Green", True),
        ("red green get", "red green", "", True),  # a light word
        ("red green blue pink", "red green blue", "", True),
        ("red green blue pink", "red green", "", False),
        ("red green blue pink cyan", "red green blue", "", True),
    ],
)
def test_a_long_question_may_lack_a_word(question: str, text: str, header: str, is_quote: bool) -> None:
    assert bool(chosen(question, (text, 0), header=header)) is is_quote


def test_words_in_the_rest_of_the_passage_count_for_the_most_part() -> None:
    assert chosen("red green blue", ("red", 0), ("green blue", 1)) == ["green blue"]
    assert chosen("red green blue", ("red", 0), ("green blue", 0)) == ["green blue", "red"]


def test_code_counts_half_and_a_word_above_less() -> None:
    code, prose = ("red green blue pink", 0), ("red green blue", 1)
    assert chosen("red green blue pink", code, prose, is_code=True)[0] == "red green blue"
    assert chosen("red tower", ("red one", 0), ("blue two", 1)) == ["red one"]
    assert chosen("red hill", ("red one", 0), ("blue two", 1)) == []
    assert chosen("red hill", ("red one", 0), ("blue two", 1), header="The hill") == ["red one"]


def test_words_of_the_sentence_before_count_for_the_order() -> None:
    alone, first, second = ("green blue pink one", 1), ("red two", 0), ("green blue pink three", 0)
    assert chosen("red green blue pink", alone, first, second)[0] == "green blue pink three"
    assert chosen("red green blue pink", alone, second, first)[0] == "green blue pink one"


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What is a kiln?", "A kiln fires clay."),
        ("What are kilns?", "A kiln fires clay."),
        ("kiln", "Buy a kiln."),
        ("What does a kiln for the school cost?", "Buy a kiln."),
    ],
)
def test_a_sentence_that_begins_with_what_is_to_be_defined_comes_first(question: str, first: str) -> None:
    buy, fires = ("Buy a kiln.", 0), ("A kiln fires clay.", 1)
    assert chosen("kiln", buy, fires, scores=(1.0, 0.6), question=question)[0] == first


def test_two_quotes_of_a_hit_and_none_of_little_worth() -> None:
    pair = [("red green one", 0), ("red green two", 0), ("red green three", 0), ("red green four", 1)]
    assert chosen("red green", *pair) == ["red green one", "red green two", "red green four"]
    words = "red green blue cyan pink"
    whole, title = (words, 0), ("something else", 1)
    assert chosen(words, whole, title, header=words, scores=(1.0, 0.6)) == [words]


def test_a_repeated_sentence_is_one_quote_and_a_new_one_comes_before_a_like_one() -> None:
    assert chosen("red green", ("red green", 0), ("red green", 1)) == ["red green"]
    like, new = ("red green blue x", 1), ("red green blue y z q", 0)
    first = ("red green blue x w", 0)
    assert chosen("red green blue", first, like, new) == [first[0], new[0], like[0]]


@pytest.mark.parametrize(
    ("question", "text", "is_quote"),
    [
        ("fold panel", "foldable panel", True),
        ("fold panel", "foldables panel", True),  # five letters more
        ("fold panel", "foldabless panel", False),
        ("fol panel", "folxx panel", False),
        ("fold panel", "unfold panel", False),
    ],
)
def test_a_word_may_have_an_ending_of_five_letters(question: str, text: str, is_quote: bool) -> None:
    assert bool(chosen(question, (text, 0))) is is_quote


def test_a_word_with_an_ending_counts_less_than_the_word() -> None:
    assert chosen("fold panel", ("foldable panel", 0), ("fold panel x", 1)) == [
        "fold panel x",
        "foldable panel",
    ]


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
