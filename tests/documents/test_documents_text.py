"""Plain text, values, subtitles, notebooks, JSON, Org, reStructuredText and LaTeX."""

# ruff: noqa: E501 (a row of XML a line)

from __future__ import annotations

import pytest
from document_files import notebook

from vault_indexer.documents import extract
from vault_indexer.errors import NoteError
from vault_indexer.parse import render_markdown


@pytest.mark.parametrize(
    ("name", "source", "markdown"),
    [
        ("a.txt", "One\n  two\n\n# x\f", "One\ntwo\n\n\\# x"),
        ("a.csv", 'a;b\n"x;\ny";1,5\n', "| a | b |\n| --- | --- |\n| x; y | 1,5 |"),
        ("a.csv", "a,b\n1;2,3\n", "| a | b |\n| --- | --- |\n| 1;2 | 3 |"),
        ("a.tsv", "a\tb\n\n1\t2", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("a.csv", 'a,b\n"open,1\n' + "x" * 140_000, f"| a | b |\n| --- | --- |\n| \"open | 1 |\n| {'x' * 140_000} |  |"),
        ("a.csv", "word\nother", "word\n\nother"),
        ("a.csv", "sep=;\r\na,b;c\r\n1,5;2", "| a,b | c |\n| --- | --- |\n| 1,5 | 2 |"),
        (
            "a.srt",
            "1\n00:00:01,000 --> 00:00:03,000\n<i>Hello</i>\n{\\an8}there.\n\n2\n00:00:05,000 --> 00:00:07,000\n42 more\n\n"
            "3\n01:00:40,500 --> 01:00:42,000\nthe end\n",
            "\\[00:00:01\\] Hello there. 42 more\n\n\\[01:00:40\\] the end",
        ),
        (
            "a.vtt",
            "WEBVTT\n\nNOTE not read\n\nSTYLE\n::cue {}\n\nname\n00:01.000 --> 00:03.000 align:start\n<v.loud Ann>Hi"
            " <00:02.000><c>you</c> &amp; me\n\n00:02.000 --> 00:04.000\nme\n\n00:03.000 --> 00:05.000\nme",
            "\\[00:00:01\\] Ann: Hi you & me me",
        ),
        *((f"a.{suffix}", "", '---\nnot_read: ["it has no text"]\n---\n\n') for suffix in ("vtt", "docx", "ipynb", "pdf")),
        ("a.json", '{"a": {"b": ["x", 3, {"c": "y"}]}, "k": "v"}', "- a\n    - b\n        - x\n        - c: y\n- k: v"),
    ],
)  # fmt: skip
def test_plain_kinds(name: str, source: str, markdown: str) -> None:
    assert extract(name, source.encode()) == f"{markdown}\n"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)
def test_encodings_of_text(encoding: str) -> None:
    data = ("\ufeff" if encoding == "utf-32" else "").encode("utf-32-le")
    data += "naïve words".encode("utf-32-le" if data else encoding)
    assert extract("a.txt", data) == "naïve words\n"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1251", "Чайник стоит на плите, вода скоро закипит. Потом мы пойдём гулять в парк."),
        ("koi8-r", "Чайник стоит на плите, вода скоро закипит. Потом мы пойдём гулять в парк."),
        ("gb18030", "水壶在炉子上，水快开了。然后我们去公园散步，天气很好。"),
        ("big5", "水壺在爐子上，水快開了。然後我們去公園散步，天氣很好。"),
        ("cp932", "やかんはコンロの上にあり、もうすぐお湯が沸きます。その後、公園を散歩します。"),
        ("cp949", "주전자가 난로 위에 있고 곧 물이 끓을 것이다. 그다음 우리는 공원을 산책할 것이다."),
        ("cp1253", "Ο βραστήρας είναι στη φωτιά και το νερό θα βράσει σύντομα. Μετά θα πάμε στο πάρκο."),
        ("cp1255", "הקומקום על הכיריים והמים ירתחו בקרוב. אחר כך נלך לטייל בפארק."),
        ("cp1256", "الغلاية على الموقد وسيغلي الماء قريبا. ثم نذهب للتنزه في الحديقة."),
        ("cp1250", "Czajnik stoi na kuchence i woda zaraz się zagotuje. Potem pójdziemy do parku, ale nie jest ładnie."),
        ("cp1254", "Çaydanlık ocağın üstünde, su birazdan kaynayacak. Sonra parkta yürüyüşe çıkacağız, hava güzel."),
        ("cp1250", "A vízforraló a tűzhelyen van, a víz mindjárt felforr. Utána sétálni megyünk a parkba, és nem esik eső."),
        ("cp1252", "Der Kessel steht auf dem Herd, das Wasser kocht gleich. Später gehen wir im Park spazieren, es ist schön."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 3_000])
