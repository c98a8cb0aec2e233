"""Generates the JSON types for client code from the dataclasses of the answers.

`make api-types` writes the files; a test compares them. `shapes` is for this package's own commands: a
command that queries a daemon loads no dataclass of an answer, because it must start fast.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Literal, NamedTuple, Union, get_args, get_origin

from vault_indexer import model
from vault_indexer.contract.codec import json_fields, summary
from vault_indexer.contract.marks import split_marks
from vault_indexer.serve.api.endpoints import ENDPOINTS, PROOF
from vault_indexer.serve.api.openapi import answer_type
from vault_indexer.serve.api.respond import extension_routes

_HEAD = '''\
"""The JSON answers as types. Written by `make api-types` from the dataclasses of `model`: change those.

The keys are a contract with other programs: one is added, never renamed. This module imports nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

if TYPE_CHECKING:
    from vault_indexer.model import JsonValue
'''
_OTHERS = ("Failure", "InspectedNote")
"""Answers that belong to no row: of all routes, of a command."""

_NOT_READ_HERE = frozenset({"AskLine", "BlockId", "Failure", "InspectedLink", "InspectedNote"})
"""Types of JSON that only other programs read."""

_WIDTH = 105


def python_types() -> str:
    """The module `generated.shapes`: a TypedDict for each dataclass that this package reads as JSON."""
    own = (kind for kind in _all_types() if kind.__module__.startswith(model.__name__))
    read_here = (kind for kind in own if kind.__name__ not in _NOT_READ_HERE)
    return "\n\n".join([_HEAD, *map(_typed_dict, read_here)])


def _all_types() -> list[type]:
    """The dataclasses that the JSON of all answers consists of, each after its dependencies."""
    rows = (*ENDPOINTS, PROOF, *(route.endpoint for route in extension_routes()))
    named = [
        name
        for row in rows
        for name in (row.answer, row.line, *(other_answer[2] for other_answer in row.other_answers))
    ]
    roots = [name for names in named if names for name in names.split(" | ")]
    found: dict[type, None] = {}
    for name in (*roots, *_OTHERS):
        _collect(answer_type(name), found)
    return list(found)


def _collect(kind: object, found: dict[type, None]) -> None:
    inner, _ = split_marks(kind)
    if isinstance(inner, type) and is_dataclass(inner) and not hasattr(inner, "to_json"):
        if inner not in found:
            for one in json_fields(inner):
                _collect(one.kind, found)
            found[inner] = None
    elif get_origin(inner) is not Literal:
        for part in get_args(inner):
            _collect(part, found)


def _typed_dict(kind: type) -> str:
    name = f"{kind.__name__}Json"
    keys = {
        one.key: f"NotRequired[{_written(one.kind, _PYTHON)}]"
        if one.is_optional
        else _written(one.kind, _PYTHON)
        for one in json_fields(kind)
    }
    if all(map(str.isidentifier, keys)) and "from" not in keys:
        doc = textwrap.wrap(f'"""{summary(kind)}"""', _WIDTH - 4)
        lines = [f"class {name}(TypedDict):", *(f"    {line}" for line in doc), ""]
        return "\n".join([*lines, *(f"    {key}: {text}" for key, text in keys.items())]) + "\n"
    given = ", ".join(f'"{key}": {text}' for key, text in keys.items())
    return f'{name} = TypedDict("{name}", {{{given}}})\n"""{summary(kind)}"""\n'


class _Language(NamedTuple):
    """The type syntax of a language; `{}` stands for another type, or for the name of a dataclass."""

    anything: str
    nothing: str
    table: str
    array: Callable[[str], str]
    choice: Callable[[Sequence[str]], str]
    shape: str
    text: str
    plain: Mapping[type, str]


_PYTHON = _Language(
    anything="JsonValue",
    nothing="None",
    table="dict[str, {}]",
    array="list[{}]".format,
    choice=lambda texts: f"Literal[{', '.join(texts)}]",
    shape="{}Json",
    text="str",
    plain={one: one.__name__ for one in (int, float, bool)},
)
_TYPESCRIPT = _Language(
    anything="unknown",
    nothing="null",
    table="Record<string, {}>",
    array=lambda entry: f"({entry})[]" if " | " in entry else f"{entry}[]",
    choice=" | ".join,
    shape="{}",
    text="string",
    plain={int: "number", float: "number", bool: "boolean"},
)


def _written(kind: object, language: _Language) -> str:
    """The type in the syntax of the language."""
    inner, _ = split_marks(kind)
    origin, parts = get_origin(inner), get_args(inner)
    if inner is object:
        return language.anything
    if inner is NoneType:
        return language.nothing
    if origin is Literal:
        return language.choice([f'"{one}"' for one in parts])
    if origin in (UnionType, Union):
        return " | ".join(_written(part, language) for part in parts)
    if origin in (tuple, list):
        return language.array(_written(parts[0], language))
    if origin in (Mapping, dict):
        return language.table.format(_written(parts[1], language))
    assert isinstance(inner, type)
    if hasattr(inner, "to_json"):
        return language.table.format(language.anything)
    if is_dataclass(inner):
        return language.shape.format(inner.__name__)
    return language.plain.get(inner, language.text)


def typescript_types() -> str:
    """The types for the plugin and the page: an interface for each dataclass."""
    head = "// The JSON answers as types, written by `make api-types` from the dataclasses of `model`.\n"
    return "\n".join([head, *map(_interface, _all_types())])


def _interface(kind: type) -> str:
    lines = [f"/** {summary(kind)} */", f"export interface {kind.__name__} {{"]
    for one in json_fields(kind):
        lines.append(f"  {one.key}{'?' if one.is_optional else ''}: {_written(one.kind, _TYPESCRIPT)};")
    return "\n".join([*lines, "}", ""])


_SOURCE = Path(__file__).parents[1] / "src"

FILES: Mapping[Path, Callable[[], str]] = {
    _SOURCE / "vault_indexer" / "serve" / "api" / "generated" / "shapes.py": python_types,
    _SOURCE / "obsidian-plugin" / "src" / "generated" / "shapes.ts": typescript_types,
}
"""Each generated file, and the function that returns its text."""


def main() -> None:
    """Writes the files."""
    for file, text in FILES.items():
        file.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
