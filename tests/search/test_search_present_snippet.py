"""What a hit shows of its chunk: text as a reader sees it, marks, the line and the headings of the match."""

from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts
from hypothesis import example, given
from hypothesis import strategies as st
from snippet_goldens import Golden, goldens, notes, shown, update

from vault_indexer.bootstrap import open_index, resolve_target
from vault_indexer.model import SearchRequest
from vault_indexer.search.filters import text_pattern
from vault_indexer.search.present.snippet import ChunkHeading, Snippet, Snippets
from vault_indexer.service import VaultService


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultService]:
    folder = tmp_path_factory.mktemp("snippets")
    (folder / "vault").mkdir()
    for path, text in notes().items():
        (folder / "vault" / path).write_text(text, "utf-8")
    target = resolve_target(
        folder / "vault", folder / "index", None, environ={}, options={"index.workers": 1}
    )
    with closing(open_index(target, lambda _: None)) as opened:
        yield opened


def answer(service: VaultService, golden: Golden) -> str:
    answer = service.search(SearchRequest(f'path:"{golden.path}" {golden.query}'))
    return shown(answer.results[0])


def test_goldens(service: VaultService) -> None:
    found = {golden: answer(service, golden) for golden in goldens()}
    update(found)
    assert found == {golden: golden.expected for golden in goldens()}
    assert len(found) > 12


PIECES = st.sampled_from(
    [
        *("zebra", "Zebras", "lion", "the", "茶", "日本語", "e\u0301", "👨\u200d👩\u200d👧", "🇩🇪", "كِتَاب"),
        *("हिन्दी", "한글", " ", "  ", "\n", "\n\n", ". ", "! ", "。", "|", "| a | b |\n| --- | --- |\n"),
        *("```", "~~~\n", "`", "**", "_", "==", "# ", "> ", "> [!note] ", "- ", "- [ ] ", "1. "),
        *("[[a|zebra]]", "[[zebra]]", "![[a.png]]", "[lion](u)", "<br>", "<!--", "-->", "%%", "\\*"),
        *("$x$", "^id", "[^1]", "\r\n", "---\n", "\x00", "\ud800"),
    ]
)
BODIES = st.lists(PIECES, max_size=60).map("".join)
WORDS = {"zebra": 2.0, "lion": 1.0, "茶": 1.0, "本語": 1.0, "كتاب": 1.0}


def is_within(shown: str, source: str) -> bool:
    """Whether the characters that are not blank stand in the source, in this order."""
    rest = iter(source)
    return all(char in rest for char in shown if not char.isspace())


@given(BODIES, st.integers(40, 80), st.sampled_from(["", "```"]))
@example("| zebra | lion |\n| --- | --- |\n| a | b |", 40, "")
@example("e\u0301" * 100, 40, "")
@example("👨\u200d👩\u200d👧" * 40, 40, "")
@example("<!-- zebra -->", 40, "")
def test_a_snippet_is_text_of_the_chunk_with_marks_on_words(body: str, size: int, fence: str) -> None:
    found = Snippets(dict.fromkeys(WORDS, ()), size, "en").of(body, WORDS, (), fence)
    text = found.text
    assert "\n" not in text
    plain = text.replace(" · ", "  ")  # between blocks
    assert len(plain) <= size + 2
    assert is_within(plain.removeprefix("…").removesuffix("…"), body)
    assert 0 <= found.at <= len(body)
    for start, end in found.marks:
        word = text[start:end].casefold().replace("\u0650", "").replace("\u064e", "")
        assert any(wanted in word for wanted in WORDS)
    for before, after in pairwise(text):
        assert not (before == "…" and after in "\u0301\u200d\u0650\u064e")
        assert not (before == "\u200d" and after == "…")


def test_a_character_of_several_code_points_is_not_divided() -> None:
    for cluster in ("👨\u200d👩\u200d👧", "e\u0301", "🇩🇪", "क्षि", "👍🏽"):
        body = "x" + cluster * 100
        text = Snippets({}, 40).of(body, {}).text.removesuffix("…")
        assert text
        assert body.startswith(text)
        assert (len(text) - 1) % len(cluster) == 0


def test_function_words_are_marked_only_if_there_is_nothing_else() -> None:
    def marked(*query: str) -> list[str]:
        found = Snippets(dict.fromkeys(query, ()), 80, "en").of(
            "How do I sync the vault?", dict.fromkeys(query, 1.0)
        )
        return [found.text[start:end] for start, end in found.marks]

    assert marked("how", "do", "i", "sync") == ["sync"]
    assert marked("how", "do", "i") == ["How", "do", "I"]


