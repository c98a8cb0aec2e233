"""Parses the text of a query into a tree. It has no side effects, and accepts sentences that only look like
an operator.

    query   = { term } { "OR" { term } }           (OR binds weaker than adjacent terms)
    term    = [ "-" ] ( "(" query ")" | phrase | regex | filter | property | word )
    regex   = "/" expression "/"
    filter  = name ":" ( "(" query ")" | phrase | regex | word )      without a space after the colon
    property = "[" name [ ":" ( "null" | comparison | query ) ] "]"

Words rank, and everything else filters. `docs/query-language.md` is the user documentation.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from vault_indexer.errors import QueryError
from vault_indexer.model import KINDS
from vault_indexer.search.query.ast import (
    LEVELS,
    MOMENTS,
    All,
    Compare,
    Condition,
    Direction,
    Either,
    Fact,
    InVault,
    Linked,
    Node,
    Not,
    Null,
    Phrase,
    Property,
    Query,
    Regex,
    Scope,
    Within,
    Word,
    atoms,
    column_of,
    is_moment,
    is_tag,
    iso_date,
    leaves,
    level_of,
    number,
    ranking_words,
    replace_leaves,
    with_case,
)
from vault_indexer.search.query.regex import compile_regex, looks_unfinished, regex_end
from vault_indexer.system import record
from vault_indexer.text.fold import has_words, is_made_sign

MAX_DEPTH = 32
MAX_TERMS = 128
MAX_OPERATORS = 32
MAX_EXPRESSIONS = 8
"""The limits of the filters of one query, far beyond what a user writes. A repeated term counts once, and
words that only rank do not count. Rules of thumb."""

_ALIKE = 0.7
"""The difflib ratio from which a name may be a misspelling of an operator."""

_OPERATOR = re.compile(r"([a-z]+(?:-[a-z]+)?):(?!//)")
_OR = re.compile(r"OR(?=\s)")
_ANOTHER_OR = re.compile(r"OR(?:\s|$)")
_FLAG = re.compile(r"-(?:$|[\s\->]|[A-Za-z](?:\s|$))")
_WIKILINK = re.compile(r"\[\[[^\[\]\n]*\]\]")
# One letter needs a value: `[x]` is text.
_PROPERTY = re.compile(r"\[\s*(?:\"([^\"\]]+)\"|([^\W\d](?:[^\[\]:\"\n]+?|(?=\s*:))))\s*(?=[\]:])")
_TASKS = frozenset({Scope.TASK, Scope.TASK_TODO, Scope.TASK_DONE})
_DUE = "task-due"
_COMPARISON = re.compile(r"(>=|<=|>|<)\s*")
_COMPARED = re.compile(r"\"[^\"\]]*\"|[^\s\])]+")
_ESCAPE = re.compile(r"\\([\"\\])")
_SPACES = re.compile(r"\s+")
_NAME_SEARCH = re.compile(r"\[\s*(?:/[^\]\n]+/|\([^\]\n]+\))\s*(?:\]|:[^\]\n]*\])(?!\()")
"""`[/stat.*/]` and `[(a OR b):x]`, Obsidian's syntax for a search of property names."""

OPERATORS: Mapping[str, str] = MappingProxyType(
    {
        "tag": "notes with a tag or one below it",
        "path": "notes whose path contains the text",
        "file": "notes whose file name contains the text",
        "lang": "notes in a language, such as lang:es",
        "kind": "notes, canvases or documents of a kind, such as kind:pdf",
        "before": "notes changed before a day or a time ago, such as before:2026-02-01",
        "after": "notes changed since a day or a time ago, such as after:7d",
        "links-to": "notes with a link to a note",
        "linked-from": "notes that a note links to",
        "content": "the words in the text, not in title or properties",
        "heading": "a heading with the words",
        "section": "all words between two headings",
        "line": "all words in one line",
        "block": "all words in one block",
        "task": "a task with the word",
        "task-todo": "a task that is not done",
        "task-done": "a task that is done",
        "task-due": "open tasks by their due date, such as task-due:<2026-12-01",
        "level": "chunks that are a child of another, or a parent: level:child, level:parent",
        "vault": "notes of one vault, if several are searched",
        "match-case": "the word in exactly this case",
        "ignore-case": "the word in any case, inside match-case:",
    }
)
"""The operators of the query language, each with a description of its matches. The parser and the completion
use only this table. `_NAMED`, `_CASE` or `_FACTS` determine how an operator is parsed."""

