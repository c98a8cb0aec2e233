"""The characters of words, by script, as pieces of regular expressions.

All code that divides text into words uses these pieces, so that search, snippets, filters, checks of answers
and evaluation agree on letters.
"""

from __future__ import annotations

import re

MARKS = (
    "\u00ad\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0711\u0730-\u074a\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc\u09be-\u09cd"
    "\u09d7\u0a01-\u0a03\u0a3c-\u0a51\u0a70\u0a71\u0a81-\u0a83\u0abc\u0abe-\u0acd\u0b01-\u0b03\u0b3c"
    "\u0b3e-\u0b57\u0b82\u0bbe-\u0bd7\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc\u0cbe-\u0cd6\u0d00-\u0d03"
    "\u0d3b-\u0d4d\u0d57\u0dca-\u0df3\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\u200c\u200d\u2060\ufe20-\ufe2f"
)
"""Combining marks, which `\\w` does not match (vowel signs, points, accents of decomposed text), soft hyphen
and joiners."""

IDEOGRAPHS = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
KANA = "\u3041-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7ff"
THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
LAO = "\u0e81-\u0ece"
OTHER_SPACELESS = LAO + "\u0f40-\u0fbc\u1000-\u104f\u1780-\u17dd"
"""Lao, Tibetan, Burmese, Khmer."""

UNSPACED_LETTERS = THAI + OTHER_SPACELESS
SPACELESS = IDEOGRAPHS + KANA + HANGUL + UNSPACED_LETTERS
"""Scripts in which spaces do not separate words. In Hangul they separate phrases."""

CLUSTER_MARKS = (
    "\u0e31\u0e33-\u0e3a\u0e45\u0e47-\u0e4e\u0eb1\u0eb3-\u0ebc\u0ec8-\u0ece\u0f71-\u0fbc\u102b-\u103e\u1056-\u1059"
    "\u17b6-\u17d3\u17dd"
)
"""The characters that combine with the preceding character in those scripts."""

LETTER = r"[^\W\d_]"
"""A letter of any script."""

LETTER_OR_DIGIT = r"[^\W_]"

SPACED_LETTER = rf"[^\W\d_{SPACELESS}]"
"""A letter of a script in which spaces separate words."""

SPACED_LETTER_OR_DIGIT = rf"[^\W_{SPACELESS}]"


# The amount of content in a text, measured in letters.


SPACELESS_WORTH = 3
"""The number of letters for which one character of a script without spaces counts."""

_NOT_READ = re.compile(
    r"!\[\[[^\]\n]*\]\]|!\[[^\]\n]*\]\([^)\n]*\)|(?<=\])\([^)\n]*\)|<[^>\n]*>|[a-z]+://\S+|%%.*?%%|\^[\w-]+$",
    re.DOTALL | re.MULTILINE,
)
"""Embeds, destinations of links, HTML, addresses, comments and block ids."""

_SPACELESS = re.compile(f"[{SPACELESS}]")


def letters(text: str) -> int:
    """Returns the approximate number of displayed letters and digits."""
    shown = _NOT_READ.sub(" ", text)
    count = sum(map(str.isalnum, shown))
    if shown.isascii():
        return count
    return count + (SPACELESS_WORTH - 1) * len(_SPACELESS.findall(shown))
