"""What a person sees at a terminal: nothing is cut, what matches is marked, paths can be clicked."""

from __future__ import annotations

import io
import os
import re
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from cli_sandbox import TERMINAL_VARIABLES, Sandbox
from command_here import TerminalText
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from vault_indexer.cli.connection.daemon_command import HINT_FILE
from vault_indexer.cli.output.columns import print_rows
from vault_indexer.cli.output.grep_lines import GrepLines, NotePlace, quote_path
from vault_indexer.cli.output.terminal import (
    TerminalStream,
    err,
    note,
    out,
    print_json,
    print_json_line,
    print_warnings,
    protect_terminal,
    styled,
    text,
)
from vault_indexer.cli.parameters import Output, complain
from vault_indexer.errors import UsageError, VaultIndexerError
from vault_indexer.text.control_characters import clean

HINT = "Searches are faster while the daemon runs (indexer start)."

STYLES = re.compile(r"\x1b\[[0-9;]*m")
LINKS = re.compile(r"\x1b\]8;[^;]*;([^\x1b]*)\x1b\\")

LONG_PATH = "A folder of long name/And one within it/The note whose name is no shorter than the others.md"
LONG_LINE = "See [[Night sky]], which tells of telescopes, of rings, of cold fingers and of thermos flasks"


def shown(text: str) -> str:
    """The text without styles and hyperlinks."""
    return LINKS.sub("", STYLES.sub("", text))


@pytest.mark.long
def test_links_and_related_cut_nothing_at_eighty_columns(sandbox: Sandbox) -> None:
    sandbox.write(LONG_PATH, f"# Long\n\n{LONG_LINE}.\n")
    assert sandbox.indexer("rebuild").code == 0
    for command in (("links", "Night sky"), ("related", "Night sky"), ("links", "--mentions", "Saturn")):
        text = shown(sandbox.terminal(*command).out)
        assert all(len(line) <= 80 for line in text.splitlines()), text
        assert "…" not in text
    words = " ".join(shown(sandbox.terminal("links", "Night sky").out).split())
    assert LONG_PATH in words
    assert LONG_LINE in words
    near = " ".join(shown(sandbox.terminal("related", "Night sky").out).split())
    assert LONG_PATH in near
    assert "links to" in near or "linked from" in near
    piped = sandbox.indexer("related", "Night sky").out
    assert len([line for line in piped.splitlines() if LONG_PATH in line and "cosine" in line]) == 1


@pytest.mark.long
def test_a_path_is_a_hyperlink_at_a_terminal_alone(served: Sandbox) -> None:
    file = (served.vault / "Sky/Night sky.md").as_uri()
    for command in (("search", "telescope"), ("related", "Welcome"), ("links", "Welcome")):
        assert file in LINKS.findall(served.terminal(*command).out), command
        assert "\x1b" not in served.indexer(*command).out


@pytest.mark.long
def test_a_search_without_a_daemon_hints_at_start_once_a_day(sandbox: Sandbox) -> None:
    assert sandbox.indexer("rebuild").code == 0
    for quiet in ("--json", "--paths"):
        assert HINT not in sandbox.terminal("search", "telescope", quiet).out
    piped = sandbox.indexer("search", "telescope")
    assert HINT not in piped.out + piped.err
    assert shown(sandbox.terminal("search", "telescope").out).count(HINT) == 1
    assert HINT not in sandbox.terminal("search", "telescope").out
    two_days_ago = time.time() - 2 * 24 * 60 * 60
    os.utime(sandbox.index_dir / HINT_FILE, (two_days_ago, two_days_ago))
    assert HINT in sandbox.terminal("search", "telescope").out


@pytest.mark.long
def test_a_search_through_the_daemon_needs_no_hint(served: Sandbox) -> None:
    assert HINT not in served.terminal("search", "telescope").out
    assert not (served.index_dir / HINT_FILE).exists()


ESCAPE = "a\x1b[2J\nb\x07"
CLEAN = "a [2J\nb "


class BytesBehindText(io.TextIOWrapper):
    """Standard output as a program reads it, or a terminal shows it."""

    def __init__(self, *, at_terminal: bool = False) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8")
        self._at_terminal = at_terminal

    def isatty(self) -> bool:
        return self._at_terminal

    @property
    def sent(self) -> bytes:
        self.flush()
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue()


def test_a_terminal_gets_text_and_line_feeds_alone() -> None:
    beneath = TerminalText()
    stream = TerminalStream(beneath)
    assert stream.write(ESCAPE) == len(ESCAPE)
    stream.writelines([ESCAPE, "c\n"])
    assert beneath.getvalue() == f"{CLEAN}{CLEAN}c\n"
    assert (stream.isatty(), stream.styled) == (True, beneath)
    assert (styled(stream), styled(beneath)) == (beneath, beneath)  # type: ignore[arg-type]


@pytest.mark.parametrize(("out_type", "err_type"), [(TerminalText, io.StringIO), (io.StringIO, TerminalText)])
def test_each_stream_that_is_a_terminal_is_protected(
    out_type: type[io.StringIO], err_type: type[io.StringIO]
) -> None:
    shown, said = out_type(), err_type()
    with redirect_stdout(shown), redirect_stderr(said):
        protect_terminal()
        protect_terminal()
        for stream, beneath in ((sys.stdout, shown), (sys.stderr, said)):
            assert isinstance(stream, TerminalStream) == beneath.isatty()
            assert styled(stream) is beneath


