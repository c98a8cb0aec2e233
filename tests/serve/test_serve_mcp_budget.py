"""How large an answer is, and how it is divided."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.contract.codec import encode
from vault_indexer.model import JsonValue, NoteText
from vault_indexer.serve.mcp.budget import PAGE_TOKENS, as_text, fitting, keys, page, project, tokens_of
from vault_indexer.serve.mcp.reading import lines_of, part_of


@pytest.mark.parametrize(
    ("text", "of_o200k"),
    [
        ("Die Überprüfung der Rechtschreibung wird größtenteils nachts übernommen. " * 9, 136),
        ("Телескоп показывает кольца Сатурна, и каждый год они открываются немного больше. " * 9, 181),
        ("望远镜显示土星的环,每年都会再打开一点。全文搜索引擎可以找到所有笔记,并按照相关性排序。" * 9, 297),
        ("望遠鏡は土星の環を映し出す。毎年少しずつ開いていく。ノートを検索するための道具です。" * 9, 333),
        ("يُظهر التلسكوب حلقات زحل، وتنفتح قليلاً كل عام أكثر من ذي قبل. " * 9, 209),
        ("🙂🚀👩‍💻 " * 30, 241),
        ((hashlib.sha512(b"x").digest() * 4).hex(), 252),
        (json.dumps([{"path": "a/b.md", "start_line": 3, "score": 3.14159}] * 20), 481),
    ],
    ids=["German", "Russian", "Chinese", "Japanese", "Arabic", "emoji", "hexadecimal", "JSON"],
)
def test_the_estimate_is_near_the_tokens_of_a_large_vocabulary_or_above(text: str, of_o200k: int) -> None:
    assert 0.95 * of_o200k <= tokens_of(text) <= 1.8 * of_o200k


ENTRIES = st.lists(
    st.fixed_dictionaries(
        {"path": st.text(max_size=30), "content": st.text(max_size=40).map(lambda t: t * 90)}
    ),
    max_size=30,
)


@given(ENTRIES, ENTRIES, st.integers(1, 9))
def test_pages_hold_every_entry_once_and_in_order(
    one: list[JsonValue], two: list[JsonValue], limit: int
) -> None:
    answer: dict[str, JsonValue] = {"note": "x", "one": one, "two": two}
    offset: JsonValue = 0
    found: list[JsonValue] = []
    while offset is not None:
        assert isinstance(offset, int)
        part = page(answer, ("one", "two"), offset, limit)
        assert tokens_of(as_text(part)) <= PAGE_TOKENS
        for name in ("one", "two"):
            entries = part[name]
            assert isinstance(entries, list)
            found += entries
        following = part.get("next_offset")
        assert following is None or following == len(found)
        offset = following
    assert len(found) == len(one) + len(two)
    for before, after in zip([*one, *two], found, strict=True):
        assert isinstance(before, dict)
        assert isinstance(after, dict)
        assert after == before or "[…]" in as_text(after)


@given(st.text(alphabet="a\n\r é漢", max_size=400).map(lambda text: text * 60))
def test_the_pages_of_a_text_are_the_text(text: str) -> None:
    note = NoteText("a.md", text, "")
    span, offset, found = lines_of(text, 1, None), 0, ""
    for _ in range(10_000):
        part = part_of(note, span, offset)
        assert tokens_of(json.dumps(encode(part), ensure_ascii=False)) <= PAGE_TOKENS
        assert part.start_line == text[: len(found)].count("\n") + 1 or not part.text
        found += part.text
        if not part.next_offset:
            break
        assert part.next_offset == len(found)
        offset = part.next_offset
    assert found == text


def test_pieces_keys_and_pages_are_those_of_the_golden() -> None:
    def kept(written: str) -> str:
        value = json.loads(written)
        assert project(value, None) is value
        return as_text(project(value, KEEP))

    def part(lists: str, offset: str, limit: str) -> str:
        answer: dict[str, JsonValue] = {"n": 1, "a": ["x", "é"], "b": ["z"], "c": None}
        return as_text(page(answer, lists.split(), int(offset), *map(int, limit.split())))

    check_golden(
        Path(__file__).parent / "fixtures" / "budget.md",
        {
            "The tokens of each kind of piece": lambda text: str(tokens_of(json.loads(text))),
            "A value keeps its keys in the order in which they are named": kept,
            "A page begins at an entry and ends at another": of_parts(part),
        },
    )


@pytest.mark.parametrize(
    ("value", "tokens", "found"),
    [
        ("x" * 40, 1, "x" * 40),
        ("x" * 41, 1, "x" * 20 + " […]"),
        ("x" * 41, 8, "x" * 41),
        ("x" * 41, 7, "x" * 20 + " […]"),
        ({"a": "x" * 60, "b": "x" * 59}, 20, {"a": "x" * 30 + " […]", "b": "x" * 29 + " […]"}),
        ({"a": "x" * 60, "b": "x" * 59}, 24, {"a": "x" * 30 + " […]", "b": "x" * 59}),
        ([1] * 100, 150, [1] * 50),
        ([["x" * 50], 7, None, True], 15, [["x" * 25 + " […]"], 7, None, True]),
        ({"n": 12345678901234567890}, 1, {"n": 12345678901234567890}),
    ],
)
def test_the_longest_texts_and_lists_are_halved_until_all_fits(
    value: JsonValue, tokens: int, found: JsonValue
) -> None:
    assert fitting(value, tokens) == found


def test_a_page_holds_as_many_entries_as_fit_and_one_at_least() -> None:
    small, large = "small " * 300, "large " * 3_000
    room = PAGE_TOKENS - tokens_of('{"a":[]}') - 12
    fits = room // (tokens_of(as_text(small)) + 1)
    found = page({"a": [small] * 20}, ("a",), 0)
    assert found == {"a": [small] * fits, "next_offset": fits}
    found = page({"a": [small, large, small]}, ("a",), 0)
    assert isinstance(found["a"], list)
    assert (found["a"][0], found["next_offset"]) == (small, 2), "what is left holds a part of the large one"
    assert tokens_of(as_text(found)) <= PAGE_TOKENS


KEEP = keys("path", "score", hits=keys("title"), note=keys("line"))


def test_keys_are_kept_whole_or_in_part() -> None:
    assert KEEP == {"path": None, "score": None, "hits": {"title": None}, "note": {"line": None}}
