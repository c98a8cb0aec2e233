"""Every kind of document: its words are found, what merely looks like syntax is none, damage has a reason."""

from __future__ import annotations

import random
from itertools import chain

import pytest
from document_files import document_with

from vault_indexer.documents import extract
from vault_indexer.documents.extractors import EXTRACTORS
from vault_indexer.errors import NoteError
from vault_indexer.model import DOCUMENT_KINDS, DocumentKind
from vault_indexer.parse import parse_note, render_markdown
from vault_indexer.parse.readable import find_tasks

MADE = [kind for kind in DOCUMENT_KINDS if kind.name != "pdf" and not kind.library]
SUFFIXES = list(chain.from_iterable(kind.suffixes for kind in MADE))
LINES = (
    "[[Alpha]] #tag --- - [ ] x key:: v",
    "- [ ] x [key:: v] ![[Alpha]] ^block",
    "> [!note] Alpha #tag/sub [x](Alpha.md) key",
    "# Alpha #tag [[x|key]] v",
)


def test_every_kind_has_an_extractor() -> None:
    assert set(EXTRACTORS) == {kind.name for kind in DOCUMENT_KINDS}


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_text_that_looks_like_syntax_is_only_text(suffix: str, line: str) -> None:
    text = extract(f"a{suffix}", document_with(suffix, line))
    note = parse_note(f"a{suffix}", text.encode())
    assert (note.links, note.tags, note.blocks) == ((), (), ())
    assert not list(find_tasks(text, note.body_start))
    assert not note.frontmatter
    assert "key::" not in text
    words = render_markdown(text).text
    assert "Alpha" in words
    assert "x" in words


@pytest.mark.parametrize("kind", MADE, ids=lambda kind: kind.name)
def test_damaged_bytes_are_read_or_refused_with_a_reason(kind: DocumentKind) -> None:
    suffix = kind.suffixes[0]
    whole = document_with(suffix, "Some words for the damage.")
    choices = random.Random(57)
    for attempt in range(60):
        data = bytearray(whole)
        for _ in range(choices.choice((1, 4, 20))):
            data[choices.randrange(len(data))] = choices.randrange(256)
        try:
            extract(f"a{suffix}", bytes(data[: choices.randrange(len(data))] if attempt % 3 == 0 else data))
        except NoteError as error:
            assert str(error)
