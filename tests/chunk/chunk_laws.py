"""The laws that hold for the chunks of every strategy, and the notes they are tried on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import strategies as st

from vault_indexer.model import HEADER_SEPARATOR, Chunk, Note
from vault_indexer.parse import parse_note


def note_of(text: str, path: str = "Folder/Note.md") -> Note:
    return parse_note(path, text.encode("utf-8"))


def check_laws(note: Note, chunks: Sequence[Chunk]) -> None:
    """Everything that is true of any strategy's chunks."""
    check_bodies(note, chunks)
    check_cover(note, chunks)
    check_names(note, chunks)
    check_headers(note, chunks)
    check_overlaps(chunks)


def check_bodies(note: Note, chunks: Sequence[Chunk]) -> None:
    for chunk in chunks:
        assert note.body_start <= chunk.start_pos < chunk.end_pos <= len(note.text)
        assert chunk.body == note.text[chunk.start_pos : chunk.end_pos]
        assert chunk.body.strip()
        assert chunk.start_line == note.text.count("\n", 0, chunk.start_pos) + 1
        last = chunk.start_pos + len(chunk.body.rstrip()) - 1
        assert chunk.end_line == note.text.count("\n", 0, last) + 1
        assert chunk.content.endswith(chunk.overlap + chunk.body)
        assert chunk.content in chunk.embedding_text
    levels = {chunk.extra.get("level", 0) for chunk in chunks}
    for level in levels:
        starts = [chunk.start_pos for chunk in chunks if chunk.extra.get("level", 0) == level]
        assert starts == sorted(starts)


def check_cover(note: Note, chunks: Sequence[Chunk]) -> None:
    covered = bytearray(len(note.text))
    for chunk in chunks:
        covered[chunk.start_pos : chunk.end_pos] = b"\x01" * (chunk.end_pos - chunk.start_pos)
    missed = [i for i, seen in enumerate(covered) if not seen and not note.text[i].isspace()]
    missed = [i for i in missed if i >= note.body_start]
    assert not missed, repr(note.text[missed[0] : missed[0] + 40])


def check_names(note: Note, chunks: Sequence[Chunk]) -> None:
    assert [chunk.chunk_index for chunk in chunks] == list(range(len(chunks)))
    ids = [chunk.chunk_id for chunk in chunks]
    assert len(set(ids)) == len(ids)
    for chunk in chunks:
        stem, _, sub = chunk.chunk_id.rpartition("_sub_")
        if stem:
            assert stem == f"{note.doc_id}_chunk_{chunk.chunk_index - int(sub)}"
        else:
            assert chunk.chunk_id == f"{note.doc_id}_chunk_{chunk.chunk_index}"


def check_headers(note: Note, chunks: Sequence[Chunk]) -> None:
    for chunk in chunks:
        in_force: list[tuple[int, str]] = []
        for heading in note.headings:
            if heading.nested or heading.start > chunk.start_pos:
                continue
            in_force = [entry for entry in in_force if entry[0] < heading.level]
            in_force.append((heading.level, heading.text))
        assert chunk.header_path == HEADER_SEPARATOR.join(text for _, text in in_force)


def check_overlaps(chunks: Sequence[Chunk]) -> None:
    """Added overlap is the end of the chunk before, and only pieces of one section have it."""
    for previous, chunk in pairwise(chunks):
        if chunk.overlap:
            assert previous.body.endswith(chunk.overlap)
            assert previous.chunk_id.rpartition("_sub_")[0] == chunk.chunk_id.rpartition("_sub_")[0] != ""
    assert not chunks or not chunks[0].overlap


EDGE_NOTES = {
    "empty": "",
    "blank": " \n\n\t\n",
    "one line": "just one line",
    "only frontmatter": "---\ntags: [a]\n---\n",
    "frontmatter": "---\ntitle: T\n---\n\n# A\n\ntext.\n",
    "crlf": "# A\r\n\r\nOne line. Two.\r\n\r\n## B\r\n\r\n- item\r\n- item two\r\n" + "Text here.\r\n" * 400,
    "all code": "```python\n" + "def f(x):\n    return x + 1\n\n" * 300 + "```\n",
    "unclosed code": "```\n" + "# not a heading\n" * 300,
    "many headings": "".join(f"{'#' * (i % 6 + 1)} Heading {i}\n\ntext {i}\n\n" for i in range(1000)),
    "headings only": "".join(f"{'#' * (i % 6 + 1)} H{i}\n" for i in range(300)),
    "cjk": "# 標題\n\n" + "這是一個很長的句子沒有空格，但是有標點。下一句在這裡！" * 200,
    "cjk without stops": "漢字" * 4000,
    "emoji": "👩‍👩‍👧‍👦🇩🇪👍🏽é" * 500,
    "combining": "e\u0301\u0323" * 3000,
    "long word": "x" * 10_000,
    "long words": ("y" * 700 + " ") * 20,
    "setext": "Title\n=====\n\nfirst\n\nSecond\n------\n\n" + "Some words in a sentence. " * 200,
    "nested heading": "> # Quoted\n> text\n\n- # In item\n\n# Real\n\ntext\n",
    "indented start": "    code block\n    more\n\nParagraph.\n",
    "definitions": "# A\n\n[ref]: https://example.org 'T'\n\n[^1]: A note.\n",
    "table": "| a | b |\n| --- | --- |\n" + "| cell one | cell two |\n" * 200,
    "long list": "".join(f"- item {i} with some text\n  - nested {i}\n" for i in range(200)),
    "spread": "a" + "\n" * 4000 + "b" + " " * 4000 + "c",
    "callout": "> [!note] Title\n" + "> Line of the callout with words. Another sentence.\n" * 80,
    "title above long": "# Title\n\n## Chapter\n\n" + "A sentence of the chapter.\n\n" * 200,
    "control": "a\x0bb\x0cc\x1cd\x85e\u2028f g. H\x00i",
}

_VOCABULARY = (
    "alpha Beta gamma. Delta! e.g. 3.14 Dr. Müller 漢字。 かな！ 👍🏽 é 🇫🇷 - * `code` [[Link|x]] #tag"
)
_WORDS = st.sampled_from(_VOCABULARY.split())
_LINES = st.one_of(
    st.lists(_WORDS, min_size=1, max_size=30).map(" ".join),
    st.tuples(st.integers(1, 6), _WORDS).map(lambda pair: "#" * pair[0] + " " + pair[1]),
    st.sampled_from(
        ["", "", "```", "- item", "  - nested", "> quote", "| a | b |", "| - | - |", "===", "---"]
    ),
    st.sampled_from(["    indented", "$$", "<div>", "</div>", "%%", "1. one", "![[Embed]]", "x" * 90]),
    st.text(max_size=40),
)
NOTES = st.lists(_LINES, max_size=60).map("\n".join)