_CASE = MappingProxyType({"match-case": True, "ignore-case": False})
_NAMED = MappingProxyType({scope.value: scope for scope in Scope})


def parse_query(text: str) -> Query:
    """Returns the parsed query. Raises QueryError with the column of the error."""
    parser = _Parser(text)
    parts = [inner for part in parser.sequence("") for inner in _spread(part)]
    words = [word for part in parts for word in ranking_words(part.node)]
    is_wordless = not has_words(" ".join(words))
    conditions = list(_conditions(text, parts, with_signs=is_wordless))
    if is_wordless and conditions:
        words = []
    _check_levels(conditions)
    conditions = list({condition.node: condition for condition in reversed(conditions)}.values())[::-1]
    _check_size(conditions)
    last = parts[-1].node if parts else None
    return Query(
        text=" ".join(words) if conditions else (text.strip() if words else ""),
        conditions=tuple(conditions),
        # A space behind a word shows that the user has finished it.
        open_end=isinstance(last, Word) and not text[-1:].isspace(),
        notices=tuple(dict.fromkeys(parser.notices)),
    )


def _conditions(text: str, parts: Iterable[_Part], *, with_signs: bool) -> Iterator[Condition]:
    """Yields the conditions of a query. Signs do not rank, so in a query without words, note or name must
    have them (`with_signs`)."""
    for part in parts:
        source = text[part.start : part.end].strip()
        if not _is_plain(part.node):
            yield Condition(part.node, source)
        elif with_signs and _has_telling_sign(part.node):
            yield Condition(replace_leaves(part.node, _in_note_or_name), source)


def _has_telling_sign(node: Node) -> bool:
    """Whether there is a rare sign or two in a row. One ASCII sign such as `?` is in most notes."""
    return any(len(sign) > 1 or not sign.isascii() for sign in ranking_words(node))


def _in_note_or_name(leaf: Node) -> Node:
    assert isinstance(leaf, Word)
    phrase = Phrase(leaf.text, leaf.column)
    if any(map(is_made_sign, leaf.text)):
        return phrase  # names are compared by the letters of which the sign is made
    return Either((phrase, Within(Scope.FILE, phrase, leaf.column)))


def _no_operator(name: str) -> str:
    """Returns the notice that a name is not an operator, with the operator that is probably meant."""
    near = difflib.get_close_matches(name, OPERATORS, n=1, cutoff=_ALIKE)
    hint = f"did you mean {near[0]}:?" if near else f"a property is written [{name}:…]"
    return f'"{name}:" is not an operator, so it is searched as text; {hint}'


def _spread(part: _Part) -> list[_Part]:
    """Returns the terms of a parenthesized `All`, which means the same without the parentheses."""
    if not isinstance(part.node, All) or _is_plain(part.node):
        return [part]
    return [inner for node in part.node.parts for inner in _spread(_Part(node, part.start, part.end))]


def _is_plain(node: Node) -> bool:
    """Whether the node consists only of adjacent words, which rank and do not filter."""
    if isinstance(node, All):
        return all(map(_is_plain, node.parts))
    return isinstance(node, Word)


@record
class _Part:
    node: Node
    start: int
    end: int


