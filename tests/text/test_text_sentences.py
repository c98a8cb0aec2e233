"""What ends a sentence and what does not, by the word before the stop and the one after."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from unicodedata import category

import pytest
from golden_cases import check_golden, of_escapes
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.parse import readable
from vault_indexer.text.sentences import clauses, sentences, whole_spans

RUN = "ก"
"""A letter of Thai."""


def test_sentences_and_what_is_whole_are_those_of_the_golden() -> None:
    def parted_by(spans_of: Callable[[str], list[tuple[int, int]]]) -> Callable[[str], str]:
        return of_escapes(lambda text: "|".join(text[start:end] for start, end in spans_of(text)))

    golden = Path(__file__).parent / "fixtures" / "sentences.md"
    check_golden(golden, {"sentences": parted_by(sentences), "whole": parted_by(whole_spans)})


@pytest.mark.parametrize(
    ("whole", "ends"),
    [
        ([], [4, 9]),
        ([(0, 4)], [4, 9]),  # ends with the stop
        ([(0, 5)], [9]),
        ([(3, 5)], [9]),
        ([(4, 6)], [4, 9]),  # begins behind it
        ([(0, 2), (3, 6)], [9]),
        ([(0, 2), (5, 7)], [4, 9]),
        ([(5, 10)], [4]),
    ],
)
def test_no_sentence_ends_within_what_is_whole(whole: list[tuple[int, int]], ends: list[int]) -> None:
    text = "A b. C d. E"
    assert [end for _, end in sentences(text, whole)] == [*ends, 11]
    assert sentences("A\n\nB", [(0, 4)]) == [(0, 1), (3, 4)], "a blank line ends what is whole as well"


@pytest.mark.parametrize(
    ("runs", "starts"),
    [
        ((40, 40), [0, 41]),
        ((39, 40), [0]),
        ((40, 39), [0]),
        ((40, 40, 40), [0, 41, 82]),
        ((40, 30, 40), [0, 41]),
        ((40, 12, 40), [0, 41]),
        ((40, 11, 40), [0]),
        ((20, 20, 40), [0, 42]),
    ],
)
def test_a_clause_has_40_characters_and_ends_between_runs_of_12(
    runs: tuple[int, ...], starts: list[int]
) -> None:
    text = " ".join(RUN * run for run in runs)
    assert clauses(text) == list(zip(starts, [*starts[1:], len(text)], strict=True))


@pytest.mark.parametrize(
    ("before", "after", "parted"),
    [
        ("a" * 28 + RUN * 12, RUN * 12 + "a" * 28, True),
        ("a" * 29 + RUN * 11, RUN * 12 + "a" * 28, False),
        ("a" * 28 + RUN * 12, RUN * 11 + "a" * 29, False),
    ],
)
def test_the_runs_on_both_sides_of_a_space_have_12_characters(before: str, after: str, parted: bool) -> None:
    text = f"{before} \t\n{after}"
    assert clauses(text) == ([(0, 43), (43, 83)] if parted else [(0, 83)])


THAI = (
    "กรุงเทพมหานครเป็นเมืองหลวงและนครที่มีประชากรมากที่สุดของประเทศไทย"
    " เป็นศูนย์กลางการปกครองการศึกษาการคมนาคมขนส่งและการเงินการธนาคาร"
    " ก่อตั้งขึ้นโดยพระบาทสมเด็จพระพุทธยอดฟ้าจุฬาโลกมหาราช ในปี 2325 บนฝั่งตะวันออกของแม่น้ำเจ้าพระยา"
)
LAO = "ນະຄອນຫຼວງວຽງຈັນເປັນເມືອງຫຼວງແລະເປັນນະຄອນທີ່ໃຫຍ່ທີ່ສຸດຂອງປະເທດລາວ ຕັ້ງຢູ່ແຄມແມ່ນ້ຳຂອງແລະມີຊາຍແດນຕິດກັບປະເທດໄທທາງທິດໃຕ້ຂອງເມືອງ"
PIECES = st.sampled_from(
    ["กรุงเทพมหานครเป็นเมืองหลวง", "นาย", "ນະຄອນຫຼວງວຽງຈັນເປັນເມືອງ", "2325", " ", "\u0e49", "a", "\n"]
)


def test_a_paragraph_of_thai_is_read_as_clauses() -> None:
    shown = readable(THAI)
    lengths = [last - first for first, last in shown.units]
    assert len(lengths) == 3 and all(40 <= length <= 200 for length in lengths)
    assert [len(readable(LAO).units), len(clauses("Two words of English. " * 9))] == [2, 1]


@given(st.lists(PIECES, max_size=40).map("".join))
def test_clauses_tile_the_text_and_cut_off_no_mark(text: str) -> None:
    spans = clauses(text)
    assert "".join(text[first:last] for first, last in spans) == text
    assert all(not category(text[first]).startswith("M") for first, _ in spans[1:])
    assert all(last - first >= 40 for first, last in spans if len(spans) > 1)


# A sentence with an abbreviation, and one without, each in twelve languages.
PROSE = {
    "en": ("Ring Dr. Smith at once.", "The house is old!"),
    "es": ("Llama a la Sra. Pérez hoy.", "¿Está la casa?"),
    "pt": ("Chame o Sr. Silva hoje.", "A casa é velha."),
    "de": ("Rufe Dr. Müller sofort an.", "Das Haus, z.B. dieses, ist alt."),
    "fr": ("Appelle le Dr. Martin, p.ex. ce soir.", "La maison est vieille !"),
    "it": ("Chiama il sig. Rossi oggi.", "La casa è vecchia."),
    "nl": ("Bel dhr. Jansen meteen.", "Het huis is oud."),
    "pl": ("Zadzwoń do dr. Nowaka, np. Jana.", "Dom jest stary."),
    "sv": ("Ring dr. Berg genast, bl.a. Olof.", "Huset är gammalt."),
    "ru": ("Позвони проф. Иванову сегодня.", "Дом стар."),
    "zh": ("马上打电话给她。", "房子很旧！"),
    "ja": ("すぐに電話してください。", "家は古い。"),
}
MARKED = [
    *(
        "[[People#Dr. Amara Voss]]",
        "[a link. With a stop](x.md)",
        "`a. B()`",
        "**Bold. And more.**",
        "_One. Two._",
    )
]


@pytest.mark.parametrize("language", PROSE)
def test_abbreviations_end_no_sentence(language: str) -> None:
    first, second = PROSE[language]
    text = f"{first} {second}"
    assert [text[start:end] for start, end in sentences(text)] == [first, second]


@given(st.lists(st.sampled_from([*MARKED, *(one for pair in PROSE.values() for one in pair)]), max_size=12))
def test_no_sentence_cuts_a_link_and_marks_are_balanced(parts: list[str]) -> None:
    text = " ".join(parts)
    for start, end in sentences(text):
        piece = text[start:end]
        assert piece.count("[[") == piece.count("]]")
        assert piece.count("`") % 2 == piece.count("**") % 2 == piece.count("_") % 2 == 0
        assert len(re.findall(r"\[a link", piece)) == piece.count("](x.md)")


@pytest.mark.parametrize(
    "sign", ["[", "[[", "`", "``", "**", "*", "_", "<", "==", "~~", "[](", "**a", "_a ", "`a\n"]
)
def test_unclosed_marks_take_linear_time(sign: str) -> None:
    # Quadratic behaviour would take minutes here; the runner's time limit is the assertion.
    text = (sign + "a.") * (200_000 // len(sign))
    assert len(whole_spans(text)) <= len(text)
    assert sum(end - start for start, end in sentences(text)) <= len(text)
