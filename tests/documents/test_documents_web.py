"""Web pages and books: the main text with its structure, nothing executed or fetched."""

# ruff: noqa: E501 (a row of XML a line)

from __future__ import annotations

import pytest
from document_files import epub, zipped

from vault_indexer.documents import extract
from vault_indexer.errors import NoteError

ABC = "| A | B | C |\n| --- | --- | --- |"
LONG = " ".join(["menu"] * 60)


def page(body: str, head: str = "") -> bytes:
    return f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>".encode()


@pytest.mark.parametrize(
    ("body", "markdown"),
    [
        ("<h1>Head <em>line</em></h1><p>One\n two<br>three", "# Head line\n\nOne two\nthree"),
        ("<nav>Home</nav><p>Text</p><script>var x</script><style>p{}</style><noscript>no</noscript>", "Text"),
        ("<header>Site</header><main><p>Main</p><nav>In</nav></main><footer>Foot</footer>", "Main"),
        ("<p>Out</p><article><p>A</p><article>B</article></article><article>C</article>", "A\n\nB\n\nC"),
        (f"<h1>Story</h1><p>{LONG}</p><article>Teaser</article>", f"# Story\n\n{LONG}\n\nTeaser"),
        (f"{LONG * 9}<article>{LONG * 2}</article>", LONG * 2),
        ("<div role=main><div>In</div></div><div>Out</div>", "In"),
        ("<main></main><p>Text</p>", "Text"),
        ('<p>a <a href="https://x.org/q?a=1&amp;b=2">link</a>, <a href="/local">local</a>,'
         ' <a href="javascript:alert()">run</a></p>', "a [link](https://x.org/q?a=1&b=2), local, run"),
        ("<ul><li>a<ol><li>b<li><p>c</p></ol><li>d</ul>", "- a\n    1. b\n    1. c\n- d"),
        ("<table><caption>Cap</caption><tr><th>A<th colspan=2>B<tr><td>x<p>y</p><td>z<td>|</table>",
         "Cap\n\n| A | B | B |\n| --- | --- | --- |\n| x y | z | \\\\| |"),
        ("<table><tr><td><h2>Head</h2><p>Text</p><table><tr><td>A<td>B</table><td>Side</table>",
         "## Head\n\nText\n\n| A | B |\n| --- | --- |\n\nSide"),
        ("<table><tr><th>A<th>B<th>C<tr><td rowspan=3>a<td>b<td>c<tr><td>d<td>e<tr><td>f<td>g<tr><td>h<td>i<td>j</table>",
         f"{ABC}\n| a | b | c |\n| a | d | e |\n| a | f | g |\n| h | i | j |"),
        ("<table><tr><th>A<th>B<th>C<tr><td>a<td rowspan=2 colspan=2>b<tr><td>c<tr><td>d<td>e<td rowspan=0>f<tr><td>g</table>",
         f"{ABC}\n| a | b | b |\n| c | b | b |\n| d | e | f |\n| g |  | f |"),
        ("<table><tr><th>A<th>B<th>C<tr><td>a<td rowspan=9>b<td rowspan=x>c<tr><td>d<td>e</table><table><tr><td>f<td>g</table>",
         f"{ABC}\n| a | b | c |\n| d | b | e |\n\n| f | g |\n| --- | --- |"),
        (f"<table><tr><td colspan={'9' * 5000}>a</table><table><tr><td colspan=2>b<tr><td>c<td>d</table>",
         "a\n\n| b |  |\n| --- | --- |\n| c | d |"),
        (f"<table><tr><td rowspan=2>{LONG}<td>a<tr><td>b</table>",
         f"| {LONG} | a |\n| --- | --- |\n|  | b |"),
        ('<pre><code class="language-python">if x:\n  [[y]]</code></pre><p>z',
         "```python\nif x:\n  [[y]]\n```\n\nz"),
        ("<blockquote><p>Said</p></blockquote><p>after", "> Said\n\nafter"),
        ("<p>a<span>b</span> <b>c</b>&nbsp;d&shy;e <img alt='A cat' src='http://x/y.png'></p>", "ab c de A cat"),
        ("<ruby>漢<rt>かん</rt></ruby><math><mi>x</mi><annotation>\\x</annotation></math>", "漢x"),
        ("<p>Fact<sup><a href='#1'>1</a></sup>, fact<a href='#2'><sup>2</sup></a>, x<sup>2</sup>", "Fact 1, fact 2, x2"),
        ("<h2><button>How?</button></h2><h2>So<button>Copy</button></h2><button>Send</button>", "## How?\n\n## So"),
        ("<p>a<![if !vml]>b<![x y]>c", "abc"),
        ("</div></table></ul></main>text</p><h2>open", "text\n\n## open"),
    ],
)  # fmt: skip
def test_blocks_of_a_page(body: str, markdown: str) -> None:
    assert extract("a.html", page(body)) == f"{markdown}\n"


