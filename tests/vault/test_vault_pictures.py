"""What counts as a picture: the name and the content must agree."""

import pytest

from vault_indexer.vault import MAX_PICTURE_BYTES, is_picture_name, picture_type

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(
    ("path", "data", "media_type"),
    [
        ("a.png", PNG, "image/png"),
        ("a.PNG", PNG + b"...", "image/png"),
        ("a.png", PNG[:-1], None),
        ("a.png", b"x" + PNG, None),
        ("a.jpg", b"\xff\xd8\xff\xe0", "image/jpeg"),
        ("a.b.JPEG", b"\xff\xd8\xff", "image/jpeg"),
        ("a.jpeg", b"\xff\xd8\xfe", None),
        ("a.gif", b"GIF87a", "image/gif"),
        ("dir.d/a.gif", b"GIF89a", "image/gif"),
        ("a.gif", b"GIF88a", None),
        ("a.gif", b"GIF89b", None),
        ("a.webp", b"RIFFsizeWEBP", "image/webp"),
        ("a.webp", b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
        ("a.webp", b"RIFFsizeWAVE", None),
        ("a.webp", b"RIFXsizeWEBP", None),
        ("a.avif", b"\0\0\0\x20ftypavif", "image/avif"),
        ("a.avif", b"sizeftypavis", "image/avif"),
        ("a.avif", b"sizeftypmif1", "image/avif"),
        ("a.avif", b"sizeftypheic", None),
        ("a.avif", b"sizeftypisom", None),
        ("a.avif", b"sizemoovavif", None),
        ("a.svg", b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"),
        ("a.svg", b" " * 4092 + b"<svg", "image/svg+xml"),
        ("a.svg", b" " * 4093 + b"<svg", None),
        *(
            (f"a.{suffix}", other, None)
            for suffix in ("png", "jpg", "gif", "webp", "avif", "svg")
            for other in (b"", b"<html><script>alert(1)</script>", b"%PDF-1.4")
        ),
    ],
)
def test_a_picture_is_what_name_and_content_say(path: str, data: bytes, media_type: str | None) -> None:
    assert is_picture_name(path)
    assert picture_type(path, data) == media_type
    assert MAX_PICTURE_BYTES == 8 * 1024 * 1024


@pytest.mark.parametrize(
    "name", ["a.html", "a.pdf", "a.txt", "png", ".png/a", "a.png/b", "a.svgz", "a.bmp", "", "a.md"]
)
def test_other_names_are_none(name: str) -> None:
    assert not is_picture_name(name)
    assert (picture_type(name, PNG), picture_type(name, b"<svg")) == (None, None)
