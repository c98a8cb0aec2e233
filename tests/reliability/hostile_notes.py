"""Notes and canvases that mean harm, of any size: the names say what there is too much of.

A name that ends in `.canvas` is a canvas, else Markdown. Each function takes the number of bytes wanted and
gives about so many, never more than a quarter above it.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable

Make = Callable[[int], bytes]


def repeated(piece: str, before: str = "", after: str = "") -> Make:
    """`piece` again and again, between two others."""
    encoded = piece.encode()
    return lambda size: before.encode() + encoded * (size // len(encoded)) + after.encode()


def halves(left: str, right: str, middle: str = "", before: str = "", after: str = "") -> Make:
    """As many of the one as of the other, between two others: nests."""

    def make(size: int) -> bytes:
        number = size // len((left + right).encode())
        return (before + left * number + middle + right * number + after).encode()

    return make


def numbered(template: str, before: str = "", after: str = "") -> Make:
    """A template with another number (`{n}`) each time."""

    def make(size: int) -> bytes:
        width = len(template.format(n=100_000).encode())
        return (before + "".join(template.format(n=n) for n in range(size // width)) + after).encode()

    return make


def in_turn(*pieces: str, length: int = 1) -> Make:
    """Pieces chosen at random, always the same."""

    def make(size: int) -> bytes:
        chosen = random.Random(7)
        mean = sum(len(piece.encode()) for piece in pieces) / len(pieces)
        return "".join(chosen.choices(pieces, k=int(size / mean))).encode()

    return make


def pyramid(line: str, step: str, top: int) -> Make:
    """Lines that stand deeper and deeper, up to `top` steps, then from the margin again."""

    def make(size: int) -> bytes:
        one = "".join(step * depth + line for depth in range(top))
        return (one * max(1, size // len(one.encode()))).encode()

    return make


def growing(piece: Callable[[int], str], width: int = 1) -> Make:
    """Pieces that are each `width` longer than the one before."""
    return lambda size: "".join(map(piece, range(int((2 * size / width) ** 0.5)))).encode()


def both(first: str, second: str) -> Make:
    """As many of the one as of the other, each with another number (`{n}`)."""

    def make(size: int) -> bytes:
        number = size // len((first + second).format(n=10_000).encode())
        one, other = ("".join(template.format(n=n) for n in range(number)) for template in (first, second))
        return f"{one}\n\n{other}".encode()

    return make


def ragged_table(size: int) -> bytes:
    chosen = random.Random(3)
    rows = ["| a | b |\n|---|---|\n"]
    while size > 0:
        rows.append("| c " * chosen.randrange(1, 40) + "\n")
        size -= len(rows[-1])
    return "".join(rows).encode()


def table_of_tall_head(size: int) -> bytes:
    """A wide head over many short rows: the grammar could fill each row up."""
    columns = int((size / 2) ** 0.5) * 8
    head = "|a" * columns + "|\n" + "|-" * columns + "|\n"
    return (head + "|b|\n" * max(1, (size - len(head)) // 4)).encode()


def base64_image(size: int) -> bytes:
    data = base64.b64encode(random.Random(1).randbytes(size * 3 // 4))
    return b"![x](data:image/png;base64," + data + b")\n"


def base64_lines(size: int) -> bytes:
    return base64.encodebytes(random.Random(2).randbytes(size * 73 // 100))


def random_bytes(size: int) -> bytes:
    """Every character of ASCII, at random."""
    return bytes(random.Random(5).choices(range(1, 128), k=size))


def random_text(size: int) -> bytes:
    """Characters of every plane, at random."""
    chosen = random.Random(6)
    planes = ((32, 127), (0xA0, 0x3000), (0x3000, 0xD7FF), (0x10000, 0x1FFFF))
    ranges = chosen.choices(planes, k=size // 3)
    return "".join(chr(chosen.randrange(*plane)) for plane in ranges).encode()


def random_words(size: int) -> bytes:
    """Words that are all different, as a log has them."""
    chosen = random.Random(8)
    return b" ".join(b"%x" % chosen.randrange(1 << 36) for _ in range(size // 10))


def minified_json(size: int) -> bytes:
    rows = [{"id": n, "name": f"row {n}", "tags": ["a", "b"], "at": [n, None]} for n in range(size // 66)]
    return json.dumps(rows, separators=(",", ":")).encode()


def list_of_everything(size: int) -> bytes:
    piece = "- [ ] *a* [b](c.md) [[d|e]] #f `g` <b>h</b> $i$ ^x{n}\n  > [!note] j\n  > | k | l |\n"
    return "".join(piece.replace("{n}", str(n)) for n in range(size // 80)).encode()


def frontmatter(template: str, limit: int = 1 << 30, before: str = "", after: str = "") -> Make:
    """Frontmatter of one list or mapping; `limit` bytes of it at most, and the rest prose."""

    def make(size: int) -> bytes:
        width = len(template.format(n=100_000).encode())
        rows = "".join(template.format(n=n) for n in range(min(size, limit) // width))
        return f"---\n{before}{rows}{after}---\n\n".encode() + b"word " * ((size - min(size, limit)) // 5)

    return make


def canvas(nodes: list[dict[str, object]], edges: list[dict[str, object]]) -> bytes:
    return json.dumps({"nodes": nodes, "edges": edges}, separators=(",", ":")).encode()


def card(number: int, **more: object) -> dict[str, object]:
    return {"id": f"n{number}", "type": "text", "x": number, "y": 0, **more}


def edge(number: int, start: int, end: int, **more: object) -> dict[str, object]:
    return {"id": f"e{number}", "fromNode": f"n{start}", "toNode": f"n{end}", **more}


def canvas_star(piece: str, **label: object) -> Make:
    """Edges that meet in one card of much text."""

    def make(size: int) -> bytes:
        text = piece * (size // 2 // len(piece))
        edges = [edge(n, 0, 1, **label) for n in range(size // 2 // 62)]
        return canvas([card(0, text=text), card(1, type="file", file="a.md")], edges)

    return make


def canvas_nodes(size: int) -> bytes:
    return canvas([card(n, text=f"card {n} #tag{n}") for n in range(size // 80)], [])


def canvas_card(piece: str) -> Make:
    """One card, with a labelled edge to itself."""
    return lambda size: canvas(
        [card(0, text=piece * (size // len(piece) * 5 // 6))], [edge(0, 0, 0, label="x" * 1000)]
    )


def canvas_star_of_files(size: int) -> bytes:
    """Edges that meet in one file whose name is very long."""
    name = "folder/" * (size // 14) + "a.md"
    edges = [edge(n, 0, 0) for n in range(size // 2 // 50)]
    return canvas([card(0, type="file", file=name)], edges)


def canvas_edges(size: int) -> bytes:
    number = size // 140
    nodes = [card(n, type="file", file=f"note {n}.md") for n in range(number)]
    return canvas(nodes, [edge(n, n, (n * 7) % number, label=f"edge {n}") for n in range(number)])


def canvas_labels(size: int) -> bytes:
    number = size // 1100
    return canvas([card(0, text="a")], [edge(n, 0, 0, label="word " * 200) for n in range(number)])


def canvas_numbers(size: int) -> bytes:
    return b'{"nodes":[{"text":"word","x":' + b"9" * 4000 + b',"y":[' + b"1e9," * (size // 4) + b"1]}]}"


HOSTILE: dict[str, Make] = {
    # Headings
    "headings": repeated("# a\n"),
    "headings of every level": repeated("".join(f"{'#' * n} Part\n\n" for n in range(1, 7))),
    "headings without text": repeated("#\n"),
    "headings one on a line of their own": repeated("# Part\n\ntext\n\n"),
    "long headings above short sections": lambda size: repeated(  # each chunk could repeat them
        "#### a\n\ntext of this part\n\n",
        "".join(f"{level} {'word ' * (size // 100)}\n\n" for level in ("#", "##", "###")),
    )(size * 5 // 6),
    "headings underlined": repeated("a\n=\n"),
    "headings underlined by dashes": repeated("a\n-\n"),
    "headings underlined after a long text": repeated("a\n", after="===\n"),
    "headings of hashes": repeated("#"),
    "headings closed by hashes": repeated(" #", before="# a"),
    "headings in quotes": repeated("> # a\n"),
    "headings with emphasis": repeated("*a **b _c ", before="# "),
    "headings that are one long line": repeated("word ", before="# "),
    "headings with links": repeated("# [[a]] `b` *c*\n"),
    # Lists
    "list items": repeated("- a\n"),
    "list items apart": repeated("- a\n\n"),
    "list items empty": repeated("-\n"),
    "list items ordered": numbered("{n}. a\n"),
    "list items of tasks": repeated("- [ ] a\n"),
    "lists of all kinds in turn": repeated("- a\n* b\n+ c\n1. d\n1) e\n"),
    "lists nested": pyramid("- a\n", "  ", 60),
    "lists nested without end": growing(lambda n: "  " * n + "- a\n", 2),
    "lists on one line": repeated("- ", after="a"),
    "lists deep on every line": repeated("- " * 90 + "a\n"),
    "lists of everything": list_of_everything,
    "list of one item with many lines": repeated("  a\n", before="- b\n"),
    "list of one item with many paragraphs": repeated("  a\n\n", before="- b\n\n"),
    # Quotes and callouts
    "quotes on one line": repeated("> ", after="a"),
    "quotes without blanks": repeated(">", after=" a"),
    "quotes of many lines": repeated("> a\n"),
    "quotes nested": pyramid("a\n", "> ", 90),
    "quotes lazy": repeated("a\n", before="> b\n"),
    "quotes and lists": repeated("> - > - > - a\n"),
    "callouts": repeated("> [!note] a\n> b\n\n"),
    "callouts nested": repeated("> [!note] a\n> > [!tip] b\n> > > [!bug] c\n> > > d\n"),
    # Tables
    "table wide": lambda size: "".join(f"|{cell}" * (size // 8) + "|\n" for cell in "a-b").encode(),
    "table long": numbered("| {n} | [[x{n}]] | word |\n", "| a | b | c |\n|---|---|---|\n"),
    "table ragged": ragged_table,
    "table of a wide head": table_of_tall_head,
    "tables many": repeated("|a|b|\n|-|-|\n|c|d|\n\n"),
    "tables of bars": repeated("|"),
    "tables of broken delimiters": repeated("a|\n|||\n"),
    "tables of delimiters": repeated("|-|-|\n"),
    # Code
    "code fence never closed": repeated("let a = 1;\n\n", before="```js\n"),
    "code fences": repeated("```\na\n```\n"),
    "code fences open": repeated("```\n"),
    "code fences longer and longer": growing(lambda n: "`" * (n + 3) + "\na\n"),
    "code fences of tildes and ticks": repeated("~~~\n```\n"),
    "code indented": repeated("    a\n"),
    "code indented and apart": repeated("    a\n\n\n"),
    "code on one line": lambda size: b"```json\n" + minified_json(size) + b"\n```\n",
    "code ticks": repeated("`a``b", before="[x] "),
    "code ticks of every length": growing(lambda n: "`" * n + " "),  # none of them is closed
    # HTML
    "html blocks": repeated("<div>\n\n"),
    "html never closed": repeated("<div>a\n", before="<div>\n"),
    "html tags on a line": repeated("<a x='y'>", before="word "),
    "html tags half open": repeated('<a x="<a x=\'"', before="[x] "),
    "html attributes": repeated(" a=b", before="[x] <a"),
    "html comments never closed": repeated("<!-- a "),
    "html comments in a line": repeated("<!--a ", before="[x] "),
    "html comments": repeated("<!-- a -->\n\n"),
    "html scripts": repeated("<script>\n", after="word"),
    "html declarations": repeated("<!A <?b <![CDATA[ ", before="word "),
    "html table": repeated("<tr><td>a</td><td>b</td></tr>\n", "<table>", "</table>\n"),
    "html entities": repeated("&amp;&#120;&nosuch;", before="# "),
    # Emphasis
    "emphasis": repeated("*a **b _c ", before="[x] "),
    "emphasis of stars": repeated("*"),
    "emphasis open": repeated("*a "),
    "emphasis closed": halves("*a ", " b*"),
    "emphasis of underscores": repeated("_a_b"),
    "emphasis struck and marked": repeated("~~a ==b "),
    # Links
    "links": repeated("[a](b.md) "),
    "links to many": numbered("[a](b{n}.md#c) "),
    "links nested": halves("[", "](x)", "a"),
    "links half open": repeated("[a](b", before=""),
    "links in parentheses": repeated("[a]((((b"),
    "links with titles half open": repeated("[a](b \"c [a](b 'd (e"),
    "links with a long destination": repeated("a/", before="[x](", after=")"),
    "links with angles": repeated("[a](<b"),
    "links by reference": both("[word][{n}] ", "[{n}]: https://e.org/x\n"),
    "links by one reference": repeated("[a] ", before="[a]: /u\n\n"),
    "links of labels": halves("[", "]", "a"),
    "link definitions": numbered("[a{n}]: /u\n"),
    "link definitions of one label": repeated("[a]: /u\n"),
    "images nested": halves("![", "](x)"),
    "images half open": repeated("![]("),
    "autolinks": repeated("<https://e.org/a> "),
    "addresses": repeated("https://e.org/a?b=c "),
    "brackets": repeated("["),
    "brackets closed": repeated("]"),
    "brackets and definitions": halves("[", "]", "a\n\n[a]: /u\n\n"),
    "brackets of all kinds": in_turn(
        "[", "]", "(", ")", "{", "}", "<", ">", "![", "[[", "]]", "`", "$", "%%"
    ),
    # Obsidian
    "wikilinks": repeated("[[a]]\n"),
    "wikilinks to many": numbered("[[note {n}#part|shown]] "),
    "wikilinks never closed": repeated("[[a|"),
    "wikilinks of brackets": repeated("[["),
    "wikilinks with a long text": repeated("a b ", before="[[", after="]]"),
    "wikilinks to headings of this note": both("- [[#Part {n}]]\n", "# Part {n}\n\ntext\n\n"),
    "wikilinks of dots": repeated("../", before="[[", after="a]]"),
    "wikilinks with many hashes": repeated("#a", before="[[n", after="]]"),
    "embeds": repeated("![[a.png]]\n\n"),
    "embeds never closed": repeated("![[a"),
    "block ids": numbered("a ^b{n}\n\n"),
    "block ids on lines of their own": numbered("a\n\n^b{n}\n\n"),
    "tags": repeated("#a "),
    "tags that all differ": numbered("#t{n} "),
    "tags without end": repeated("/a", before="#a"),
    "tags run together": repeated("#a/"),
    "footnotes": both("word[^{n}] ", "[^{n}]: a note of it\n"),
    "footnotes in a line": repeated("^[a ", before="word "),
    "comments": repeated("%%"),
    "comments apart": repeated("%%\na\n\n"),
    "comments in headings": repeated("%% a ", before="# "),
    "mathematics": repeated("$$"),
    "mathematics never closed": repeated("$$ a\n\n"),
    "mathematics in a line": repeated("$a ", before="[x] "),
    "mathematics closed far away": repeated("$a\n", before="[x] ", after="b$"),
    # Frontmatter
    "frontmatter never closed": repeated("a: b\n", before="---\n"),
    "frontmatter of many keys": frontmatter("k{n}: v\n"),
    "frontmatter of many keys within the limit": frontmatter("k{n}: v\n", 60_000),
    "frontmatter of aliases": frontmatter("- alias {n}\n"),
    "frontmatter of aliases within the limit": frontmatter(" - alias {n}\n", 60_000, "aliases:\n"),
    "frontmatter of tags within the limit": frontmatter(" - tag{n}\n", 60_000, "tags:\n"),
    "frontmatter of a title within the limit": frontmatter(" word{n}", 60_000, "title:", "\n"),
    "frontmatter of dashes within the limit": frontmatter("- ", 60_000, "a:\n ", "\n"),
    "frontmatter of lists within the limit": frontmatter("- - - a{n}\n", 60_000),
    "frontmatter nested within the limit": frontmatter("[", 60_000, "a: ", "\n"),
    "frontmatter of links within the limit": frontmatter('k{n}: "[[a]]"\n', 60_000),
    "frontmatter nested": halves("{a: ", "}", before="---\na: ", after="\n---\n\nword\n"),
    "frontmatter of dashes": repeated("- ", "---\n", "\n---\n\nword\n"),
    "rules": repeated("---\n"),
    "rules of blanks": repeated("- - -\n"),
    "rules of metadata": repeated("---\na: b\n---\n"),
    "rules of plus signs": repeated("+++\n"),
    # Text
    "one line of prose": repeated("word and sentence. "),
    "one line of words": repeated("word "),
    "one word": repeated("x"),
    "one word of digits": repeated("1"),
    "one word of many parts": repeated("a.b-c_"),
    "one word of camel case": repeated("aB"),
    "one word of dots": repeated("1."),
    "empty lines": repeated("\n"),
    "empty lines of CRLF": repeated("\r\n"),
    "empty lines with blanks": repeated(" \n"),
    "empty lines between words": repeated("a" + "\n" * 50),
    "empty lines of a dozen between words": repeated("a" + "\n" * 14),
    "blanks": repeated(" "),
    "blanks between words": repeated("a" + " " * 500),
    "tabs": repeated("\t"),
    "form feeds": repeated("\x0c"),
    "wide blanks": repeated("\u3000"),
    "zero width spaces": repeated("\u200b"),
    "zero width joiners": repeated("a\u200d"),
    "combining marks": repeated("\u0301", before="a"),
    "combining marks on letters": repeated("e\u0301\u0323"),
    "vowel points": repeated("\u05b8", before="\u05d0"),
    "emoji joined": repeated("\U0001f468\u200d"),
    "emoji": repeated("\U0001f600"),
    "flags": repeated("\U0001f1e6"),
    "astral letters": repeated("\U0001d4d0\U00020000"),
    "right to left marks": repeated("\u200f\u202e"),
    "right to left words": repeated("\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 "),
    "ideographs": repeated("\u65e5\u672c\u8a9e"),
    "ideographs that all differ": lambda size: "".join(
        chr(0x4E00 + (n * 7919) % 20_000) for n in range(size // 3)
    ).encode(),
    "thai": repeated("\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35"),
    "hangul": repeated("\ud55c\uad6d\uc5b4"),
    "ligatures": repeated("\ufdfa"),
    "line ends of all kinds": in_turn(
        *(f"word{end}" for end in ("\n", "\r\n", "\r", "\x85", "\x0c", "\x0b", "\u2028", "\u2029", "\n\n")),
        *("# head\r", "- item\x0c", "> quote\r\n"),
    ),
    "line ends CR": repeated("a\r"),
    "line ends CRLF": repeated("a\r\n"),
    "line ends NEL": repeated("a\x85"),
    "lines of one letter": repeated("a\n"),
    "paragraphs of one letter": repeated("a\n\n"),
    "stops": repeated("."),
    "sentences of one letter": repeated("A. b! "),
    "quotation marks": repeated("\"'"),
    "backslashes": repeated("\\"),
    "punctuation": repeated("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
    "base64 image": base64_image,
    "base64 lines": base64_lines,
    "json": minified_json,
    "words that all differ": random_words,
    "random bytes": random_bytes,
    "random text": random_text,
    # Canvases
    "star.canvas": canvas_star("word ", label="to"),
    "star of files.canvas": canvas_star_of_files,
    "edges.canvas": canvas_edges,
    "nodes.canvas": canvas_nodes,
    "tiny nodes.canvas": repeated('{"text":"a"},', '{"nodes":[', "{}]}"),
    "long card.canvas": canvas_card("# Head\n\nSome words of prose. [[link]]\n\n"),
    "long line.canvas": canvas_card("word"),
    "labels.canvas": canvas_labels,
    "lines.canvas": canvas_star("first\n"),  # an edge shows the first line of a card
    "deep.canvas": halves("[", "]", before='{"nodes":', after="}"),
    "invalid.canvas": lambda size: canvas_nodes(size)[:-3],
    "keys.canvas": numbered('"k{n}":{n},', '{"nodes":[{"text":"word",', '"k":0}]}'),
    "numbers.canvas": canvas_numbers,
}
"""Name to generator; the family is the name's first word."""


def file_name(name: str) -> str:
    """The name of the file in a vault."""
    return name if name.endswith(".canvas") else f"{name}.md"
