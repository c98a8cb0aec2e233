"""Makes the pictures of docs/documents.md: the web page with a small vault of documents, in Chromium.

    .venv/bin/python benchmarks/documents_pictures.py

Needs the extras `browser` and `ocr`, Chromium, and the font DejaVu.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Page, sync_playwright

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests/support"))
sys.path.append(str(Path(__file__).resolve().parents[1] / "tests/cli"))
sys.path.append(str(Path(__file__).resolve().parents[1] / "tests/page"))
sys.path.append(str(Path(__file__).resolve().parents[1] / "tests/documents"))
import chromium
from cli_sandbox import Sandbox
from document_files import docx, sheet_row, word_paragraph, xlsx
from drawn_text import as_file, drawn
from page_site import Site, Visit
from pdfs import Pdf, lines, show
from waiting import wait_until

_IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
_WIDTH, _HEIGHT = 1040, 680
_COLOURS = 96

NOTES = {
    "Beekeeping.md": "# Beekeeping\n\nThe hive is behind the shed, see [[Dances of the bee.pdf#page=2]].\n",
    "Reading list.md": """---
tags: [list]
---
# Reading list

Books about bees, the cheap ones first.

```base
filters: file.hasTag("book")
formulas: {left: 'if(read, "read", "still to read")'}
properties: {formula.left: {displayName: State}, note.price: {displayName: Price}}
views:
  - name: All books
    order: [file.name, author, note.price, formula.left]
    sort: [{property: note.price, direction: ASC}]
    summaries: {note.price: Sum}
  - name: Still to read
    filters: "!read"
```
""",
    "The Buzz.md": '---\ntags: [book]\nauthor: "[[Thor Hanson]]"\nprice: 14\nread: true\n---\nWild bees.\n',
    "Honeybee Democracy.md": '---\ntags: [book]\nauthor: "[[Thomas Seeley]]"\nprice: 29\n---\nSwarms.\n',
    "Bees of the World.md": "---\ntags: [book]\nprice: 45\n---\nA guide.\n",
    "Thomas Seeley.md": "# Thomas Seeley\n",
    "Thor Hanson.md": "# Thor Hanson\n",
}
PAGES = (
    ("The dance of bees", ["Foragers tell each other where nectar is, by a dance on the comb."]),
    (
        "The waggle dance",
        ["The waggle run encodes distance as duration, and the direction of the nectar as its angle."],
    ),
    ("Choosing a home", ["A swarm chooses its new home by quorum. The scouts dance for the best tree."]),
)
SIGN = (
    "Honey from our own hives.\n\n"
    "Ask for nectar and pollen at the gate. Open from May to September, closed when bees swarm."
)


def files() -> dict[str, bytes]:
    paper = Pdf(
        [show(72, 720, head, 20) + lines(72, 690, text) for head, text in PAGES],
        info={"Title": "Dances of the bee"},
    )
    letter = [
        "Dear neighbour,",
        "the lime trees are full of nectar this week, and the hives are heavy.",
        "Come for a jar of honey on Sunday.",
    ]
    harvest = {"2026": sheet_row("Hive", "Honey in kg", "Nectar from") + sheet_row("Shed", "18", "lime")}
    return {
        "Papers/Dances of the bee.pdf": paper.file(),
        "Letters/To Ann.docx": docx("".join(map(word_paragraph, letter))),
        "Harvest.xlsx": xlsx(harvest),
        "Sign.png": as_file(drawn(SIGN, width=900, height=420)),
    }


def save(page: Page, name: str) -> None:
    shown = Image.open(io.BytesIO(page.screenshot(animations="disabled", caret="hide")))
    shown.convert("RGB").quantize(_COLOURS).save(_IMAGES / name, optimize=True)


def take(visit: Visit) -> None:
    page = visit.page
    visit.type("nectar")
    page.locator(".hit").nth(2).wait_for()
    page.get_by_text("Dances of the bee").first.wait_for()
    save(page, "documents-search.png")
    visit.type("nectar kind:image")
    page.locator(".hit-title").first.click()
    page.locator(".picture-mark").first.wait_for()
    save(page, "documents-picture.png")
    visit.show("note", path="Reading list.md")
    page.locator(".base tbody tr").nth(2).wait_for()
    save(page, "documents-base.png")


def main() -> None:
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        sandbox = Sandbox(Path(folder))
        for name, text in NOTES.items():
            sandbox.write(name, text)
        for name, data in files().items():
            sandbox.write(name, "")
            (sandbox.vault / name).write_bytes(data)
        browser = chromium.launch(playwright, chromium.WHOLE)
        for command in (["rebuild"], ["start", "--wait", "120"], ["documents", "ocr", "on"]):
            done = sandbox.indexer(*command)
            assert done.code == 0, done.err
        try:
            site = Site(sandbox, browser)
            wait_until(lambda: "Sign.png" in json.dumps(site.api("search?q=pollen+kind:image")))
            take(site.visit(viewport={"width": _WIDTH, "height": _HEIGHT}))
        finally:
            sandbox.indexer("stop")
            browser.close()


if __name__ == "__main__":
    main()
