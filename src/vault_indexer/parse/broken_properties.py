"""Properties whose YAML or TOML is broken: what can still be told of them, a property at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise

from vault_indexer.model import JsonValue
from vault_indexer.parse.yaml_values import MAX_BYTES, YamlRefusedError

Load = Callable[[str], Mapping[str, JsonValue]]
"""Reads properties. Raises YamlRefusedError."""

LINE_BREAK = re.compile(r"\r\n?")
QUOTED = r""""[^"\n]{1,200}"|'[^'\n]{1,200}'"""
WORD = r"(?:[^\s:,;!?]|:(?=\S))+"
YAML_NAME = re.compile(
    rf"^(?P<name>{QUOTED}|(?![-#>\[\]{{}}|*&!\"'`]){WORD}(?: {WORD}){{0,3}})[ \t]*:(?=[ \t\n]|\Z)",
    re.MULTILINE,
)
"""A name and a colon at the start of a line. Of more than four words it is a sentence."""

TOML_NAME = re.compile(rf"^(?P<name>{QUOTED}|[A-Za-z0-9_.-]+)[ \t]*=", re.MULTILINE)
INDENTATION = re.compile(r"\n[ \t]+")
OUTDENTED = re.compile(r"\n(?![ \t\n-]).*\Z", re.DOTALL)


def recover_properties(source: str, name: re.Pattern[str], load: Load) -> dict[str, JsonValue] | None:
    """The properties of the lines that begin with a `name`, None if there is no such line. A value that
    `load` refuses, too, is the text that is written."""
    source = LINE_BREAK.sub("\n", source[:MAX_BYTES])
    names = list(name.finditer(source))
    if not names:
        return None
    borders = [*(first.start() for first in names), len(source)]
    found: dict[str, JsonValue] = {}
    for first, (start, end) in zip(names, pairwise(borders), strict=True):
        value = source[first.end() : end]
        found |= next(
            _readings(source[start:end], value, load), {first["name"].strip("\"'"): _as_text(value)}
        )
    return found


def _readings(written: str, value: str, load: Load) -> Iterator[Mapping[str, JsonValue]]:
    """A property as it is written; without lines that do not belong to it; with one indentation; its first
    line alone."""
    if "*" in written and "&" in written:  # aliases of many properties could grow beyond the limit of one
        return
    own = OUTDENTED.sub("", written)
    first = own.partition("\n")[0] if value.partition("\n")[0].strip() else own
    for attempt in dict.fromkeys((written, own, INDENTATION.sub("\n  ", own), first)):
        with suppress(YamlRefusedError):
            yield load(attempt)


def _as_text(value: str) -> JsonValue:
    first, *others = (line.strip() for line in value.split("\n"))
    if first:
        return first.removeprefix("[").strip() if "]" not in first else first
    items = [line[1:].strip() for line in others if line.startswith("-")]
    return list[JsonValue](items) or " ".join(filter(None, others))
