"""The text of PDFs, each made here for one trait of real ones."""

# ruff: noqa: E501 (a row of commands a line)

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import pytest
from pdfs import Pdf, lines, prose, show

from vault_indexer.config.settings import Settings
from vault_indexer.documents import extract
from vault_indexer.documents.pdf import MAX_PAGES, read_pdf
from vault_indexer.errors import NoteError
from vault_indexer.index.jobs import PrepareJob
from vault_indexer.index.note_workers import WorkerSpec, start_pool
from vault_indexer.index.reading import Skipped
from vault_indexer.providers.wordllama import wordllama_model

WIDE = prose(3, 3, 90)
CODE = ["int main() {", "return 0; }", "a very long line of a program that sets the right edge"]
LINK = "<< /Type /Annot /Subtype /Link /Rect [{}] /A << /S /URI /URI ({}) >> >>"
HIGHLIGHT = "<< /Type /Annot /Subtype /Highlight /Rect [80 698 155 710] " + (
    "/QuadPoints [82 710 155 710 82 698 155 698] {} >>"
)
COMMENT = "<< /Type /Annot /Subtype /Text /Rect [10 10 20 20] /Contents (Ask [[Ann]]) >>"
FIELD = "<< /Type /Annot /Subtype /Widget /FT /Tx /T (t) /V (Jane Doe) /Ff {} /Rect [110 696 200 712] >>"
BOX = (
    "<< /Type /Annot /Subtype /Widget /FT /Btn /T (b) /V /{0} /AS /{0} /AP << /N << /On 6 0 R /Off 6 0 R >> >> {1} "
    "/Rect [{2}] >>"
)


def texts(pdf: Pdf) -> list[str]:
    return [part.text for part in read_pdf(pdf.file()).parts]


def joined(*groups: list[str]) -> str:
    return " ".join(" ".join(group) for group in groups)


