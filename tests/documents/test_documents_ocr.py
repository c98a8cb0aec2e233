"""Text in images: the order of reading, scans, pictures, and what the recogniser reads of real pages."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from drawn_text import FONT, as_file, drawn, scan_of
from indexed_vault import indexed_vault, write_notes
from pdfs import pdf_of
from PIL import Image

from vault_indexer.config.settings import DocumentsSettings, Settings
from vault_indexer.documents import extract, line_boxes, ocr, recognise, without_boxes
from vault_indexer.documents.markdown import as_ranges, in_ranges, properties_and_body
from vault_indexer.documents.ocr import Line, blocks, paragraphs
from vault_indexer.index.reading import document_note
from vault_indexer.model import SearchRequest
from vault_indexer.vault import Decision, ignore, load_ignore_rules

PICTURE = as_file(Image.new("RGB", (60, 40), "teal"))
BLANK = Image.new("RGB", (85, 110), "white")


def lines(*rows: tuple[str, int, int], width: int = 0) -> list[Line]:
    """Lines with letters of 10 by 20 pixels, each given with its left and its top."""
    return [Line(text, left, top, left + (width or 10 * len(text)), top + 20) for text, left, top in rows]


LEFT = lines(("The first column goes", 0, 100), ("on with long lines and", 0, 124), ("ends.", 0, 148))
RIGHT = lines(("The second one begins", 300, 100), ("at its own top and its", 300, 124), ("end.", 300, 148))
TITLE = lines(("A title above both of the two columns of the page", 0, 20))


@pytest.mark.parametrize(
    ("found", "read"),
    [
        ([], []),
        (LEFT, ["The first column goes on with long lines and ends."]),
        (
            [*TITLE, *(line for pair in zip(LEFT, RIGHT, strict=True) for line in pair)],
            [
                TITLE[0].text,
                "The first column goes on with long lines and ends.",
                "The second one begins at its own top and its end.",
            ],
        ),
        (lines(("a long exam-", 0, 0), ("ple of words", 0, 24)), ["a long example of words"]),
        (lines(("from Baden-", 0, 0), ("Baden it ran", 0, 24)), ["from Baden- Baden it ran"]),
        (lines(("天地玄黄宇宙洪荒", 0, 0), ("日月盈昃", 0, 24), width=160), ["天地玄黄宇宙洪荒日月盈昃"]),
        (
            lines(("Milk", 0, 0), ("2.00", 200, 3), ("Bread", 0, 24), ("4.50", 200, 27)),
            ["Milk 2.00", "Bread 4.50"],
        ),
        (lines(("Ends early.", 0, 0), ("Another paragraph of the text.", 0, 24)), None),
        (lines(("One that is long enough", 0, 0), ("Far below it is another", 0, 90)), None),
    ],
)
def test_lines_are_read_in_order_as_paragraphs(found: list[Line], read: list[str] | None) -> None:
    made = [paragraph.text for block in blocks(found) for paragraph in paragraphs(block)]
    assert made == ([line.text for line in found] if read is None else read)


@pytest.mark.parametrize(
    ("found", "boxes"),
    [
        (
            lines(("a long exam-", 0, 0), ("ple of words", 40, 20)),  # without the hyphen
            ["0 0 600 200 9", "200 200 800 400 10"],
        ),
        (lines(("Milk", -1, 0), ("2.00", 150, 3)), ["0 0 195 200 4", "750 30 950 230 4"]),
        (lines(("天地", 0, 80), width=400), ["0 800 1000 1000 2"]),
    ],
)
def test_lines_have_their_places_and_letters(found: list[Line], boxes: list[str]) -> None:
    (paragraph,) = paragraphs(found)
    assert list(paragraph.boxes(200, 100)) == boxes


def test_the_places_of_lines_in_a_picture_are_no_property_of_it(seen: list[tuple[int, int]]) -> None:
    data = as_file(Image.new("RGB", (200, 100), "white"))
    text = recognise("a.png", data, extract("a.png", data))
    assert seen
    assert line_boxes(text) == ((0, 0, 450, 200, 8),)
    assert document_note("a.png", text).frontmatter == {}
    shown = without_boxes(text)
    assert (line_boxes(shown), shown.count("\n")) == ((), text.count("\n"))
    assert recognise("a.png", data, text) == text


def test_many_lines_at_growing_distances_are_divided() -> None:
    """The deepest division there is, since each cut takes one line."""
    stairs = lines(*(("word", 0, number * number) for number in range(2_000, 3_000)))
    assert sum(map(len, blocks(stairs))) == 1_000


@pytest.mark.parametrize("numbers", [[], [1], [1, 2, 3], [2, 4, 5, 9]])
def test_numbers_of_pages_are_ranges(numbers: list[int]) -> None:
    assert in_ranges(as_ranges(numbers)) == numbers


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The sizes of the images that a recogniser has read, each as `[[number]] #it`."""
    sizes: list[tuple[int, int]] = []

    def read(image: Image.Image) -> list[Line]:
        sizes.append(image.size)
        return lines((f"[[{len(sizes)}]] #it", 0, 0)) if image.getpixel((1, 1)) != (0, 128, 128) else []

    monkeypatch.setattr(ocr, "read_lines", read)
    return sizes


