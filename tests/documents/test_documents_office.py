"""Office documents: their structure becomes Markdown; locked, damaged and hostile ones are refused."""

# ruff: noqa: E501 (a row of XML a line)

from __future__ import annotations

from collections.abc import Callable
from xml.sax.saxutils import quoteattr

import pytest
from document_files import (
    DRAWING,
    SHEET,
    SLIDE,
    WORD,
    docx,
    open_document,
    pptx,
    relations,
    rtf,
    sheet_row,
    slide_shape,
    word_paragraph,
    xlsx,
    zipped,
)

from vault_indexer.documents import extract
from vault_indexer.documents.markdown import escape
from vault_indexer.documents.package import MAX_UNPACKED
from vault_indexer.errors import NoteError

WORD_STYLES = f"""<w:styles {WORD}>
<w:style w:styleId="H"><w:name w:val="heading 2"/></w:style>
<w:style w:styleId="Own"><w:basedOn w:val="H"/></w:style>
<w:style w:styleId="Outline"><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>
<w:style w:styleId="Toc"><w:name w:val="toc 1"/></w:style>
<w:style w:styleId="L"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style></w:styles>"""
NUMBERING = f"""<w:numbering {WORD}><w:abstractNum w:abstractNumId="7">
<w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="decimal"/></w:lvl>
</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num></w:numbering>"""


def run(text: str) -> str:
    return f"<w:r><w:t>{text}</w:t></w:r>"


def word(body: str) -> bytes:
    return docx(
        body,
        {
            "word/styles.xml": WORD_STYLES,
            "word/numbering.xml": NUMBERING,
            "word/footnotes.xml": f'<w:footnotes {WORD}><w:footnote w:id="2"><w:p>{run("The note.")}</w:p>'
            "</w:footnote></w:footnotes>",
            "word/comments.xml": f'<w:comments {WORD}><w:comment w:id="0" w:author="Eve"><w:p>{run("Why?")}</w:p>'
            "</w:comment></w:comments>",
            "word/d.xml": f"<d xmlns:a='{DRAWING}'><a:p><a:r><a:t>Step</a:t></a:r></a:p></d>",
        },
        s="styles styles.xml",
        n="numbering numbering.xml",
        f="footnotes footnotes.xml",
        c="comments comments.xml",
        web="hyperlink https://x.org/a(b)",
        file="hyperlink file:///etc/passwd",
        diagram="diagramData d.xml",
    )


def cell(*texts: str) -> str:
    return f"<w:tc>{''.join(map(word_paragraph, texts))}</w:tc>"


