"""Whether a text holds a keyword or a phrase, as a reader would say."""

from __future__ import annotations

import re
import unicodedata

from vault_indexer.text.scripts import SPACED_LETTER_OR_DIGIT

_GLUED = re.compile(SPACED_LETTER_OR_DIGIT)
"""A letter or digit of a script in which spaces separate words."""


def plain(text: str) -> str:
    """Case-folded, in one Unicode form, with single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def holds(text: str, phrase: str) -> bool:
    """Whether the phrase stands in the text, without regard to case and white space, and not as a part of a
    longer word ("rust" does not stand in "trust"; in scripts without spaces, it may)."""
    wanted, within = plain(phrase), plain(text)
    start = within.find(wanted) if wanted else -1
    while start >= 0:
        if not (_continues(within, start) or _continues(within, start + len(wanted))):
            return True
        start = within.find(wanted, start + 1)
    return False


def _continues(text: str, at: int) -> bool:
    """Whether one word runs over this position."""
    around = text[max(at - 1, 0) : at + 1]
    return 0 < at < len(text) and len(_GLUED.findall(around)) == 2
