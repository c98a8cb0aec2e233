"""No sentence ends inside a link, a code span, emphasis or an abbreviation, in whatever language."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.text.sentences import sentences, whole_spans

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
    "[[People#Dr. Amara Voss]]",
    "[a link. With a stop](x.md)",
    "`a. B()`",
    "**Bold. And more.**",
    "_One. Two._",
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
