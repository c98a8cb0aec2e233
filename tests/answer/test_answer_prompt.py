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


def fed(*pieces: str) -> list[int]:
    """How many sentences each piece completes."""
    stream = ClaimStream()
    return [len(stream.feed(piece)) for piece in pieces]


@pytest.mark.parametrize(
    ("pieces", "found"),
    [
        (['{"sentences": [', ONE, "]}"], [0, 1, 0]),
        (['{"sentences": [', ONE[:20], ONE[20:]], [0, 0, 1]),
        ([f'{{"sentences": [{ONE}, {ONE}', f",{ONE}]}}"], [2, 1]),
        ([f'Here: {{ "sentences" : [\n{ONE}'], [1]),
        ([f'<think>{{"sentences": [{ONE}', f'</think>{{"sentences": [{ONE}'], [0, 1]),
        ([f'{{"other": [{ONE}]}}'], [0]),
        ([f'{{"sentences": [1, {ONE}]}}', ONE], [0, 0]),  # none any more
        ([f'{{"sentences": [{ONE}, {{"text": 1}}, {ONE}]', ONE], [1, 0]),
        ([f'{{"sentences": [{ONE}] {ONE}'], [1]),
        ([f'{{"sentences": [{", ".join([ONE] * 21)}]}}', ONE], [20, 0]),
        ([f'{{"sentences": [{", ".join([ONE] * 20)}', f", {ONE}"], [20, 0]),
    ],
)
def test_a_sentence_comes_with_the_piece_that_completes_it(pieces: list[str], found: list[int]) -> None:
    assert fed(*pieces) == found
    assert ClaimStream().feed(f'{{"sentences": [{ONE}]}}') == [CLAIM]


def test_an_answer_is_read_whole() -> None:
    assert read_claims(f'{{"sentences": [{ONE}]}}') == [CLAIM]
    assert read_claims('{"sentences": []}') == []
    text = '{"text": " a\\n b ", "ids": ["s2", "s1", "s2"], "quote": " q "}'
    assert read_claims(f'{{"sentences": [{text}]}}') == [Claim("a b", ("s2", "s1"), " q ")]
    assert len(read_claims(f'{{"sentences": [{", ".join([ONE] * MOST_CLAIMS)}]}}')) == MOST_CLAIMS == 20


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("1", "is not a JSON object"),
        ('{"ids": [], "quote": ""}', 'lacks "text" or "quote"'),
        ('{"text": " ", "ids": [], "quote": ""}', 'lacks "text" or "quote"'),
        ('{"text": "a", "ids": []}', 'lacks "text" or "quote"'),
        ('{"text": "a", "ids": "s1", "quote": ""}', '"ids" of a sentence is not a list of strings'),
        ('{"text": "a", "ids": ["s1", 2], "quote": ""}', '"ids" of a sentence is not a list of strings'),
        (", ".join([ONE] * 21), "more than 20 sentences"),
    ],
)
def test_an_answer_of_another_form_is_refused(sentence: str, said: str) -> None:
    with pytest.raises(UnusableAnswerError, match=said):
        read_claims(f'{{"sentences": [{sentence}]}}')


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ('{"verdicts": [true]}', True),
        ('{"verdicts": [false]}', False),
        ('{"verdicts": [1]}', None),
        ('{"verdicts": []}', None),
        ('{"verdicts": [true, true]}', None),
    ],
)
def test_a_judge_says_yes_or_no(answer: str, verdict: bool | None) -> None:
    if verdict is None:
        with pytest.raises(UnusableAnswerError, match="one true or false"):
            read_judgement(answer)
    else:
        assert read_judgement(answer) is verdict


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