@dataclass(slots=True)
class _Parser:
    text: str
    at: int = 0
    depth: int = 0
    notices: list[str] = field(default_factory=list)
    open: set[int] = field(default_factory=set)
    """The positions of parentheses that are never closed."""
    cased: set[int] = field(default_factory=set)
    """The columns of words whose case is set by an inner `match-case:` or `ignore-case:`."""

    def sequence(self, end: str) -> list[_Part]:
        """Returns the terms up to `end` (")", "]", or "" for the end of the query), which is not consumed.
        Terms with an OR among them are one part.
        """
        start = self.at
        rows: list[list[_Part]] = [[]]
        while not self._is_at(end):
            if rows[-1] and self._takes_or(end):
                rows.append([])
                continue
            before = self.at
            if node := self._term(end):
                rows[-1].append(_Part(node, before, self.at))
        if len(rows) == 1:
            return rows[0]
        sides = [_join([part.node for part in row]) for row in rows if row]
        whole = Either(tuple(dict.fromkeys(sides))) if len(sides) > 1 else sides[0]
        return [_Part(whole, start, self.at)]

    def _is_at(self, end: str) -> bool:
        if spaces := _SPACES.match(self.text, self.at):
            self.at = spaces.end()
        return self.at >= len(self.text) or (end != "" and self.text[self.at] == end)

    def _takes_or(self, end: str) -> bool:
        """Consumes an OR with terms on both sides. Any other OR is a word."""
        found = _OR.match(self.text, self.at)
        if not found:
            return False
        before, self.at = self.at, found.end()
        if self._is_at(end) or _ANOTHER_OR.match(self.text, self.at):
            self.at = before
            return False
        return True

    def _term(self, end: str) -> Node | None:
        column = self.at + 1
        if self.text[self.at] == "-" and not _FLAG.match(self.text, self.at):
            self.at += 1
            if self._is_at(end):
                return Word("-", column)
            operand = self._operand(end, strict=True)
            return Not(operand, column) if operand else None
        return self._operand(end, strict=False)

    def _operand(self, end: str, *, strict: bool) -> Node | None:
        """Returns a term without its sign, or None for an empty term such as `""` or `()`."""
        match self.text[self.at]:
            case "(":
                return self._group(end, strict=strict)
            case '"':
                return self._phrase(end, strict=strict)
            case "/":
                return self._regex(end)
            case "[":
                return self._property(end)
            case "<" | ">" if end == "]":
                return self._comparison()
        operator = _OPERATOR.match(self.text, self.at)
        if operator and end != "]" and operator[1] in OPERATORS:
            return self._operator(operator[1], operator.end(), end, strict=strict)
        if operator and end != "]" and self.text[operator.end() : operator.end() + 1].strip():
            self.notices.append(_no_operator(operator[1]))
        return self._word(end)

    def _operator(self, name: str, argument: int, end: str, *, strict: bool) -> Node | None:
        """Returns the node of an operator. `argument` is the position of its value."""
        follows = self.text[argument : argument + 1]
        if not follows or follows == end or follows.isspace():
            return self._bare_operator(name, argument, strict=strict)
        if name in _CASE:
            return self._with_case(name, argument, end)
        if name == _DUE:
            return self._task_due(argument, end)
        if name in _NAMED:
            return self._scope(_NAMED[name], argument, end)
        return self._value(name, argument, end)

    def _bare_operator(self, name: str, argument: int, *, strict: bool) -> Node:
        """Handles an operator without a value. It is an error, unless a space follows, as in a question."""
        ends = not self.text[argument:].strip()
        if strict or ends or not self.text[argument].isspace():
            meant = f' ({name}:"" finds any task)' if name in _TASKS else ""
            raise QueryError(f"{name}: needs a value right after the colon{meant}", argument + 1)
        self.notices.append(
            f"the operator {name}: at column {self.at + 1} is followed by a space: taken as text"
        )
        word = Word(self.text[self.at : argument], self.at + 1)
        self.at = argument
        return word

    def _group(self, end: str, *, strict: bool) -> Node | None:
        start = self.at
        if start not in self.open:
            inside = self._inside_group(start)
            if self.text[self.at : self.at + 1] == ")":
                self.at += 1
                return inside
            # The text is parsed again without this group. Without the set, each level of nesting doubles the
            # work.
            self.open.add(start)
            self._report_unclosed("parenthesis", start, strict=strict)
        return self._word_after(start, end)

    def _inside_group(self, start: int) -> Node | None:
        if self.depth == MAX_DEPTH:
            raise QueryError(f"parentheses are nested more than {MAX_DEPTH} deep", start + 1)
        self.depth += 1
        self.at = start + 1
        parts = self.sequence(")")
        self.depth -= 1
        return _join([part.node for part in parts]) if parts else None

    def _report_unclosed(self, sign: str, start: int, *, strict: bool) -> None:
        if strict:
            raise QueryError(f"this {sign} is never closed", start + 1)
        self.notices.append(f"the {sign} at column {start + 1} is never closed: taken as text")

    def _word_after(self, start: int, end: str) -> Node | None:
        """Returns the word behind an opening sign that is taken as text."""
        self.at = start + 1
        follows = self.text[self.at : self.at + 1]
        return self._word(end) if follows.strip() and follows != end else None

    def _phrase(self, end: str, *, strict: bool) -> Node | None:
        start = self.at
        close = start + 1
        while close < len(self.text) and self.text[close] != '"':
            # An escaped quote does not close the phrase.
            close += 2 if self.text[close] == "\\" else 1
        if close < len(self.text):
            self.at = close + 1
            words = _ESCAPE.sub(r"\1", self.text[start + 1 : close]).strip()
            return Phrase(words, start + 1) if words else None
        self._report_unclosed("quote", start, strict=strict)
        return self._word_after(start, end)

    def _regex(self, end: str) -> Node:
        start = self.at
        close = regex_end(self.text, start, end)
        if close is None:
            self.notices.extend(filter(None, [looks_unfinished(self.text, start)]))
            return self._word(end)
        self.at = close + 1
        pattern = self.text[start + 1 : close]
        compile_regex(pattern, start + 1)
        return Regex(pattern, start + 1)

    def _with_case(self, name: str, argument: int, end: str) -> Node:
        self.at = argument
        inside = self._operand(end, strict=True)
        if inside is None:
            raise QueryError(f"{name}: needs at least one word", argument + 1)
        _check_leaves(f"{name}:", inside, (Word, Phrase, Regex))
        cased = with_case(inside, _CASE[name], self.cased)
        self.cased.update(map(column_of, leaves(cased)))
        return cased

    def _word(self, end: str) -> Word:
        """Returns the word up to white space or the enclosing bracket. It may have parentheses in it."""
        start, inner = self.at, 0
        while self.at < len(self.text) and not self.text[self.at].isspace():
            char = self.text[self.at]
            if char == end and (char != ")" or not inner) and self.at > start:
                break
            # `f(x)` is one word, even within parentheses.
            inner += (char == "(") - (char == ")" and inner > 0)
            self.at += 1
        return Word(self.text[start : self.at], start + 1)

    def _scope(self, scope: Scope, argument: int, end: str) -> Node:
        column, self.at = self.at + 1, argument
        is_task = scope in _TASKS
        inside = self._argument(end, '("/[' if is_task else '("/')
        if inside is None and is_task:
            return Within(scope, None, column)
        if inside is None:
            raise QueryError(f"{scope}: needs at least one word", argument + 1)
        _check_leaves(f"{scope}:", inside, (Word, Phrase, Regex, *([Property] if is_task else [])))
        if scope is Scope.TAG:
            _check_tags(inside)
        return Within(scope, inside, column)

    def _task_due(self, argument: int, end: str) -> Node:
        column, self.at = self.at + 1, argument
        value = self._comparison() if self.text[argument] in "<>" else self._argument(end)
        if isinstance(value, (Word, Phrase)) and iso_date(value.text) is None:
            raise QueryError(
                f"{_DUE}: takes a date like 2026-01-31 or <2026-02, not {value.text!r}", value.column
            )
        if isinstance(value, Compare) and not isinstance(value.value, str):
            raise QueryError(f"{_DUE}: compares with a date like 2026-01-31", value.column)
        if value is not None and not isinstance(value, (Word, Phrase, Compare)):
            raise QueryError(f"{_DUE}: takes one value", argument + 1)
        return Within(Scope.TASK_TODO, Property("due", value, column), column)

    def _wikilink(self) -> Word | None:
        """Returns the wikilink here with all its words, or None."""
        found = _WIKILINK.match(self.text, self.at)
        if not found:
            return None
        self.at = found.end()
        return Word(found[0], found.start() + 1)

    def _argument(self, end: str, opening: str = '("/') -> Node | None:
        operator = _OPERATOR.match(self.text, self.at)
        if self.text[self.at] in opening or (operator and operator[1] in _CASE):
            return self._operand(end, strict=True)
        return self._word(end)

    def _value(self, name: str, argument: int, end: str) -> Node:
        column, self.at = self.at + 1, argument
        value = self._wikilink() or self._argument(end)
        if not isinstance(value, (Word, Phrase)):
            raise QueryError(f"{name}: takes one value", argument + 1)
        text = value.text
        match name:
            case "vault":
                return InVault(text.lower(), column)
            case "links-to" | "linked-from":
                target = text.removeprefix("[[").removesuffix("]]").partition("|")[0].partition("#")[0]
                if not target.strip():
                    raise QueryError(f"{name}: takes the name or path of a note", value.column)
                return Linked(Direction(name), target.strip(), column)
        convert, is_valid, allowed = _FACTS[name]
        if not is_valid(convert(text)):
            raise QueryError(f"{name}: takes {allowed}, not {text!r}", value.column)
        return Fact(name, convert(text), column)

    def _property(self, end: str) -> Node | None:
        found = _PROPERTY.match(self.text, self.at)
        if not found or end == "]" or self.text.startswith("](", found.end()):
            if _NAME_SEARCH.match(self.text, self.at):
                self.notices.append(
                    f"the bracket at column {self.at + 1} is taken as text: a property needs its whole name"
                )
            return self._word(end)
        column, self.at = self.at + 1, found.end()
        name = (found[1] or found[2]).strip()
        if self.text[self.at] == "]":
            self.at += 1
            return Property(name, None, column)
        self.at += 1
        parts = self.sequence("]")
        if self.at >= len(self.text):
            raise QueryError("this bracket is never closed", column)
        self.at += 1
        if not parts:
            return Property(name, None, column)
        test = _join([part.node for part in parts])
        _check_leaves(f"[{name}:]", test, (Word, Phrase, Regex, Compare))
        is_null = isinstance(test, Word) and test.text == "null"
        return Property(name, Null(column_of(test)) if is_null else test, column)

    def _comparison(self) -> Node:
        start = self.at
        found = _COMPARISON.match(self.text, self.at)
        assert found
        value = _COMPARED.match(self.text, found.end())
        self.at = value.end() if value else found.end()
        given = value[0].strip('"') if value else ""
        measured = number(given) if number(given) is not None else iso_date(given)
        if measured is None:
            raise QueryError(
                f"{found[1]} needs a number or a date like 2026-01-31, not {given!r}", found.end() + 1
            )
        return Compare(found[1], measured, start + 1)


