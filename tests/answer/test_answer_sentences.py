"""The sentences of a hit: which text around it counts, and what a citation says of one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts
from hit_maker import make_hit
from linear_time import check_linear

from vault_indexer.answer.quotable import quotable
from vault_indexer.answer.sentences import Sentence, SentenceReader
from vault_indexer.model import Heading, NoteRow, Passage
from vault_indexer.store.catalog import CatalogReader


class Catalog(CatalogReader):
    """The catalog of one note, whose headings are its lines with a number sign."""

    def __init__(self, text: str) -> None:
        self.text_ = text
        above: tuple[Heading, ...] = ()
        self.sections_ = []
        for one in re.finditer(r"^(#+) (.*)$", text, re.MULTILINE):
            level = len(one[1])
            heading = Heading(level, one[2], one.start(), one.end(), 1)
            above = (*(higher for higher in above if higher.level < level), heading)
            self.sections_.append(above)

    def note(self, path: str) -> NoteRow | None:
        return None if path == "gone.md" else NoteRow(1, path, "Title", "en", "{}", "[]", "[]", 0)

    def text(self, note_id: int) -> str:
        assert note_id == 1
        return self.text_

    def sections(self, note_ids: Iterable[int]) -> dict[int, tuple[tuple[Heading, ...], ...]]:
        return dict.fromkeys(note_ids, tuple(self.sections_))

    def block_spans(self, note_ids: Iterable[int]) -> dict[int, list[tuple[int, int]]]:
        return {one: [match.span() for match in re.finditer(r"[^\n]+", self.text_)] for one in note_ids}


HIT = make_hit("a/n.md", title="Title", chunk_id="n_chunk_0", uri="file:///a/n.md")


def reader_of(text: str, vault: str = "") -> SentenceReader:
    return SentenceReader({vault: Catalog(text)})


def read(text: str, part: str, **changes: str) -> list[Sentence]:
    """The sentences of a hit whose chunk is a part of the text."""
    start = text.index(part)
    hit = replace(HIT, start_pos=start, end_pos=start + len(part), **changes)  # type: ignore[arg-type]
    return reader_of(text).of_hits([hit])


def test_sentences_and_their_blocks_are_those_of_the_golden() -> None:
    def block(text: str, part: str) -> str:
        first = next(one for one in read(text, part) if "One" in one.quote)
        return reader_of(text).cite(first).block

    check_golden(
        Path(__file__).parent / "fixtures" / "sentences.md",
        {
            "Whole paragraphs are read, without headings and properties": of_parts(
                lambda text, part: [one.quote for one in read(text, part)]
            ),
            "A block is that of the item or of the paragraph": of_parts(block),
        },
    )


def test_no_more_than_4000_characters_around_a_hit_are_looked_at() -> None:
    for size, is_whole in ((3_989, True), (3_990, False)):
        text = "Begin is. " + "X" * size + " Hit is. " + "Y" * size + " End is."
        found = [one.quote for one in read(text, "Hit is.")]
        assert ("Begin is." in found) is is_whole


def test_a_line_of_code_knows_its_block_and_has_no_markup_around_it() -> None:
    text = "Do is:\n\n```sh\nrun _x_\n```\n\nThen is."
    code = [one for one in read(text, "Do is:\n\n```sh\nrun _x_\n```\n\nThen") if one.is_code]
    assert [one.quote for one in code] == ["run _x_"]
    (block,) = {one.block for one in code}
    assert block is not None and "run _x_" in text[slice(*block)]


TWICE = "Write ~~x~~ twice."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("~~The shop is in Bonn.~~ It moved.", ["It moved."]),
        ("It costs ~~40~~ 50 euros.", ["It costs 50 euros."]),
        ("Write `~~x~~` twice.\n\n~~~\na ~~b~~ c\n~~~", [TWICE, f"{TWICE}\na ~~b~~ c"]),
        ("The list is:\n\n- ~~rye~~\n- oats", ["The list is:\noats", "oats"]),
        ("| a | b |\n| - | - |\n| ~~rye~~ oats | 3 |", ["a: oats; b: 3"]),
    ],
)
def test_what_is_struck_out_is_no_longer_said(text: str, said: list[str]) -> None:
    assert [one.readable for one in quotable(read(text, text))] == said


def test_a_sentence_of_two_hits_is_listed_once_for_the_first() -> None:
    text = "One is. Two is.\n\nThree is."
    hits = [replace(HIT, start_pos=17, end_pos=19), HIT, replace(HIT, start_pos=8, end_pos=10)]
    assert [(one.quote, one.hit) for one in reader_of(text).of_hits(hits)] == [
        ("Three is.", 0),
        ("One is.", 1),
        ("Two is.", 1),
    ]


@pytest.mark.parametrize("line", ["| Item {} | {} |\n", "# Day {}\n\nThe lake was {} metres deep.\n\n"])
def test_a_long_note_takes_linear_time(line: str) -> None:
    def read_all(lines: int) -> None:
        text = "| name | price |\n| - | - |\n" + "".join(line.format(one, one) for one in range(lines))
        row = NoteRow(1, "n.md", "Title", "en", "{}", "[]", "[]", 0)
        found = reader_of(text).of_note(row, (0, len(text)))
        assert len(quotable(found)) >= lines

    check_linear(read_all, 500, 2_000)


def test_the_passage_of_a_hit_counts_before_its_chunk() -> None:
    text = "One is.\n\nTwo is.\n\nThree is."
    found = reader_of(text).of_hits([replace(HIT, passage=Passage("section", 9, 27, 3, 5, ""))])
    assert [one.quote for one in found] == ["Two is.", "Three is."]


@pytest.mark.parametrize("changes", [{"path": "gone.md"}, {"kind": "attachment"}])
def test_a_note_that_is_gone_and_an_attachment_have_no_sentences(changes: dict[str, str]) -> None:
    assert read("One is.", "One", **changes) == []
    assert reader_of("One is.").preamble(replace(HIT, path="gone.md")) == ""


def test_a_citation_says_where_its_sentence_stands() -> None:
    text = "# A\n\n## B\n\nOne is. Two\nis it. ^block\n"
    reader = reader_of(text)
    found = reader.of_hits([replace(HIT, start_pos=11, end_pos=14)])
    two = reader.cite(found[1])
    assert (two.quote, two.start_pos, two.end_pos) == ("Two\nis it.", 19, 29)
    assert (two.start_line, two.end_line) == (5, 6)
    assert (two.path, two.title, two.header_path, two.block) == ("a/n.md", "Title", "A > B", "block")
    assert two.uri == "file:///a/n.md"
    assert two.id == f"a/n.md#^block@19-29:{two.sha256[:8]}"
    (plain,) = read("# A\n\nOne is.", "One")
    assert reader_of("# A\n\nOne is.").cite(plain).id.startswith("a/n.md#A@5-12:")
    (bare,) = read("One is.", "One")
    assert reader_of("One is.").cite(bare).id.startswith("a/n.md#@0-7:")


def test_in_several_vaults_a_citation_names_its_own() -> None:
    reader = reader_of("One is.", "Work")
    (one,) = reader.of_hits([replace(HIT, vault="Work")])
    assert (reader.cite(one).vault, reader.cite(one).id.partition("#")[0]) == ("Work", "Work:a/n.md")
    assert [one.quote for one in reader.citations(one)] == ["One is."]
    assert [cited.quote for cited in reader.citations(replace(one, header=(0, 3)))] == ["One is.", "One"]
