"""One spelling for what readers take for the same word: compatibility forms, case, accents."""

from __future__ import annotations

import unicodedata

_LETTERS = str.maketrans("øłđðıħŋёґأإآٱىة’ʼ", "olddihnегاااايه''", "ـ") | str.maketrans(
    {"æ": "ae", "œ": "oe", "þ": "th"}
)
_POINTS_OF_LETTERS = "\u0306\u0308"  # breve and diaeresis: in Cyrillic they make another letter (й, ї)


def normalize(word: str) -> str:
    """The exact form of an index term: NFKC and case-folded, accents kept (NFD input gives the same)."""
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKC", word).casefold()
    return unicodedata.normalize("NFKC", folded).replace("’", "'")


def fold(word: str) -> str:
    """A normalized word without accents, vowel points and such; letters that accents set apart stay.

    Marks go from Latin, Greek, Arabic and Hebrew; in scripts where marks are vowels, and in й and ї,
    they stay.
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
    return "\u0900" <= char <= "\u1cff" or "\u3099" <= char <= "\u309a"