@pytest.mark.parametrize(
    ("body", "markdown"),
    [
        (word_paragraph("Head", '<w:pStyle w:val="H"/>'), "## Head"),
        (word_paragraph("Head", '<w:pStyle w:val="Own"/>'), "## Head"),
        (word_paragraph("Head", '<w:pStyle w:val="Outline"/>'), "### Head"),
        (word_paragraph("Intro 7", '<w:pStyle w:val="Toc"/>'), ""),
        (
            word_paragraph("a", '<w:pStyle w:val="L"/>')
            + word_paragraph("b", '<w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr>'),
            "- a\n    1. b",
        ),
        (f"<w:p>{run('key:')}{run(': v ')}{run('[[')}{run('X]]')}</w:p>", "key\\:: v \\[\\[X\\]\\]"),
        (f"<w:p>{run('a ')}<w:hyperlink r:id='web'>{run('li')}{run('nk')}</w:hyperlink></w:p>",
         "a [link](https://x.org/a%28b%29)"),
        (f"<w:p><w:hyperlink r:id='file'>{run('link')}</w:hyperlink></w:p>", "link"),
        (
            '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>HYPERLINK "http://y.org"'
            f'</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>{run("here")}'
            f'<w:r><w:fldChar w:fldCharType="end"/></w:r>{run("!")}</w:p>',
            "[here](http://y.org)!",
        ),
        (f"<w:p>{run('Fact')}<w:r><w:footnoteReference w:id='2'/></w:r></w:p>", "Fact[^1]\n\n[^1]: The note."),
        (f"<w:p>{run('Fact')}<w:r><w:commentReference w:id='0'/></w:r></w:p>", "Fact\n\n> Comment by Eve: Why?"),
        (f"<w:p><w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:ins>{run('new')}</w:ins></w:p>", "new"),
        (f"<w:p>{run('out')}<w:r><w:txbxContent>{word_paragraph('box')}</w:txbxContent></w:r></w:p>", "out\n\nbox"),
        (
            f"<w:tbl><w:tr>{cell('A')}{cell('B|')}</w:tr><w:tr>{cell('one', 'two')}{cell('')}</w:tr></w:tbl>",
            "| A | B\\| |\n| --- | --- |\n| one two |  |",
        ),
        (f"<w:tbl><w:tr>{cell('a', 'b')}{cell('')}</w:tr><w:tr>{cell('')}{cell('c')}</w:tr></w:tbl>", "a\n\nb\n\nc"),
        (f"<AlternateContent><Choice>{word_paragraph('a')}</Choice><Fallback>{word_paragraph('a')}</Fallback>"
         "</AlternateContent>", "a"),
        ("<w:sdt><w:sdtContent>" + word_paragraph("inside") + "</w:sdtContent></w:sdt>", "inside"),
        (
            f"<w:tbl><w:tr>{cell('A')}<w:sdt><w:sdtContent>{cell('B')}</w:sdtContent></w:sdt></w:tr>"
            f"<w:sdt><w:sdtContent><w:tr>{cell('c')}{cell('d')}</w:tr></w:sdtContent></w:sdt></w:tbl>",
            "| A | B |\n| --- | --- |\n| c | d |",
        ),
        (f"<w:p>{run('A')}<w:r><w:drawing><w:docPr descr='An otter'/></w:drawing><w:docPr descr='C:\\a.png'/></w:r>{run('b')}</w:p>",
         "Ab\n\nAn otter"),
        (f"<w:p>{run('Plan')}<w:r><w:drawing><relIds r:dm='diagram'/></w:drawing></w:r></w:p>", "Plan\n\nStep"),
        (f"<w:p><w:f><w:num>{run('way')}</w:num><w:den>{run('time')}</w:den></w:f></w:p>", "way/time"),
    ],
)  # fmt: skip
def test_blocks_of_word(body: str, markdown: str) -> None:
    assert extract("a.docx", word(body)).strip() == (markdown or extract("a.docx", docx("")).strip())


def test_properties_of_a_package() -> None:
    core = "<p><title>A title</title><creator>Ann; Bo</creator><keywords>x, y z</keywords><created>2024-05-06T01:02:03Z</created></p>"
    text = extract("a.docx", docx(word_paragraph("Words."), {"docProps/core.xml": core}))
    assert text == (
        '---\ntitle: "A title"\nauthor: ["Ann", "Bo"]\ncreated: "2024-05-06"\n'
        'keywords: ["x", "y z"]\ntags: ["x", "y-z"]\n---\n\nWords.\n'
    )


@pytest.mark.parametrize(
    "title", ["Presentación de PowerPoint", "PowerPoint 演示文稿", "Document1", "Folie 1"]
)
def test_the_title_of_a_new_document_is_none(title: str) -> None:
    core = f"<p><title>{title}</title></p>"
    assert "title" not in extract("a.pptx", pptx(slide_shape("x"), parts={"docProps/core.xml": core}))


def test_slides_with_their_notes_tables_and_diagrams() -> None:
    table = (
        "<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr><a:tc><a:p><a:r><a:t>A</a:t></a:r></a:p></a:tc>"
        "<a:tc><a:p><a:r><a:t>B</a:t></a:r></a:p></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
    )
    data = pptx(
        slide_shape("Point", "body")
        + slide_shape("Deeper", "body", 1)
        + slide_shape("Head", "title")
        + table,
        slide_shape("7", "sldNum")
        + f"<p:grpSp>{slide_shape('Free text')}</p:grpSp><p:pic><p:nvPicPr><p:cNvPr descr='A map'/></p:nvPicPr></p:pic>",
        parts={
            "ppt/slides/_rels/slide1.xml.rels": relations(
                n="notesSlide ../notes.xml", d="diagramData ../d.xml", c="comments ../c.xml"
            ),
            "ppt/notes.xml": f"<p:notes {SLIDE}>{slide_shape('Say this', 'body')}{slide_shape('1', 'sldNum')}</p:notes>",
            "ppt/d.xml": f"<d xmlns:a='{DRAWING}'><a:p><a:r><a:t>Step</a:t></a:r></a:p></d>",
            "ppt/c.xml": f"<p:cmLst {SLIDE}><p:cm><p:text>Really?</p:text></p:cm></p:cmLst>",
        },
    )
    assert extract("a.pptx", data) == (
        "# Head\n\n- Point\n    - Deeper\n\n| A | B |\n| --- | --- |\n\n> Notes: Say this\n\n- Step\n\n"
        "> Comment: Really?\n\n\f\n\nFree text\n\nA map\n"
    )


