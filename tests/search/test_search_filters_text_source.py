"""A phrase is found where a reader sees it, and only there."""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from golden_cases import check_golden
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.model import JsonValue
from vault_indexer.parse import link_labels, parse_note, render_markdown
from vault_indexer.parse.reading_view import reading_view
from vault_indexer.search.deadline import ReadingBudget
from vault_indexer.search.filters.text_pattern import text_pattern
from vault_indexer.search.filters.text_source import NoteSource, PatternSearch
from vault_indexer.search.present.snippet import ChunkHeading, Snippets

FIXTURES = Path(__file__).parents[1] / "parse" / "fixtures"
DOCS = Path(__file__).parents[2] / "docs"


def found(phrase: str, source: str) -> list[str]:
    """The pieces of the source in which a phrase is found."""
    note, search = NoteSource(source.encode()), PatternSearch(ReadingBudget())
    pattern = text_pattern(phrase)
    if not search.may_hold(pattern, note):
        return []
    spans = search.spans(pattern, note, note.text_start, len(note.text))
    return [note.text[slice(*span)] for span in spans]


def test_a_phrase_is_found_as_the_golden_says() -> None:
    golden = Path(__file__).parent / "fixtures" / "phrases.md"
    check_golden(golden, {"": lambda text: str(found(*text.split(" ← ")))})


@given(st.text(alphabet=" \t\r\n-+:#|^*_~=`[]<>\\&%a1.!'\"(){}$", min_size=1, max_size=12))
def test_a_part_without_markup_is_shown_as_the_renderer_shows_it(source: str) -> None:
    note = NoteSource(source.encode())
    part, was_rendered = note.part_at(note.text_start)
    assert was_rendered or part.readable.text == render_markdown(source[part.start : part.end]).text


def test_in_code_and_in_files_of_code_all_is_seen() -> None:
    source = "x\n\n```\n**a** [b](c d)\n\n<!-- e -->\n```\n"
    for phrase in ("**a** [b](c d)", "<!-- e -->"):
        assert found(phrase, source) == [phrase]
    note, search = NoteSource(b"# *a* = [b](c d)\n", is_code=True), PatternSearch(ReadingBudget())
    assert list(search.spans(text_pattern("*a* = [b](c d)"), note, 0, 17)) == [(2, 16)]


WORDS = st.text(st.sampled_from("aeiknorst"), min_size=2, max_size=5)
MARKED = st.sampled_from(
    [
        *("{0}", "**{0}**", "*{0}*", "_{0}_", "=={0}==", "~~{0}~~", "<b>{0}</b>", "[{0}](hidden/page.md)"),
        *("[[hidden page|{0}]]", "[{0}][hidden]", "{0}[^hidden]", "{0} %%hidden%%", "{0}<!-- hidden -->"),
        "{0}",
        *('[{0}](hidden_(page) "hidden")', "<span title='hidden'>{0}</span>", "{0}&nbsp;", "{0},", "({0})"),
        *("{0}.", "[**{0}**](hidden)", "**[{0}](hidden)**", "{0}\\", "{0}<br>", "&#8220;{0}&#8221;"),
    ]
)
GAPS = st.sampled_from([" ", " ", "  ", "\n"])
SENTENCES = st.lists(st.tuples(WORDS, MARKED, GAPS), min_size=3, max_size=14)
LINES = st.sampled_from(
    ["{0}", "# {0}", "- {0}", "> {0}", "> [!note] {0}", "1. {0}", "- [ ] {0}", "| {0} | x |"]
)


@given(SENTENCES, LINES, st.integers(0, 11), st.integers(3, 12))
def test_any_run_of_visible_words_is_found(
    sentence: list[tuple[str, str, str]], line: str, first: int, number: int
) -> None:
    words = [word for word, _, _ in sentence]
    text = "".join(marked.format(word) + gap for word, marked, gap in sentence).replace("\\ ", "\\& ")
    if line != "{0}":
        text = " ".join(text.split())
    source = f"before it\n\n{line.format(text.strip())}\n\n[hidden]: /hidden\n"
    start = first % max(len(words) - 2, 1)
    assert found(" ".join(words[start : start + number]), source)
    assert found("hidden", source) == []
    left_out = [*words[start : start + 1], "zzz", *words[start + 1 :]]
    assert found(" ".join(left_out), source) == []