def test_properties_of_a_page() -> None:
    head = """<title>A &amp; B</title><meta name="Author" content="Ann"><meta name=author content="Bo; Cy"><meta name=keywords content="x, y">
<meta property="article:published_time" content="2024-05-06T07:00Z">"""
    text = extract("a.htm", page("Text<svg><title>no</title></svg>", head))
    assert text.startswith(
        '---\ntitle: "A & B"\nauthor: ["Ann", "Bo", "Cy"]\ncreated: "2024-05-06"\nkeywords: ["x", "y"]\n'
    )
    assert "no" not in text.partition("Text")[2]


@pytest.mark.parametrize(
    ("data", "word"),
    [
        ("<p>naïve".encode(), "naïve"),
        ("<p>naïve".encode("cp1252"), "naïve"),
        ("\ufeff<p>naïve".encode("utf-16-le"), "naïve"),
        ('<meta charset="windows-1251"><p>Привет'.encode("cp1251"), "Привет"),
        ('<meta http-equiv=Content-Type content="text/html; charset=gb2312"><p>中文'.encode("gbk"), "中文"),
        ("<?xml version='1.0' encoding='shift_jis'?><p>日本".encode("cp932"), "日本"),
        ('<meta charset="utf-16"><p>naïve'.encode(), "naïve"),
        ('<meta charset="rot13"><p>naïve'.encode(), "naïve"),
        ('<meta charset="iso-8859-1"><p>naïve'.encode(), "naïve"),
        (b'<meta charset="utf-8"><p>na\xefve', "naïve"),
        ('<meta charset="iso-2022-jp"><p>日本'.encode("iso2022_jp"), "日本"),
        ((" " * 5_000 + '<meta charset="shift_jis"><p>日本').encode("cp932"), "日本"),
        (b'<meta charset="nonsense"><p>na\xefve', "naïve"),
    ],
)
def test_encoding_of_a_page(data: bytes, word: str) -> None:
    assert extract("a.html", data) == f"{word}\n"


def test_chapters_of_a_book() -> None:
    metadata = "<dc:title>Book</dc:title><dc:creator>Ann</dc:creator><dc:subject>Sea</dc:subject><dc:date>2024-05-06</dc:date>"
    text = extract(
        "a.epub", epub("<h1>One</h1><p>Text", "<img src='cover.png'/>", "<h1>Two</h1>", metadata=metadata)
    )
    assert text == (
        '---\ntitle: "Book"\nauthor: ["Ann"]\ncreated: "2024-05-06"\nkeywords: ["Sea"]\ntags: ["Sea"]\n---\n\n'
        "# One\n\nText\n\n\f\n\n# Two\n"
    )


ENCRYPTION = (
    "<encryption><EncryptedData><CipherReference URI='OEBPS/text/c%200.xhtml'/></EncryptedData></encryption>"
)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (zipped({"a": "b"}), "not an EPUB book"),
        (epub("<p>x", parts={"META-INF/encryption.xml": ENCRYPTION}), "copy protection"),
    ],
)
def test_a_book_that_cannot_be_read_has_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(NoteError, match=reason):
        extract("a.epub", data)
