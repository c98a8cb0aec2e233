"""`/v1/bodies`: which keys a gateway may ask a daemon for."""

from collections.abc import Iterable
from types import SimpleNamespace
from typing import cast

import pytest

from vault_gateway.keeper import BODIES, Bodies
from vault_indexer.errors import UsageError
from vault_indexer.model import DaemonState
from vault_indexer.serve.api.respond import AnswerContext, answer
from vault_indexer.vaults import Vaults

LARGEST = (1 << 63) - 1


class AskedCatalog:
    """A vault without chunks, and the keys that it is asked for."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def chunk_rows(self, keys: Iterable[int]) -> list[object]:
        self.asked.append(list(keys))
        return []

    def bodies(self, keys: str) -> object:
        vaults = cast("Vaults", SimpleNamespace(service=lambda _: self))
        context = AnswerContext(vaults, DaemonState(running=True, pid=7))
        return answer(BODIES, context, BODIES.all_arguments({"keys": keys}))


@pytest.mark.parametrize(
    ("keys", "asked"),
    [
        ("5", [5]),
        ("7,05,7", [7, 5, 7]),
        (f"{LARGEST},{LARGEST + 1},{'9' * 5000}", [LARGEST]),
        (",".join(["1"] * 200), [1] * 200),
    ],
)
def test_bodies_are_asked_for_by_keys_that_a_catalog_can_have(keys: str, asked: list[int]) -> None:
    catalog = AskedCatalog()
    assert catalog.bodies(keys) == Bodies(())
    assert catalog.asked == [asked]


@pytest.mark.parametrize("keys", ["", "1,", "-1", "x", "1, 2", "²", ",".join(["1"] * 201)])
def test_keys_that_are_no_numbers_or_too_many_are_refused(keys: str) -> None:
    with pytest.raises(UsageError) as raised:
        AskedCatalog().bodies(keys)
    assert str(raised.value) == "keys: 1 to 200 whole numbers, separated by commas"