PLACES = st.sampled_from(
    [
        *("{0}", "# {0}", "### {0} ###\n\ntext below it", "- {0}\n- next item", "- first item\n  - {0}"),
        *("- [ ] {0}\n- [x] thing done", "- [x] thing done\n- [ ] {0}", "1. first item\n2. {0}\n3. last one"),
        *("> [!tip] Title here\n> {0}", "> [!tip]- {0}\n> text below it", "> quoted\n> > {0}"),
        *("| {0} | cell |\n| --- | --- |\n| more | cells |", "a | b\n--|--\nc | {0}\nd | e"),
        *(
            "text[^9] here\n\n[^9]: {0}",
            "line above<br>\n{0}\nline below",
            "Salt &amp; pepper. {0} Zürich &uuml;ber",
        ),
        *("今天[天气](weather/today.md)很好 {0} 很好", "```sh\n# run\n```\n{0}", "Title\n{0}\n-----"),
    ]
)


@given(st.lists(st.tuples(PLACES, SENTENCES), min_size=1, max_size=4), st.integers(0, 3), st.integers(3, 12))
def test_a_hit_marks_the_phrase_in_its_line(
    blocks: list[tuple[str, list[tuple[str, str, str]]]], number: int, length: int
) -> None:
    texts, runs = [], []
    for at, (block, sentence) in enumerate(blocks):
        words = [
            f"{word}{'xyzw'[at]}q{'abcdefghijklmno'[place]}" for place, (word, _, _) in enumerate(sentence)
        ]
        marked = (mark.format(word) for word, (_, mark, _) in zip(words, sentence, strict=True))
        texts.append(block.format(" ".join(marked).replace("\\ ", "\\& ").removesuffix("\\")))
        runs.append(words[:length])
    source = "\n\n".join(["Long before it. " * 20, *texts, "Long after it. " * 20, "[hidden]: /hidden\n"])
    words = runs[number % len(runs)]
    phrase = text_pattern(" ".join(words))
    places = list(PatternSearch(ReadingBudget()).spans(phrase, NoteSource(source.encode()), 0, len(source)))
    parsed = parse_note("", source.encode())
    headings = [ChunkHeading(one.level, one.start, one.end) for one in parsed.headings]
    queried = dict.fromkeys(words, 1.0)
    snippets = Snippets(dict.fromkeys(words, ()), 200, "en", [phrase])
    shown = snippets.of(source, queried, headings, "", places, link_labels(source))
    (mark,) = shown.marks
    assert re.findall(r"\w+", shown.text[slice(*mark)]) == words
    assert words[0] in source.split("\n")[source.count("\n", 0, shown.at)]


def visible(node: JsonValue) -> str:
    """What a block of the page shows in its own line of text; a line feed where something else stands."""
    if isinstance(node, str):
        return node
    assert isinstance(node, dict)
    if node["t"] in ("em", "strong", "del", "mark", "code", "a", "span", "note"):
        children = node.get("c")
        return str(node.get("text") or "".join(map(visible, children if isinstance(children, list) else [])))
    return "" if node["t"] == "footnote_ref" else "\n"


def blocks(node: JsonValue) -> Iterator[str]:
    assert isinstance(node, dict)
    children = node.get("c")
    if isinstance(children, list):
        if node["t"] in ("p", "h", "li", "th", "td"):
            yield "".join(map(visible, children))
        for child in children:
            if isinstance(child, dict):
                yield from blocks(child)


def corpus() -> list[str]:
    examples = json.loads((FIXTURES / "commonmark-0.31.2.json").read_text("utf-8"))["examples"]
    notes = [one["markdown"] for one in examples]
    notes = [
        note for note in notes if not re.search(r"<|\t|^ {4}|&frac", note, re.MULTILINE)
    ]  # HTML, indented code
    return [*notes, *(page.read_text("utf-8") for page in sorted(DOCS.glob("*.md"))[:12])]


@pytest.mark.long
def test_what_the_page_shows_of_the_corpora_of_the_parser_is_found() -> None:
    """The page's reader is another one: both agree on what a reader sees."""
    chance, missing, asked = random.Random(53), [], 0
    for source in corpus():
        parsed = parse_note("", source.encode())
        view = reading_view(parsed.text, parsed.body_start, lambda _: None)
        lines = [part.split() for node in view.blocks for block in blocks(node) for part in block.split("\n")]
        long = [words for words in lines if len(words) >= 3]
        for words in chance.sample(long, min(len(long), 8)):
            start = chance.randrange(len(words) - 2)
            phrase = " ".join(words[start : start + chance.randint(3, 12)])
            asked += 1
            if not found(phrase, source):
                missing.append((phrase, source[:200]))
    assert asked > 100
    assert missing == []
