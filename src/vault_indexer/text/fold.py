"""Folds the spellings of a word that readers consider the same: compatibility forms, case, accents."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from itertools import groupby

_LETTERS = str.maketrans("øłđðıħŋёґٱىةہە’ʼ", "olddihnегايههه''", "ـ") | str.maketrans(
    {"æ": "ae", "œ": "oe", "þ": "th"}
)
_INVISIBLE = "\u00ad\u200c\u200d\u2060\u0640"
"""What only affects the display of a word: soft hyphen, the joiners, word joiner, Arabic tatweel."""

_ENCODINGS = str.maketrans("’یک٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹", "'يك01234567890123456789", _INVISIBLE)
"""Characters that depend on the keyboard but have the same meaning: Persian and Arabic ye, kaf and digits."""

_NEEDS_CARE = re.compile(f"[{''.join(map(chr, _ENCODINGS))}\u0307]")

NUKTAS = "\u093c\u09bc\u0a3c\u0abc\u0b3c"
"""The dot below a letter that Indic scripts use for sounds of other languages. It is often omitted."""

_SIGN_FORMS = frozenset({"<circle", "<super", "<sub", "<square", "<fraction"})
_LETTER_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nl"})

_POINTS_OF_LETTERS = "\u0306\u0308"  # breve and diaeresis: in Cyrillic they form another letter (й, ї)


def normalize(word: str) -> str:
    """Returns the exact form of an index term: NFKC and case-folded, with accents. NFD input has the same
    result.

    Invisible characters are removed, and letters with two encodings get one of them. `İ` becomes `i`.
    """
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKC", word).casefold()
    if _NEEDS_CARE.search(folded):  # rare, and a search is faster than `translate`
        folded = folded.replace("i\u0307", "i").translate(_ENCODINGS) or folded
    return unicodedata.normalize("NFKC", folded)


def normalize_letters(text: str) -> str:
    """Normalizes like `normalize`, but keeps signs made of letters or digits as written: ①, ½, ², ™, №."""
    if text.isascii():
        return text.lower()
    stretches = ((kept, "".join(own)) for kept, own in groupby(text, is_made_sign))
    return "".join(own if kept else normalize(own) for kept, own in stretches)


def has_words(text: str) -> bool:
    """Whether a text has a letter or digit outside such signs."""
    return any(char.isalnum() and not is_made_sign(char) for char in text)


@lru_cache(maxsize=4096)
def is_made_sign(char: str) -> bool:
    """Whether a character is a sign that Unicode composes from other characters.

    Some compatibility forms are the same character in another width, font or position in a word (`ｆ`, `ﬁ`,
    `ﻊ`, `Ⅳ`). The others have a different meaning: circled, raised, lowered and squared characters,
    fractions, and composed signs that are not letters (`№`, `℃`, `…`).
    """
    if char.isascii():
        return False
    form, _, letters = unicodedata.decomposition(char).rpartition(">")
    if form in _SIGN_FORMS:
        return True
    if form == "<compat" and unicodedata.category(char) not in _LETTER_CATEGORIES:
        return " " in letters.strip() or not chr(int(letters, 16)).isalnum()
    return False


def fold(word: str) -> str:
    """Returns a normalized word without accents and vowel points, unless these form another letter.

    Marks are removed from Latin, Greek, Arabic and Hebrew letters, and the nukta from Indic letters. They
    remain in scripts where marks are vowels, and in й and ї.
    """
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFD", word)
    kept = "".join(
        char for before, char in zip(" " + decomposed, decomposed, strict=False) if _stays(before, char)
    )
    return unicodedata.normalize("NFC", kept).translate(_LETTERS)


def _stays(before: str, char: str) -> bool:
    if not unicodedata.combining(char):
        return True
    if "\u0400" <= before <= "\u052f":
        return char in _POINTS_OF_LETTERS
    return ("\u0900" <= char <= "\u1cff" and char not in NUKTAS) or "\u3099" <= char <= "\u309a"


def tag_name(written: str) -> str:
    """Returns a tag in its stored form: without `#`, in lower case."""
    return written.removeprefix("#").rstrip("/").casefold()


def nearest_names(wanted: str, names: Mapping[str, str], count: int = 1, least: float = 75.0) -> list[str]:
    """Returns the keys of at most `count` names that are similar in any case, the most similar first. `least`
    is the lowest similarity, out of 100; from the default on, a name is likely the correct spelling (a rule
    of thumb)."""
    from rapidfuzz.fuzz import ratio
    from rapidfuzz.process import extract

    folded = {key: name.casefold() for key, name in names.items()}
    found = extract(wanted.casefold(), folded, scorer=ratio, limit=count, score_cutoff=least)
    return [key for _, _, key in found]


def did_you_mean(wanted: str, names: Mapping[str, str]) -> str:
    """Returns the end of a message that suggests the key of the most similar name; "" if none is similar."""
    return "".join(f"; did you mean {near}?" for near in nearest_names(wanted, names))
