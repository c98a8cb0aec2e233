"""Makes small PDFs by hand, so that a test says what stands where on a page."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

WIDTH, HEIGHT = 612, 792


def show(x: float, y: float, text: str, size: float = 10, *, font: str = "F1", turn: str = "1 0 0 1") -> str:
    """Return the commands for a line of text; F1 is regular, F2 bold, F3 has the letters of all scripts."""
    if font == "F3":
        shown = f"<{text.encode('utf-16-be').hex()}>"
    else:
        escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        shown = f"({escaped})"
    return f"BT /{font} {size} Tf 0 Tr {turn} {x} {y} Tm {shown} Tj ET\n"


def lines(
    x: float, y: float, texts: Iterable[str], size: float = 10, *, font: str = "F1", pitch: float = 12
) -> str:
    return "".join(show(x, y - pitch * at, text, size, font=font) for at, text in enumerate(texts))


def prose(seed: int, count: int, width: int = 45) -> list[str]:
    """Return lines of about the same width, made of words that differ between seeds."""
    words = ["river", "stone", "garden", "window", "letter", "harbour"]
    words += ["candle", "meadow", "silver", "thunder", "market", "bridge"]
    made = []
    for row in range(count):
        line = f"w{seed}n{row}"
        at = seed + 3 * row
        while len(line) < width - 6:
            line += " " + words[at % len(words)]
            at += 5
        made.append(line + "i" * (width - len(line)))
    return made


def pdf_of(pages: Iterable[Iterable[str]], title: str = "") -> bytes:
    """Return a PDF with the lines of each page."""
    shown = [lines(72, 720, page, 11, pitch=14) for page in pages]
    return Pdf(shown, info={"Title": title} if title else {}).file()


@dataclass
class Pdf:
    """Pages as commands, and raw PDF of annotations by page, of the catalog, the trailer and each page."""

    pages: list[str]
    annotations: Mapping[int, list[str]] = field(default_factory=dict)
    info: Mapping[str, str] = field(default_factory=dict)
    outline: list[tuple[str, int, int]] = field(default_factory=list)  # title, page, level from 0
    extra: list[str] = field(default_factory=list)  # objects 7 and so on
    page: str = ""
    catalog: str = ""
    trailer: str = ""
    is_compressed: bool = False

    def file(self) -> bytes:
        objects: list[bytes] = [b""] * 6 + [content.encode() for content in self.extra]
        first = len(objects) + 1
        kids = " ".join(f"{first + 2 * at} 0 R" for at in range(len(self.pages)))
        objects[1] = f"<< /Type /Pages /Kids [{kids}] /Count {len(self.pages)} >>".encode()
        objects[2] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
        objects[3] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>"
        objects[4] = b"<< /Type /Font /Subtype /Type0 /BaseFont /Any /Encoding /Identity-H " + (
            b"/DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Any /DW 600 "
            b"/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>] "
            b"/ToUnicode 6 0 R >>"
        )
        ranges = "\n".join(f"<{high:02x}00> <{high:02x}ff> <{high:02x}00>" for high in range(256))
        objects[5] = _stream(
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def\n"
            "1 begincodespacerange <0000> <ffff> endcodespacerange\n"
            f"256 beginbfrange\n{ranges}\nendbfrange endcmap end end"
        )
        for at, commands in enumerate(self.pages):
            notes = " ".join(self.annotations.get(at, []))
            objects.append(
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] {self.page} "
                f"/Contents {first + 2 * at + 1} 0 R "
                f"/Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> >> /Annots [{notes}] >>".encode()
            )
            objects.append(_stream(commands, is_compressed=self.is_compressed))
        catalog = f"<< /Type /Catalog /Pages 2 0 R {self.catalog}"
        if self.outline:
            catalog += f" /Outlines {len(objects) + 1} 0 R"
            objects += self._outline(len(objects) + 1, first)
        objects[0] = f"{catalog} >>".encode()
        info = " ".join(f"/{key} {_string(value)}" for key, value in self.info.items())
        objects.append(f"<< {info} >>".encode())
        return _file(objects, f"/Root 1 0 R /Info {len(objects)} 0 R {self.trailer}")

    def _outline(self, root: int, first_page: int) -> list[bytes]:
        """Return the root of the outline and its entries; each knows its first child and next sibling."""
        levels = [level for _, _, level in self.outline]
        made = [
            f"<< /Type /Outlines /First {root + 1} 0 R /Last {root + 1} 0 R /Count {len(levels)} >>".encode()
        ]
        for at, (title, page, level) in enumerate(self.outline):
            entry = f"<< /Title {_string(title)} /Dest [{first_page + 2 * page} 0 R /Fit] /Parent {root} 0 R"
            after = [other for other in range(at + 1, len(levels)) if levels[other] <= level]
            if after and levels[after[0]] == level:
                entry += f" /Next {root + 1 + after[0]} 0 R"
            if at + 1 < len(levels) and levels[at + 1] > level:
                entry += f" /First {root + 2 + at} 0 R /Last {root + 2 + at} 0 R /Count 1"
            made.append(f"{entry} >>".encode())
        return made


def _string(text: str) -> str:
    return f"<{(chr(0xFEFF) + text).encode('utf-16-be').hex()}>"


def _stream(text: str, *, is_compressed: bool = False) -> bytes:
    data = text.encode("cp1252")
    packed, by = (zlib.compress(data), b" /Filter /FlateDecode") if is_compressed else (data, b"")
    return b"<< /Length %d%s >>\nstream\n%s\nendstream" % (len(packed), by, packed)


def _file(objects: list[bytes], trailer: str) -> bytes:
    data, places = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return (
        data
        + b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d %s >>\nstartxref\n%d\n%%%%EOF\n"
        % (*(size, table, size, trailer.encode()), len(data))
    )
