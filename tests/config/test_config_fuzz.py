"""Whatever a file, a variable or an option holds: settings or a ConfigError, never another exception."""

import re
import tempfile
from pathlib import Path

import tomlkit
from config_sandbox import Sandbox
from hypothesis import example, given
from hypothesis import strategies as st

from vault_indexer.config import LoadedConfig, load
from vault_indexer.config.schema import SCHEMA
from vault_indexer.config.sources import OptionValue
from vault_indexer.config.values import toml_text
from vault_indexer.errors import ConfigError

scalars = (
    st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec="utf-8"))
    | st.datetimes()
    | st.dates()
    | st.times()
)
toml_values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["days", "boost", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
names = st.sampled_from(sorted({part for name in SCHEMA for part in name.split(".")})) | st.text(
    st.characters(codec="utf-8"), max_size=5
)
tables = st.dictionaries(
    names, toml_values | st.dictionaries(names, toml_values | st.dictionaries(names, toml_values)), max_size=6
)
set_keys = st.dictionaries(st.sampled_from(sorted(SCHEMA)), toml_values, max_size=8)

JOINER = re.compile(r"(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])")
"""Inside a word or an emoji a joiner is text."""


def attempt(content: bytes) -> LoadedConfig | ConfigError:
    """Loads the bytes as a vault's file, and as one the user named."""
    with tempfile.TemporaryDirectory() as folder:
        sandbox = Sandbox(Path(folder))
        sandbox.write(vault=content)
        outcomes: list[LoadedConfig | ConfigError] = []
        for config_file in (None, sandbox.vault_file):
            try:
                outcomes.append(sandbox.load(config_file=config_file))
            except ConfigError as error:
                assert error.problems
                assert all(JOINER.sub("", str(problem)).isprintable() for problem in error.problems)
                outcomes.append(error)
        return outcomes[1]


@given(st.binary(max_size=200))
@example(b"")
@example(b"\xff\xfe")
@example(b"search.limit = 0x" + b"f" * 5000)
@example(b"search.limit" + b".a" * 900 + b" = 1")
@example(b"search.recency.tiers = " + b"[" * 390 + b"]" * 390)
@example(b"search.recency.tiers = [{" + b"a." * 900 + b"a = 1}]")
@example(b"files.include = " + b"[" * 390 + b"]" * 390)
@example(b"index.dir = 'a\\u0000'")
@example(b'index.dir = "a\\u0000"')
@example(b"search.limit = 1e999")
@example(b"search.limit = 9999999999999999999999999")
def test_bytes_never_raise_anything_else(content: bytes) -> None:
    attempt(content)


@given(st.text())
def test_text_never_raises_anything_else(text: str) -> None:
    attempt(text.encode("utf-8", "surrogatepass"))


@given(tables)
@example({"\x80\u200c\x80": {}})
def test_tables_never_raise_anything_else(table: dict[str, object]) -> None:
    attempt(tomlkit.dumps(table).encode())


@given(set_keys)
@example({"chunking.contextual.group_by": "\x80"})
def test_any_value_of_a_known_key_is_taken_or_told(values: dict[str, object]) -> None:
    text = "".join(f"{key} = {toml_text(value)}\n" for key, value in values.items())
    outcome = attempt(text.encode())
    if isinstance(outcome, ConfigError):
        told = {problem.key.partition("[")[0] for problem in outcome.problems}
        assert any(any(key.startswith(name) for name in values) for key in told)
    else:
        assert {key for key, origin in outcome.origins.items() if origin != "default"} == values.keys()


texts = st.text(st.characters(exclude_characters="\0"))


@given(st.dictionaries(st.sampled_from(sorted(key.variable for key in SCHEMA.values())) | texts, texts))
def test_variables_never_raise_anything_else(environ: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            load(None, config_file=None, environ=environ | Sandbox(Path(folder)).environ, options={})
        except ConfigError as error:
            assert error.problems


option_values = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text(), max_size=3)
)


@given(st.dictionaries(st.sampled_from(sorted(SCHEMA)) | st.text(), option_values))
def test_options_never_raise_anything_else(options: dict[str, OptionValue]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            Sandbox(Path(folder)).load(options=options)
        except ConfigError as error:
            assert error.problems
