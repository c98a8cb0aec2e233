"""A PDF of plain pages, without a library."""

from collections.abc import Sequence


def pdf_of(pages: Sequence[Sequence[str]], title: str = "") -> bytes:
    """A PDF with the lines of each page in Helvetica; characters are those of Latin-1."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, lines in enumerate(pages):
        shown = "".join(f"({_escaped(line)}) Tj 0 -14 Td\n" for line in lines)
        content = f"BT /F1 11 Tf 72 720 Td\n{shown}ET"
        objects += [
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {5 + 2 * number} 0 R >>",
            f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        ]
    objects.append(f"<< /Title ({_escaped(title)}) >>")
    data, places = b"%PDF-1.4\n", []
    for number, written in enumerate(objects, start=1):
        places.append(len(data))
        data += f"{number} 0 obj\n{written}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    trailer = f"<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>"
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n"
    return data + f"{head}{table}trailer\n{trailer}\nstartxref\n{len(data)}\n%%EOF".encode()


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
