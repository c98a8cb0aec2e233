"""Programming languages: how they are called, and where their functions and classes stand."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree


@dataclass(frozen=True, slots=True)
class Grammar:
    """Where a grammar comes from (`package:function`) and which of its nodes matter.

    `wrappers` hold definitions without being one: an export, a namespace, the body of a class.
    """

    language: str
    functions: frozenset[str]
    classes: frozenset[str]
    imports: frozenset[str]
    wrappers: frozenset[str] = frozenset()


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


_JS_FUNCTIONS = _set("function_declaration generator_function_declaration method_definition")
_JS_WRAPPERS = _set("export_statement class_body lexical_declaration")
_TS_CLASSES = _set("class_declaration abstract_class_declaration interface_declaration enum_declaration")
_TS_WRAPPERS = _JS_WRAPPERS | _set("internal_module statement_block expression_statement ambient_declaration")
_CPP_WRAPPERS = _set("template_declaration namespace_definition declaration_list field_declaration_list")

GRAMMARS: Mapping[str, Grammar] = MappingProxyType(
    {
        "python": Grammar(
            "tree_sitter_python:language",
            functions=_set("function_definition"),
            classes=_set("class_definition"),
            imports=_set("import_statement import_from_statement future_import_statement"),
            wrappers=_set("decorated_definition block if_statement try_statement"),
        ),
        "javascript": Grammar(
            "tree_sitter_javascript:language",
            functions=_JS_FUNCTIONS,
            classes=_set("class_declaration"),
            imports=_set("import_statement"),
            wrappers=_JS_WRAPPERS,
        ),
        "typescript": Grammar(
            "tree_sitter_typescript:language_typescript",
            functions=_JS_FUNCTIONS,
            classes=_TS_CLASSES,
            imports=_set("import_statement"),
            wrappers=_TS_WRAPPERS,
        ),
        "tsx": Grammar(
            "tree_sitter_typescript:language_tsx",
            functions=_JS_FUNCTIONS,
            classes=_TS_CLASSES,
            imports=_set("import_statement"),
            wrappers=_TS_WRAPPERS,
        ),
        "java": Grammar(
            "tree_sitter_java:language",
            functions=_set("method_declaration constructor_declaration"),
            classes=_set("class_declaration interface_declaration enum_declaration record_declaration"),
            imports=_set("import_declaration package_declaration"),
            wrappers=_set("class_body interface_body enum_body enum_body_declarations"),
        ),
        "go": Grammar(
            "tree_sitter_go:language",
            functions=_set("function_declaration method_declaration"),
            classes=_set("type_declaration"),
            imports=_set("import_declaration package_clause"),
        ),
        "rust": Grammar(
            "tree_sitter_rust:language",
            functions=_set("function_item macro_definition"),
            classes=_set("impl_item struct_item enum_item trait_item mod_item"),
            imports=_set("use_declaration extern_crate_declaration"),
            wrappers=_set("declaration_list"),
        ),
        "c": Grammar(
            "tree_sitter_c:language",
            functions=_set("function_definition"),
            classes=_set("struct_specifier type_definition enum_specifier"),
            imports=_set("preproc_include"),
            wrappers=_set("preproc_ifdef preproc_if linkage_specification declaration_list"),
        ),
        "cpp": Grammar(
            "tree_sitter_cpp:language",
            functions=_set("function_definition"),
            classes=_set("class_specifier struct_specifier enum_specifier type_definition"),
            imports=_set("preproc_include using_declaration"),
            wrappers=_CPP_WRAPPERS | _set("preproc_ifdef preproc_if linkage_specification"),
        ),
        "bash": Grammar(
            "tree_sitter_bash:language",
            functions=_set("function_definition"),
            classes=frozenset(),
            imports=frozenset(),
        ),
    }
)

_ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "python": "py python3 pyi",
        "javascript": "js jsx mjs cjs node",
        "typescript": "ts mts cts",
        "go": "golang",
        "rust": "rs",
        "c": "h",
        "cpp": "c++ cc cxx hpp hh",
        "bash": "sh shell zsh",
    }
)
_NAMES = MappingProxyType({alias: name for name, row in _ALIASES.items() for alias in row.split()})


def language_of(name: str) -> str:
    """The name of a language as `GRAMMARS` has it, from an info string or a file's ending."""
    folded = name.lower().strip("{}.")
    return _NAMES.get(folded, folded)


