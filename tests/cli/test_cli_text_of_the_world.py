"""What a terminal shows of other people's text: all of it in every script, nothing that it would obey."""

from __future__ import annotations

import pytest
from cli_sandbox import Sandbox
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from vault_indexer.cli.output.columns import print_rows
from vault_indexer.cli.output.terminal import out, text
from vault_indexer.cli.parameters import complain
from vault_indexer.errors import VaultIndexerError
from vault_indexer.text.control_characters import clean

PERSIAN = "می\u200cخواهم"
HINDI = "क्\u200dष"
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
HEART = "\u2764\ufe0f"
GERMANY = "\U0001f1e9\U0001f1ea"
SCOTLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
THUMB = "\U0001f44d\U0001f3fd"
NEW_EMOJI = "\U0001fae9"
HEBREW = "שלום\u200f (a)"
WIDE_SPACE = "東京\u3000大阪"
SOFT_HYPHEN = "Donau\u00addampf"
WORDS = (PERSIAN, HINDI, FAMILY, HEART, GERMANY, SCOTLAND, THUMB, NEW_EMOJI, HEBREW, WIDE_SPACE, SOFT_HYPHEN)

SCOPED_BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@pytest.mark.parametrize("word", WORDS)
def test_text_stays_as_it_is(word: str) -> None:
    assert clean(word) == word


@pytest.mark.parametrize(
    ("attack", "shown"),
    [
        ("\x1b[31mred", " [31mred"),
        ("\x9b31mred", " 31mred"),
        ("a\x07\x08\rb\x7f", "a   b "),
        ("a\u2028b\u2029c", "a b c"),
        ("user\u202enimda", "usernimda"),
        ("\u2067a\u2066b\u2069c", "abc"),
        ("half \ud83d of it", "half   of it"),
    ],
)
def test_what_a_terminal_would_obey_is_gone(attack: str, shown: str) -> None:
    assert clean(attack) == shown


@given(st.text(st.characters(codec=None)))
def test_whatever_the_text_the_terminal_gets_no_command(whatever: str) -> None:
    shown = clean(whatever)
    shown.encode("utf-8")
    assert not any(char < " " or "\x7f" <= char <= "\x9f" or char in SCOPED_BIDI for char in shown)
    assert clean(shown) == shown


@pytest.mark.parametrize("word", WORDS)
def test_the_column_after_a_word_of_any_script_is_aligned(
    capsys: pytest.CaptureFixture[str], word: str
) -> None:
    rows = [[text((cell, "")), text(("next", ""))] for cell in (word, "a long plain cell")]
    print_rows(out(), rows, head=1)
    first, second = capsys.readouterr().out.splitlines()
    assert cell_len(first.partition("next")[0]) == cell_len(second.partition("next")[0]) == 19


def test_a_family_and_a_flag_take_two_columns() -> None:
    assert [text((word, "")).cell_len for word in (FAMILY, GERMANY, HEART, THUMB)] == [2, 2, 2, 2]


def test_an_error_names_a_persian_path_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    complain(VaultIndexerError(f"no such note: {PERSIAN}\x1b[2J"))
    assert capsys.readouterr().err == f"indexer: no such note: {PERSIAN}\N{REPLACEMENT CHARACTER}[2J\n"


@pytest.mark.long
def test_a_search_prints_joined_words_and_emoji_and_marks_the_match_behind_them(sandbox: Sandbox) -> None:
    sandbox.write(
        f"{PERSIAN}.md", f"# {PERSIAN}\n\n\u202eover\u202c {FAMILY} {HINDI} {GERMANY} zeppelin \x1b]0;x\x07\n"
    )
    colours = Sandbox(sandbox.root, {"FORCE_COLOR": "1", "TERM": "xterm-256color"})
    ran = colours.indexer("search", "zeppelin", "--limit", "1")
    assert ran.code == 0, ran.err
    assert f"{PERSIAN}.md" in ran.out
    assert f"over {FAMILY} {HINDI} {GERMANY} \x1b[1;33mzeppelin\x1b[0m" in ran.out
    assert "\x1b]0" not in ran.out


def test_a_mistake_in_the_configuration_names_a_persian_value_as_it_is(sandbox: Sandbox) -> None:
    sandbox.write(".indexer.toml", f'[chunking]\nstrategy = "{PERSIAN}"\n')
    assert sandbox.indexer("config", "show").complains(f'"{PERSIAN}"')
