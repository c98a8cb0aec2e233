"""What counts as a picture: the name and the content must agree."""

from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts

from vault_indexer.vault import MAX_PICTURE_BYTES, is_picture_name, picture_type

PNG = b"\x89PNG\r\n\x1a\n"


def test_a_picture_is_what_name_and_content_say() -> None:
    def found(path: str, content: str) -> str:
        assert is_picture_name(path)
        data = content.encode("latin-1").decode("unicode_escape").encode("latin-1")
        return picture_type(path, data) or "none"

    check_golden(Path(__file__).parent / "fixtures" / "pictures.md", {"": of_parts(found)})
    assert picture_type("a.svg", b" " * 4092 + b"<svg") == "image/svg+xml"
    assert picture_type("a.svg", b" " * 4093 + b"<svg") is None
    for suffix in ("png", "jpg", "gif", "webp", "avif", "svg"):
        for other in (b"", b"<html><script>alert(1)</script>", b"%PDF-1.4"):
            assert picture_type(f"a.{suffix}", other) is None
    assert MAX_PICTURE_BYTES == 8 * 1024 * 1024


@pytest.mark.parametrize(
    "name", ["a.html", "a.pdf", "a.txt", "png", ".png/a", "a.png/b", "a.svgz", "a.bmp", "", "a.md"]
)
def test_other_names_are_none(name: str) -> None:
    assert not is_picture_name(name)
    assert (picture_type(name, PNG), picture_type(name, b"<svg")) == (None, None)