def language_of_path(path: str) -> str:
    """The language of a source file by its ending; "" for any other file."""
    language = language_of(PurePosixPath(path).suffix.removeprefix("."))
    return language if language in GRAMMARS else ""


def parser_for(language: str) -> Parser | None:
    """A parser of the language; None if there is no grammar for it or its package is not installed."""
    grammar = GRAMMARS.get(language)
    if grammar is None:
        return None
    try:
        from tree_sitter import Language, Parser

        return Parser(Language(pkgutil.resolve_name(grammar.language)()))
    except ImportError:
        return None


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or class: byte offsets in the source. `depth` is 1 within a class, 0 outside."""

    start: int
    end: int
    is_class: bool
    depth: int


@dataclass(frozen=True, slots=True)
class Code:
    """What matters of a parsed source: its definitions and imports, byte offsets, in order."""

    definitions: tuple[Definition, ...]
    imports: tuple[tuple[int, int], ...]


def read_code(parser: Parser, language: str, source: bytes, with_comments: bool) -> Code | None:
    """The definitions and imports of a source; syntax errors hide what they touch and no more.

    With `with_comments`, a definition begins with the comments right above it. None for a source that can be
    read in so many ways that parsing it would take too much memory.
    """
    grammar = GRAMMARS[language]
    tree = _parse(parser, source)
    if tree is None:
        return None
    imports = [(n.start_byte, n.end_byte) for n in tree.root_node.children if n.type in grammar.imports]
    found = _definitions(grammar, tree.root_node, 0, with_comments)
    return Code(tuple(sorted(found, key=lambda entry: (entry.start, -entry.end))), tuple(imports))


_STEPS_AHEAD = 200
_STEPS_PER_KIB = 30
"""A step is 100 operations of the parser. Ordinary code takes 1 to 13 for a KiB, deep brackets 10; where the
parser follows several readings at once it is 63 to 100, and 64 KB of `a<b,` in TypeScript took 4.2 GB."""


def _parse(parser: Parser, source: bytes) -> Tree | None:
    """The tree; None if the parser gets on too slowly. Steps are counted, not seconds: the result is the same
    on every machine."""
    steps = 0

    def is_too_slow(offset: int, _has_error: bool) -> bool:
        nonlocal steps
        steps += 1
        return steps > _STEPS_AHEAD + _STEPS_PER_KIB * offset / 1024

    def read(offset: int, _point: object) -> bytes:
        return source[offset : offset + _READ_BYTES]

    try:
        return parser.parse(read, encoding="utf8", progress_callback=is_too_slow)
    except ValueError:  # it was stopped, and would go on from there with the next source
        parser.reset()
        return None


_READ_BYTES = 1 << 16


def _definitions(grammar: Grammar, root: Node, depth: int, with_comments: bool) -> Iterator[Definition]:
    """All definitions outside functions; within a class those of its body."""
    stack = [(root, depth, root.start_byte)]
    while stack:
        parent, level, parent_start = stack.pop()
        above: list[Node] = []
        for child in parent.children:
            # A wrapper's one definition begins where the wrapper does: decorators, `export`, `template <…>`.
            first = child.start_byte
            if parent.type in _OPENERS:
                first = parent_start
            elif with_comments:
                first = _with_comments(above, child)
            above = [*above, child] if child.type in _COMMENTS else []
            if child.type in grammar.functions or _is_function_value(child):
                yield Definition(first, child.end_byte, False, level)
            elif child.type in grammar.classes:
                yield Definition(first, child.end_byte, True, level)
                stack.append((child, 1, first))
            elif child.type in grammar.wrappers:
                stack.append((child, level, first))


_COMMENTS = frozenset({"comment", "line_comment", "block_comment", "attribute_item"})
_OPENERS = frozenset({"decorated_definition", "export_statement", "template_declaration"})


def _with_comments(above: list[Node], node: Node) -> int:
    """Where the comments begin that end on the line above the node, or on the one above those."""
    start, row = node.start_byte, node.start_point[0]
    for comment in reversed(above):
        last_row = comment.end_point[0] - (1 if comment.end_point[1] == 0 else 0)
        if last_row < row - 1:
            break
        start, row = comment.start_byte, comment.start_point[0]
    return start


def _is_function_value(node: Node) -> bool:
    """`const f = () => …`: a function in all but name."""
    if node.type != "lexical_declaration":
        return False
    values = (c.child_by_field_name("value") for c in node.children if c.type == "variable_declarator")
    return any(
        value is not None and value.type in {"arrow_function", "function_expression"} for value in values
    )
