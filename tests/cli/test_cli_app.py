"""The program `indexer` itself, in this process: its help, its version, its end."""

from __future__ import annotations

import io
import sys
import time
import traceback
from collections import ChainMap
from collections.abc import Iterator
from pathlib import Path

import pytest

from vault_indexer.cli.app import COMMANDS, main, program_of
from vault_indexer.cli.commands.status import LANGUAGES
from vault_indexer.ports import EmbeddingModel
from vault_indexer.providers import languages_of


@pytest.fixture
def hook() -> Iterator[None]:
    """The hook of this process, which the program replaces by its own."""
    before = sys.excepthook
    yield
    sys.excepthook = before


@pytest.mark.parametrize(
    ("words", "loaded", "others"),
    [
        ("status related", {"status", "related"}, False),
        ("-x status related", {"status", "related"}, True),
        ("vault", {"vault"}, False),
        ("", set(), True),
    ],
)
def test_a_command_is_loaded_if_a_word_names_it(words: str, loaded: set[str], others: bool) -> None:
    program = program_of(words.split())
    full = {name for name, one in program.commands.items() if name == "vault" or len(one.params) > 1}
    assert full & (loaded | set(program.commands) - {"vault"}) == loaded
    assert set(program.commands) == ({one.name for one in COMMANDS} if others else loaded)
    assert all(option.hidden for option in program.params if "completion" in option.name)


def test_an_error_that_nobody_foresaw_is_one_line_with_its_place(
    capsys: pytest.CaptureFixture[str], hook: None
) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    capsys.readouterr()
    try:
        ChainMap[str, str]()["a\nb"]
    except KeyError as error:
        (*_, (place, line)) = traceback.walk_tb(error.__traceback__)
        assert Path(place.f_code.co_filename).name == "__init__.py", "of collections"
        for found, where in ((error.__traceback__, f" (__init__.py:{line})"), (None, "")):
            with pytest.raises(SystemExit) as ended:
                sys.excepthook(KeyError, error, found)
            assert ended.value.code == 3
            told = capsys.readouterr()
            assert told.err == f"indexer: internal error: KeyError: 'a\\nb'{where}\n"


@pytest.mark.parametrize(
    ("variable", "written"), [("", "é → 日".encode()), ("cp1252", b"\xe9 \\u2192 \\u65e5")]
)
def test_output_is_in_utf_8_unless_the_environment_names_an_encoding(
    monkeypatch: pytest.MonkeyPatch, hook: None, variable: str, written: bytes
) -> None:
    stream = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(stream, encoding="cp1252"))
    monkeypatch.setenv("PYTHONIOENCODING", variable)
    with pytest.raises(SystemExit):
        main(["--version"])
    sys.stdout.write("é → 日")
    sys.stdout.flush()
    assert stream.getvalue().endswith(written)


def test_the_help_takes_no_more_than_its_time() -> None:
    started = time.process_time()
    command = program_of([])
    assert command.get_help(command.make_context("indexer", [], resilient_parsing=True))
    assert time.process_time() - started < 0.2


def test_what_a_model_knows_is_said_as_the_providers_say_it() -> None:
    known = {name: len(languages_of(EmbeddingModel(name, "", 0)) or ()) for name in LANGUAGES}
    assert known["wordllama"] == known["minilm"] == 1
    assert known["multilingual"] + 1 == 16, "Chinese counts twice"
    assert 95 <= known["e5"] <= 100
    assert LANGUAGES["multilingual"] == "16 languages"
