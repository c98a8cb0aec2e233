"""Writes the blocks of a document as Markdown: headings, paragraphs, lists, tables, code, quotes, notes."""

from __future__ import annotations

import re
from itertools import groupby
from operator import itemgetter
from urllib.parse import quote

from vault_indexer.documents.markdown import escape, one_line

_BLANKS = re.compile(r"[^\S\n]+")
_LINES = re.compile(r"\s*\n\s*")
_WEB_ADDRESS = re.compile(r"(?:https?://|mailto:)[^\s]", re.IGNORECASE)
_NOT_IN_ADDRESS = re.compile(r"[\s()<>\[\]\\|`\"]")
_FENCE = re.compile(r"^\s*(`{3,})", re.MULTILINE)
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}", re.ASCII)
_MAX_LIST_DEPTH = 20
_REFERENCE = "^"
_CODE_OR_OBSIDIAN = re.compile(
    r"""
    (?P<code> ^[ ]{0,3}(?P<fence>`{3,}|~{3,}).*? (?:^[ ]{0,3}(?P=fence)[`~]*[ \t]*$|\Z)
            | (?<!`)(?P<ticks>`+)(?!`)[^`\n]*?(?<!`)(?P=ticks)(?!`) )
    | \[(?=\[|\^|[^\[\]\n]\](?![(\[])) | (?<=\[)\[ | \[(?=[^\[\]\n]*\](?:\(|:[ ])(?!\s*<?(?:https?://|mailto:)))
    | (?<![\w\\&/])[#^](?=[^\s#]) | :(?=:) | %(?=%) | \A-(?=--)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
"""Code, and what is syntax in notes only: wikilinks, links to files, tasks, tags, ids of blocks, fields,
comments, properties."""


def only_markdown(text: str) -> str:
    """Returns Markdown of another program, in which nothing is a link, task, tag or field of the vault."""
    return _CODE_OR_OBSIDIAN.sub(lambda found: found[0] if found["code"] else f"\\{found[0]}", text)


class Inline:
    """Plain text with links and references to notes, in the order in which it is added."""

    def __init__(self, text: str = "") -> None:
        self._runs: list[tuple[str, str]] = [("", text)] if text else []

    def add(self, text: str, address: str = "") -> None:
        """Adds plain text, which links to the address if it is one of the web or of mail."""
        target = _NOT_IN_ADDRESS.sub(lambda found: quote(found[0]), address.strip()) if address else ""
        if text:
            self._runs.append((target if _WEB_ADDRESS.match(target) else "", text))

    def add_reference(self, key: str) -> None:
        self._runs.append((_REFERENCE, key))

    def is_empty(self) -> bool:
        return not any(text.strip() for _, text in self._runs)

    def markdown(self) -> str:
        # What is between two links is escaped as a whole: syntax may begin in one run and end in the next.
        groups = groupby(self._runs, itemgetter(0))
        return "".join(_run("".join(text for _, text in runs), target) for target, runs in groups).strip()

    def line(self) -> str:
        return _LINES.sub(" ", self.markdown())


def _run(text: str, target: str) -> str:
    if target == _REFERENCE:
        return f"[^{text}]"
    # A soft hyphen only marks where a line may break, and would divide the word for searches.
    plain = _BLANKS.sub(" ", text.replace("\xad", ""))
    shown, before = escape(plain), " " * plain.startswith(" ")
    if not target or not shown.strip():
        return f"{before}{shown}"
    return f"{before}[{one_line(shown)}]({target}){' ' * plain.endswith(' ')}"


class MarkdownWriter:
    """Collects the blocks of one part of a document. Empty blocks are left out."""

    def __init__(self) -> None:
        self._blocks: list[str] = []  # each after its separator
        self._depth = -1  # of the list item before; -1: the block before is none

    def heading(self, level: int, text: Inline) -> None:
        self._add(text.line() and f"{'#' * max(1, min(level, 6))} {text.line()}")

    def paragraph(self, text: Inline) -> None:
        self._add(text.markdown())

    def item(self, depth: int, text: Inline, is_ordered: bool = False) -> None:
        """Adds a list item; its depth is 0 for the outermost list."""
        lines = _LINES.sub("\n", text.markdown())
        if not lines:
            return
        # An item that is two levels deeper than the one before would be a code block.
        depth = min(depth, self._depth + 1, _MAX_LIST_DEPTH)
        indent = "    " * depth
        marker = "1. " if is_ordered else "- "
        shown = f"{indent}{marker}{lines.replace(chr(10), chr(10) + indent + ' ' * len(marker))}"
        self._add(shown, "\n" if self._depth >= 0 else "\n\n")
        self._depth = depth

    def table(self, rows: list[list[Inline]]) -> None:
        """Adds a table whose first row is its header; a single column becomes paragraphs."""
        cells = [[cell.line() for cell in row] for row in rows]
        cells = [row for row in cells if any(row)]
        width = max((index + 1 for row in cells for index, cell in enumerate(row) if cell), default=0)
        if width < 2:
            for row in cells:
                self._add(row[0])
            return
        shown = [_row((row + [""] * width)[:width]) for row in cells]
        self._add("\n".join([shown[0], "|" + " --- |" * width, *shown[1:]]))

    def code(self, text: str, language: str = "") -> None:
        if text.strip():
            # The last 3 is there because `max` needs two numbers, also for a text without fences.
            fence = "`" * max(3, *(len(found) + 1 for found in _FENCE.findall(text)), 3)
            info = language if _LANGUAGE.fullmatch(language) else ""
            self._add(f"{fence}{info}\n{text.replace(chr(12), ' ').strip(chr(10))}\n{fence}")

    def quote(self, text: Inline, label: str = "") -> None:
        """Adds a quotation, or with a label a remark that is not part of the text itself."""
        lines = text.markdown()
        if lines:
            self._add(re.sub("^", "> ", f"{escape(label)}: {lines}" if label else lines, flags=re.MULTILINE))

    def comment(self, text: Inline, author: str) -> None:
        self.quote(text, f"Comment by {author}" if author else "Comment")

    def note(self, key: str, text: Inline) -> None:
        """Adds the note that `Inline.add_reference` refers to."""
        self._add(text.line() and f"[^{key}]: {text.line()}")

    def markdown_block(self, text: str) -> None:
        """Adds text that already is Markdown."""
        self._add(text.strip())

    def text(self) -> str:
        return "".join(self._blocks[1:])

    def _add(self, block: str, separator: str = "\n\n") -> None:
        if block:
            self._blocks += [separator, block]
            self._depth = -1


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
