"""The text that a reader sees of inline content, and which of its characters are markup."""

from __future__ import annotations

import pytest

from vault_indexer.parse.link_syntax import link_definitions, markdown_target
from vault_indexer.parse.plain import MAX_RUNS, plain, unescape_prose, wikilink_parts, wikilink_text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\t no markup \t", "no markup"),
        ("*one* and _two_", "one and two"),
        ("**one** and __two__", "one and two"),
        ("***both***", "both"),
        ("**one *and two***", "one and two"),
        ("*one **and two***", "one and two"),
        ("**one* two", "*one two"),
        ("*one** two", "one* two"),
        ("*a **b c*", "*a *b c"),
        ("~~gone~~ and ==marked==", "gone and marked"),
        ("~one~ and =two=, ~~~three~~~ and ===four===", "~one~ and =two=, ~~~three~~~ and ===four==="),
        ("a ~~b ==c~~ d==", "a b ==c d=="),
        ("snake_case_name and __init__", "snake_case_name and init"),
        ("a*b*c but a_b_c", "abc but a_b_c"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("*(a)* and *a.*b", "(a) and *a.*b"),
        ("foo*bar**baz***", "foobarbaz"),
        ("*foo**bar*", "foo**bar"),
        ("foo***bar***baz", "foobarbaz"),
        ("***a** b* c*", "a b c*"),
        ("**foo*bar**", "foo*bar"),
        ('"*quoted*", (_this_)', '"quoted", (this)'),
        ("*`code *`*", "code *"),
        ("`` a`b `` and ` c ` and `  `", "a`b and c and"),
        ("x` a`", "x a"),
        ("`two\r\nlines` and `one\nmore` and `old\rend`", "two lines and one more and old end"),
        ("$a_b_c$ and _d_", "$a_b_c$ and d"),
        ("[a *link*](https://example.org 'title') here", "a link here"),
        ("![a picture](cat.png) here", "a picture here"),
        ("[[Note]] and [[Note#Part#Deep]] and [[Note|so]]", "Note and Note > Part > Deep and so"),
        ("<b>bold</b> and a &lt; b", "bold and a < b"),
        (r"\*no\* and \[no\]", "*no* and [no]"),
        ("before %%a comment%% after", "before  after"),
        ("a <!-- b [c](d) --> e", "a  e"),
        ("a <!-- b -->", "a"),
        ("a <!--> b --> c", "a  b --> c"),
        ("a <!---> b --> c", "a  b --> c"),
        ("a <!-- *b* --", "a <!-- b --"),
        ("see <https://e.org/a_b> or <mailto:me@e.org>", "see https://e.org/a_b or mailto:me@e.org"),
        ("<a:b> and <me@e.org> and <ht tp://e.org>", "<a:b> and <me@e.org> and <ht tp://e.org>"),
        ("%%two\nlines%%after", "after"),
        ("&copy; &#169; &#xA9; &copy &nonsense;", "\u00a9 \u00a9 \u00a9 &copy &nonsense;"),
        ("*end*\r\n", "end"),
    ],
)
def test_a_reader_sees_no_markup(text: str, seen: str) -> None:
    assert plain(text) == seen


def test_of_very_many_delimiters_none_is_paired() -> None:
    words = "*a* " * (MAX_RUNS // 2)
    assert plain(words) == words.replace("*", "").strip()
    assert plain(f"{words}*b*") == f"{words}*b*"


def test_a_label_is_looked_up_where_it_is_defined() -> None:
    assert plain("[a *label*][one] and [two]", {"one": "https://example.org"}) == "a label and [two]"


@pytest.mark.parametrize(("blanks", "is_label"), [(997, True), (998, False)])
def test_a_label_has_999_characters_at_most(blanks: int, is_label: bool) -> None:
    label = f"a{' ' * blanks}b"
    assert plain(f"[{label}]", {"a b": "x"}) == (label if is_label else f"[{label}]")
    assert plain(f"[c][{label}]", {"a b": "x"}) == ("c" if is_label else f"[c][{label}]")
    assert plain(f"[c][ ] [{label}][]", {"a b": "x", "c": "y"}) == (
        f"c {label}" if is_label else f"c [{label}][]"
    )


@pytest.mark.parametrize(
    ("source", "parts", "text"),
    [
        ("Note", ("Note", "", None), "Note"),
        (" Note # Part | so ", ("Note", "Part", "so"), "so"),
        ("Note#One#Two", ("Note", "One#Two", None), "Note > One > Two"),
        ("#Part", ("", "Part", None), "Part"),
        (r"Note\|so", ("Note", "", "so"), "so"),
        ("Note|", ("Note", "", ""), "Note"),
        ("Note\\", ("Note\\", "", None), "Note\\"),
    ],
)
def test_a_wikilink_has_three_parts(source: str, parts: tuple[str, str, str | None], text: str) -> None:
    assert (wikilink_parts(source), wikilink_text(source)) == (parts, text)


@pytest.mark.parametrize(
    ("destination", "target"),
    [
        ("a%20b.md#c%20d", ("a b.md", "c d")),
        (" a\\(b\\)#c#d ", ("a(b)", "c#d")),
        ("a&amp;b", ("a&b", "")),
        ("#c", ("", "c")),
        ("a%00b%ff", ("a\ufffdb\ufffd", "")),
        ("%20a%20#%20b%20", ("a", "b")),
        ("a/b:c", ("a/b:c", "")),
        ("1a:b", ("1a:b", "")),
        ("", None),
        (" ", None),
        ("https://e.org/a", None),
        ("x-1.2+3:a", None),
        ("//e.org", None),
        ("mailto:me@e.org", None),
    ],
)
def test_a_destination_leads_into_the_vault_or_out_of_it(
    destination: str, target: tuple[str, str] | None
) -> None:
    assert markdown_target(destination) == target


@pytest.mark.parametrize(
    ("definitions", "found"),
    [
        ("[a]: one", {"a": "one"}),
        ("  [A  b]:\n <t w o> 'title'", {"a b": "t w o"}),
        ("[ ]: one", {}),
        ("[a] : one", {}),
        ("[a]:", {"a": ""}),
        ("a: one", {}),
    ],
)
def test_a_definition_names_a_destination(definitions: str, found: dict[str, str]) -> None:
    assert link_definitions(definitions, [(0, len(definitions))]) == found
    assert link_definitions("[a]: x [a]: y", [(0, 6), (7, 13)]) == {"a": "x"}
    assert link_definitions("[a] x [b]: y", [(0, 5), (6, 12)]) == {"b": "y"}


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("M&uuml;nchen &amp; Z&#252;rich&nbsp;&#x41;", "München & Zürich\xa0A"),
        ("`&uuml;` &uuml; ``&lt;`&gt;`` &lt;", "`&uuml;` ü ``&lt;`&gt;`` <"),
        ("&auml;\n\n```html\n&nbsp;\n```\n\n&ouml;", "ä\n\n```html\n&nbsp;\n```\n\nö"),
        ("~~~\n&nbsp;", "~~~\n&nbsp;"),
        ("&uuml &nothing; a & b;", "&uuml &nothing; a & b;"),
    ],
)
def test_entities_are_decoded_but_not_in_code(markdown: str, text: str) -> None:
    assert unescape_prose(markdown) == text


# What the text of a code span is, where it is shown without its ticks.
