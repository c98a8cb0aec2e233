"""Whether every regular expression of the package means the same on every Python.

    python .ci/patterns.py OTHER_PYTHON ...

`re` of Python 3.11.0 to 3.11.4 never matches some possessive groups, without an error
(https://github.com/python/cpython/issues/106052). So this collects what the package compiles, makes texts for
each pattern by walking through it, and compares the matches of this Python with those of each other one. The
others need nothing but their standard library.
"""

from __future__ import annotations

import functools
import importlib
import json
import pkgutil
import random
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

PACKAGES = ("vault_indexer", "vault_gateway", "vault_evals")
TEXTS = 60
"""Texts for each pattern: enough that every alternative of the longest ones is walked several times."""

Pattern = tuple[str, int]
Case = tuple[str, int, list[str]]
"""A pattern, its flags and the texts for it."""


def collect_patterns() -> dict[Pattern, str]:
    """The patterns that the package compiles on import or during a few searches, each with its module."""
    found: dict[Pattern, str] = {}
    compile_pattern = re._compile  # type: ignore[attr-defined]

    @functools.wraps(compile_pattern)  # a pickled pattern refers to this function by its name
    def record(pattern: Any, flags: Any) -> Any:
        compiled = compile_pattern(pattern, flags)
        frame = sys._getframe(2)
        module = str(frame.f_globals.get("__name__"))
        if module.partition(".")[0] in PACKAGES and isinstance(compiled.pattern, str):
            found.setdefault((compiled.pattern, compiled.flags), module)
        return compiled

    re._compile = record  # type: ignore[attr-defined]
    try:
        _import_everything()
        _search_demo()
    finally:
        re._compile = compile_pattern  # type: ignore[attr-defined]
    return found


def _import_everything() -> None:
    for name in PACKAGES:
        try:
            package = importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            try:
                importlib.import_module(module.name)
            except ImportError:  # an extra that is not installed
                continue


def _search_demo() -> None:
    """Filters, and the syntax of other programs, compile their patterns when they are asked."""
    from vault_indexer import open_vault
    from vault_indexer.model import LinkStyle
    from vault_indexer.parse.site_syntax import as_markdown

    demo = Path(importlib.import_module("vault_indexer").__path__[0]) / "demo"
    with tempfile.TemporaryDirectory() as folder, open_vault(demo, Path(folder) / "index") as vault:
        for query in QUERIES:
            vault.search(query)
    for style in get_args(LinkStyle):
        as_markdown("", style)


QUERIES = (
    '"unwell kitten" cat*',
    'content:"F52 means" -path:zz',
    'line:"the ﬁnal stra\u00dfe" heading:"Cafe\u0301"',
    '"\u6f22\u5b57\u4eee\u540d" task:"\u0e20\u0e32\u0e29\u0e32" "a.b-c/d"',
    "tag:#a/b [due:>2024-01-01] line:(tea cup)",
    'section:(slug beer) block:(tea OR "pot")',
)


def has_group_to_avoid(pattern: str, flags: int) -> bool:
    """Whether it has an atomic group, or a possessive quantifier behind more than one character or class."""
    return any(
        str(op) == "ATOMIC_GROUP"
        or (str(op) == "POSSESSIVE_REPEAT" and not _is_one_character(list(argument[2])))
        for op, argument in _walk(_parse(pattern, flags))
    )


