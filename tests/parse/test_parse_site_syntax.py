"""What other programs add to Markdown is rewritten in place: nothing moves, and it shows the same."""

from __future__ import annotations

import re
from functools import partial

import pytest
from golden_cases import check_golden
from hypothesis import given
from hypothesis import strategies as st
from parse_goldens import FIXTURES

from vault_indexer.model import LinkStyle
from vault_indexer.parse import parse_note, readable
from vault_indexer.parse.site_syntax import as_markdown

STYLES: tuple[LinkStyle, ...] = ("dendron", "docusaurus", "hugo", "jekyll", "logseq", "mkdocs", "obsidian")
PIECES = (
    *("{{< a >}}", '{{% ref "b" %}}', '{{< fig title="c d" >}}', "{{", "}}", "{%", "%}", "{% raw %}"),
    *("{{< highlight a >}}\n", "{{< /highlight >}}", "{: .a }", "[[a|b]]", "![[a|b]]", "[a](", "[a]: "),
    *("([[b c]])", ")", "import a from 'b'", "export const a = 1", "<A b={1}/>", "`", "```", "\n", "\r\n"),
    *("\n\n", " ", "    ", "- ", "> ", "word", "/x", "\u3042", "|", "<", ">", '"'),
)


@given(style=st.sampled_from(STYLES), pieces=st.lists(st.sampled_from(PIECES), max_size=30))
def test_every_character_keeps_its_place(style: LinkStyle, pieces: list[str]) -> None:
    text = "".join(pieces)
    rewritten = as_markdown(text, style)
    assert [match.span() for match in re.finditer(r"[\r\n]", rewritten)] == [
        match.span() for match in re.finditer(r"[\r\n]", text)
    ]
    assert len(rewritten) == len(text)


def shown(style: LinkStyle, source: str) -> str:
    """The lines that a reader sees."""
    note = parse_note("n.md", f"{source}\n".encode(), style)
    return "\n".join(" ".join(line.split()) for line in readable(note.text).text.splitlines() if line.strip())


def test_a_reader_sees_what_the_program_shows() -> None:
    check_golden(FIXTURES / "site_syntax.md", {style: partial(shown, style) for style in STYLES})


def test_a_link_in_the_properties_of_dendron_is_read_as_in_the_text() -> None:
    note = parse_note("n.md", b'---\nsee: "[[the cat|animals.cat]]"\n---\n', "dendron")
    assert [(link.target, link.display) for link in note.links] == [("animals.cat", "the cat")]


def test_a_text_that_only_resembles_a_tag_takes_linear_time() -> None:
    for piece in (
        *("{{< ", "{% ", "{{ ", "[a]({{< ", "import a, ", "\nimport ", "\nexport const", "\n<A b={"),
        *("[[a|", "\n<A '", "\n{/* ", "{% highlight a %}\n", "{% raw %}"),
        "\n{{< highlight a >}}\n{{< /code-toggle >}}\n",
    ):
        for style in STYLES:
            text = piece * 4000
            assert len(as_markdown(text, style)) == len(text)


@pytest.mark.parametrize(
    ("style", "source"),
    [
        ("hugo", "{{% note %}}See [a](b.md).{{% /note %}}\n"),
        ("hugo", '{{< figure src="a.png" title="A cat" >}} [a](b.md)\n'),
        ("jekyll", "{% raw %}See{% endraw %} [a](b.md)\n"),
        ("jekyll", "   {% if a %}See [a](b.md){% endif %}\n"),
    ],
)
def test_text_after_a_tag_is_no_indented_code(style: LinkStyle, source: str) -> None:
    assert [link.target for link in parse_note("n.md", source.encode(), style).links] == ["b.md"]