def _join(nodes: list[Node]) -> Node:
    distinct = tuple(dict.fromkeys(nodes))
    return distinct[0] if len(distinct) == 1 else All(distinct)


def _check_size(conditions: Iterable[Condition]) -> None:
    whole = All(tuple(condition.node for condition in conditions))
    terms = list(leaves(whole))
    operators = [atom for atom in atoms(whole) if not isinstance(atom, (Word, Phrase))]
    expressions = [term for term in terms if isinstance(term, Regex)]
    for found, most, kind in (
        (terms, MAX_TERMS, "terms"),
        (operators, MAX_OPERATORS, "operators"),
        (expressions, MAX_EXPRESSIONS, "regular expressions"),
    ):
        if len(found) > most:
            raise QueryError(
                f"the filters of this query have {len(found)} {kind}: at most {most} are allowed",
                column_of(found[most]),
            )


def _check_levels(conditions: Iterable[Condition]) -> None:
    """Checks that `level:` is not an alternative: it applies to chunks, other conditions to notes."""
    for condition in conditions:
        for atom in () if level_of(condition.node) else atoms(condition.node):
            if level_of(atom):
                raise QueryError("level: cannot be combined with OR or -( )", column_of(atom))


def _check_leaves(place: str, inside: Node, allowed: tuple[type, ...]) -> None:
    for atom in atoms(inside):
        if not isinstance(atom, allowed):
            raise QueryError(
                f"{place} takes words, phrases and regular expressions, no other operator", column_of(atom)
            )


def _check_tags(inside: Node) -> None:
    for atom in atoms(inside):
        name = atom.text.removeprefix("#").rstrip("/") if isinstance(atom, (Word, Phrase)) else ""
        if not is_tag(name) or (isinstance(atom, Phrase) and atom.match_case):
            raise QueryError(
                "tag: takes the name of a tag, such as tag:#recipe or tag:area/garden", column_of(atom)
            )


_FACTS: Mapping[str, tuple[Callable[[str], str], Callable[[str], object], str]] = MappingProxyType(
    {
        "before": (str, is_moment, MOMENTS),
        "after": (str, is_moment, MOMENTS),
        "lang": (
            str.lower,
            re.compile(r"[a-z]{2,3}").fullmatch,
            "a code of two or three letters, such as es",
        ),
        "kind": (str.lower, KINDS.__contains__, f"one of {', '.join(KINDS)}"),
        "level": (str, LEVELS.__contains__, " or ".join(LEVELS)),
    }
)
"""For each operator of a `Fact`: how its value is stored, whether that is valid, what is allowed."""
