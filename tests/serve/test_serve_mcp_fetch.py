"""`fetch`: an id is a note, or a section of one."""

from __future__ import annotations

from mcp_clients import answer, error
from serve_api import NOTES, Api


def test_an_id_with_a_heading_is_a_section(api: Api) -> None:
    assert answer(api, "fetch", id="Bread#Bread")["text"] == NOTES["Bread.md"]
    assert "no heading Salt: Bread.md has the headings 'Bread'" in error(api, "fetch", id="Bread.md#Salt")


def test_an_id_of_no_note_is_named_whole(api: Api) -> None:
    assert "no such note in the index: 'Nowhere#'" in error(api, "fetch", id="Nowhere#")
