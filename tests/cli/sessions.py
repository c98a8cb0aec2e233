"""What a person types in a row, and what comes of it, in Markdown that a person edits.

Each `## heading` of a file in `fixtures/sessions` is a session in a new folder `/box` with the vault
`/box/vault`. Below `$ COMMAND` stand the requests to a daemon (`asked`), standard output, standard error
(`!`) and the exit status, unless it is 0. `UPDATE_GOLDEN=1` writes them. Beside `indexer` there are the
commands below: `daemon` announces one in a folder and says what it answers, `index` makes what looks like an
index, `known` lists the records of vaults, and `type` answers the next question at a terminal.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import stat
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from answering_daemon import AnsweringDaemon, Reply
from cli_sandbox import index_at
from command_here import CommandHere, TerminalText
from golden_cases import compare_golden
from shown_text import hidden

from vault_indexer.cli.known_vaults import recorded_vaults, remember_vault
from vault_indexer.daemon.discovery import write_daemon, write_index_pointer
from vault_indexer.serve.api.endpoints import VAULTS

_SESSION = re.compile(r"^## (.*)\n(?:(?!## ).*\n)*", re.MULTILINE)
ROOT = "/box"


def sessions(file: Path) -> list[str]:
    """The headings of a file."""
    return _SESSION.findall(file.read_text("utf-8"))


def compare_session(
    file: Path,
    heading: str,
    here: CommandHere,
    daemon: AnsweringDaemon,
    monkeypatch: pytest.MonkeyPatch,
    names: Mapping[str, str] | None = None,
    **commands: Callable[..., str | None],
) -> None:
    """Run the commands of a session, and compare what they print with the file, or write that. `names` stand
    for what differs from run to run. `commands` are more of them; what `after` gives is shown with a run."""
    text = file.read_text("utf-8")
    found = next(one for one in _SESSION.finditer(text) if one[1] == heading)
    start, end = found.span()
    again = "\n" + _Shell(here, daemon, monkeypatch, names or {}, commands).run(found[0]).strip("\n") + "\n\n"
    compare_golden(file, f"{text[:start].rstrip()}\n{again}{text[end:].lstrip()}".rstrip() + "\n")


class _Shell:
    def __init__(
        self,
        here: CommandHere,
        daemon: AnsweringDaemon,
        monkeypatch: pytest.MonkeyPatch,
        names: Mapping[str, str],
        commands: Mapping[str, Callable[..., str | None]],
    ) -> None:
        self._here, self._daemon, self._monkeypatch, self._commands = here, daemon, monkeypatch, commands
        self._names = {**names, ROOT: str(here.sandbox.root), "http://daemon": daemon.url}

    def run(self, session: str) -> str:
        """The session with what its commands print."""
        prose, *_ = session.partition("\n$ ")
        parts = [prose.strip("\n"), ""]
        for line in re.findall(r"^\$ (.*)", session, re.MULTILINE):
            parts += [f"$ {line}", *self._run(line).splitlines()]
        return "\n".join(parts)

    def _run(self, line: str) -> str:
        name, *words = (self._meant(word) for word in shlex.split(line.partition("  # ")[0]))
        if name != "indexer":
            commands: dict[str, Callable[..., str | None]] = {
                "cat": lambda file: Path(file).read_text("utf-8"),
                "cd": self._monkeypatch.chdir,
                "daemon": self._tell,
                "export": lambda given: self._monkeypatch.setenv(*given.split("=", 1)),
                "index": self._index,
                "known": _known,
                "ls": _ls,
                "ln": lambda target, link: Path(link).symlink_to(target),
                "mkdir": lambda folder: Path(folder).mkdir(parents=True),
                "mv": lambda file, target: str(Path(file).rename(target))[:0],
                "pointer": lambda vault, index: write_index_pointer(Path(vault), Path(index).absolute()),
                "rm": lambda file: shutil.rmtree(file) if Path(file).is_dir() else Path(file).unlink(),
                "type": self._type,
                "unset": lambda variable: self._monkeypatch.delenv(variable, raising=False),
                "write": _write,
                **self._commands,
            }
            return self._hidden(commands[name](*words))
        ran = self._here.run(*words)
        asked = [
            f"asked {one.path} {json.dumps(one.parameters) if one.parameters else ''}".rstrip() + "\n"
            for one in self._daemon.take_requests()
        ]
        shown = self._hidden(ran.err.replace("[y/N]:", "[y/N]:\n"))
        said = "".join(f"! {one}\n" for one in shown.splitlines() if one)
        status = f"exit status {ran.code}\n" if ran.code else ""
        after = self._commands["after"]() if "after" in self._commands else ""
        return self._hidden(f"{''.join(asked)}{after}{ran.out}") + f"{said}{status}"

    def _meant(self, word: str) -> str:
        for shown, real in self._names.items():
            word = word.replace(shown, real)
        return word

    def _hidden(self, text: str | None) -> str:
        text = text or ""
        for shown, real in self._names.items():
            text = text.replace(real, shown).replace(json.dumps(real)[1:-1], shown)
        return hidden(text)

    def _tell(self, verb: str, *words: str) -> None:
        """`announce FOLDER [VAULT [NAME]]`, `answer METHOD JSON… PATH` in turn, `fail METHOD TEXT PATH`."""
        endpoint = replace(VAULTS, method="GET" if words[0] == "GET" else "POST", path=words[-1])
        match verb:
            case "announce":
                self._announce(*words)
            case "answer":
                self._daemon.reply(endpoint, *(Reply(200, one.encode()) for one in words[1:-1]))
            case "fail":
                self._daemon.fail(endpoint, "internal", words[1])

    def _announce(self, folder: str, vault: str = "", name: str = "") -> None:
        """With a name it is one of several vaults of the daemon."""
        self._daemon.announce(Path(folder), vault)
        if name:
            info = self._daemon.info(vault)
            write_daemon(Path(folder), replace(info, url=f"{info.url}/vault/{name}"))

    def _index(self, folder: str, vault: str = "") -> None:
        index = index_at(Path(folder).absolute())
        if vault:
            Path(vault).mkdir(parents=True, exist_ok=True)
            remember_vault(Path(vault).absolute(), index)

    def _type(self, answer: str) -> None:
        """At a terminal, for the next command."""
        self._monkeypatch.setattr(sys, "stdin", TerminalText(f"{answer}\n"))
        self._monkeypatch.setattr(sys.stderr, "isatty", lambda: True)


def _ls(*words: str) -> str:
    found = Path(words[-1])
    if words[0] == "-l":
        return stat.filemode(found.stat().st_mode)
    return " ".join(sorted(path.name for path in found.iterdir())) if found.exists() else "no such folder"


def _known() -> str:
    return "".join(f"{one.folder}{' removed' * one.is_removed}\n" for one in recorded_vaults())


def _write(file: str, *lines: str) -> None:
    """`␛` and the like are control characters, `\\xff` and the like are bytes."""
    text = "".join(f"{line}\n" for line in lines).translate({0x2400 + code: code for code in range(32)})
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    bytes_of = re.sub(rb"\\x(..)", lambda found: bytes.fromhex(found[1].decode()), text.encode())
    Path(file).write_bytes(bytes_of)
