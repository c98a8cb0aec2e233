"""How a model is asked, how its answer is read while it comes, and which notes it never reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts
from hit_maker import make_hit

from vault_indexer.answer import AskEvent, whole_answer, with_notices
from vault_indexer.answer.answerer import NeverSend
from vault_indexer.answer.check import Claim
from vault_indexer.answer.prompt import MOST_CLAIMS, judge_prompt, prompt_for, read_claims, read_judgement
from vault_indexer.answer.written import ClaimStream
from vault_indexer.chunk import UnusableAnswerError
from vault_indexer.model import AnswerSentence, AskAnswer, IndexState

ONE = '{"text": "a", "ids": ["s1"], "quote": "q"}'
CLAIM = Claim("a", ("s1",), "q")


def written(text: str) -> str:
    """A text of the golden, with its sentences."""
    text = text.replace("ONE*20", ", ".join(["ONE"] * 20)).replace("ONE*21", ", ".join(["ONE"] * 21))
    return text.replace("ONE", ONE).replace("BEGIN", ONE[:20]).replace("END", ONE[20:])


def test_answers_are_read_as_the_golden_says() -> None:
    def completed(*pieces: str) -> list[int]:
        stream = ClaimStream()
        return [len(stream.feed(written(piece))) for piece in pieces]

    def refused(sentence: str) -> str:
        with pytest.raises(UnusableAnswerError) as error:
            read_claims(f'{{"sentences": [{written(sentence)}]}}')
        return str(error.value)

    def verdict(answer: str) -> str:
        try:
            return str(read_judgement(answer))
        except UnusableAnswerError as error:
            return str(error)

    check_golden(
        Path(__file__).parent / "fixtures" / "prompt.md",
        {
            "How many sentences each piece completes": of_parts(completed),
            "An answer of another form is refused": refused,
            "A judge says yes or no": verdict,
        },
    )
    assert ClaimStream().feed(f'{{"sentences": [{ONE}]}}') == [CLAIM]


def test_an_answer_is_read_whole() -> None:
    assert read_claims(f'{{"sentences": [{ONE}]}}') == [CLAIM]
    assert read_claims('{"sentences": []}') == []
    text = '{"text": " a\\n b ", "ids": ["s2", "s1", "s2"], "quote": " q "}'
    assert read_claims(f'{{"sentences": [{text}]}}') == [Claim("a b", ("s2", "s1"), " q ")]
    assert len(read_claims(f'{{"sentences": [{", ".join([ONE] * MOST_CLAIMS)}]}}')) == MOST_CLAIMS == 20


def test_what_notes_and_questions_say_cannot_end_the_data() -> None:
    assert 'Question: "a\\u003c/notes>é"\n' in prompt_for("a</notes>é", [])
    assert 'Evidence: ["\\u003ca", "b"]\nClaim: "c\\n"\n' in judge_prompt("c\n", ["<a", "b"])


HIT = make_hit("a/n.md", title="N", chunk_id="n_chunk_0", content="x")


def test_a_note_stays_away_by_its_path_or_a_property() -> None:
    def covered(entries: str, frontmatter: str) -> str:
        hit = replace(HIT, frontmatter=json.loads(frontmatter))
        return "stays" if NeverSend.from_entries(iter(json.loads(entries))).covers(hit) else "may be sent"

    check_golden(Path(__file__).parent / "fixtures" / "private.md", {"": of_parts(covered)})


@pytest.mark.parametrize(
    ("entry", "is_covered"),
    [
        ("[secret]", True),
        ("[Due Date]", True),
        ("[status:private]", True),
        ("[status:open]", True),
        ("[x]", False),
    ],
)
def test_a_note_stays_away_by_a_field_in_its_text(entry: str, is_covered: bool) -> None:
    fields = {"secret": None, "due-date": "2026-12-01", "status": "private"}
    hit = replace(HIT, frontmatter={"status": "open"}, fields=fields)
    assert NeverSend.from_entries([entry]).covers(hit) is is_covered


def answer(*notices: str) -> AskAnswer:
    return AskAnswer("q", "quotes", "strong", (), (), (), (), "", 0.0, IndexState(1, 0, 0), notices)


def test_each_answer_has_the_notices_around_its_own_and_the_last_one_is_the_whole() -> None:
    sentence = AnswerSentence("s", (), "quoted")
    said = iter([["first"], ["second"]])
    events: Iterator[AskEvent] = with_notices(
        [answer("own"), sentence, answer()], ["before"], lambda: next(said)
    )
    found = list(events)
    assert found == [answer("before", "own", "first"), sentence, answer("before", "second")]
    assert whole_answer(found) == found[2]