def test_pages_without_text_are_read_some_at_a_time(seen: list[tuple[int, int]]) -> None:
    pdf = pdf_of([[], ["A page with enough text of its own."], ["7"], []])
    before = extract("scan.pdf", pdf)
    assert properties_and_body(before)[0] == {"pages_without_text": "1, 3-4"}
    part = recognise("scan.pdf", pdf, before, seconds=0)
    assert properties_and_body(part)[0] == {"pages_without_text": "3-4"}
    whole = recognise("scan.pdf", pdf, part)
    properties, body = properties_and_body(whole)
    pages = [" ".join(page.split()) for page in body.split("\f")]
    assert properties == {}
    assert pages == [
        r"\[\[1\]\] \#it",
        "A page with enough text of its own.",
        r"7 \[\[2\]\] \#it",
        r"\[\[3\]\] \#it",
    ]
    assert max(seen[0]) == pytest.approx(792 * 200 / 72, abs=2)
    assert recognise("scan.pdf", pdf, whole) == whole
    assert len(seen) == 3


def test_a_document_takes_only_so_long_in_all_calls_together(
    seen: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    pdf = pdf_of([[], [], [], []])
    clock = iter(range(0, 100_000, 1500))
    monkeypatch.setattr("vault_indexer.documents.ocr.time.process_time", lambda: next(clock))
    text = recognise("scan.pdf", pdf, extract("scan.pdf", pdf), seconds=0)
    assert properties_and_body(text)[0] == {"pages_without_text": "2-4", "recognised_seconds": 3000}
    properties, body = properties_and_body(recognise("scan.pdf", pdf, text))
    assert properties == {"not_read": ["images of pages 3-4: not recognised after 60 minutes"]}
    assert body.count("#it") == len(seen) == 2


def test_a_scan_says_how_it_is_read_until_it_is(seen: list[tuple[int, int]]) -> None:
    scan = scan_of([BLANK])
    before, _ = properties_and_body(extract("scan.pdf", scan))
    assert "indexer documents ocr on" in str(before["not_read"])
    after, _ = properties_and_body(recognise("scan.pdf", scan, extract("scan.pdf", scan)))
    assert set(before) - set(after) == {"not_read", "pages_without_text"}
    assert seen


BAD = [
    (b"\x89PNG\r\n\x1a\nnothing", "damaged: not a readable picture"),
    (as_file(drawn("x"))[:2_000], "damaged: not a readable picture"),
    (as_file(Image.new("1", (10_000, 5_001))), "too large: 50,010,000 pixels, the limit is 50,000,000"),
]


@pytest.mark.parametrize(("data", "reason"), BAD)
def test_a_picture_that_cannot_be_read_is_named(
    seen: list[tuple[int, int]], data: bytes, reason: str
) -> None:
    found = recognise("a.png", data, extract("a.png", data))
    assert properties_and_body(found) == ({"not_read": [reason]}, "\n")
    assert not seen


def test_a_picture_without_text_is_nothing_to_warn_of(seen: list[tuple[int, int]]) -> None:
    assert properties_and_body(extract("a.png", PICTURE)) == ({"pages_without_text": "1"}, "\n")
    read = recognise("a.png", PICTURE, extract("a.png", PICTURE))
    assert read.strip() == ""
    assert recognise("a.png", PICTURE, read) == read
    assert seen == [(60, 40)]


def test_a_text_that_grows_too_long_ends_with_a_warning(
    seen: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ocr, "MAX_CHARACTERS", 40)
    pdf = pdf_of([[], [], [], [], []])
    properties, body = properties_and_body(recognise("scan.pdf", pdf, extract("scan.pdf", pdf)))
    assert "characters are read" in str(properties["not_read"])
    assert "pages_without_text" not in properties
    assert 0 < body.count("it") < len(seen) <= 5


@pytest.mark.parametrize(("is_on", "is_there", "read"), [(0, 1, False), (1, 0, False), (1, 1, True)])
def test_images_are_read_only_with_ocr_and_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_on: int, is_there: int, read: bool
) -> None:
    monkeypatch.setattr(ignore, "is_installed", lambda *_: bool(is_there))
    settings = Settings(documents=DocumentsSettings(ocr=bool(is_on)))
    rules = load_ignore_rules(tmp_path, settings.files)
    decisions = {rules.decide(f"a.{suffix}", is_dir=False) for suffix in ("png", "JPG", "jpeg", "webp")}
    assert decisions == {Decision.INDEX if read else Decision.LINK_ONLY}
    assert rules.decide("a.gif", is_dir=False) is Decision.LINK_ONLY
    missing = {kind.name for kind in ignore.kinds_without_library(settings.documents.chosen)}
    assert ("image" in missing) == bool(is_on and not is_there)


