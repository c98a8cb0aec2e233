"""What counts as a picture: the name and the content must agree."""

from __future__ import annotations

import pytest

from vault_indexer.vault import is_picture_name, picture_type

CONTENT = {
    "a.png": b"\x89PNG\r\n\x1a\n...",
    "a.JPG": b"\xff\xd8\xff\xe0",
    "a.b.jpeg": b"\xff\xd8\xff\xe1",
    "dir.d/a.gif": b"GIF89a",
    "a.webp": b"RIFF\x10\0\0\0WEBPVP8 ",
    "a.avif": b"\0\0\0\x20ftypavif",
    "a.svg": b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>",
}


@pytest.mark.parametrize("name", CONTENT)
def test_a_picture_is_one_by_name_and_content(name: str) -> None:
    assert is_picture_name(name)
    found = picture_type(name, CONTENT[name])
    assert found is not None
    assert found.startswith("image/")
    for other in (b"", b"<html><script>alert(1)</script>", b"%PDF-1.4"):
        assert picture_type(name, other) is None


@pytest.mark.parametrize("name", ["a.html", "a.pdf", "png", ".png/a", "a.svgz", "a.bmp", "", "a.md"])
def test_other_names_are_none(name: str) -> None:
    assert not is_picture_name(name)
    assert picture_type(name, CONTENT["a.png"]) is None