def test_sheets_with_dates_comments_and_empty_cells() -> None:
    styles = f"""<styleSheet {SHEET}><numFmts><numFmt numFmtId="164" formatCode="[$-409]d\\-mmm"/>
<numFmt numFmtId="165" formatCode="0.00&quot;days&quot;"/></numFmts>
<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>"""
    strings = f"<sst {SHEET}><si><r><t>Sha</t></r><r><t>red</t></r><rPh><t>reading</t></rPh></si></sst>"
    rows = (
        '<row r="3"><c r="C3" t="s"><v>0</v></c><c r="E3"><v>0.30000000000000004</v></c></row>'
        '<row r="5"><c r="C5" s="1"><v>45418</v></c><c r="D5" s="2"><v>45418.5</v></c><c r="E5" s="3"><v>2</v></c></row>'
        '<row r="6"><c r="C6" t="b"><v>1</v></c><c r="D6" t="str"><f>A1</f><v>text</v></c></row>'
    )
    data = xlsx(
        {"Budget 24": rows, "Next": sheet_row("only")},
        {
            "xl/styles.xml": styles,
            "xl/sharedStrings.xml": strings,
            "xl/_rels/sheet0.xml.rels": relations(
                c="comments comments1.xml", t="threadedComment thread.xml", d="drawing drawing.xml"
            ),
            "xl/comments1.xml": f"<comments {SHEET}><authors><author>Eve</author><author>tc={{7}}</author></authors><commentList>"
            '<comment ref="C3" authorId="0"><text><t>Check</t></text></comment>'
            '<comment ref="C5" authorId="1"><text><t>Your version of Excel ...</t></text></comment></commentList></comments>',
            "xl/thread.xml": '<t><threadedComment ref="C5"><text>Why?</text></threadedComment></t>',
            "xl/drawing.xml": f"<d {SLIDE}><anchor>{slide_shape('Box')}</anchor></d>",
        },
        s="styles styles.xml",
        t="sharedStrings sharedStrings.xml",
    )
    assert extract("a.xlsx", data) == (
        "## Budget 24\n\n| Shared |  | 0.3 |\n| --- | --- | --- |\n| 2024-05-06 | 2024-05-06 12:00:00 | 2 |\n"
        "| TRUE | text |  |\n\n> Comment on C3: Check\n\n> Comment on C5: Why?\n\nBox\n\n\f\n\n## Next\n\nonly\n"
    )


@pytest.mark.parametrize(
    ("code", "number", "shown"),
    [
        ("[h]:mm", "1.75", "42:00"),
        ("[h]:mm:ss", "-0.5", "-12:00:00"),
        ("[mm]:ss", "0.0625", "90:00"),
        ("[s]", "0.5", "43200"),
        ("[h]:mm", "1e300", "1e+300"),
        ("h:mm", "1.75", "18:00:00"),
        ("h:mm AM/PM", "45418.5", "12:00:00"),
        ("mmm yyyy", "45418", "2024-05-06"),
        ("00000", "1067", "01067"),
        ('"PN-"0000', "42", "PN-0042"),
        ("+00 000 0000000", "491701234567", "+49 170 1234567"),
        ("000\\-00", "123456", "1234-56"),
        ("0%", "0.125", "13%"),
        ("[Red]0.0 %;[Blue]-0.0 %", "-0.0526", "-5.3 %"),
        ("0.00", "1234.5", "1234.5"),
        ('#,##0.00 "€"', "1234.5", "1234.5"),
        ("General", "1e-05", "1e-05"),
    ],
)
def test_numbers_are_as_the_sheet_shows_them(code: str, number: str, shown: str) -> None:
    styles = f"""<styleSheet {SHEET}><numFmts><numFmt numFmtId="164" formatCode={quoteattr(code)}/></numFmts>
<cellXfs><xf numFmtId="164"/></cellXfs></styleSheet>"""
    cell = f'<row r="1"><c r="A1" s="0"><v>{number}</v></c></row>'
    data = xlsx({"A": cell}, {"xl/styles.xml": styles}, s="styles styles.xml")
    assert extract("a.xlsx", data) == f"## A\n\n{escape(shown)}\n"


