"""Programming languages: finds functions and classes, and detects the language of a text."""

from __future__ import annotations

import pkgutil
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING

from vault_indexer.system import record

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree


@record
class Grammar:
    """The source of a grammar (`package:function`), and its relevant nodes.

    `wrappers` contain definitions but are not definitions: an export, a namespace, the body of a class.
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
_TYPESCRIPT = Grammar(
    "tree_sitter_typescript:language_typescript",
    functions=_JS_FUNCTIONS,
    classes=_set("class_declaration abstract_class_declaration interface_declaration enum_declaration"),
    imports=_set("import_statement"),
    wrappers=_JS_WRAPPERS | _set("internal_module statement_block expression_statement ambient_declaration"),
)
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
        "typescript": _TYPESCRIPT,
        "tsx": replace(_TYPESCRIPT, language="tree_sitter_typescript:language_tsx"),
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
        "php": Grammar(
            "tree_sitter_php:language_php",
            functions=_set("function_definition method_declaration"),
            classes=_set("class_declaration interface_declaration trait_declaration enum_declaration"),
            imports=_set("namespace_use_declaration"),
            wrappers=_set("namespace_definition compound_statement declaration_list enum_declaration_list"),
        ),
        "csharp": Grammar(
            "tree_sitter_c_sharp:language",
            functions=_set("method_declaration constructor_declaration"),
            classes=_set(
                "class_declaration interface_declaration struct_declaration enum_declaration"
                " record_declaration"
            ),
            imports=_set("using_directive"),
            wrappers=_set("namespace_declaration file_scoped_namespace_declaration declaration_list"),
        ),
        "bash": Grammar(
            "tree_sitter_bash:language",
            functions=_set("function_definition"),
            classes=frozenset(),
            imports=frozenset(),
        ),
    }
)

INSTALL = 'pip install "vault-indexer[code]"'
"""Installs the grammars that the plain installation omits."""


def no_parser_reason(language: str) -> str:
    """Why there is no parser, and how to install it."""
    if language in GRAMMARS:
        return f"the grammar for {language} is not installed: {INSTALL}"
    return f"no grammar for {language or 'code of an unknown language'}"


@record
class Definition:
    """A function or class, by characters of the source. `depth` is the number of enclosing classes; `name` is
    "" if it has none."""

    start: int
    end: int
    is_class: bool
    depth: int
    name: str = ""


@record
class Code:
    """The definitions and imports of a parsed source, by characters, in order."""

    definitions: tuple[Definition, ...]
    imports: tuple[tuple[int, int], ...]


class CodeReader:
    """Reads sources with a cached parser per language. Only one thread may use it."""

    def __init__(self) -> None:
        self._parsers: dict[str, Parser | None] = {}

    def can_read(self, language: str) -> bool:
        """Whether there is a grammar for the language, and its package is installed."""
        return self._parser(language) is not None

    def read(self, language: str, text: str, with_comments: bool) -> Code | None:
        """The definitions and imports of a source; syntax errors affect only the code around them.

        With `with_comments`, a definition begins with the comments directly above it. None for a source that
        cannot be read, or is so ambiguous that parsing it would take too much memory.
        """
        source = text.encode("utf-8", "replace")
        tree = self._parse(language, source)
        if tree is None:
            return None
        grammar, root, position = GRAMMARS[language], tree.root_node, _Positions(source)
        imports = (node for node in root.children if node.type in grammar.imports)
        found = [
            replace(one, start=position(one.start), end=position(one.end))
            for one in _definitions(grammar, root, source, with_comments)
        ]
        return Code(
            tuple(sorted(found, key=lambda entry: (entry.start, -entry.end))),
            tuple((position(node.start_byte), position(node.end_byte)) for node in imports),
        )

    def guess(self, text: str) -> str:
        """The language whose grammar explains most of the text by functions, classes and imports; "" if none
        finds any, or the next one (of another family) explains nearly as much.

        A grammar that cannot read more than a fiftieth of the text is ignored. No language is guessed for
        text without any of these: nothing depends on it, and many grammars can read such text.
        """
        source = text.encode("utf-8", "replace")[:_GUESSED_BYTES]
        shares = {name: share for name in GRAMMARS if source and (share := self._explained(name, source))}
        best = max(shares, key=lambda name: shares[name], default="")
        family = next((family for family in _FAMILIES if best in family), (best,))
        if any(shares[best] - shares[name] < _LEAST_LEAD for name in shares if name not in family):
            return ""
        return next((name for name in family if name in shares), "")

    def _explained(self, language: str, source: bytes) -> float:
        """The share of the text in imports and definitions; 0 if the grammar cannot read the text."""
        tree = self._parse(language, source)
        if tree is None or (broken := _broken_bytes(tree.root_node)) > _MOST_BROKEN * len(source):
            return 0.0
        grammar, root = GRAMMARS[language], tree.root_node
        starts = sorted(one.start for one in _definitions(grammar, root, source, with_comments=False))
        covered = sum(
            node.end_byte - node.start_byte
            for node in root.children
            if node.type in grammar.imports
            or bisect_left(starts, node.end_byte) > bisect_left(starts, node.start_byte)
        )
        return max(0.0, covered - broken) / len(source)

    def _parse(self, language: str, source: bytes) -> Tree | None:
        parser = self._parser(language)
        return _parse(parser, source) if parser else None

    def _parser(self, language: str) -> Parser | None:
        if language not in self._parsers:
            self._parsers[language] = _parser_for(language)
        return self._parsers[language]


_GUESSED_BYTES = 1 << 16
_MOST_BROKEN = 0.02
_LEAST_LEAD = 0.05
_FAMILIES = (("c", "cpp"), ("javascript", "typescript", "tsx"))
"""A language reads nearly everything that the earlier ones of its family do, so the first one wins."""


def _parser_for(language: str) -> Parser | None:
    grammar = GRAMMARS.get(language)
    if grammar is None:
        return None
    try:
        from tree_sitter import Language, Parser

        return Parser(Language(pkgutil.resolve_name(grammar.language)()))
    except ImportError:
        return None


def _broken_bytes(root: Node) -> int:
    """The number of bytes that the grammar could not read; a missing token counts as one."""
    broken, stack = 0, [root]
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            broken += max(1, node.end_byte - node.start_byte)
        elif node.has_error:
            stack.extend(node.children)
    return broken


_STEPS_AHEAD = 200
_STEPS_PER_KIB = 30
"""A step is 100 operations of the parser. Ordinary code takes 1 to 13 per KiB, deep brackets 10. If the
parser follows several readings at once, it takes 63 to 100, and 64 KB of `a<b,` in TypeScript took 4.2 GB."""


def _parse(parser: Parser, source: bytes) -> Tree | None:
    """The tree, or None if the parser is too slow. The limit counts steps, not seconds, so the result is the
    same on every machine."""
    steps = 0

    def is_too_slow(offset: int, _has_error: bool) -> bool:
        nonlocal steps
        steps += 1
        return steps > _STEPS_AHEAD + _STEPS_PER_KIB * offset / 1024

    def read(offset: int, _point: object) -> bytes:
        return source[offset : offset + _READ_BYTES]

    try:
        return parser.parse(read, encoding="utf8", progress_callback=is_too_slow)
    except ValueError:  # the parser was stopped and would resume with the next source
        parser.reset()
        return None


_READ_BYTES = 1 << 16


def _definitions(grammar: Grammar, root: Node, source: bytes, with_comments: bool) -> Iterator[Definition]:
    """All definitions outside functions, by bytes, including those in the bodies of classes."""
    stack = [(root, 0, root.start_byte)]
    while stack:
        parent, level, parent_start = stack.pop()
        above: list[Node] = []
        for child in parent.children:
            # The only definition in a wrapper begins at the wrapper: decorators, `export`, `template <…>`.
            first = child.start_byte
            if parent.type in _OPENERS:
                first = parent_start
            elif with_comments:
                first = _with_comments(above, child)
            above = [*above, child] if child.type in _COMMENTS else []
            if child.type in grammar.functions or _is_function_value(child):
                yield Definition(first, child.end_byte, False, level, _name(child, source))
            elif child.type in grammar.classes:
                yield Definition(first, child.end_byte, True, level, _name(child, source))
                stack.append((child, level + 1, first))
            elif child.type in grammar.wrappers:
                stack.append((child, level, first))


_COMMENTS = frozenset({"comment", "line_comment", "block_comment", "attribute_item"})
_OPENERS = frozenset({"decorated_definition", "export_statement", "template_declaration"})


def _name(node: Node, source: bytes) -> str:
    """The name of a definition: its field `name`, in C the innermost declarator, in Rust the type of an
    `impl`."""
    for _ in range(_DEEPEST_NAME):
        child = node.child_by_field_name("declarator") or node.child_by_field_name("type")
        if named := node.child_by_field_name("name"):
            node = node if node.type == "qualified_identifier" else named
            break
        if child is None:
            child = next((one for one in node.named_children if one.type in _NAMED), None)
        if child is None:
            break
        node = child
    shown = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
    return shown if len(shown) <= _LONGEST_NAME and "\n" not in shown else ""


_NAMED = frozenset({"type_spec", "type_alias", "variable_declarator"})
_DEEPEST_NAME = 8
_LONGEST_NAME = 100


def _with_comments(above: list[Node], node: Node) -> int:
    """The start of the comments directly above the node, or of the nodes in `above`."""
    start, row = node.start_byte, node.start_point[0]
    for comment in reversed(above):
        # In some grammars a line comment includes its line break and ends at the start of the next row.
        last_row = comment.end_point[0] - (1 if comment.end_point[1] == 0 else 0)
        if last_row < row - 1:
            break
        start, row = comment.start_byte, comment.start_point[0]
    return start


def _is_function_value(node: Node) -> bool:
    """Whether the node is a function assigned to a name: `const f = () => …`."""
    declared = node.children if node.type == "lexical_declaration" else []
    values = (c.child_by_field_name("value") for c in declared if c.type == "variable_declarator")
    return any(value and value.type in {"arrow_function", "function_expression"} for value in values)


class _Positions:
    """Converts byte offsets in a stretch of text, in any order, to positions in the text."""

    _STEP = 1024

    def __init__(self, encoded: bytes) -> None:
        self._plain = encoded.isascii()
        self._encoded = encoded
        pieces = () if self._plain else range(0, len(encoded), self._STEP)
        counts = (_characters(encoded[begin : begin + self._STEP]) for begin in pieces)
        self._counts = list(accumulate(counts, initial=0))

    def __call__(self, offset: int) -> int:
        if self._plain:
            return offset
        step = offset // self._STEP
        return self._counts[step] + _characters(self._encoded[step * self._STEP : offset])


def _characters(encoded: bytes) -> int:
    """The number of characters that begin in a piece of UTF-8."""
    return sum(byte & 0xC0 != 0x80 for byte in encoded)
