"""The built-in sample tells what the parser of this Python misses."""

from __future__ import annotations

import re

import pytest

from vault_indexer.parse import inline, link_syntax, notes
from vault_indexer.parse.dispatch import missing_from_sample

NEVER = re.compile(r"(?!)")


def test_this_python_misses_nothing() -> None:
    assert missing_from_sample() == []


def test_a_pattern_that_never_matches_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    # What `re` of Python 3.11.2 does to a possessive group.
    broken = re.compile(inline.TOKEN.pattern.replace("[^\\r\\n])+", "[^\\r\\n](?!))+"), inline.TOKEN.flags)
    for module in (inline, link_syntax, notes):
        if getattr(module, "TOKEN", None) is inline.TOKEN:
            monkeypatch.setattr(module, "TOKEN", broken)
    assert missing_from_sample() == ["links"]