@pytest.mark.long
def test_more_rows_than_are_read_are_named() -> None:
    text = extract("a.xlsx", xlsx({"Long": sheet_row("a", "b") * 20_001}))
    assert 'not_read: ["only the first 20,000 rows of sheet \\"Long\\" are read"]' in text
    assert text.count("| a | b |") == 20_000


@pytest.mark.parametrize(
    ("body", "markdown"),
    [
        ('<text:h text:outline-level="2">Head</text:h>', "## Head"),
        ('<text:p>a <text:a xlink:href="https://x.org">li<text:span>nk</text:span></text:a> b</text:p>',
         "a [link](https://x.org) b"),
        ('<text:p>a<text:s text:c="3"/>b<text:tab/>c</text:p>', "a b c"),
        ('<text:p>Fact<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Note.</text:p>'
         "</text:note-body></text:note>.</text:p>", "Fact[^1].\n\n[^1]: Note."),
        ("<text:p>Fact<office:annotation><dc:creator>Eve</dc:creator><text:p>Why?</text:p></office:annotation></text:p>",
         "Fact\n\n> Comment by Eve: Why?"),
        ("<text:p>out<draw:frame><draw:text-box><text:p>box</text:p></draw:text-box></draw:frame></text:p>",
         "out\n\nbox"),
        ("<text:tracked-changes><text:p>old</text:p></text:tracked-changes><text:section><text:p>new</text:p></text:section>",
         "new"),
        ('<text:list text:style-name="N"><text:list-item><text:p>a</text:p><text:list><text:list-item><text:p>b</text:p>'
         "</text:list-item></text:list></text:list-item></text:list>", "1. a\n    - b"),
        ('<text:list text:style-name="B"><text:list-item><text:p>a</text:p><text:list><text:list-item><text:p>b</text:p>'
         "</text:list-item></text:list></text:list-item></text:list>", "- a\n    1. b"),
        ("<text:p>a<draw:custom-shape><draw:title>b</draw:title><draw:desc>c</draw:desc><text:p>d</text:p>"
         "</draw:custom-shape></text:p>", "a b c d"),
        ("<text:p><text:ruby><text:ruby-base>漢</text:ruby-base><text:ruby-text>かん</text:ruby-text></text:ruby>字"
         "<draw:frame><desc>An otter</desc></draw:frame></text:p>", "漢字\n\nAn otter"),
        ('<table:table><table:table-header-rows><table:table-row><table:table-cell table:number-columns-repeated="2">'
         "<text:p>A</text:p></table:table-cell></table:table-row></table:table-header-rows></table:table>",
         "| A | A |\n| --- | --- |"),
    ],
)  # fmt: skip
def test_blocks_of_open_document(body: str, markdown: str) -> None:
    number, bullet = (
        "<text:list-level-style-number text:level='{}'/>",
        "<text:list-level-style-bullet text:level='{}'/>",
    )
    styles = (
        f'<text:list-style style:name="N">{number.format(1)}{bullet.format(2)}</text:list-style>'
        f'<text:list-style style:name="B">{bullet.format(1)}{number.format(2)}</text:list-style>'
    )
    assert extract("a.odt", open_document("text", body, styles)).strip() == markdown


def test_pages_and_sheets_of_open_document_are_parts() -> None:
    frame = (
        "<draw:frame presentation:class='{}'><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>"
    )
    notes = f"<presentation:notes>{frame.format('notes', 'Say this')}</presentation:notes>"
    pages = f"<draw:page>{frame.format('outline', 'Point')}{frame.format('title', 'Head')}{notes}</draw:page>"
    meta = "<dc:title>T</dc:title><meta:keyword>k</meta:keyword><meta:creation-date>2024-05-06T00:00</meta:creation-date>"
    slides = extract("a.odp", open_document("presentation", pages * 2, meta=meta))
    assert slides.startswith('---\ntitle: "T"\ncreated: "2024-05-06"\n')
    assert slides.count("# Head\n\nPoint\n\n> Notes: Say this") == 2
    assert slides.count("\f") == 1
    sheet = '<table:table table:name="S{}"><table:table-row table:number-rows-repeated="9999"><table:table-cell/></table:table-row></table:table>'
    assert (
        extract("a.ods", open_document("spreadsheet", sheet.format(1) + sheet.format(2)))
        == "## S1\n\n\f\n\n## S2\n"
    )


