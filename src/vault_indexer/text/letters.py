"""How much a text says, in letters: enough for a meaning of its own, or hardly any."""

from __future__ import annotations

import re

from vault_indexer.text.scripts import SPACELESS

SPACELESS_WORTH = 3
"""Letters that one character of a script without spaces between words counts as."""

_NOT_READ = re.compile(
    r"!\[\[[^\]\n]*\]\]|!\[[^\]\n]*\]\([^)\n]*\)|(?<=\])\([^)\n]*\)|<[^>\n]*>|[a-z]+://\S+|%%.*?%%|\^[\w-]+$",
    re.DOTALL | re.MULTILINE,
)
"""Embeds, destinations of links, HTML, addresses, comments and block ids."""

_SPACELESS = re.compile(f"[{SPACELESS}]")


def letters(text: str) -> int:
    """The letters and digits that a reader sees, about."""
    shown = _NOT_READ.sub(" ", text)
    count = sum(map(str.isalnum, shown))
    if shown.isascii():
        return count
    return count + (SPACELESS_WORTH - 1) * len(_SPACELESS.findall(shown))