TABLE = [("Item", "Price"), ("Apple | red", "1.50"), ("Pear", "2.25"), ("Plum", "0.75")]
PAGES = {
    "a wider gap ends a paragraph": (
        lines(72, 700, WIDE) + lines(72, 650, prose(4, 2, 90)),
        f"{joined(WIDE)}\n\n{joined(prose(4, 2, 90))}"),
    "so does an indented line": (
        show(82, 724, "A first line is indented and ends its sentence.") + lines(72, 712, WIDE)
        + show(72, 676, "the end.") + show(82, 664, "Next"),
        f"A first line is indented and ends its sentence.\n\n{joined(WIDE)} the end.\n\nNext"),
    "a line that ends early is a line": (
        lines(72, 700, CODE), "\n".join(CODE)),
    "hyphens at line ends": (
        lines(72, 700, ["Much infor-", "mation by well-known and well-", "known authors of many pre-", "and post-war X-", "Ray."]),
        "Much information by well-known and well-known authors of many pre- and post-war X-Ray."),
    "ligatures": (
        show(72, 700, "e\ufb03cient \ufb01le", font="F3"), "efficient file"),
    "accents and quotes": (
        show(72, 700, "für Ärzte – “so”"), "für Ärzte – “so”"),
    "an accent that is printed over its letter": (
        show(72, 700, "fur") + show(75.2, 700, "¨"), "für"),
    "an accent that has moved the pen": (
        show(40, 700, "Publicacoes acad", font="F3") + show(90, 701, "˜", font="F3")
        + show(136, 700, "emicas Ltda.", font="F3") + show(137, 701, "ˆ", font="F3"),
        "Publicacões acadêmicas Ltda."),
    "the raised number of a footnote": (
        show(72, 704, "12", 6, font="F3") + show(80, 700, "Zweite Anmerkung, 3D", font="F3"),
        "12 Zweite Anmerkung, 3D"),
    "ligatures of Calibri": (
        show(72, 700, "informa\U0010019fon wriƩen soŌware inpuƫng Ɵme, Ōsaka, Ʃ", font="F3"),
        "information written software inputting time, Ōsaka, Ʃ"),
    "a blank below Arabic letters that touch": (
        show(288, 700, "كت"[::-1], font="F3") + show(276, 700, " اب"[::-1], font="F3") + show(240, 700, "نص"[::-1], font="F3"),
        "كتاب نص"),
    "Chinese radicals": (
        show(72, 700, "第⻚⽂", font="F3"), "第页文"),
    "Arabic, as it is printed": (
        lines(72, 700, ["مرحبا بالعالم"[::-1], "ﻻ نص"[::-1]], font="F3"),
        "مرحبا بالعالم لا نص"),
    "Hebrew": (
        lines(72, 700, ["שלום עולם זה מסמך"[::-1], "בעברית עם שתי שורות"[::-1]], font="F3"),
        "שלום עולם זה מסמך בעברית עם שתי שורות"),
    "brackets, numbers and Latin words between Hebrew ones": (
        lines(72, 700, ["4.5% םע (PDF Reader 2-ל) ךירדמ", ".03-1234567 :ןופלט ב"], font="F3"),
        "מדריך (ל-PDF Reader 2) עם 4.5% ב טלפון: 03-1234567."),
    "numbers between Arabic words": (
        show(72, 700, "%4.5 " + "في عام"[::-1] + " (2024/25)", font="F3"), "(2024/25) في عام 4.5%"),
    "Hebrew words between Latin ones": (
        show(72, 700, "It is " + "שלום עולם"[::-1] + " (hello)", font="F3"), "It is שלום עולם (hello)"),
    "Chinese lines have no blank between them": (
        lines(72, 700, ["这是第一行中文文本没有", "空格第二行继续 Python 下去"], font="F3"),
        "这是第一行中文文本没有空格第二行继续 Python 下去"),
    "text of a scan is invisible": (
        lines(72, 700, WIDE).replace("0 Tr", "3 Tr"), joined(WIDE)),
    "text outside the page": (
        show(72, 700, "seen") + show(72, 900, "beyond the page"), "seen"),
    "lines that run upwards": (
        "".join(show(100 + 12 * at, 100, text, turn="0 1 -1 0") for at, text in enumerate(WIDE)),
        joined(WIDE)),
    "what looks like Markdown is none": (
        show(72, 724, "[[Alpha]] #tag and key:: value") + show(72, 700, "# no heading") + show(72, 680, "- [ ] none"),
        "\\[\\[Alpha\\]\\] \\#tag and key\\:: value\n\n\\# no heading\n\n\\- \\[ \\] none"),
    "bullets": (
        show(72, 720, "Things:") + lines(80, 700, ["\u2022 one thing", "\u2022 two things that are"])
        + show(88, 676, "longer") + show(100, 664, "\u2022 nested"),
        "Things:\n\n- one thing\n- two things that are longer\n    - nested"),
    "numbers in a row": (
        lines(80, 640, ["1. first", "2. second"]), "1. first\n\n2. second"),
    "a number alone": (
        show(80, 640, "3. alone"), "3\\. alone"),
    "a table": (
        "".join(show(x, 700 - 14 * row, TABLE[row][at]) for row in range(4) for at, x in enumerate((72, 200))),
        "| Item | Price |\n| --- | --- |\n| Apple \\| red | 1.50 |\n| Pear | 2.25 |\n| Plum | 0.75 |"),
    "a table in Hebrew begins at the right": (
        show(200, 700, "םש", font="F3") + show(72, 700, "ליג", font="F3")
        + show(200, 686, "דוד", font="F3") + show(72, 686, "ריעצ", font="F3")
        + show(200, 672, "השמ", font="F3") + show(72, 672, "ןקז", font="F3"),
        "| שם | גיל |\n| --- | --- |\n| דוד | צעיר |\n| משה | זקן |"),
    "cells of several lines": (
        show(72, 700, "Key") + show(150, 700, "Type") + show(250, 700, "Meaning")
        + show(72, 680, "cache") + show(150, 680, "integer") + lines(250, 680, ["How many mega-", "bytes are kept"])
        + show(72, 650, "log") + lines(150, 656, ["text or", "number"]) + show(250, 650, "What is written"),
        "| Key | Type | Meaning |\n| --- | --- | --- |\n| cache | integer | How many megabytes are kept |\n"
        "| log | text or number | What is written |"),
    "numbers below each other": (lines(72, 700, ["10", "2", "3"]), "10 2 3"),
    "headings by size and weight": (
        show(72, 740, "Of Rivers", 20) + show(72, 700, "Their Sources", 14) + lines(72, 680, WIDE)
        + show(72, 630, "Short and bold", font="F2") + lines(72, 614, WIDE),
        f"# Of Rivers\n\n## Their Sources\n\n{joined(WIDE)}\n\n### Short and bold\n\n{joined(WIDE)}"),
    "no heading without doubt": (
        show(72, 740, "Some words are a little larger", 11) + lines(72, 700, WIDE),
        f"Some words are a little larger\n\n{joined(WIDE)}"),
}  # fmt: skip