@pytest.mark.parametrize(
    ("body", "markdown"),
    [
        (r"{\*\generator X;}{\pict 4142}Words {\b bold}\par next", "Words bold\n\nnext"),
        (r"caf\'e9 \u8364? \u-10179?\u-8704? \f1\'cf\'f0\f0 .", "café € 😀 Пр."),
        (r"\uc0 \u55356\uc1 \u57290\'3f \u55356\f1 \u57290? \u55356?a", "🏊 🏊 \ufffda"),
        (r"\pard\outlinelevel1 Head\par\pard\s1 Styled\par\pard text", "## Head\n\n### Styled\n\ntext"),
        (r'a {\field{\*\fldinst{HYPERLINK "https://x.org"}}{\fldrslt link}} b', "a [link](https://x.org) b"),
        (r"Fact{\super\chftn}{\footnote \pard A {\i note}.}.\par", "Fact[^1].\n\n[^1]: A note."),
        (r"Fact{\*\atnauthor Eve}{\*\annotation Why?}\par", "Fact\n\n> Comment by Eve: Why?"),
        (r"{\listtext 1.\tab}\ls1\ilvl0 one\par{\listtext 2.\tab}two\par\pard end", "1. one\n1. two\n\nend"),
        (r"\trowd\intbl A\cell B\cell\row\trowd\intbl c\cell d\cell\row\pard end", "| A | B |\n| --- | --- |\n| c | d |\n\nend"),
        (r"{\deleted gone}kept \{x\} \bin3 }}}.", "kept {x} ."),
        (r"{\listtext -\tab}\pard\ls1 one\par\pard end\par\intbl a\cell b\cell", "- one\n\nend\n\n| a | b |\n| --- | --- |"),
        (r"{\b Bold\*\cs7 text}", "Boldtext"),
        (r"{\revised\revauth1\revdttm-2074015744 new}\par\pard\s2 Own", "new\n\n### Own"),
    ],
)  # fmt: skip
def test_blocks_of_rtf(body: str, markdown: str) -> None:
    head = r"{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial;}}{\stylesheet{\s1\ql heading 3;}{\s2\sbasedon1 Own;}}"
    head += r"{\info{\upr{\author A?}{\*\ud{\author Ann; Bo}}}{\creatim\yr2024\mo5\dy6}}"
    properties = '---\nauthor: ["Ann", "Bo"]\ncreated: "2024-05-06"\n---\n\n'
    assert extract("a.rtf", rtf(body, head)) == f"{properties}{markdown}\n"


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
NESTED = "<w:p>" * 5_000 + "</w:p>" * 5_000


@pytest.mark.parametrize(
    ("name", "make", "reason"),
    [
        ("a.docx", lambda: OLE + "EncryptedPackage".encode("utf-16-le"), "locked by a password"),
        ("a.docx", lambda: OLE + b"WordDocument", "format of Office before 2007"),
        ("a.pptx", lambda: b"not a zip", "damaged: File is not a zip file"),
        ("a.xlsx", lambda: zipped({"x.xml": "<x/>"}), "not a document of Office"),
        ("a.odt", lambda: zipped({"x.xml": "<x/>"}), "not an OpenDocument file"),
        ("a.odt", lambda: zipped({"content.xml": "x", "META-INF/manifest.xml": "<m><file-entry><encryption-data/></file-entry></m>"}),
         "locked by a password"),
        ("a.docx", lambda: docx("<w:p>"), "its XML is malformed"),
        ("a.docx", lambda: docx(NESTED), "nested too deeply"),
        ("a.docx", lambda: docx("", {"word/document.xml": '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'}),
         "defines entities"),
        ("a.docx", lambda: docx("", {"word/document.xml": " " * (MAX_UNPACKED + 1)}), "too large: unpacked"),
        ("a.rtf", lambda: b"Hello", "not an RTF document"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_has_a_reason(name: str, make: Callable[[], bytes], reason: str) -> None:
    with pytest.raises(NoteError, match=reason):
        extract(name, make())
