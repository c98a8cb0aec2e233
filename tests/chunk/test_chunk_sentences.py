import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.chunk import NoteSentences
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


TEXT = "One. Two.\n\nThree.\n"
OF_NOTE = NoteSentences("a/N", TEXT, [(0, 9), (11, 17)])


@pytest.mark.parametrize(
    ("sentence_id", "sentence"),
    [
        ("a/N_sentence_0", "One."),
        ("a/N_sentence_1", "Two."),
        ("a/N_sentence_2", "Three."),
        ("a/N_sentence_3", None),
        ("a/N_sentence_-1", None),
        ("a/N_sentence_", None),
        ("a/N_sentence_one", None),
        ("a/N_sentence_\u0661", None),
        ("b/N_sentence_0", None),
        ("0", None),
    ],
)
def test_an_id_names_a_sentence_of_its_own_note(sentence_id: str, sentence: str | None) -> None:
    span = OF_NOTE.span(sentence_id)
    assert (None if span is None else TEXT[span[0] : span[1]]) == sentence


@pytest.mark.parametrize(
    ("start", "end", "numbers"),
    [(0, 17, [0, 1, 2]), (0, 4, [0]), (4, 5, []), (3, 6, [0, 1]), (4, 12, [1, 2]), (9, 11, []), (17, 18, [])],
)
def test_a_stretch_has_the_sentences_of_which_a_part_lies_in_it(
    start: int, end: int, numbers: list[int]
) -> None:
    assert OF_NOTE.ids(start, end) == [f"a/N_sentence_{number}" for number in numbers]
    assert len(OF_NOTE) == 3