@pytest.mark.parametrize(("commands", "expected"), PAGES.values(), ids=PAGES)
def test_a_page_is_read_as_markdown(commands: str, expected: str) -> None:
    assert texts(Pdf([commands])) == [expected]


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_turned_page_is_read_as_it_is_shown(turn: int) -> None:
    assert texts(Pdf([lines(72, 700, WIDE)], page=f"/Rotate {turn}")) == [joined(WIDE)]


@pytest.mark.parametrize("by_row", [False, True], ids=["by column", "by row"])
def test_columns_are_read_one_after_the_other(by_row: bool) -> None:
    left, right = prose(1, 10), prose(2, 10)
    rows = [show(72, 700 - 12 * at, line) for at, line in enumerate(left)]
    others = [show(330, 700 - 12 * at, line) for at, line in enumerate(right)]
    body = "".join(a + b for a, b in zip(rows, others, strict=True)) if by_row else "".join(rows + others)
    title = show(150, 750, "A wide title over both of the columns", 16)
    footer = show(72, 400, "A last line " + "over both columns " * 5)
    (text,) = texts(Pdf([title + body + footer]))
    words = text.split()
    assert text.startswith("# A wide title over both of the columns\n\n")
    assert words[9 : 9 + len(joined(left, right).split())] == joined(left, right).split()
    assert text.endswith("over both columns")


def test_a_paragraph_goes_on_after_the_footnote_of_its_column() -> None:
    note = show(72, 120, "1 A note at the foot.", 8)
    right = ["goes on in lower case", *prose(2, 7, 40)]
    (text,) = texts(Pdf([lines(72, 700, prose(1, 8)) + note + lines(330, 700, right)]))
    assert "bridge goes on in lower case" in text
    assert text.endswith("\n\n1 A note at the foot.")


def test_a_word_is_joined_over_the_border_of_pages() -> None:
    first = [*prose(1, 4, 80), "and here the sentence goes on with the infor-"]
    parts = read_pdf(
        Pdf([lines(72, 700, first), lines(72, 700, ["mation on the next page.", *WIDE])]).file()
    ).parts
    assert [part.continues for part in parts] == [False, True]
    assert parts[0].text.endswith("goes on with the information")
    assert parts[1].text.startswith("on the next page.")


def test_page_numbers_are_left_out_and_repeated_lines_after_their_first_page() -> None:
    pages = [
        show(72, 760, "Annual Report" if at % 2 else f"{at + 1} Chapter {at // 6}")
        + lines(72, 700, prose(at, 4))
        + show(300, 30, f"- {at + 7} -")
        for at in range(12)
    ]
    found = [text.split("\n\n") for text in texts(Pdf(pages))]
    assert {at: text[0] for at, text in enumerate(found) if text[1:]} == {
        0: "1 Chapter 0",
        1: "Annual Report",
        6: "7 Chapter 1",
    }
    assert all(text[-1].endswith(prose(at, 4)[-1]) for at, text in enumerate(found))


@pytest.mark.parametrize(
    ("y", "shown", "kept"),
    [
        (760, "Results a, Results b, Results c, Results d", "all"),
        (30, "3, 4, 7, 12", "all"),
        (30, "3, 4, 5, 6", "none"),
        (30, "iii, iv, v, vi", "none"),
        (30, "iii, v, x, c", "all"),
        (30, "Page 1 of 4, Page 2 of 4, Page 3 of 4, Page 4 of 4", "first"),
        (760, "Page 1, Page 2, Page 3, Page 4", "first"),
        (760, "Seite 1, Seite 2, Seite 3, Seite 4", "first"),
        (760, "Report of 2024, Report of 2024, Report of 2024, Report of 2024", "first"),
        (760, "1 Report of 2024, 2 Report of 2024, 3 Report of 2024, 4 Report of 2024", "first"),
        (760, "Day 1, Day 2, Day 3, Day 4", "all"),
        (760, "Invoice No. 20417, Invoice No. 20430, Invoice No. 20443, Invoice No. 20456", "all"),
        (760, "Invoice No. 417, Invoice No. 418, Invoice No. 419, Invoice No. 420", "all"),
        (760, "On 2 May 2024, On 2 May 2025, On 3 May 2024, On 3 May 2025", "all"),
        (30, "Total due 345 EUR, Total due 1250 EUR, Total due 87 EUR, Total due 912 EUR", "all"),
        (30, "It is 16.9 degrees, It is 17.9 degrees, It is 18.9 degrees, It is 19.9 degrees", "all"),
        (400, "It is warm, It is warm, It is warm, It is warm", "all"),
        (400, "3, 4, 5, 6", "all"),
    ],
)
def test_only_numbers_that_count_pages_differ_in_headers_and_footers(y: int, shown: str, kept: str) -> None:
    edges = shown.split(", ")
    parts = texts(Pdf([lines(72, 600, prose(at, 4)) + show(72, y, edge) for at, edge in enumerate(edges)]))
    stay = [
        at for at, (edge, text) in enumerate(zip(edges, parts, strict=True)) if edge in text.split("\n\n")
    ]
    assert stay == {"all": [0, 1, 2, 3], "first": [0], "none": []}[kept]


