"""What other programs add to Markdown is rewritten in place: nothing moves, and it shows the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def shown(source: str, style: LinkStyle) -> list[str]:
    """The lines that a reader sees."""
    note = parse_note("n.md", source.encode(), style)
    return [" ".join(line.split()) for line in readable(note.text).text.splitlines() if line.strip()]


@pytest.mark.parametrize(
    ("style", "source", "lines"),
    [
        ("hugo", "{{< note >}}\nMind the gap.\n{{< /note >}}\n", ["Mind the gap."]),
        ("hugo", "{{% note %}}Mind the gap.{{% /note %}}\n", ["Mind the gap."]),
        (
            "hugo",
            "1. One\n\n   {{< tabs >}}\n   {{< tab >}}\n   Two\n   {{< /tab >}}{{< /tabs >}}\n",
            ["1. One", "Two"],
        ),
        ("hugo", "Before {{< icon star >}} after.\n", ["Before after."]),
        ("hugo", '{{< figure\n  src="a.png"\n>}}\n\nText.\n', ["Text."]),
        ("hugo", '{{< figure src="a.png" caption="A red cat" >}}\n', ["A red cat"]),
        ("hugo", "## Part {{< badge new >}}\n", ["Part"]),
        (
            "hugo",
            "Write `{{< note >}}` or\n\n```\n{{< note >}}\n```\n",
            ["Write {{< note >}} or", "{{< note >}}"],
        ),
        ("hugo", "{{</* note */>}} is an example.\n", ["{{</* note */>}} is an example."]),
        (
            "hugo",
            "{{< highlight sh >}}\n# [[No]] heading\n{{< /highlight >}}\nText.\n",
            ["# [[No]] heading", "Text."],
        ),
        ("hugo", "{{< highlight sh >}}\n[[Not closed]]\n", ["Not closed"]),
        ("jekyll", "{% highlight ruby %}\n# *No* heading\n{% endhighlight %}\n", ["# *No* heading"]),
        ("jekyll", "{% include toc.html %}\n{: .wide }\nText {{ page.title }}.\n", ["Text ."]),
        ("jekyll", "{% if a %}\nYes.\n{%- endif -%}\n", ["Yes."]),
        ("jekyll", "Write {% raw %}{{ a }}{% endraw %}.\n", ["Write {{ a }} ."]),
        ("jekyll", "{% raw %}`{{ a }}`{% endraw %} is *a*.\n", ["{{ a }} is a."]),
        ("jekyll", "{% raw %}\n{% include a %}\n{% endraw %}\n{{ b }}\n", ["{% include a %}"]),
        ("mkdocs", "{% include 'a.md' %}\nText {{ shown }}.\n", ["Text {{ shown }}."]),
        ("docusaurus", "import Tabs from '@theme/Tabs';\nimport {\n  A,\n} from 'b';\n\nText.\n", ["Text."]),
        ("docusaurus", "export const a = {\n  b: 1,\n};\n\nText.\n", ["Text."]),
        ("docusaurus", "<Tabs items={[1, 2]} onChange={() => a > 1}>\n\nText.\n\n</Tabs>\n", ["Text."]),
        ("docusaurus", "import the data from another app\n", ["import the data from another app"]),
        ("docusaurus", "export the data as text\n", ["export the data as text"]),
        ("docusaurus", "{/* hidden */}\nText.\n", ["Text."]),
        ("dendron", "See [[the cat|animals.cat]] and `[[a|b]]`.\n", ["See the cat and [[a|b]]."]),
        ("dendron", "![[cat.png|300]]\n", []),
        ("logseq", "- See [the cat]([[Felis catus]]).\n", ["See the cat."]),
        ("obsidian", "{{< note >}}\n{% if %}\n", ["{{< note >}}", "{% if %}"]),
    ],
)
def test_a_reader_sees_what_the_program_shows(style: LinkStyle, source: str, lines: list[str]) -> None:
    assert shown(source, style) == lines


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
