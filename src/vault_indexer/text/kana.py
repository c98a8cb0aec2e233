"""Hiragana and katakana: two ways to write each sound of Japanese."""

from __future__ import annotations

_HIRAGANA = "".join(map(chr, (*range(0x3041, 0x3097), 0x309D, 0x309E)))
_KATAKANA = "".join(chr(ord(one) + 0x60) for one in _HIRAGANA)
_TO_HIRAGANA = str.maketrans(_KATAKANA, _HIRAGANA)
_TO_KATAKANA = str.maketrans(_HIRAGANA, _KATAKANA)


def other_kana(text: str) -> tuple[str, ...]:
    """The text in hiragana and in katakana, as far as these differ from it."""
    written = (text.translate(_TO_HIRAGANA), text.translate(_TO_KATAKANA))
    return tuple(one for one in dict.fromkeys(written) if one != text)
