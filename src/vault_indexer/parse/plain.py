"""The visible text of inline content: its markup is removed."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from html import unescape
from html.entities import html5
from types import MappingProxyType
from typing import NamedTuple

from vault_indexer.parse.inline import InlineScan, Span, SpanKind

MARKUP = re.compile(r"[*_~=`\[\]<>\\&%\r\n]")
DELIMITER_SIGN = re.compile(r"[*_~=]")
DELIMITERS = re.compile(r"\*+|_+|(?<!~)~~(?!~)|(?<!=)==(?!=)")
ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
CODE_OR_ENTITY = re.compile(
    rf"^[ \t>]*(?P<fence>`{{3,}}|~{{3,}}).*?(?:^[ \t>]*(?P=fence)|\Z)"
    rf"|(?P<ticks>(?<!`)`+(?!`))(?:(?!\n[ \t]*\n).)*?(?<!`)(?P=ticks)(?!`)"
    rf"|(?P<entity>{ENTITY.pattern})",
    re.DOTALL | re.MULTILINE,
)
BARE_URL = re.compile(r"(?:https?://|www\.)[!-;=?-{}~]*(?<![?!.,:*_~=])")
COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
ESCAPABLE = re.compile(r"\\([!-/:-@\[-`{-~])")

IMAGE_FILE = re.compile(r"\.(?:avif|bmp|gif|jpe?g|png|svg|webp)$", re.IGNORECASE)
IMAGE_LAYOUT = re.compile(r"(?:(?:\d+(?:x\d+)?|left|right|center)(?:\||$))+", re.IGNORECASE)
"""Size and alignment, which are no text, as in `![[map.png|center|400]]`."""
SIZE_OF_IMAGE = re.compile(r"(?:(?<=!\[)|\|)\d+(?:x\d+)?(?=\]\()")

MAX_RUNS = 1000
NO_DEFINITIONS: Mapping[str, str] = MappingProxyType({})


class _Run(NamedTuple):
    char: str
    start: int
    length: int
    opens: bool
    closes: bool


class _Opener(NamedTuple):
    run: _Run
    left: int
    end: int  # the end of the remaining characters: pairs are matched from the inside out


class Edit(NamedTuple):
    """A span of a text, and its replacement."""

    start: int
    end: int
    text: str


def plain(text: str, definitions: Mapping[str, str] = NO_DEFINITIONS) -> str:
    """Removes emphasis, code ticks, links (their text stays), HTML tags, comments and escapes."""
    if not MARKUP.search(text):
        return text.strip(" \t")
    text = COMMENT.sub("", text)
    edits, atoms = _edits(text, definitions)
    edits += _emphasis(text, atoms)
    edits.sort()
    parts: list[str] = []
    position = 0
    for edit in edits:
        if edit.start < position:
            continue
        parts += (unescape_entities(text[position : edit.start]), edit.text)
        position = edit.end
    parts.append(unescape_entities(text[position:]))
    return "".join(parts).strip(" \t\r\n")


def markup_edits(text: str, definitions: Mapping[str, str] = NO_DEFINITIONS) -> list[Edit]:
    """The changes of `plain` in one block's inline content, in order: the spans with their visible part,
    which is empty except for a character reference.

    A link without a display text shows its target, with a `#` before the heading; an embedded image without
    one shows nothing.
    """
    edits, atoms = _edits(text, definitions)
    found = _emphasis(text, atoms)
    for edit in edits:
        found += (Edit(start, end, "") for start, end in _removed(text, edit))
    if "![" in text:
        found += [Edit(*match.span(), "") for match in SIZE_OF_IMAGE.finditer(text)]
    if "&" in text:
        found += _entities(text, sorted((edit.start, edit.end) for edit in edits if edit.text))
    return sorted(found)


def _entities(text: str, literal: list[tuple[int, int]]) -> Iterator[Edit]:
    for match in ENTITY.finditer(text):
        before = bisect_right(literal, (match.start(), len(text))) - 1
        if (before < 0 or literal[before][1] <= match.start()) and (shown := unescape(match[0])) != match[0]:
            yield Edit(*match.span(), shown)


def _removed(text: str, edit: Edit) -> Iterator[tuple[int, int]]:
    """The parts of an edit's span that are not shown."""
    if text.startswith(("[[", "![["), edit.start):
        start = text.index("[[", edit.start) + 2
        inner = text[start : edit.end - 2]
        first, last = _shown_of_wikilink(inner, embed=text[edit.start] == "!")
        if first == last:
            yield edit.start, edit.end
        else:
            yield edit.start, start + first
            yield start + last, edit.end
        return
    at = text.find(edit.text, edit.start, edit.end) if edit.text else edit.end
    if at < 0:  # line breaks in code are shown as spaces
        ticks = len(text[edit.start : edit.end]) - len(text[edit.start : edit.end].lstrip("`"))
        at, length = edit.start + ticks, edit.end - edit.start - 2 * ticks
    else:
        length = len(edit.text)
    yield edit.start, at
    yield at + length, edit.end


