"""The bounds of a query and of a note's name are the same with a daemon and without one."""

from __future__ import annotations

import pytest
from cli_sandbox import Sandbox

CYRILLIC, CJK, EMOJI = "ж", "日", "🍞"


def of_bytes(letter: str, size: int) -> str:
    """So many bytes of UTF-8: the letter again and again, then `a`."""
    count, rest = divmod(size, len(letter.encode()))
    return letter * count + "a" * rest


@pytest.mark.parametrize(
    "letter", [EMOJI, *(pytest.param(one, marks=pytest.mark.long) for one in (CYRILLIC, CJK))]
)
def test_a_query_of_4096_bytes_is_answered(served: Sandbox, letter: str) -> None:
    ran = served.indexer("search", of_bytes(letter, 4096))
    assert ran.code in (0, 1), ran.err
    assert "bytes" not in ran.err


@pytest.mark.parametrize(
    ("letter", "size"),
    [
        (EMOJI, 4098),
        *(
            pytest.param(*one, marks=pytest.mark.long)
            for one in ((CYRILLIC, 4097), (CJK, 4097), (CJK, 30_000), (EMOJI, 100_000))
        ),
    ],
)
def test_a_longer_query_is_refused_with_the_same_words(
    served: Sandbox, indexed: Sandbox, letter: str, size: int
) -> None:
    query = of_bytes(letter, size)
    for sandbox in (served, indexed):
        ran = sandbox.indexer("search", query)
        assert ran.code == 2
        assert ran.err == f"indexer: the query has {size} bytes: at most 4096 are allowed\n"


@pytest.mark.parametrize(
    "command",
    [
        ("related",),
        *(pytest.param(one, marks=pytest.mark.long) for one in (("links",), ("links", "--mentions"))),
    ],
)
def test_a_name_too_long_for_any_file_is_refused_with_the_same_words(
    served: Sandbox, indexed: Sandbox, command: tuple[str, ...]
) -> None:
    for sandbox in (served, indexed):
        ran = sandbox.indexer(*command, of_bytes(CJK, 30_000))
        assert ran.code == 2
        assert ran.err == "indexer: the path of the note has 30000 bytes: at most 4096 are allowed\n"
