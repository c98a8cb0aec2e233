"""A chunk: a span of a note, and its context."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from vault_indexer.contract import JsonValue
from vault_indexer.model.note import LinkKind, WrittenLink
from vault_indexer.system import record

HEADER_SEPARATOR = " > "

_LONGEST_TITLE = 200
_MARKS = 8
"""The maximum characters before a title with which a text begins, as in `# **Title**`."""


@record
class Chunk:
    """`body` is `note.text[start_pos:end_pos]`, never rewritten; lines are 1-based, both inclusive.

    `header_path` is the headings that enclose `start_pos`, joined by " > " ("" before the first). `context`
    (the parents' headings), `preamble` (a model's sentence on the place of the chunk in the note) and
    `overlap` (the end of the previous sibling) are additions: they are stored separately from the body and
    joined to it only in `content` and `embedding_text`. `extra` contains the values of a single strategy
    (`section_id`, `sentence_ids`, `parent_id`, …), JSON only. `wikilinks` and `markdown_links` are the
    targets of the links that start in the body, in order, each once.
    """

    chunk_id: str
    chunk_index: int
    header_path: str
    start_pos: int
    end_pos: int
    start_line: int
    end_line: int
    body: str
    strategy: str
    overlap: str = ""
    context: str = ""
    preamble: str = ""
    extra: Mapping[str, JsonValue] = field(default_factory=dict)
    embed: bool = True
    wikilinks: tuple[str, ...] = ()
    markdown_links: tuple[str, ...] = ()

    @property
    def doc_id(self) -> str:
        return self.chunk_id.rpartition("_chunk_")[0]

    def with_links(self, links: Sequence[WrittenLink]) -> Chunk:
        """Returns a copy with the targets of its links. `links` are those of the note, sorted."""
        first = bisect_left(links, (self.start_pos,))
        own = links[first : bisect_left(links, (self.end_pos,), first)]
        markdown, wiki = (
            tuple(dict.fromkeys(link.target for link in own if (link.kind == LinkKind.MARKDOWN) is wanted))
            for wanted in (True, False)
        )
        return replace(self, wikilinks=wiki, markdown_links=markdown)

    @property
    def level(self) -> int | None:
        """0 of a parent, 1 of a child; None if its strategy creates no parents."""
        level = self.extra.get("level")
        return level if isinstance(level, int) else None

    @property
    def parent_id(self) -> str:
        """The chunk or section that it is a part of; "" if its strategy names none."""
        return str(self.extra.get("parent_id") or "")

    @property
    def sentence_ids(self) -> tuple[str, ...]:
        """The ids of its sentences, in order, if its strategy names them."""
        ids = self.extra.get("sentence_ids")
        return tuple(map(str, ids)) if isinstance(ids, list) else ()

    @property
    def is_context(self) -> bool:
        """Whether it is a parent that is never ranked, only read together with its children."""
        return self.level == 0 and not self.embed

    @property
    def content(self) -> str:
        """The text that is shown and indexed for keywords: context line, overlap, body."""
        return join_context(self.context, self.overlap + self.body)

    @property
    def word_count(self) -> int:
        """Words of the content, by white space."""
        return len(self.content.split())

    @property
    def written_by_model(self) -> tuple[str, ...]:
        """The keys of the texts that a language model wrote, which are not text of the note."""
        preamble = ("preamble",) if self.preamble else ()
        return (*preamble, *(key for key in ("reasoning",) if key in self.extra))

    def to_json(self) -> dict[str, JsonValue]:
        """Its JSON. The strategy's own extras come first, so that none can replace a key that every chunk
        has."""
        return {
            **self.extra,
            "doc_id": self.doc_id,
            "chunk_id": self.chunk_id,
            "chunk_index": self.chunk_index,
            "header_path": self.header_path,
            "start_pos": self.start_pos,
            "end_pos": self.end_pos,
            "start_line": self.start_line,
            "end_line": self.end_line,
            "content": self.content,
            "overlap": self.overlap,
            "context": self.context,
            "preamble": self.preamble,
            "written_by_model": list(self.written_by_model),
            "word_count": self.word_count,
            "embed": self.embed,
            "strategy": self.strategy,
            "wikilinks": list(self.wikilinks),
            "markdown_links": list(self.markdown_links),
        }

    def embedding_text(self, title: str) -> str:
        """Returns the text that is embedded: the content, preceded by the preamble and the title of its note.
        The title is left out if the text begins with it, or if it contains no letter."""
        text = join_context(self.preamble, self.content)
        title = title[:_LONGEST_TITLE]
        begins = text[: len(title) + _MARKS].casefold()
        has_letters = any(map(str.isalpha, title))
        return join_context(title, text) if has_letters and title.casefold() not in begins else text


def join_context(before: str, text: str) -> str:
    """The text preceded by `before` and a blank line, or the text alone if `before` is empty."""
    return f"{before}\n\n{text}" if before else text
