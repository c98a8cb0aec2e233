"""The types of the JSON for code that reads it, written from the dataclasses of the answers.

`make api-types` writes the files; a test compares them. `shapes` is what this package's own commands read: a
command that asks a daemon loads no dataclass of an answer, for it must start fast.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Literal, Union, get_args, get_origin

from vault_indexer import model
from vault_indexer.contract.codec import json_fields, summary
from vault_indexer.contract.marks import unmarked
from vault_indexer.serve.endpoints import ENDPOINTS, PROOF

_HEAD = '''\
"""The JSON answers as types. Written by `make api-types` from the dataclasses of `model`: change those.

The keys are a contract with other programs: one is added, never renamed. This module imports nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

if TYPE_CHECKING:
    from vault_indexer.model import JsonValue
'''
_OTHERS = ("Failure", "InspectedNote", "GatewayAnswer", "PublishedVaultList", "GatewayHealth")
"""Answers of no row: of all routes, of a command, of a gateway."""

_WIDTH = 105


def python_types() -> str:
    """The module `serve.shapes`: a TypedDict for each dataclass."""
    return "\n\n".join([_HEAD, *map(_typed_dict, _all_types())])


def _all_types() -> list[type]:
    """The types of all answers."""
    rows = (*ENDPOINTS, PROOF)
    named = [name for row in rows for name in (row.answer, row.line, *(one[2] for one in row.other_answers))]
    roots = [name for names in named if names for name in names.split(" | ")]
    return json_types([getattr(model, name) for name in (*roots, *_OTHERS)])


def json_types(roots: Sequence[type]) -> list[type]:
    """The dataclasses that the JSON of some dataclasses consists of, each after those that it uses."""
    found: dict[type, None] = {}
    for root in roots:
        _collect(root, found)
    return list(found)


def _collect(kind: object, found: dict[type, None]) -> None:
    inner, _ = unmarked(kind)
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
        one.key: f"NotRequired[{_python(one.kind)}]" if one.is_optional else _python(one.kind)
        for one in json_fields(kind)
    }
    if all(map(str.isidentifier, keys)) and "from" not in keys:
        doc = textwrap.wrap(f'"""{summary(kind)}"""', _WIDTH - 4)
        lines = [f"class {name}(TypedDict):", *(f"    {line}" for line in doc), ""]
        return "\n".join([*lines, *(f"    {key}: {text}" for key, text in keys.items())]) + "\n"
    given = ", ".join(f'"{key}": {text}' for key, text in keys.items())
    return f'{name} = TypedDict("{name}", {{{given}}})\n"""{summary(kind)}"""\n'


def _python(kind: object) -> str:
    inner, _ = unmarked(kind)
    origin, parts = get_origin(inner), get_args(inner)
    if inner is object:
        return "JsonValue"
    if inner is NoneType:
        return "None"
    if origin is Literal:
        return "Literal[" + ", ".join(f'"{one}"' for one in parts) + "]"
    if origin in (UnionType, Union):
        return " | ".join(map(_python, parts))
    if origin in (tuple, list):
        return f"list[{_python(parts[0])}]"
    if origin in (Mapping, dict):
        return f"dict[str, {_python(parts[1])}]"
    assert isinstance(inner, type)
    if hasattr(inner, "to_json"):
        return "dict[str, JsonValue]"
    if is_dataclass(inner):
        return f"{inner.__name__}Json"
    return "str" if issubclass(inner, bytes | Path | Enum) else inner.__name__


def typescript_types() -> str:
    """The types for the plugin and the page: an interface for each dataclass."""
    head = "// The JSON answers as types, written by `make api-types` from the dataclasses of `model`.\n"
    return "\n".join([head, *map(_interface, _all_types())])


def _interface(kind: type) -> str:
    lines = [f"/** {summary(kind)} */", f"export interface {kind.__name__} {{"]
    for one in json_fields(kind):
        lines.append(f"  {one.key}{'?' if one.is_optional else ''}: {_typescript(one.kind)};")
    return "\n".join([*lines, "}", ""])


def _typescript(kind: object) -> str:
    inner, _ = unmarked(kind)
    origin, parts = get_origin(inner), get_args(inner)
    if inner is object:
        return "unknown"
    if inner is NoneType:
        return "null"
    if origin is Literal:
        return " | ".join(f'"{one}"' for one in parts)
    if origin in (UnionType, Union):
        return " | ".join(map(_typescript, parts))
    if origin in (tuple, list):
        entry = _typescript(parts[0])
        return f"({entry})[]" if " | " in entry else f"{entry}[]"
    if origin in (Mapping, dict):
        return f"Record<string, {_typescript(parts[1])}>"
    assert isinstance(inner, type)
    if hasattr(inner, "to_json"):
        return "Record<string, unknown>"
    if is_dataclass(inner):
        return inner.__name__
    plain = {int: "number", float: "number", bool: "boolean"}
    return plain.get(inner, "string")


_PLUGIN = Path(__file__).parents[2] / "obsidian-plugin" / "src" / "shapes.ts"

FILES: Mapping[Path, Callable[[], str]] = {
    Path(__file__).with_name("shapes.py"): python_types,
    _PLUGIN: typescript_types,
    Path(__file__).with_name("page") / "shapes.d.ts": typescript_types,
}
"""Each file that is written, and its text."""


def main() -> None:
    """Write the files."""
    for file, text in FILES.items():
        file.write_text(text(), encoding="utf-8")
