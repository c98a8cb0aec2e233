from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.text.sentences import sentences


@pytest.mark.parametrize(
    "text",
    [
        "One sentence.|Another one!|And a third?",
        "Dr. Smith met Mrs. Jones at 3.14 p.m. in the U.S. embassy.|They left.",
        "See Fig. 3 and No. 5 for more.|He said no.|Then he left.",
        "Use e.g. apples, i.e. fruit.|Done.",
        'He said "Stop."|She did.',
        "Is it (really?) true.|Yes.",
        "Wait... what?|Oh…|Well.",
        "1. First item.\n|2. Second item.",
        "Version 1.2.3 is out.|Get it at example.org.",
        "In 1999.|The year after.",
        "Am 3. Oktober war es so.|Das ist z.B. hier so.|Ende.",
        "J. R. R. Tolkien wrote it.|I read it.",
        "នេះជាប្រយោគ។|ប្រយោគទីពីរ៕",
        "ဒါက ဝါကျ တစ်ခု။||နောက်တစ်ခု။",
        "这是一句话。||下一句！||真的吗？",
        "彼は「行く。」||と言った。",
        "A heading\n\n||A paragraph without stop\n\n||Another",
        "यह एक वाक्य है।|दूसरा वाक्य।",
        "**Bold.**|_Italic._|Plain.",
        "A mark belongs to the character before it. \u0301So nothing ends there.|Here.",
        "句子。\u0301||下一句！\ufe0f||完",
    ],
)
def test_where_sentences_end(text: str) -> None:
    """A bar marks an end with white space behind, a double bar one without."""
    parts = text.replace("||", "|").split("|")
    plain = text.replace("||", "").replace("|", " ")
    assert [plain[start:end] for start, end in sentences(plain)] == [part.strip() for part in parts]


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