def _parse(pattern: str, flags: int) -> list[tuple[Any, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(re._parser.parse(pattern, flags & ~re.DEBUG))  # type: ignore[attr-defined]


def _is_one_character(body: list[tuple[Any, Any]]) -> bool:
    return len(body) == 1 and str(body[0][0]) in {"LITERAL", "NOT_LITERAL", "ANY", "IN", "CATEGORY"}


def _walk(tree: list[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
    for op, argument in tree:
        yield op, argument
        for inner in _subtrees(op, argument):
            yield from _walk(inner)


def _subtrees(op: Any, argument: Any) -> list[list[tuple[Any, Any]]]:
    match str(op):
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return [list(argument[2])]
        case "SUBPATTERN":
            return [list(argument[3])]
        case "BRANCH":
            return [list(branch) for branch in argument[1]]
        case "ASSERT" | "ASSERT_NOT":
            return [list(argument[1])]
        case "ATOMIC_GROUP":
            return [list(argument)]
        case "GROUPREF_EXISTS":
            return [list(argument[1]), list(argument[2] or [])]
    return []


class TextMaker:
    """Texts that a pattern matches, nearly matches, or that are made of its own characters."""

    def __init__(self, pattern: str, flags: int, seed: int) -> None:
        self._tree = _parse(pattern, flags)
        self._random = random.Random(seed)
        self._groups: dict[int, str] = {}
        self._characters = sorted(
            {chr(argument) for op, argument in _walk(self._tree) if str(op) == "LITERAL"}
            | set(" \n\r\tab0Zé漢|]")
        )

    def make(self) -> str:
        pieces = [self._text(self._tree) for _ in range(self._random.randint(1, 3))]
        text = self._random.choice(["", " ", "\n", "x", "a "]).join(pieces)
        return self._change(text) if self._random.random() < 0.5 else text

    def _change(self, text: str) -> str:
        letters = list(text)
        for _ in range(self._random.randint(1, 3)):
            place = self._random.randint(0, len(letters))
            letters[place : place + self._random.randint(0, 2)] = self._random.choices(
                self._characters, k=self._random.randint(0, 2)
            )
        return "".join(letters)

    def _text(self, tree: list[tuple[Any, Any]]) -> str:
        return "".join(self._piece(op, argument) for op, argument in tree)

    def _piece(self, op: Any, argument: Any) -> str:
        match str(op):
            case "LITERAL":
                return chr(argument)
            case "ANY" | "NOT_LITERAL":
                return self._random.choice(self._characters)
            case "IN":
                return self._member(argument)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                low, high, body = argument
                count = self._random.randint(low, min(int(high), low + 3))
                return "".join(self._text(list(body)) for _ in range(count))
            case "SUBPATTERN":
                text = self._text(list(argument[3]))
                self._groups[argument[0]] = text
                return text
            case "GROUPREF":
                return self._groups.get(argument, "")
            case "ASSERT" | "ASSERT_NOT" if self._random.random() < 0.3:
                return self._text(list(argument[1]))
            case "ASSERT" | "ASSERT_NOT" | "AT":
                return ""
        bodies = _subtrees(op, argument)
        return self._text(self._random.choice(bodies)) if bodies else ""

    def _member(self, members: list[tuple[Any, Any]]) -> str:
        if str(members[0][0]) == "NEGATE":
            return self._random.choice(self._characters)
        op, argument = self._random.choice(members)
        match str(op):
            case "LITERAL":
                return chr(argument)
            case "RANGE":
                return chr(self._random.randint(argument[0], min(argument[1], argument[0] + 40)))
        return self._random.choice({"DIGIT": "07", "SPACE": " \t\n"}.get(str(argument)[9:], "aZ_é漢"))


def _matches_of(cases: list[Case]) -> list[list[Any]]:
    """For each text: every match with its groups, and whether the pattern fits at the start and whole."""
    return [
        [
            [
                [[match.span(), match.groups()] for match in compiled.finditer(text)],
                bool(compiled.match(text)),
                bool(compiled.fullmatch(text)),
            ]
            for text in texts
        ]
        for pattern, flags, texts in cases
        for compiled in [re.compile(pattern, flags)]
    ]


def _compare_with(python: str, cases: list[Case], ours: list[list[Any]]) -> Iterator[str]:
    """A line for each pattern that matches otherwise there, with the first text that shows it."""
    answer = subprocess.run(
        [python, "-I", __file__, "--answer"],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        check=True,
    )
    theirs = json.loads(answer.stdout)
    for (pattern, _, texts), here, there in zip(cases, json.loads(json.dumps(ours)), theirs, strict=True):
        for text, one, other in zip(texts, here, there, strict=True):
            if one != other:
                yield f"{pattern!r} on {text!r}: {one} here, {other} with {python}"
                break


def main(pythons: list[str]) -> int:
    """Print each difference; 1 if there is any."""
    if pythons == ["--answer"]:
        json.dump(_matches_of(json.load(sys.stdin)), sys.stdout)
        return 0
    patterns = collect_patterns()
    problems = [
        f"{module}: {pattern!r}: a possessive or atomic group; Python 3.11.0 to 3.11.4 may never match it"
        for (pattern, flags), module in patterns.items()
        if has_group_to_avoid(pattern, flags)
    ]
    cases = []
    for seed, (pattern, flags) in enumerate(patterns):
        maker = TextMaker(pattern, flags, seed)
        cases.append((pattern, flags, [maker.make() for _ in range(TEXTS)]))
    ours = _matches_of(cases)
    for python in pythons:
        problems.extend(_compare_with(python, cases, ours))
    counts = f"{len(cases)} patterns, {TEXTS} texts for each, {len(pythons)} other Pythons"
    sys.stdout.write("\n".join([*problems, f"{counts}: {len(problems)} differences\n"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
