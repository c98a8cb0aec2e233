"""Time linear in the length of a note, whatever it contains."""

from collections.abc import Callable, Sequence

import pytest
from linear_time import check_linear

from vault_indexer.model import Heading
from vault_indexer.parse import Anchors, parse_note, render_markdown

pytestmark = pytest.mark.long
SHAPES: dict[str, Callable[[int], str]] = {
    "brackets": lambda n: "[[" * n,
    "embeds": lambda n: "![[a" * n,
    "images never closed": lambda n: "![](" * n,
    "images in images": lambda n: "![" * (n // 8) + "](b)" * (n // 8),
    "quotes": lambda n: "> " * n + "a",
    "quotes without blanks": lambda n: ">" * n + " a",
    "lists on a line": lambda n: "- " * n + "a",
    "deep lists on every line": lambda n: ("- " * 90 + "a\n") * (n // 90),
    "nested lists": lambda n: "".join("  " * (i % 60) + "- a\n" for i in range(n // 8)),
    "headings": lambda n: "# a\n" * n,
    "one line": lambda n: "word [a] `b` " * n,
    "unclosed fence": lambda n: "```\n" + "a\n\n" * n,
    "fences": lambda n: "```\na\n" * n,
    "emphasis": lambda n: "[x] " + "*a **b _c " * n,
    "emphasis in a heading": lambda n: "# " + "*a **b _c " * n,
    "ticks": lambda n: "[x] " + "`a``b" * n,
    "ticks of every length": lambda n: "[x] " + "".join("`" * i + " " for i in range(int((2 * n) ** 0.5))),
    "tags of HTML": lambda n: "[x] " + '<a x="<a x=\'"' * n,
    "comments of HTML": lambda n: "[x] " + "<!--a " * n,
    "destinations": lambda n: "[a](b" * n,
    "parentheses": lambda n: "[a]((((b" * n,
    "titles": lambda n: "[a](b \"c [a](b 'd (e" * n,
    "dollars": lambda n: "[x] " + "$a " * n,
    "dollars on many lines": lambda n: "[x] " + "$a $b\n$$ c " * n,
    "dollars closed far away": lambda n: "[x] " + "$a\n" * n + "b$",
    "math never closed": lambda n: "$$ a\n\n" * n,
    "hashes": lambda n: "#" * n,
    "tables": lambda n: "| a |\n|---|\n" + "| [[b]] |\n" * n,
    "pipes": lambda n: "|" * n + "\n" + "|-" * n,
    "broken delimiter rows": lambda n: "a|\n|||\n" * n,
    "definitions": lambda n: "[a]: /u\n" * n + "[a] " * n,
    "labels": lambda n: "[a]: /u\n\n" + "[" * n + "a" + "]" * n,
    "blank lines": lambda n: "\n" * n,
    "carriage returns": lambda n: "a\r" * n,
    "frontmatter": lambda n: "---\n" + "a: b\n" * n,
    "block ids": lambda n: "^b\n\na ^c\n\n" * n,
    "underlines": lambda n: "a\n" * n + "===\n",
    "closing hashes": lambda n: "# a" + " #" * n,
    "blanks": lambda n: "a" + " " * n + "\n" + " " * n + "b",
    "fields never closed": lambda n: "(a:: [b:: " * n,
    "fields on every line": lambda n: "- [ ] c:: 1, 2, [[d]] 📅 2026-01-01\n" * n,
    "names of fields": lambda n: ("é" * 99 + "?::(" + " " * n + "é::") * 2,
    "wide characters": lambda n: "日本語 #タグ [[ノート]]\n\n" * n,
}


RENDERED: dict[str, Callable[[int], str]] = {
    "drawings never closed": lambda n: "<svg>" * n,
    "elements in elements": lambda n: "<svg><style><script>" * n,
    "tags of several lines": lambda n: "<a b\nc " * n,
    "comments and fences": lambda n: "%% a\n```\n" * n + "`%%` ",
}


def read(text: str) -> None:
    parse_note("n.md", text.encode())


@pytest.mark.parametrize(
    ("work", "make"),
    [
        *(pytest.param(read, make, id=shape) for shape, make in SHAPES.items()),
        *(pytest.param(render_markdown, make, id=shape) for shape, make in RENDERED.items()),
    ],
)
def test_four_times_the_text_takes_about_four_times_as_long(
    work: Callable[[str], object], make: Callable[[int], str]
) -> None:
    check_linear(work, make(1500), make(6000))


@pytest.mark.parametrize("link", ["Part {}", "part-{}", "Same-{}", "nowhere {}"])
def test_a_table_of_contents_is_resolved_in_time_linear_in_it(link: str) -> None:
    def headings(count: int) -> list[Heading]:
        texts = [f"Part {n}" for n in range(count)] + ["Same"] * count
        return [Heading(2, text, n, n + 1, n, nested=False) for n, text in enumerate(texts)]

    def resolve(headings: Sequence[Heading]) -> None:
        anchors = Anchors(headings, [])
        for n in range(len(headings) // 2):
            anchors.find(link.format(n), slugs=True)

    check_linear(resolve, headings(500), headings(2000))
