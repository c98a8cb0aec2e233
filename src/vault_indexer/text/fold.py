"""One spelling for what readers take for the same word: compatibility forms, case, accents."""

from __future__ import annotations

import re
import unicodedata

_LETTERS = str.maketrans("øłđðıħŋёґٱىةہە’ʼ", "olddihnегايههه''", "ـ") | str.maketrans(
    {"æ": "ae", "œ": "oe", "þ": "th"}
)
_INVISIBLE = "\u00ad\u200c\u200d\u2060\u0640"
"""What shapes a word and is no part of it: soft hyphen, the two joiners, word joiner, Arabic tatweel."""

_ENCODINGS = str.maketrans("’یک٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹", "'يك01234567890123456789", _INVISIBLE)
"""Characters that differ by keyboard, not in what they say: Persian and Arabic ye, kaf and digits."""

_NEEDS_CARE = re.compile(f"[{''.join(map(chr, _ENCODINGS))}\u0307]")

NUKTAS = "\u093c\u09bc\u0a3c\u0abc\u0b3c"
"""The dot below that Indic scripts put to a letter of another language, and that is often left out."""

_POINTS_OF_LETTERS = "\u0306\u0308"  # breve and diaeresis: in Cyrillic they make another letter (й, ї)


def normalize(word: str) -> str:
    """The exact form of an index term: NFKC and case-folded, accents kept (NFD input gives the same).

    Characters without a shape of their own go, letters that have two encodings get one. `İ` gives `i`.
    """
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKC", word).casefold()
    if _NEEDS_CARE.search(folded):  # seldom, and faster to look for than to translate
        folded = folded.replace("i\u0307", "i").translate(_ENCODINGS) or folded
    return unicodedata.normalize("NFKC", folded)


def fold(word: str) -> str:
    """A normalized word without accents, vowel points and such; letters that accents set apart stay.

    Marks go from Latin, Greek, Arabic and Hebrew, and the nukta from Indic letters; in scripts where marks
    are vowels, and in й and ї, they stay.
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
    """A tag as tags are stored: without its mark, in lower case."""
    return written.removeprefix("#").rstrip("/").casefold()
