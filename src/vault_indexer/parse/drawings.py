"""Data in a note that is no text: drawings of Obsidian's plugin Excalidraw, and images in `data:` URLs."""

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
_DATA_URL = re.compile(
    r"""
    (?:
      data:[a-z]+/[\w.+-]{1,100}(?:;[\w.+-]{1,100}(?:=[\w.+-]{1,100})?){0,5};base64,(?:\s*\n\s*)?[\w+/=%-]{16,}
      (?:\s*\n[ \t]*[\w+/=]{20,}(?=[\s"'>)]))* (?:\s*\n[ \t]*[\w+/=]+(?=\s*["'>]))?
      | data:image/[\w.+-]{1,100}(?:;[\w.+=-]{1,100}){0,5},[^\s"'()<>]{16,}
    )(?P<close>["'>)]{0,3})
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_OUTSIDE = "//"
"""In the place of a `data:` URL, so that an image stays one: an address outside the vault, without words."""

_WRITTEN = re.compile(r"[^\r\n]")


def without_data(text: str, start: int) -> str:
    """The text with blanks instead of drawings and inlined images behind `start`, so that places and lines
    stay as they are; a drawing at the end is left out."""
    return _without_drawings(_without_images(text, start), start)


def _without_images(text: str, start: int) -> str:
    if text.find("data:", start) < 0:
        return text
    return text[:start] + _DATA_URL.sub(_empty_address, text[start:])


def _empty_address(match: re.Match[str]) -> str:
    """What closes the address follows it at once, so that no chunk ends in between."""
    address = _OUTSIDE + match["close"]
    return address + _blank(match)[len(address) :]


def _without_drawings(text: str, start: int) -> str:
    if not any(sign in text for sign in _SIGNS):
        return text
    body = _BANNER.sub(_blank, _DRAWING.sub(_blank, text[start:]))
    shown = len(body.rstrip())
    return text[:start] + (body if body[shown:] == text[start + shown :] else body[:shown] + "\n")


def _blank(match: re.Match[str]) -> str:
    return _WRITTEN.sub(" ", match[0])
