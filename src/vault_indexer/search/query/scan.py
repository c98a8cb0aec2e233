"""Where a word or phrase may stand, by RE2 over the UTF-8 of a text.

RE2 needs 1 to 2 ns a byte, however often the first words of a phrase stand in the text and whatever
accents they have; the exact expression of a phrase needs 2 to 40 ns a character. So RE2 says which texts to
look at, and where. It finds every place that the exact expression fits, and a few more.
"""

from __future__ import annotations

from typing import Any

_NO_LETTER = "[^0-9A-Za-z]"
"""What may stand beside a word and between words, and letters beyond ASCII, which the exact expression rules
out."""


class ByteScanner:
    """An expression that fits wherever a pattern occurs.

    `follows_border`: it begins with what stands before a word, or at the beginning of the text.
    """

    def __init__(self, engine: Any, *, follows_border: bool) -> None:
        self._engine = engine
        self.follows_border = follows_border

    def next_start(self, data: bytes, start: int, end: int) -> int | None:
        """The position of the first byte, from `start` on, at which this expression fits before `end`. None:
        the pattern does not occur there."""
        found = self._engine.search(data, start, end)
        return found.start() if found else None


def byte_scanner(body: str, *, starts_word: bool, ends_word: bool) -> ByteScanner | None:
    """A scanner for an expression of RE2, with the borders of words that it has at its ends; None where RE2
    cannot have it (it is too large, or has characters that no text has)."""
    import re2  # 7 ms, and few queries have to read texts

    options = re2.Options()
    options.never_capture = True
    options.log_errors = False
    before = rf"(?:\A|{_NO_LETTER})" if starts_word else ""
    after = rf"(?:\z|{_NO_LETTER})" if ends_word else ""
    try:
        engine = re2.compile(f"{before}{body}{after}".encode(), options=options)
    except (re2.error, UnicodeEncodeError):
        return None
    return ByteScanner(engine, follows_border=starts_word)
