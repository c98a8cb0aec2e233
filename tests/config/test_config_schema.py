"""The schema says of every key what a person needs to set it."""

import subprocess
import sys
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from vault_indexer.config.fields import Allowed
from vault_indexer.config.schema import ALL_KEYS, FORMER, SCHEMA, TUNED, describe, nearest
from vault_indexer.config.settings import Settings
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.config.tables.chunking_options import OPTION_TABLES


def test_every_key_says_why_and_what_it_counts_and_bounds_a_number_on_both_sides() -> None:
    for name, key in SCHEMA.items():
        assert len(key.description) > 15, name
        assert key.allowed, name
        is_number = isinstance(key.default, int | float) and not isinstance(key.default, bool)
        assert key.unit or not is_number, name
        if "number" in key.allowed and not key.is_list:
            assert " to " in key.allowed or " at most " in key.allowed, name


VALIDATORS = """
from pydantic import BaseModel
import vault_indexer.config
tables = [vault_indexer.config.Settings]
for table in tables:
    defaults = [field.default for field in table.model_fields.values()]
    tables += [type(default) for default in defaults if isinstance(default, BaseModel)]
print(len(tables) > 20, [table.__name__ for table in tables if table.__pydantic_complete__])
"""


def test_defaults_are_what_a_validation_gives_and_an_import_builds_no_validator() -> None:
    assert Settings.defaults() == Settings()
    ran = subprocess.run([sys.executable, "-c", VALIDATORS], capture_output=True, text=True, check=False)
    assert ran.stdout == "True []\n", ran.stderr


class Pair(BaseModel):
    left: int
    right: Annotated[float, Field(gt=0)]


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (bool, "true or false"),
        (int, "a whole number"),
        (Annotated[int, Field(ge=1, le=5)], "a whole number from 1 to 5"),
        (Annotated[float, Field(gt=0, lt=1)], "a number above 0 and below 1"),
        (Annotated[int, Field(ge=3)], "a whole number at least 3"),
        (str, "a text"),
        (str | None, "a text"),
        (Literal["a", "b"], "one of: a, b"),
        (tuple[int, ...], "a list; each a whole number"),
        (Annotated[str, Allowed("a colour")], "a colour"),
        (tuple[Pair, ...], "a list; each a table with left (a whole number), right (a number above 0)"),
    ],
)
def test_types_in_words(annotation: object, words: str) -> None:
    assert describe(annotation) == words


def test_a_type_without_words_is_our_own_mistake() -> None:
    with pytest.raises(TypeError, match="bytes"):
        describe(bytes)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("search.limmit", "search.limit"),
        ("limit", "search.limit"),
        ("chunking.debounce_s", "watch.debounce_s"),
        ("zebra", ""),
        ("x" * 1_000_000, ""),
    ],
)
def test_the_nearest_key(name: str, near: str) -> None:
    assert nearest(name, SCHEMA) == near


def test_no_option_of_a_strategy_has_the_name_of_a_key_beside_it() -> None:
    """Options may stand flat in `[chunking]`: a name must say which of the two it is."""
    own = set(ChunkingSettings.model_fields)
    assert {name: own & set(options.model_fields) for name, options in OPTION_TABLES.items()} == {
        name: set() for name in OPTION_TABLES
    }


def test_a_tuning_constant_is_no_key() -> None:
    assert TUNED == ALL_KEYS.keys() - SCHEMA.keys() == set(FORMER.values()) - {"search.fusion"}
    assert {key.name for key in SCHEMA.values() if not key.description} == set()