def test_titles_of_the_outline_are_headings_of_their_level() -> None:
    pages = [
        show(72, 720, "1 Start") + lines(72, 700, WIDE),
        lines(72, 720, ["Details and", "more"]) + lines(72, 690, WIDE),
    ]
    outline = [("Start", 0, 0), ("1.1 Details and more", 1, 1), ("Not there", 1, 1)]
    assert texts(Pdf(pages, outline=outline)) == [
        f"# 1 Start\n\n{joined(WIDE)}",
        f"## Details and more\n\n{joined(WIDE)}",
    ]


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (LINK.format("90 695 130 712", "https://example.org/a b\\)"), "See [our page](https://example.org/a%20b%29) for more"),
        (LINK.format("90 695 130 712", "javascript:alert"), "See our page for more"),
        (LINK.format("90 95 130 112", "https://example.org"), "See our page for more"),
        (HIGHLIGHT.format(""), "See our page for more\n\n> Highlight: our page for"),
        (HIGHLIGHT.format("/Contents (Good #one)"), "See our page for more\n\n> Highlight: our page for\n\n> Comment: Good \\#one"),
        (COMMENT, "See our page for more\n\n> Comment: Ask \\[\\[Ann\\]\\]"),
    ],
)  # fmt: skip
def test_annotations(annotation: str, expected: str) -> None:
    assert texts(Pdf([show(72, 700, "See our page for more")], annotations={0: [annotation]})) == [expected]


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (FIELD.format(0), "Name: Jane Doe\n\nCity:"),
        (FIELD.format(1 << 13), "Name:\n\nCity:"),
        (BOX.format("On", "", "60 700 68 708"), "☒ Name:\n\nCity:"),
        (BOX.format("Off", "", "110 700 118 708"), "Name: ☐\n\nCity:"),
        (BOX.format("On", "/Ff 32768", "60 670 68 678"), "Name:\n\n☒ City:"),
    ],
)
def test_the_value_of_a_form_field_is_text_at_its_place(field: str, expected: str) -> None:
    pdf = Pdf(
        [show(72, 700, "Name:") + show(72, 670, "City:")],
        annotations={0: ["7 0 R"]},
        extra=[field],
        catalog="/AcroForm << /Fields [7 0 R] >>",
    )
    assert texts(pdf) == [expected]


RIVERS = {
    "Title": "On Rivers",
    "Author": "Jane Doe, John Roe",
    "Keywords": "water; flow",
    "CreationDate": "D:20240315120000Z",
}


@pytest.mark.parametrize(
    ("info", "found"),
    [
        (RIVERS, ("On Rivers", ("Jane Doe", "John Roe"), "2024-03-15", ("water", "flow"))),
        ({"Title": "Microsoft Word - x.doc", "Author": "Doe, Jane"}, ("", ("Doe, Jane",), "", ())),
        ({"Title": "untitled", "CreationDate": "D:20241399"}, ("", (), "", ())),
        ({"Title": "report_final.pdf", "CreationDate": "yesterday"}, ("", (), "", ())),
        ({"Title": "مقدمة"}, ("مقدمة", (), "", ())),
    ],
)
def test_metadata(info: dict[str, str], found: tuple[object, ...]) -> None:
    """Title, authors, date and keywords."""
    document = read_pdf(Pdf([show(72, 700, "text")], info=info).file())
    assert (document.title, document.authors, document.created, document.keywords) == found