def test_json_is_indented_for_a_person_and_one_line_for_a_program() -> None:
    data = {"a": ["é\x1b"]}
    pipe, terminal = io.StringIO(), TerminalText()
    for stream in (pipe, terminal):
        with redirect_stdout(stream):
            print_json(data)
            print_json_line(data)
    line = '{"a": ["é\\u001b"]}\n'
    assert pipe.getvalue() == line + line
    assert terminal.getvalue() == '{\n  "a": [\n    "é\\u001b"\n  ]\n}\n' + line


def test_notes_and_warnings_are_clean_lines(capsys: pytest.CaptureFixture[str]) -> None:
    note(ESCAPE)
    print_warnings(["one", "two\n"])
    assert tuple(capsys.readouterr()) == ("", "a [2J b \nWarning: one\nWarning: two \n")


def test_a_pipe_is_neither_coloured_nor_wrapped_nor_read_as_markup(
    capsys: pytest.CaptureFixture[str],
) -> None:
    long = f"[b]1 {'word ' * 100}http://a.b[/b]"
    out().print(long)
    out().print(text((f"{ESCAPE} ", "bold"), (long, "red")))
    printed = capsys.readouterr()
    assert printed.out == f"{long}\na [2J b  {long}\n"
    err().print("[b]1[/b]")
    assert capsys.readouterr().err == "[b]1[/b]\n"


def test_a_terminal_is_coloured_as_asked_and_as_wide_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in TERMINAL_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "20")
    shown = TerminalText()
    with redirect_stdout(shown), redirect_stderr(shown):
        protect_terminal()
        assert (out().width, err().width) == (20, 20)
        out().print(text(("12", "bold"), ("34", "")))
        err().print("[b]56[/b]")
    assert shown.getvalue() == "\x1b[1m12\x1b[0m34\n[b]56[/b]\n"


def test_a_pipe_that_nobody_reads_is_no_end_of_the_program() -> None:
    class Closed(io.StringIO):
        def write(self, shown: str) -> int:
            raise BrokenPipeError(shown)

    with redirect_stdout(Closed()), pytest.raises(BrokenPipeError):
        out().print("a")


@pytest.mark.parametrize(
    ("path", "quoted"),
    [
        ("a b.md", "a b.md"),
        ('a"b\\.md', 'a"b\\.md'),
        ('"a\\.md', '"\\"a\\\\.md"'),
        ("a\x7fb.md", '"a\\177b.md"'),
        ('a"\n\r\t\x1f\\ é', '"a\\"\\n\\r\\t\\037\\\\ é"'),
    ],
)
def test_a_path_is_quoted_as_git_quotes_it(path: str, quoted: str) -> None:
    assert quote_path(path) == quoted


PLACES = (
    NotePlace("a.md", 3, " one\x1b \n two "),
    NotePlace("b\nc.md", None, "three \udcff"),
    NotePlace("a.md", 9, "four"),
)


@pytest.mark.parametrize(
    ("form", "sent"),
    [
        (GrepLines(files=True), b'v/a.md\n"v/b\\nc.md"\n'),
        (GrepLines(files=True, null=True), b"v/a.md\0v/b\nc.md\0"),
        (GrepLines(paths=True), b'v/a.md:3\n"v/b\\nc.md"\nv/a.md:9\n'),
        (GrepLines(paths=True, null=True), b"v/a.md:3\0v/b\nc.md\0v/a.md:9\0"),
        (GrepLines(lines=True), b'v/a.md:3:one two\n"v/b\\nc.md":1:three\nv/a.md:9:four\n'),
        (GrepLines(lines=True, null=True), b"v/a.md:3:one two\0v/b\nc.md:1:three\0v/a.md:9:four\0"),
    ],
)
def test_a_place_is_a_record(
    form: GrepLines, sent: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stream = BytesBehindText()
    with redirect_stdout(stream):
        stream.write("before\n")
        form.print(tmp_path / "v", PLACES)
    assert stream.sent == b"before\n" + sent
    assert form.wanted


def test_a_terminal_gets_no_path_that_it_would_obey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stream = BytesBehindText(at_terminal=True)
    with redirect_stdout(stream):
        GrepLines(paths=True, null=True).print(tmp_path, [NotePlace("a\x1b[2J.md", 3, "")])
        GrepLines(paths=True).print(tmp_path, [NotePlace("\udcff.md", 3, "")])
    assert stream.sent == b"a [2J.md:3\0 .md:3\n"
    pipe = BytesBehindText()
    with redirect_stdout(pipe):
        GrepLines(paths=True).print(tmp_path, [NotePlace("\udcff.md", 3, "")])
    assert pipe.sent == b"\xff.md:3\n", "the bytes of the name"


ONE_AT_A_TIME = "give only one of --files, --paths, --lines and --json"


@pytest.mark.parametrize(
    ("form", "json", "refused"),
    [
        (GrepLines(), False, ""),
        (GrepLines(), True, ""),
        (GrepLines(files=True), False, ""),
        (GrepLines(paths=True, null=True), False, ""),
        (GrepLines(lines=True, null=True), False, ""),
        (GrepLines(files=True, null=True), False, ""),
        (GrepLines(files=True, paths=True), False, ONE_AT_A_TIME),
        (GrepLines(lines=True, paths=True), False, ONE_AT_A_TIME),
        (GrepLines(files=True, lines=True), False, ONE_AT_A_TIME),
        (GrepLines(lines=True), True, ONE_AT_A_TIME),
        (
            GrepLines(null=True),
            False,
            "--null ends the lines of --files, --paths or --lines: add one of them",
        ),
    ],
)
def test_one_form_at_a_time(form: GrepLines, json: bool, refused: str) -> None:
    if not refused:
        form.check(Output(json))
        return
    with pytest.raises(UsageError) as found:
        form.check(Output(json))
    assert str(found.value) == refused


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