def test_a_match_in_the_heading_alone_shows_the_text_below() -> None:
    body = "Intro of no use.\n\n## Zebras\n\nThey live in herds.\n"
    heading = ChunkHeading(2, body.index("##"), body.index("\n\nThey"))
    found = Snippets({"zebra": ()}, 80, "en").of(body, {"zebra": 1.0}, [heading])
    assert (found.text, found.marks, found.at) == ("They live in herds.", (), body.index("They"))


def test_inflected_forms_are_marked_by_their_stem() -> None:
    found = Snippets({"properties": ()}, 80, "en").of("A property of it.", {"properties": 1.0})
    assert [found.text[start:end] for start, end in found.marks] == ["property"]


def test_a_chunk_that_begins_in_code_is_shown_as_code() -> None:
    body = "a **b**\n```\nIn **prose** now.\n"
    assert Snippets({}, 80).of(body, {}, (), "```").text == "a **b** In prose now."


def test_a_block_without_a_stop_is_divided_from_the_next() -> None:
    body = "**Same note**\n\nTo link to a heading, type it.\n\nThen press Enter.\n"
    shown = Snippets({"link": ()}, 200, "en").of(body, {"link": 1.0})
    assert shown.text == "Same note · To link to a heading, type it. Then press Enter."
    assert [shown.text[start:end] for start, end in shown.marks] == ["link"]
    assert Snippets({"to": ()}, 200, "").of(body, {"to": 1.0}).text == shown.text


F = "plain words that fill a line. "


def marked(found: Snippet) -> str:
    """The text, with the marks as «»."""
    text = found.text
    for start, end in reversed(found.marks):
        text = f"{text[:start]}«{text[start:end]}»{text[end:]}"
    return text


SECTIONS = "Intro of zebra.\n# Lions\nA lion.\n## Zebras\nThey graze with a lion.\n# Gnus\n\n"
TITLES = {"# Lions\n": 1, "## Zebras\n": 2, "# Gnus\n": 1}


def test_the_part_that_is_shown_is_that_of_the_golden() -> None:
    def part(body: str, words: str, size: str, fence: str) -> str:
        text = body.replace("{F}", F).replace("{W}", "word " * 40)
        weights = {word.partition("=")[0]: float(word.partition("=")[2] or 1) for word in words.split()}
        found = Snippets(dict.fromkeys(weights, ()), int(size), "en").of(text, weights, (), fence)
        return f"{marked(found)} @{found.at}"

    def section(words: str, which: str) -> str:
        text = SECTIONS if which == "all" else SECTIONS[16:]
        weights = {name: float(value) for name, _, value in (one.partition("=") for one in words.split())}
        headings = [
            ChunkHeading(level, text.index(title), text.index(title) + len(title))
            for title, level in TITLES.items()
        ]
        return marked(Snippets(dict.fromkeys(weights, ()), 60, "en").of(text, weights, headings))

    check_golden(
        Path(__file__).parent / "fixtures" / "snippet_parts.md",
        {
            "The part of a chunk, and where it begins": of_parts(part),
            "A snippet is of the section that says most": of_parts(section),
        },
    )


PLACES = """# Doors

They were at the door and opened a box.

- the crate
- In the end they **opened the** door

## Open the door

x
"""


@pytest.mark.parametrize(
    ("phrase", "place", "line", "marked"),
    [
        ("opened the door", "opened the** door", 6, ["opened the door"]),
        ("the door", "- In the end they **opened the** door", 6, ["the door"]),
        ("the crate", "- the crate\n- In the end", 5, ["the crate"]),
        ("open the door", "## Open the door\n\nx\n", 8, ["Open the door"]),
        ("no such words", "- the crate", 5, []),
    ],
)
def test_the_place_of_a_hit_is_where_the_filters_have_found_something(
    phrase: str, place: str, line: int, marked: list[str]
) -> None:
    words, start = dict.fromkeys(phrase.split(), 1.0), PLACES.index(place)
    heads = [ChunkHeading(1, 0, 7), ChunkHeading(2, PLACES.index("##"), PLACES.index("\n\nx"))]
    shown = Snippets(dict.fromkeys(words, ()), 200, "en", [text_pattern(phrase)]).of(
        PLACES, words, heads, "", [(start, start + len(place))]
    )
    assert [shown.text[slice(*span)] for span in shown.marks] == marked
    assert PLACES.count("\n", 0, shown.at) + 1 == line


def test_the_place_of_a_hit_is_where_most_of_the_words_are_together() -> None:
    body = "A ladder.\n\nOf crates.\n\nA ladder of crates was built.\n"
    words = {"ladder": 1.0, "crates": 1.0, "built": 1.0}
    assert Snippets(dict.fromkeys(words, ()), 200, "en").of(body, words).at == body.index("ladder of")