def _shown_of_wikilink(inner: str, *, embed: bool) -> tuple[int, int]:
    path, _, display = inner.partition("|")
    shown = display.strip()
    if shown and not (embed and IMAGE_LAYOUT.fullmatch(shown)):
        first = len(path) + 1 + display.index(shown)
        return first, first + len(shown)
    target, mark, subpath = path.rstrip("\\").partition("#")
    if embed and IMAGE_FILE.search(target.rstrip()):
        return 0, 0
    if not target.strip():
        first = len(target) + len(mark)
        return first, first + len(subpath)
    return 0, len(target) if subpath.startswith("^") or not subpath else len(target) + 1 + len(subpath)


def wikilink_parts(source: str) -> tuple[str, str, str | None]:
    """Target, subpath and display text of a wikilink's inside; `\\|` (in tables) is a `|` as well."""
    path, bar, display = source.partition("|")
    if bar and path.endswith("\\"):
        path = path[:-1]
    target, _, subpath = path.partition("#")
    return target.strip(), subpath.strip(), display.strip() if bar else None


def wikilink_text(source: str) -> str:
    """The visible text of a wikilink: its display text, else its target."""
    target, subpath, display = wikilink_parts(source)
    if display:
        return display
    return " > ".join(part for part in (target, *subpath.split("#")) if part)


def unescape_entities(text: str) -> str:
    """Decodes the entities that CommonMark supports: those with a semicolon."""
    return ENTITY.sub(_decode, text)


def _decode(entity: re.Match[str]) -> str:
    """The characters of an entity. A name not in HTML remains text, even if it begins with one that is."""
    return unescape(entity[0]) if entity[0][1] == "#" else html5.get(entity[0][1:], entity[0])


def unescape_prose(markdown: str) -> str:
    """Decodes the entities of Markdown outside fenced and inline code."""
    if "&" not in markdown:
        return markdown
    return CODE_OR_ENTITY.sub(lambda match: _decode(match) if match["entity"] else match[0], markdown)


def unescape_destination(text: str) -> str:
    """A link destination without its backslash escapes and entities."""
    return unescape_entities(ESCAPABLE.sub(r"\1", text))


def _edits(text: str, definitions: Mapping[str, str]) -> tuple[list[Edit], list[tuple[int, int]]]:
    """The deletions and replacements, and the stretches in which emphasis is not allowed."""
    edits: list[Edit] = []
    atoms: list[tuple[int, int]] = []
    for span in InlineScan(text, 0, len(text), definitions).spans():
        match span.kind:
            case SpanKind.LINK | SpanKind.IMAGE:
                edits += (Edit(span.start, span.inner_start, ""), Edit(span.inner_end, span.end, ""))
                atoms.append((span.inner_end, span.end))
            case SpanKind.TAG:
                pass
            case SpanKind.MATH:
                edits.append(Edit(span.start, span.end, text[span.start : span.end]))
                atoms.append((span.start, span.end))
            case _:
                edits.append(Edit(span.start, span.end, _shown(text, span)))
                atoms.append((span.start, span.end))
    if "://" in text or "www." in text:
        atoms += (match.span() for match in BARE_URL.finditer(text))
    return edits, sorted(atoms)


