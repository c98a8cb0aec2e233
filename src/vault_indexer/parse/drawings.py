"""Drawings of Obsidian's plugin Excalidraw: a note whose text elements are text and whose drawing is data."""

from __future__ import annotations

import re

_DRAWING = re.compile(
    r"""
    ^(?:%%[ \t]*\r?\n)? (?:\#{1,6}[ \t]+Drawing[ \t]*\r?\n)? (?:[ \t]*\r?\n){0,3}
    (?P<fence>`{3,})(?:compressed-json[ \t]*\r?\n | json[ \t]*\r?\n\s*+\{\s*+"type"\s*+:\s*+"excalidraw")
    .*? (?:^(?P=fence)`*[ \t]*\r?$(?:\s*+%%)? | \Z)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_BANNER = re.compile(r"^==⚠[^\r\n]*EXCALIDRAW VIEW[^\r\n]*", re.MULTILINE)
"""What the plugin writes above every drawing."""

_SIGNS = ("```compressed-json", '"excalidraw"', "EXCALIDRAW VIEW")
_WRITTEN = re.compile(r"[^\r\n]")


def without_drawings(text: str, start: int) -> str:
    """The text with blanks instead of drawings behind `start`, so that places and lines stay as they are; a
    drawing at the end is left out."""
    if not any(sign in text for sign in _SIGNS):
        return text
    body = _BANNER.sub(_blank, _DRAWING.sub(_blank, text[start:]))
    shown = len(body.rstrip())
    return text[:start] + (body if body[shown:] == text[start + shown :] else body[:shown] + "\n")


def _blank(match: re.Match[str]) -> str:
    return _WRITTEN.sub(" ", match[0])
