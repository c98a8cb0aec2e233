"""Goldens that a person can read and edit: cases below headings, and what becomes of each.

A case is a line, `source => result`, or a title and two parts that end with a line of one dot:

    title
    .
    source
    .
    result
    .

In a line, ⏎ stands for a line feed. In a source, → is a tab, ␍ a carriage return, and any other control
character its sign, too. `UPDATE_GOLDEN=1` writes the results: read the difference.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from difflib import unified_diff
from pathlib import Path

import pytest

_PART = re.compile(
    r"^\.\n(?P<text>(?:(?!\.$).*\n)*)\.\n(?:(?!\.$).*\n)*\.$|^(?P<line>.*) =>(?: .*)?$|^## (?P<section>.*)$",
    re.MULTILINE,
)
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")
_SIGNS = {0x2400 + code: chr(code) for code in range(32)} | {ord("→"): "\t", ord("⏎"): "\n"}


def check_golden(file: Path, sections: Mapping[str, Callable[[str], str]]) -> None:
    """Compare the golden with what the function of each section makes of its sources, or write that. The key
    of a function is a heading, whole or up to its colon; that of `""` is for sections that have none."""
    section = ""

    def again(found: re.Match[str]) -> str:
        nonlocal section
        if found["section"] is not None:
            section = found["section"]
            return found[0]
        is_line = found["line"] is not None
        source = found["line"] if is_line else found["text"].removesuffix("\n")
        try:
            keys = (section, section.partition(":")[0], "")
            function = next(sections[key] for key in keys if key in sections)
            result = function(source.translate(_SIGNS))
        except Exception as error:
            error.add_note(f"{file.name}, {section}: {source}")
            raise
        if is_line:
            return f"{source} => {result}".replace("\n", "⏎").rstrip(" ")
        return f".\n{found['text']}.\n{result}".rstrip("\n") + "\n."

    compare_golden(file, _PART.sub(again, file.read_text(encoding="utf-8")))


def of_parts(function: Callable[..., object]) -> Callable[[str], str]:
    """For sources of several parts, with ` | ` between them."""
    return lambda source: str(function(*source.split(" | ")))


def of_escapes(function: Callable[[str], str]) -> Callable[[str], str]:
    """For sources and results in which `\\u00ad` is a character that cannot be seen."""

    def escaped(source: str) -> str:
        result = function(_ESCAPE.sub(lambda found: chr(int(found[1], 16)), source))
        return "".join(c if c.isprintable() or c == "\n" else f"\\u{ord(c):04x}" for c in result)

    return escaped


def compare_golden(file: Path, text: str) -> None:
    """Compare what was printed with a file, or write that."""
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    before = file.read_text(encoding="utf-8")
    if text != before:
        difference = unified_diff(before.splitlines(), text.splitlines(), file.name, "found", lineterm="")
        pytest.fail("\n".join(difference))
