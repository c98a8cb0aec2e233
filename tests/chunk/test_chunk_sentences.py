from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.chunk import NoteSentences
from vault_indexer.text.sentences import sentences


@given(st.text(alphabet="aB1 .!?…\n\"'。！)]–é", max_size=200))
def test_sentences_hold_every_character_once_and_in_order(text: str) -> None:
    position = 0
    for start, end in sentences(text):
        assert position <= start < end
        assert not text[position:start].strip()
        assert text[start:end] == text[start:end].strip()
        position = end
    assert not text[position:].strip()


@pytest.mark.parametrize("text", ["." * 200_000, '."' * 100_000 + "x", "\n " * 100_000, " " * 200_000])
def test_no_input_takes_more_than_linear_time(text: str) -> None:
    # Quadratic behaviour would take minutes here; the runner's time limit is the assertion.
    assert sum(end - start for start, end in sentences(text)) <= len(text)


TEXT = "One. Two.\n\nThree.\n"
OF_NOTE = NoteSentences("a/N", TEXT, [(0, 9), (11, 17)])


def test_sentences_and_their_ids_are_those_of_the_golden() -> None:
    def found(text: str) -> str:
        return str([text[start:end] for start, end in sentences(text)])

    def of_id(sentence_id: str) -> str:
        span = OF_NOTE.span(sentence_id)
        return "none" if span is None else TEXT[span[0] : span[1]]

    check_golden(
        Path(__file__).parent / "fixtures" / "sentences.md",
        {
            "Sentences": found,
            "The sentence of an id of `a/N`": of_id,
            "The sentences of a stretch": of_parts(lambda start, end: OF_NOTE.ids(int(start), int(end))),
        },
    )
    assert len(OF_NOTE) == 3
    assert (
        found("A mark belongs to the character before it. \u0301So nothing ends there. Here.").count("'") == 4
    )
    assert found("句子。\u0301下一句！\ufe0f完").count("'") == 6