@pytest.mark.parametrize("is_on", [False, True])
def test_a_picture_is_found_by_name_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_on: bool
) -> None:
    monkeypatch.setattr(ignore, "is_installed", lambda *_: True)
    vault = tmp_path / "vault"
    write_notes(vault, {"Note.md": "![[harbour.png]] Ships.\n"})
    (vault / "harbour.png").write_bytes(PICTURE)
    with indexed_vault(vault, tmp_path / "index", options={"documents.ocr": is_on}) as (service, _):
        hits = {hit.path: hit.kind for hit in service.search(SearchRequest("harbour")).results}
        assert hits["harbour.png"] == ("image" if is_on else "attachment")
        assert service.picture("harbour.png").data == PICTURE
        assert [link.resolved for link in service.links("Note").outgoing] == ["harbour.png"]
        status = service.status()
        assert (status.documents, status.unrecognised_documents) == (({"image": 1}, 1) if is_on else ({}, 0))
        assert not status.skipped


# What the library makes of real pages.

ENGLISH = """The lighthouse keeper wrote every evening what the sea had brought to the shore: \
planks, bottles, once a violin case without its violin. Nobody read these pages while he lived.

Storms were noted with the hour, the direction of the wind and the height of the waves. In the \
margins he drew birds: terns, guillemots, a single albatross in March 1911, which no one else had seen."""
GERMAN = """Die Bäckerei öffnet früh, wenn über den Dächern noch Nebel hängt; größere Bestellungen \
übernimmt Frau Müller persönlich. Süße Brötchen kosten fünfzig Cent, Schwarzbrot vier Euro.

Später, gegen zwölf Uhr, schließt die Tür für eine Stunde. Wer draußen wartet, hört das Gespräch der \
Lehrlinge über Fußball, Prüfungen und das Wetter."""


def recall(text: str, found: str) -> float:
    wanted, read = (Counter(re.findall(r"\w+", one.lower())) for one in (text, found))
    return sum((wanted & read).values()) / sum(wanted.values())


@pytest.mark.long
@pytest.mark.skipif(not Path(FONT).exists(), reason="the font DejaVu is not installed")
@pytest.mark.parametrize("text", [ENGLISH, GERMAN], ids=["en", "de"])
def test_words_of_pages_are_recognised(text: str) -> None:
    pytest.importorskip("rapidocr")
    pytest.importorskip("onnxruntime")
    page = drawn(text, height=900)
    for path, data in (("a.jpg", as_file(page, "JPEG")), ("a.pdf", scan_of([page]))):
        found = recognise(path, data, extract(path, data))
        assert recall(text, found) >= 0.9
        assert properties_and_body(found)[1].strip().count("\n\n") == 1, "each paragraph is one"


WITHOUT_NETWORK = """
import sys
import os
OUT = {"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"}
def refuse(event, args):
    if event in OUT:
        os.write(2, f"{event} {args}".encode())
        os._exit(1)
sys.addaudithook(refuse)
from vault_indexer.documents import extract, recognise
data = sys.stdin.buffer.read()
print(recognise("a.png", data, extract("a.png", data)))
import rapidocr
from pathlib import Path
print(sorted(path.name for path in (Path(rapidocr.__file__).parent / "models").iterdir()))
"""


@pytest.mark.long
@pytest.mark.skipif(not Path(FONT).exists(), reason="the font DejaVu is not installed")
def test_nothing_is_downloaded() -> None:
    rapidocr = pytest.importorskip("rapidocr")
    pytest.importorskip("onnxruntime")
    models = sorted(path.name for path in (Path(rapidocr.__file__).parent / "models").iterdir())
    data = as_file(drawn("Upside down and offline", height=200))
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NETWORK], input=data, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b""), "the library logs nothing either"
    assert done.stdout.decode().splitlines()[-1] == str(models)
    assert b"offline" in done.stdout
