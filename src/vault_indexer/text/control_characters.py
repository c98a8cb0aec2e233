"""Removes characters that control a terminal or reorder a line from text, and escapes them in JSON.

The names, texts and properties of a vault may come from untrusted authors. ESC begins sequences that move the
cursor or set the clipboard or the window's title, and a bidirectional override displays a name in another
order.
"""

from __future__ import annotations

import json
import re

_REORDERING = "\u202a-\u202e\u2066-\u206f"
"""Bidirectional controls with a scope, and the deprecated format characters (Unicode UAX #9)."""

_UNSAFE = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|([{_REORDERING}])")
"""C0 and C1 controls, line and paragraph separators, lone surrogates, bidirectional controls with a scope."""

_ESCAPED_IN_JSON = re.compile(f"[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029{_REORDERING}]")
"""The characters to escape in addition to C0, which `json.dumps` escapes. They include all characters with
the Unicode property Bidi_Control, also the directional marks, because escaping does not change the data."""


def clean(text: str, blank: str = " ") -> str:
    """Returns the text without characters that control a terminal.

    Control characters and line breaks become `blank`. Bidirectional embeddings, overrides and isolates are
    removed: an unclosed one would reorder the rest of the line, and right-to-left words are displayed
    correctly without them. All other characters remain, including those without a width: the joiners of
    Persian and Hindi words and of emoji, variation selectors, soft hyphens and the directional marks U+200E
    and U+200F.
    """
    return _UNSAFE.sub(lambda match: "" if match[1] else blank, text)


def clean_lines(text: str) -> str:
    return "\n".join(clean(line) for line in text.split("\n"))


def json_text(
    data: object, *, indent: int | None = None, is_compact: bool = False, is_sorted: bool = False
) -> str:
    """Returns JSON that is safe for a terminal: readable Unicode, with controls and bidirectional controls as
    `\\uXXXX`.

    `is_compact` omits the blanks between values, and `is_sorted` sorts the keys. Raises TypeError for data
    that JSON does not support.
    """
    separators = (",", ":") if is_compact else None
    text = json.dumps(data, ensure_ascii=False, indent=indent, separators=separators, sort_keys=is_sorted)
    # These characters occur only in strings, where the escape is valid.
    return _ESCAPED_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


_HIDDEN = re.compile(
    "(\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{3,6}\U000e007f)"
    f"|[{_REORDERING}\U000e0000-\U000e007f]"
)
"""Bidirectional controls with a scope, and tag characters; the first group is a flag made of such, as that of
Scotland (Unicode TS #51)."""


def escaped_hidden(text: str) -> str:
    """Returns text for a language model, with the characters that a person does not see as `\\uXXXX`:
    bidirectional controls with a scope, and tag characters outside a flag. Both can hide instructions.

    Joiners of emoji and of Persian and Hindi words remain. In JSON, the escape is that of the character.
    """
    return _HIDDEN.sub(lambda match: match[1] or _escape(match[0]), text)


def _escape(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def encodable(text: str) -> str:
    """The text without what C code cannot read: null characters, and lone surrogates, which lack UTF-8."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()
