"""Excalidraw: the data of a drawing is no content, its text elements are."""

from __future__ import annotations

import json
import re

import pytest
from golden_cases import check_golden
from parse_goldens import FIXTURES

from vault_indexer.chunk import chunker_for, chunks_of
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.model import Note
from vault_indexer.parse import parse_any, parse_note, readable

BANNER = "==⚠  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu of this document. ⚠== You can decompress it"
TEXTS = "# Excalidraw Data\n## Text Elements\nThe boiler feeds the radiator ^a1b2c3d4\n"
COMPRESSED = "```compressed-json\nN4KAkARALgngDgUwgLgAQQQDwMYEMA2A\n\nhADTgQBuCpAzoQPYB2KqATLZMzYBXUti\n```"
PLAIN = (
    "```json\n"
    + json.dumps({"type": "excalidraw", "elements": [{"id": "zzkq", "type": "ellipse"}]})
    + "\n```"
)
FRONT = "---\nexcalidraw-plugin: parsed\ntags: [excalidraw]\n---\n"


def drawing(block: str, after: str = "") -> Note:
    text = f"{FRONT}{BANNER}\n\nMy own note on the pump.\n\n{TEXTS}\n%%\n## Drawing\n{block}\n%%\n{after}"
    return parse_any("Boiler.excalidraw.md", text.encode())


def words_of(note: Note) -> str:
    return "\n".join(one.content for one in chunks_of(chunker_for(ChunkingSettings()), note))


@pytest.mark.parametrize("block", [COMPRESSED, PLAIN, COMPRESSED.replace("\n", "\r\n")])
def test_a_drawing_is_no_content_and_its_texts_are(block: str) -> None:
    note = drawing(block)
    found = words_of(note)
    assert "The boiler feeds the radiator" in found
    assert "My own note on the pump." in found
    for data in ("N4KAk", "hADTgQ", "zzkq", "ellipse", "Drawing", "EXCALIDRAW VIEW"):
        assert data not in found
        assert data not in note.text
    assert [block.id for block in note.blocks] == ["a1b2c3d4"]


def test_what_follows_a_drawing_stays_at_its_place() -> None:
    note = drawing(COMPRESSED, after="\n# Afterwards\n\nCheck the valve.\n")
    whole = drawing(
        COMPRESSED.replace("compressed-json", "text"), after="\n# Afterwards\n\nCheck the valve.\n"
    )
    assert "Check the valve." in words_of(note)
    place = len("compressed-json") - len("text")
    assert note.text.index("Check the valve.") == whole.text.index("Check the valve.") + place
    assert note.headings[-1].line == whole.headings[-1].line


def test_other_json_is_content() -> None:
    text = '# Settings\n\n```json\n{"type": "server", "port": 8080}\n```\n\nA plugin: "excalidraw".\n'
    note = parse_any("Settings.md", text.encode())
    assert note.text == text
    assert "8080" in words_of(note)


def test_a_drawing_that_is_not_closed_ends_with_the_note() -> None:
    note = drawing(COMPRESSED.removesuffix("```"))
    assert "hADTgQ" not in note.text
    assert "radiator" in note.text


LINKED = (
    f"{FRONT}{BANNER}\n\n# Excalidraw Data\n\n## Text Elements\nPump feeds\n[[Radiator]] ^a1b2c3d4\n\n"
    "Two lines ^Zz09Yy88\n\n## Element Links\na1b2c3d4: [[Manual#Pump]]\n\n"
    "## Embedded Files\n0123456789abcdef0123456789abcdef01234567: [[boiler.png]]\n\n%%\n"
    f"## Drawing\n{COMPRESSED}\n%%"
)


@pytest.mark.parametrize(
    "text", [LINKED, LINKED.replace("\n# Exc", "\n%%\n# Exc").replace("\n%%\n## D", "\n## D")]
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_the_frame_around_the_texts_of_a_drawing_is_no_content(text: str, line_end: str) -> None:
    note = parse_any("Plans/Boiler.excalidraw.md", text.replace("\n", line_end).encode())
    assert (note.title, note.headings) == ("Boiler", ())
    assert [link.target for link in note.links] == ["Radiator", "Manual", "boiler.png"]
    assert [block.id for block in note.blocks] == ["a1b2c3d4", "Zz09Yy88"]
    found = words_of(note)
    assert readable(found).text.split() == [
        "Pump",
        "feeds",
        "Radiator",
        "Two",
        "lines",
        "Manual#Pump",
        "boiler.png",
    ]
    for made in (
        *("a1b2c3d4", "0123456789abcdef", "%%", "^", "Text Elements", "Excalidraw Data", "Drawing"),
        "N4KAk",
    ):
        assert made not in found
        assert made not in note.text[note.body_start :]


def test_a_note_that_is_no_drawing_keeps_its_headings_and_ids() -> None:
    text = "# Excalidraw Data\n\n## Drawing\n\nA pump. ^a1b2c3d4\n"
    note = parse_any("Notes/On .excalidraw files.md", text.encode())
    assert (note.text, note.title) == (text, "Excalidraw Data")


def bare(*elements: dict[str, object]) -> Note:
    drawing = {"type": "excalidraw", "version": 2, "elements": elements, "appState": {"name": "zzkq"}}
    return parse_any("Plans/Boiler.excalidraw", json.dumps(drawing).encode())


def test_the_texts_of_a_bare_drawing_are_read_from_top_to_bottom() -> None:
    note = bare(
        {"id": "a", "type": "text", "x": 0, "y": 90, "text": "below\nall", "originalText": "below all #pump"},
        {"id": "b", "type": "text", "x": 50, "y": 0, "text": "Feeds", "rawText": "Feeds [[Radiator]]"},
        {"id": "c", "type": "ellipse", "x": 0, "y": 50, "link": "[[Manual|m]]"},
        {"id": "d", "type": "frame", "x": 0, "y": 60, "name": "Cellar"},
        {"id": "e", "type": "text", "x": 0, "y": 0, "text": "gone", "isDeleted": True},
    )
    assert note.text.split("\n\n") == ["Feeds [[Radiator]]", "[[Manual|m]]", "Cellar", "below all #pump", ""]
    assert (note.title, note.tags) == ("Boiler", ("pump",))
    assert [link.target for link in note.links] == ["Radiator", "Manual"]
    assert "below all" in words_of(note)


@pytest.mark.parametrize(
    "data", [b"[1]", b"{", b'{"elements": 3}', b'{"elements": [{"text": 1, "x": "a"}, 2]}']
)
def test_a_bare_drawing_that_is_damaged_has_no_text(data: bytes) -> None:
    assert parse_any("a.excalidraw", data).text == ""


DATA = "QUJDZGVmZ2hpamts" * 200


def test_an_inlined_image_is_no_content_and_the_rest_stays_at_its_place() -> None:
    def left(written: str) -> str:
        source = "[[before]]\n\n" + written.replace("%s", DATA) + "\n\nAfter. [[after]]"
        note = parse_note("n.md", source.encode())
        assert len(note.text) == len(source)
        places = [("before", 0), ("after", source.index("[[after]]"))]
        assert [(link.target, link.start) for link in note.links] == places
        shown = re.sub(r"\s+", " ", re.sub(" {64,}", " ⋯ ", note.text)).strip()
        return shown.removeprefix("[[before]] ").removesuffix(" After. [[after]]")

    check_golden(FIXTURES / "images.md", {"": left})
