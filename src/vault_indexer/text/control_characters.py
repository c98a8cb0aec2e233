"""Characters that a terminal obeys or that reorder a line, taken out of text and escaped in JSON.

The names, texts and properties of a vault may come from a stranger: ESC begins sequences that move the
cursor, set the clipboard or the window's title, and a bidirectional override shows a name in another order.
"""

from __future__ import annotations

import json
import re

_REORDERING = "\u202a-\u202e\u2066-\u206f"
"""Bidirectional controls with a scope, and the deprecated format characters (Unicode UAX #9)."""

_UNSAFE = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|([{_REORDERING}])")
"""C0 and C1 controls, line and paragraph separators, lone surrogates, bidirectional controls with a scope."""

_ESCAPED_IN_JSON = re.compile(f"[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029{_REORDERING}]")
"""`json.dumps` escapes C0. All characters that Unicode calls Bidi_Control are here, also the marks of
direction: escaped, they are the same data."""


def clean(text: str, blank: str = " ") -> str:
    """The text without anything that a terminal would obey: notes are other people's words.

    Control characters and line breaks become `blank`. Bidirectional embeddings, overrides and isolates are
    removed: one that is not closed would reorder the rest of the line, and right-to-left words are displayed
    right without them. Everything else is text and stays, also what has no width: the joiners of Persian and
    Hindi words and of emoji, variation selectors, soft hyphens and the marks of direction U+200E and U+200F.
    """
    return _UNSAFE.sub(lambda found: "" if found[1] else blank, text)


def clean_lines(text: str) -> str:
    return "\n".join(clean(line) for line in text.split("\n"))


def json_text(
    data: object, *, indent: int | None = None, is_compact: bool = False, is_sorted: bool = False
) -> str:
    """JSON that a terminal can show: readable Unicode; controls and bidirectional controls as `\\uXXXX`.

    `is_compact` leaves out the blanks between values, `is_sorted` sorts the keys. Raises TypeError for what
    JSON cannot hold.
    """
    separators = (",", ":") if is_compact else None
    text = json.dumps(data, ensure_ascii=False, indent=indent, separators=separators, sort_keys=is_sorted)
    # Outside of strings JSON has none of these characters.
    return _ESCAPED_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