def _shown(text: str, span: Span) -> str:
    inner = text[span.inner_start : span.inner_end]
    if span.kind in (SpanKind.WIKILINK, SpanKind.EMBED):
        return wikilink_text(inner)
    if span.kind is SpanKind.CODE:
        inner = inner.replace("\r\n", " ").replace("\n", " ").replace("\r", " ")
        # CommonMark drops one space on each side: with it, code can begin or end with a backtick.
        if inner[0] == inner[-1] == " " and inner.strip(" "):
            inner = inner[1:-1]
    return inner


def _emphasis(text: str, atoms: list[tuple[int, int]]) -> list[Edit]:
    """The delimiters that CommonMark's rules pair (`~~` and `==` as separate kinds of pairs)."""
    edits: list[Edit] = []
    open_runs: list[_Opener] = []
    runs = _runs(text, atoms)
    if len(runs) > MAX_RUNS:  # pairing is quadratic in the worst case; no heading has this many
        return []
    for run in runs:
        left = run.length
        if run.closes:
            left = _close_with(run, open_runs, edits)
        if left and run.opens:
            open_runs.append(_Opener(run, left, run.start + run.length))
    return edits


def _close_with(closer: _Run, open_runs: list[_Opener], edits: list[Edit]) -> int:
    """Pairs a closing run with the openers before it. Returns the number of its remaining characters."""
    left = closer.length
    while left:
        found = next(
            (at for at in reversed(range(len(open_runs))) if _pairs(open_runs[at].run, closer)), None
        )
        if found is None:
            break
        opener = open_runs[found]
        used = min(left, opener.left)
        edits.append(Edit(opener.end - used, opener.end, ""))
        start = closer.start + closer.length - left
        edits.append(Edit(start, start + used, ""))
        left -= used
        # Emphasis does not overlap, so the openers in between have no partner any more.
        del open_runs[found:]
        if opener.left > used:
            open_runs.append(_Opener(opener.run, opener.left - used, opener.end - used))
    return left


def _pairs(opener: _Run, closer: _Run) -> bool:
    if opener.char != closer.char:
        return False
    # CommonMark's "rule of three": rules 9 and 10 for emphasis.
    both = opener.closes or closer.opens
    return not (
        both
        and (opener.length + closer.length) % 3 == 0
        and (opener.length % 3 or closer.length % 3)
        and opener.char in "*_"
    )


def _runs(text: str, atoms: list[tuple[int, int]]) -> list[_Run]:
    parts: list[str] = []
    position = 0
    for start, end in atoms:
        if start >= position:
            parts += (text[position:start], "\0" * (end - start))
            position = end
    parts.append(text[position:])
    runs = []
    for match in _delimiters("".join(parts)):
        before = text[match.start() - 1] if match.start() else " "
        after = text[match.end()] if match.end() < len(text) else " "
        runs.append(_run(match, before, after))
    return runs


def _delimiters(text: str) -> Iterator[re.Match[str]]:
    """Searching for one character of a set first is several times faster than for the expression."""
    end = 0
    for sign in DELIMITER_SIGN.finditer(text):
        match = DELIMITERS.match(text, sign.start()) if sign.start() >= end else None
        if match is not None:
            end = match.end()
            yield match


def _run(match: re.Match[str], before: str, after: str) -> _Run:
    space_before, space_after = before.isspace(), after.isspace()
    mark_before, mark_after = _is_punctuation(before), _is_punctuation(after)
    left = not space_after and (not mark_after or space_before or mark_before)
    right = not space_before and (not mark_before or space_after or mark_after)
    if match[0][0] == "_":
        left, right = left and (not right or mark_before), right and (not left or mark_after)
    return _Run(match[0][0], match.start(), len(match[0]), left, right)


def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char)[0] in "PS"
