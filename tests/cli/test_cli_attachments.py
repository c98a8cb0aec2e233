"""Attachments in the answers of the real command, while they come, move and go."""

from __future__ import annotations

import pytest
from cli_sandbox import Sandbox
from waiting import wait_until

pytestmark = pytest.mark.long

DIAGRAM = "assets/diagram.png"


@pytest.fixture(scope="module")
def pictures(served: Sandbox) -> Sandbox:
    """A vault with a daemon, and an attachment that it knows."""
    served.write(DIAGRAM, "bytes")
    # On a machine with other work a search with --fresh may answer before the file is in, and says so.
    wait_until(lambda: found(served, "file:.png"), "an attachment is found")
    return served


def found(sandbox: Sandbox, query: str) -> list[tuple[object, object]]:
    """Path and kind of each hit."""
    ran = sandbox.indexer("search", "--json", "--fresh", query)
    assert ran.code in (0, 1), ran.err
    results = ran.data["results"]
    assert isinstance(results, list)
    return [(hit["path"], hit["kind"]) for hit in results]


def test_hits_of_files_in_json_and_text(pictures: Sandbox) -> None:
    assert found(pictures, "file:.png") == [(DIAGRAM, "attachment")]
    assert found(pictures, "diagram png")[0] == (DIAGRAM, "attachment")
    assert found(pictures, "kneading dough")[0] == ("Kitchen/Bread.md", "note")
    text = pictures.indexer("search", "file:.png")
    assert text.out.splitlines() == [f"{DIAGRAM}  name"]
    assert "Bread.md" in pictures.indexer("search", "kneading dough").out
    places = pictures.indexer("search", "--paths", "file:.png")
    assert places.out.strip().endswith("diagram.png:1")


def test_explain_of_a_file(pictures: Sandbox) -> None:
    shown = pictures.indexer("search", "diagram", "--explain", DIAGRAM)
    assert shown.code == 0, shown.err
    assert "only its name is searched" in shown.out
    absent = pictures.indexer("search", "diagram of bread", "--explain", DIAGRAM)
    assert absent.code == 1
    assert "its name lacks of, bread" in absent.out


def test_files_come_move_and_go(pictures: Sandbox) -> None:
    pictures.write("assets/tomato.gif", "bytes")
    assert found(pictures, "file:.gif") == [("assets/tomato.gif", "attachment")]
    (pictures.vault / "assets/tomato.gif").rename(pictures.vault / "assets/potato.gif")
    assert found(pictures, "file:.gif") == [("assets/potato.gif", "attachment")]
    pictures.write("Welcome.md", "# Welcome\n\nAn edit of a note.\n")
    assert found(pictures, "file:.gif") == [("assets/potato.gif", "attachment")]
    (pictures.vault / "assets/potato.gif").unlink()
    wait_until(lambda: not found(pictures, "file:.gif"), "a deleted attachment is no longer found")
