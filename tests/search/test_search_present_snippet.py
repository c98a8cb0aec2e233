"""What a hit shows of its chunk: text as a reader sees it, marks, the line and the headings of the match."""

from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise

import pytest
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
SHOWN = [
    ("one. two three. four five.", "five", "", 40, "one. two three. four «five».", 21),
    (F * 2 + "A zebra. " + F * 2, "zebra", "", 40, "…A «zebra». plain words that fill a line.…", 62),
    (
        F * 2 + "A zebra. Then a lion. " + F * 2,
        "zebra lion=2",
        "",
        40,
        "…Then a «lion». plain words that fill a…",
        76,
    ),
    (
        F * 4 + "lion lion lion. " + F * 4 + "lion zebra. " + F * 4,
        "zebra lion=2",
        "",
        40,
        "…«lion» «zebra». plain words that fill a…",
        256,
    ),
    (
        "zebra " + "word " * 40 + "zebra lion zebra " + "word " * 40,
        "zebra lion",
        "",
        40,
        "…word word «zebra» «lion» «zebra» word word…",
        206,
    ),
    ("word " * 40 + "zebra", "zebra", "", 40, "…word word word word «zebra»", 200),
    ("zebra" + " word" * 40, "zebra", "", 40, "«zebra» word word word word word word…", 0),
    ("x" * 100, "zebra", "", 40, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…", 0),
    (F * 5, "", "", 40, "plain words that fill a line. plain…", 0),
    ("%% lion\n```\nkey\n```\n%%\nzebra", "zebra", "", 40, "«zebra»", 23),
    (f"<svg><path d='{'1 ' * 90}'/></svg> zebra", "zebra", "", 40, "…«zebra»", 204),
    ("<!-- zebra -->", "zebra", "", 40, "<!-- «zebra» -->", 5),
    ("a [lion](zebra.md) b", "zebra", "", 40, "a lion b", 9),
    (
        F + "see [the lion](http://zebra.org) at night. " + F * 2,
        "zebra",
        "",
        40,
        "…see the lion at night. plain words that…",
        52,
    ),
    ("*a*\n```\n*b*", "b", "```", 40, "*a* «b»", 9),
    (F * 4 + "\n```\n*zebra* is code\n```\n" + F * 4, "zebra", "", 40, "…*«zebra»* is code…", 126),
    (
        "Zébra zebra ZEBRAS zeb zebr zebraic zebu",
        "zebra",
        "",
        60,
        "«Zébra» «zebra» «ZEBRAS» zeb «zebr» «zebraic» zebu",
        0,
    ),
    ("run running runs ran runner", "run", "", 60, "«run» running runs ran runner", 0),
    ("abc abcdef abcd", "abcd", "", 60, "abc «abcdef» «abcd»", 4),
    ("日本語全文検索のはなし。茶。", "全文 文検 茶", "", 60, "日本語«全文検»索のはなし。«茶»。", 3),
    ("ｶﾞ全文 zebra", "全文", "", 60, "«ｶﾞ全文» zebra", 0),
    ("a-b c a–b x", "a-b", "", 60, "«a-b» c a–b x", 0),
    ("Head\n\nText here\n\n\n  more.\n\nlast", "more", "", 60, "Head · Text here · «more». last", 20),
    ("  \n a  \t b \n", "b", "", 60, "a «b»", 9),
    ("", "b", "", 60, "", 0),
    ("compound wordpart and wordpiece", "word", "", 60, "compound «wordpart» and «wordpiece»", 9),
]


def marked(found: Snippet) -> str:
    """The text, with the marks as «»."""
    text = found.text
    for start, end in reversed(found.marks):
        text = f"{text[:start]}«{text[start:end]}»{text[end:]}"
    return text


@pytest.mark.parametrize(("body", "words", "fence", "size", "text", "at"), SHOWN)
def test_the_part_of_a_chunk_that_is_shown(
    body: str, words: str, fence: str, size: int, text: str, at: int
) -> None:
    """The words with their weights, where another than 1."""
    weights = {word.partition("=")[0]: float(word.partition("=")[2] or 1) for word in words.split()}
    found = Snippets(dict.fromkeys(weights, ()), size, "en").of(body, weights, (), fence)
    assert (marked(found), found.at) == (text, at)


SECTIONS = "Intro of zebra.\n# Lions\nA lion.\n## Zebras\nThey graze with a lion.\n# Gnus\n\n"
TITLES = {"# Lions\n": 1, "## Zebras\n": 2, "# Gnus\n": 1}


@pytest.mark.parametrize(
    ("words", "text", "shown"),
    [
        ({"zebra": 1.0}, SECTIONS, "Intro of «zebra»."),
        ({"lion": 1.0}, SECTIONS, "A «lion»."),
        ({"lion": 1.0, "zebra": 1.0}, SECTIONS, "They graze with a «lion»."),
        ({"graze": 1.0, "zebra": 1.5}, SECTIONS, "They «graze» with a lion."),
        ({"gnus": 1.0}, SECTIONS, "«Gnus»"),
        ({}, SECTIONS, "Intro of zebra."),
        ({"they": 1.0}, SECTIONS[16:], "«They» graze with a lion."),
        ({}, SECTIONS[16:], "A lion."),
        ({"lion": 1.0, "gnu": 1.0}, SECTIONS, "A «lion»."),
        ({"intro": 1.0, "graze": 1.0}, SECTIONS, "«Intro» of zebra."),
    ],
)
def test_a_snippet_is_of_the_section_that_says_most(words: dict[str, float], text: str, shown: str) -> None:
    headings = [
        ChunkHeading(level, text.index(title), text.index(title) + len(title))
        for title, level in TITLES.items()
    ]
    assert marked(Snippets(dict.fromkeys(words, ()), 60, "en").of(text, words, headings)) == shown


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
