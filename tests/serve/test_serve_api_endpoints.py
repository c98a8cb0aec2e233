"""The table of endpoints agrees with the functions that answer, with the model and with its callers."""

import inspect
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from golden_cases import check_golden, of_parts
from hit_maker import make_hit

from vault_indexer.errors import UsageError
from vault_indexer.model import (
    GraphReason,
    Hit,
    IndexState,
    KeywordReason,
    SearchAnswer,
    Shares,
    VectorReason,
    Why,
)
from vault_indexer.serve.api.endpoints import (
    ALL_LINKS,
    CHUNKS,
    ENDPOINTS,
    MENTIONS,
    REBUILD,
    REBUILD_STATE,
    SEARCH,
    Endpoint,
)
from vault_indexer.serve.api.openapi import answer_type
from vault_indexer.serve.api.respond import FUNCTIONS, AnswerContext, hit_keys, with_shares
from vault_indexer.service import VaultService

BY_NAME: dict[str, Endpoint[Any]] = {
    **{one.name: one for one in ENDPOINTS},
    "mentions": MENTIONS,
    "all links": ALL_LINKS,
}


def test_each_endpoint_has_a_name_and_a_route_of_its_own() -> None:
    assert len({one.name for one in ENDPOINTS}) == len(ENDPOINTS)
    assert len({(one.method, one.path) for one in ENDPOINTS}) == len(ENDPOINTS)


@pytest.mark.parametrize("row", [one for one in ENDPOINTS if one.name in FUNCTIONS], ids=lambda row: row.name)
def test_a_function_takes_the_request_of_its_row_and_returns_its_answer(row: Endpoint[Any]) -> None:
    context, request, returned = get_type_hints(FUNCTIONS[row.name]).values()
    assert (context, request, returned) == (AnswerContext, row.request, answer_type(row.answer))


@pytest.mark.parametrize(
    "row",
    [one for one in ENDPOINTS if one.name not in (*FUNCTIONS, REBUILD.name, REBUILD_STATE.name)],
    ids=lambda row: row.name,
)
def test_another_row_has_a_method_with_the_fields_of_its_request(row: Endpoint[Any]) -> None:
    method = getattr(VaultService, row.name)
    assert get_type_hints(method)["return"] == answer_type(row.answer)
    wanted = inspect.signature(row.request).parameters
    taken = dict(inspect.signature(method).parameters)
    del taken["self"]
    taken.pop("now", None)  # the clock of tests
    assert list(wanted) == list(taken)
    hints = get_type_hints(row.request)
    assert {name: get_type_hints(method)[name] for name in taken} == {name: hints[name] for name in wanted}


def test_a_default_is_a_value_that_the_endpoint_takes() -> None:
    for parameter in (each for one in ENDPOINTS for each in one.parameters):
        if parameter.choices:
            assert parameter.default in parameter.choices
        elif parameter.default is not None:
            assert type(parameter.default) is parameter.kind


def test_arguments_are_those_of_the_golden() -> None:
    """Those that are not the default; a mistake of the caller is found before anything is sent."""

    def arguments(endpoint: str, given: str) -> str:
        try:
            return str(BY_NAME[endpoint].arguments(json.loads(given)))
        except (TypeError, UsageError) as error:
            return f"{type(error).__name__}: {error}"

    check_golden(Path(__file__).parent / "fixtures" / "arguments.md", {"": of_parts(arguments)})
    defaults = {"limit": None, "rendered": False}
    assert MENTIONS.all_arguments({"path": "Sky"}) == {"path": "Sky", "view": "mentions", **defaults}
    blank = {"path": "Sky", "strategy": " " * 5000}
    assert CHUNKS.arguments(blank) == blank, "no text that is bounded"
    for endpoint, name, said in ((SEARCH, "q", "the query"), (MENTIONS, "path", "the path of the note")):
        with pytest.raises(UsageError, match=f"{said} has 5000 bytes"):
            endpoint.arguments({name: "x" * 5000})


def test_the_keys_of_a_hit_are_those_that_are_named_and_others_are_refused_in_order_and_cut() -> None:
    assert hit_keys("") is hit_keys(" , ") is None
    assert hit_keys(" path,title , path") == frozenset({"path", "title", "vault"})
    with pytest.raises(UsageError) as raised:
        hit_keys(f"path,zebra,{'x' * 61},colour")
    said, _, known = str(raised.value).partition("; it has ")
    assert said == f"fields: a hit has no key 'colour', '{'x' * 60}', 'zebra'"
    names = known.split(", ")
    assert names == sorted(names)
    assert {"path", "title", "snippet"} <= set(names)


NOTHING_FOUND = SearchAnswer("x", 0.0, IndexState(1, 1, 0), ())


def hit_of(words: float | None, meaning: float = 0.0, links: float = 0.0) -> Hit:
    """A hit that words, meaning and links gave so much; None or 0 for nothing."""
    why = Why(
        vector=VectorReason(1, meaning) if meaning else None,
        keyword=None if words is None else KeywordReason(1, words, {}),
        graph=GraphReason(1, links, ()) if links else None,
        recency=1.0,
    )
    return make_hit("a.md", title="a", chunk_id="a_1", why=why)


def test_the_share_of_words_is_relative_to_the_strongest_hit() -> None:
    hits = (hit_of(0.5, meaning=0.25), hit_of(2.0, links=0.75), hit_of(None))
    shown = with_shares(replace(NOTHING_FOUND, results=hits)).results
    assert [hit.shares for hit in shown] == [
        Shares(words=0.25, meaning=0.25, links=0.0),
        Shares(words=1.0, meaning=0.0, links=0.75),
        Shares(words=0.0, meaning=0.0, links=0.0),
    ]
    for words, share in ((0.0, 0.0), (0.5, 1.0)):
        (hit,) = with_shares(replace(NOTHING_FOUND, results=(hit_of(words),))).results
        assert hit.shares == Shares(share, 0.0, 0.0)
    assert with_shares(NOTHING_FOUND) == NOTHING_FOUND
