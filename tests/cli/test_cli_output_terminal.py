"""What a person sees at a terminal: nothing is cut, what matches is marked, paths can be clicked."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from cli_sandbox import Sandbox
from command_here import TerminalText, set_terminal
from golden_cases import check_golden
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

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
from vault_indexer.cli.parameters import Output
from vault_indexer.errors import UsageError
from vault_indexer.text.control_characters import clean

HINT = "Searches are faster while the daemon runs (indexer start)."


@pytest.mark.long
def test_a_search_without_a_daemon_hints_at_start_once_a_day(sandbox: Sandbox) -> None:
    for options, times in ((("--json",), 0), (("--paths",), 0), ((), 1), ((), 0)):
        assert sandbox.terminal("search", "telescope", *options).out.count(HINT) == times


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


@pytest.mark.posix("a console as wide as it says")
def test_a_terminal_is_coloured_as_asked_and_as_wide_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    set_terminal(monkeypatch, 20)
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


@pytest.mark.posix("paths with slashes")
def test_places_are_printed_as_the_golden_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def printed(names: str) -> str:
        form = GrepLines(**dict.fromkeys(names.split(), True))
        assert form.wanted
        stream = BytesBehindText()
        with redirect_stdout(stream):
            stream.write("before\n")
            form.print(tmp_path / "v", PLACES)
        return stream.sent.decode().removeprefix("before\n").replace("\0", "␀").removesuffix("\n")

    def refused(names: str) -> str:
        form = GrepLines(**dict.fromkeys(names.removesuffix(" json").split(), True))
        with pytest.raises(UsageError) as error:
            form.check(Output(names.endswith(" json")))
        return str(error.value)

    check_golden(
        Path(__file__).parent / "fixtures" / "forms.md",
        {"A place is a record": printed, "One form at a time": refused},
    )


@pytest.mark.posix("names that are no text")
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


PERSIAN = "می\u200cخواهم"
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
HEART = "\u2764\ufe0f"
GERMANY = "\U0001f1e9\U0001f1ea"
WORDS = (PERSIAN, FAMILY, HEART, GERMANY, "שלום\u200f (a)", "東京\u3000大阪", "Donau\u00addampf")

SCOPED_BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


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
