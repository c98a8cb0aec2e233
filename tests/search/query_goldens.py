"""Goldens of the query parser that a person can read and edit; written anew by UPDATE_GOLDEN=1."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vault_indexer.errors import QueryError
from vault_indexer.search.query.ast import outline
from vault_indexer.search.query.parser import parse_query

FIXTURE = Path(__file__).parent / "fixtures" / "queries.md"
_CASE = re.compile(r"^(?P<title>[^\n.#][^\n]*)\n\.\n(?P<query>.*?)\n\.\n(?P<expected>.*?)\n?\.$", re.M | re.S)


@dataclass(frozen=True)
class Case:
    title: str
    query: str
    expected: str


def cases() -> Iterator[Case]:
    for found in _CASE.finditer(FIXTURE.read_text("utf-8")):
        yield Case(found["title"], found["query"], found["expected"])


def told(query: str) -> str:
    """What the parser makes of a query, as the golden writes it."""
    try:
        parsed = parse_query(query)
    except QueryError as error:
        return f"error: {error}"
    lines = [f"words: {parsed.text}"] if parsed.text else []
    lines += [f"filter: {outline(condition.node)}" for condition in parsed.conditions]
    lines += [f"notice: {notice}" for notice in parsed.notices]
    return "\n".join(lines)


def update() -> None:
    def again(found: re.Match[str]) -> str:
        return f"{found['title']}\n.\n{found['query']}\n.\n{told(found['query'])}\n."

    if os.environ.get("UPDATE_GOLDEN"):
        FIXTURE.write_text(_CASE.sub(again, FIXTURE.read_text("utf-8")), "utf-8")