LOCK = f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{'41' * 32}> /U <{'42' * 32}> >> /ID [<00> <00>]"
XFA = "/AcroForm << /Fields [] /XFA [(template) 6 0 R] >>"
DYNAMIC = f"{XFA} /NeedsRendering true"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "damaged"),
        (b"%PDF-1.4 nothing", "damaged"),
        (Pdf([show(72, 700, "secret")], trailer=LOCK).file(), "locked by a password"),
        (Pdf([]).file(), "without pages"),
        (Pdf([show(72, 700, "Please wait... your viewer needs an update")], catalog=DYNAMIC).file(), "XFA"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_reason(data: bytes, reason: str) -> None:
    with pytest.raises(NoteError, match=reason):
        read_pdf(data)


def test_an_xfa_form_with_pages_is_read() -> None:
    assert texts(Pdf([show(72, 700, "Name of the applicant")], catalog=XFA)) == ["Name of the applicant"]


def test_a_scan_is_empty_with_a_warning() -> None:
    assert "scan" in extract("scan.pdf", Pdf(["0 0 10 10 re f"]).file())


@pytest.mark.long
def test_pages_are_bounded() -> None:
    document = read_pdf(Pdf([""] * (MAX_PAGES + 1)).file())
    assert len(document.parts) == MAX_PAGES
    assert document.warnings == (f"only the first {MAX_PAGES:,} of {MAX_PAGES + 1:,} pages are read",)


def rich_pdf(*, is_compressed: bool) -> bytes:
    return Pdf(
        [
            show(72, 720, "1 Start") + lines(72, 700, WIDE),
            lines(72, 700, prose(1, 8)) + show(72, 90, "ﬁ نص", font="F3"),
        ],
        annotations={
            0: [LINK.format("90 695 130 712", "https://example.org"), HIGHLIGHT.format(""), "7 0 R"],
            1: [COMMENT],
        },
        extra=[FIELD.format(0)],
        catalog="/AcroForm << /Fields [7 0 R] >>",
        outline=[("Start", 0, 0), ("Deep", 1, 1), ("Deeper", 1, 2)],
        info={"Title": "On Rivers", "CreationDate": "D:20240315120000Z"},
        is_compressed=is_compressed,
    ).file()


def mutated(pdf: bytes, chance: random.Random) -> bytes:
    data = bytearray(pdf)
    for _ in range(chance.choice((1, 5, 40, 200))):
        at = chance.randrange(len(data))
        data[at : at + chance.choice((0, 1, 1, 1, 8))] = chance.choice(
            (b"", b"9", b"<<", b"0 R", bytes([chance.randrange(256)]))
        )
    return bytes(data[: chance.randrange(len(data))] if chance.random() < 0.05 else data)


MUTATIONS = 500


@pytest.mark.posix("speed, which Wine lacks")
@pytest.mark.long
def test_damaged_pdfs_end_no_worker_and_stay_in_the_budget_of_a_note(tmp_path: Path) -> None:
    """In the processes that read the documents of a vault, with less time than they have there."""
    vault, chance = tmp_path / "vault", random.Random(57)
    vault.mkdir()
    sources = [rich_pdf(is_compressed=is_compressed) for is_compressed in (False, True)]
    names = tuple(f"{number:03}.pdf" for number in range(MUTATIONS))
    for number, name in enumerate(names):
        (vault / name).write_bytes(mutated(sources[number % 2], chance))
    settings = Settings.model_validate({"index": {"max_note_seconds": 10}})
    spec = WorkerSpec(vault, settings, wordllama_model(), None, (), tmp_path / "llm", tmp_path / "calls")
    before = os.times()
    pool = start_pool(spec, 2)
    try:
        results = [result for _, result in pool.run([PrepareJob((name,), at_once=0) for name in names])]
    finally:
        pool.close()
    after = os.times()
    read = [one for result in results if isinstance(result, list) for one in result]
    assert len(read) == MUTATIONS, [result for result in results if not isinstance(result, list)][:5]
    refused = Counter(one.file.reason.partition(":")[0] for one in read if isinstance(one, Skipped))
    assert set(refused) <= {"damaged", "damaged, or without pages", "locked"}
    assert 0 < refused.total() < MUTATIONS
    assert sum(after[2:4]) - sum(before[2:4]) < 60, "seconds of processor time"
