"""The text in images: recognised between edits, after `documents.ocr` is switched on."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from drawn_text import as_file, scan_of
from loop_by_hand import LoopByHand, loop_by_hand
from PIL import Image
from vault_at_work import WORDLLAMA, Place, copy_of

from vault_indexer.daemon.tasks import reread
from vault_indexer.documents import ocr
from vault_indexer.documents.ocr import Line
from vault_indexer.errors import ProviderError
from vault_indexer.vault import ignore

pytestmark = pytest.mark.long

SCAN, BOARD = "Scan.pdf", "Board.png"
PAGES = [Image.new("RGB", (85, 110), (shade, shade, shade)) for shade in (200, 150, 100)]
WORDS = {
    200: "Zanzibar exports cloves",
    150: "Quorum of bees",
    100: "Marmalade inventory",
    50: "Falcon on Thursday",
}
ON = f"{WORDLLAMA}[documents]\nocr = true\n"


def read(image: Image.Image) -> list[Line]:
    """What a recogniser reads of a grey image."""
    (shade,) = image.convert("L").resize((1, 1)).tobytes()
    return [Line(WORDS[min(WORDS, key=lambda one: abs(one - shade))], 0, 0, 200, 20)]


@pytest.fixture
def images(built: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopByHand]:
    monkeypatch.setattr(ignore, "is_installed", lambda *_: True)
    monkeypatch.setattr(ocr, "read_lines", read)
    monkeypatch.setattr(reread, "_SLICE_S", 1e-9)  # a page at a time
    with loop_by_hand(copy_of(built, tmp_path), compared=False) as kept:
        (kept.where.vault / SCAN).write_bytes(scan_of(PAGES))
        (kept.where.vault / BOARD).write_bytes(as_file(Image.new("RGB", (85, 110), (50, 50, 50))))
        kept.request_scan()
        kept.run(4.0)
        yield kept


def states(kept: LoopByHand) -> dict[str, str]:
    with kept.current.reader.holder.lease() as snapshot:
        return {row.path: row.state for row in snapshot.catalog.files() if row.path in (SCAN, BOARD)}


def test_it_is_found_once_ocr_is_on_and_pictures_no_longer_when_it_is_off(images: LoopByHand) -> None:
    assert states(images) == {SCAN: "note", BOARD: "linked"}
    assert not images.holding("Zanzibar")
    images.where.configure(ON)
    images.run(10.0)
    found = {word: images.holding(word) for word in ("Zanzibar", "Quorum", "Marmalade", "Falcon")}
    assert found == {"Zanzibar": {SCAN}, "Quorum": {SCAN}, "Marmalade": {SCAN}, "Falcon": {BOARD}}
    assert "pages_without_text" not in (images.indexed_text(SCAN) or "")
    assert images.vault_sync.verify(repair=False) == ()
    images.where.configure(WORDLLAMA)
    images.run(4.0)
    assert states(images) == {SCAN: "note", BOARD: "linked"}
    assert images.holding("Zanzibar") == {SCAN}, "what was read of a document stays"


def test_a_moved_scan_is_not_read_again(images: LoopByHand, monkeypatch: pytest.MonkeyPatch) -> None:
    images.where.configure(ON)
    images.run(10.0)
    monkeypatch.setattr(ocr, "read_lines", lambda _: pytest.fail("read again"))
    (images.where.vault / SCAN).rename(images.where.vault / "Moved.pdf")
    images.request_scan()
    images.run(4.0)
    assert images.holding("Zanzibar") == {"Moved.pdf"}


def test_a_document_whose_images_fail_keeps_its_text_and_stops_nothing(
    images: LoopByHand, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[object] = []

    def fails(image: Image.Image) -> list[Line]:
        tries.append(image)
        raise ProviderError("out of memory")

    monkeypatch.setattr(ocr, "read_lines", fails)
    images.where.configure(ON)
    images.run(20.0)
    assert len(tries) == 2, "once for each file"
    assert states(images) == {SCAN: "note", BOARD: "note"}
    assert not images.notices