def test_an_encoding_without_a_mark_is_guessed(encoding: str, text: str, size: int) -> None:
    assert extract("a.txt", "\n".join([text] * size).encode(encoding)).splitlines()[0] == text


@pytest.mark.parametrize("text", ["Größe für Äpfel und Öl", "Чайник стоит на плите", "水壶在炉子上"])
def test_damaged_bytes_make_no_other_encoding(text: str) -> None:
    assert extract("a.txt", text.encode() + b"\xff") == f"{text}\ufffd\n"


def test_rows_of_values_are_bounded() -> None:
    text = extract("a.csv", b"a,b\n" * 20_002)
    assert 'not_read: ["only the first 20,000 rows' in text
    assert text.count("| a | b |") == 20_000


def test_notebook() -> None:
    cells = notebook(
        {"cell_type": "markdown", "source": ["# Head [[A]] #t\n", "- [ ] x `k:: [[c]]`\n\n", "```\n#x [[y]]\n```\n[w](https://x.org)"]},
        {"cell_type": "code", "source": "print(1)", "outputs": [{"text": ["\x1b[31m1\n"]}, {"data": {"text/plain": "'x'"}},
            {"data": {"text/plain": "<Markdown object>", "text/markdown": "*Sum* [[A]]"}}]},
        {"cell_type": "code", "source": "f()", "outputs": [{"ename": "Fault", "evalue": "bad"}, {"text": "y" * 9_000}]},
        {"cell_type": "raw", "source": "*"},
    )  # fmt: skip
    assert extract("a.ipynb", cells) == (
        "# Head \\[\\[A]] \\#t\n- \\[ ] x `k:: [[c]]`\n\n```\n#x [[y]]\n```\n[w](https://x.org)\n\n"
        "```python\nprint(1)\n```\n\n```\n1\n```\n\n```\n'x'\n```\n\n*Sum* \\[\\[A]]\n\n```python\nf()\n```\n\n```\nFault: bad\n```\n\n"
        f"```\n{'y' * 2_000}\n```\n\n\\*\n"
    )


@pytest.mark.parametrize(("name", "data"), [("a.ipynb", b"{"), ("a.json", b"[" * 100_000)])
def test_what_is_no_json_has_a_reason(name: str, data: bytes) -> None:
    with pytest.raises(NoteError, match="damaged"):
        extract(name, data)


@pytest.mark.parametrize("data", [b"[]", b"3", b'{"cells": [1, {"source": 3}], "metadata": []}'])
def test_a_notebook_of_other_json_has_no_text(data: bytes) -> None:
    assert 'not_read: ["it has no text"]' in extract("a.ipynb", data)


@pytest.mark.parametrize("name", ["a.txt", "a.org", "a.rst", "a.tex"])
def test_the_source_of_another_format_is_text(name: str) -> None:
    source = "* Head\n\\section{One} [[link]]\n\n.. note:: #tag"
    assert render_markdown(extract(name, source.encode())).text.split() == source.split()
