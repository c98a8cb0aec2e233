"""The team that docs/gateway.md sets up: its steps, run as they stand there, in a home of their own."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gateway_lab import Gateway, User
from milvus_server import free_port, listens
from waiting import DEADLINE_S, PROCESS_S, wait_until

from vault_gateway.access import digest_of

PAGE = Path(__file__).parents[2] / "docs" / "gateway.md"
USERS = ("ana", "ben", "cleo")
VAULTS: Mapping[str, Mapping[str, str]] = {
    "Home": {"Bread.md": "# Bread\n\nKnead the bread dough.\n", "Oven.md": "# Oven\n\nThe fan is blocked.\n"},
    "Garden": {
        "Tomatoes.md": "# Tomatoes\n\nSow them in March.\n",
        "Slugs.md": "# Slugs\n\nThey eat leaves.\n",
    },
    "Work": {
        "Budget.md": "# Budget\n\nThe invoice is late.\n",
        "Road.md": "# Road\n\nThe roadmap is long.\n",
    },
}

_PORTS = ("19530", "7610", "7611")
"""Of Milvus and of the two gateways on the page."""

_RUNS_ON = re.compile(r"python -m milvus_lite server|indexer serve|indexer gateway --config \S+$")
"""Commands that run until they are ended."""


@dataclass(frozen=True)
class Block:
    """A block of code, and the file that the text before it has named last."""

    language: str
    text: str
    file: str

    @property
    def commands(self) -> list[str]:
        """Lines of a script, or what stands behind the prompts of a console."""
        lines = self.text.splitlines()
        prompted = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        return {"sh": lines, "console": prompted}.get(self.language, [])

    def shows(self, output: str) -> bool:
        """Whether a console shows this output; numbers, times, ids and secrets are others each time."""
        lines = [line for line in self.text.splitlines(keepends=True) if not line.startswith("$ ")]
        pattern = re.escape("".join(lines))
        pattern = re.sub(r"[\d\\-]{10,}T[\d:]+Z", r"[0-9T:-]+Z", pattern)
        pattern = re.sub(r"[0-9a-f]{16}", "[0-9a-f]{16}", pattern)
        pattern = re.sub(r"\d+(\\? (?:notes|chunks))", r"\\d+\1", pattern)
        return re.fullmatch(re.sub(r"\w*…", r"[\\w-]+", pattern), output) is not None


def _blocks(page: str) -> Iterator[Block]:
    steps = page.partition("\n## Set it up\n")[2].partition("\n## ")[0]
    file = ""
    for text, language, code in re.findall(r"([\s\S]*?)^ *```(\w+)\n([\s\S]*?)^ *```$", steps, re.MULTILINE):
        file = [file, *re.findall(r"`([\w-]+\.toml)`", text)][-1]
        yield Block(language, re.sub("^   ", "", code, flags=re.MULTILINE), file)


@dataclass
class DocumentedTeam:
    """`set_up` does what the page says, with free ports; `end` ends all that this has started."""

    home: Path
    ports: Mapping[str, int] = field(default_factory=lambda: {port: free_port() for port in _PORTS})
    running: dict[str, subprocess.Popen[str]] = field(default_factory=dict)
    """By the command that has started it."""

    tokens: dict[str, str] = field(default_factory=dict)
    questions: list[str] = field(default_factory=list)
    """The commands that ask a gateway, with the token of the first user."""

    copy: str = ""
    """The command that copies the file of the first gateway for the second."""

    @property
    def gateways(self) -> tuple[Gateway, Gateway]:
        """The two, as they run."""
        files = (self.home / "gateway.toml", self.home / "gateway-2.toml")
        first, second = (
            Gateway(self.ports[port], self.running[f"indexer gateway --config {file.name}"], file)
            for port, file in zip(_PORTS[1:], files, strict=True)
        )
        return first, second

    def user(self, name: str) -> User:
        return User(name, self.tokens[name], ())

    def set_up(self) -> None:
        """Every step of the page, in order; what only asks is kept in `questions`."""
        for vault, notes in VAULTS.items():
            (self.home / vault).mkdir()
            for name, text in notes.items():
                (self.home / vault / name).write_text(text, "utf-8")
        page = re.sub("|".join(_PORTS), lambda port: str(self.ports[port[0]]), PAGE.read_text("utf-8"))
        for block in _blocks(page):
            self._step(block)

    def run(self, command: str) -> str:
        """Standard output of a command, which has to succeed."""
        done = subprocess.run(
            ["sh", "-euc", command],
            cwd=self.home,
            env=self._environ,
            capture_output=True,
            text=True,
            timeout=PROCESS_S,
            check=False,
        )
        assert done.returncode == 0, (command, done.stderr)
        return done.stdout

    def start(self, command: str) -> None:
        """Start what runs until it is ended, and wait until it answers."""
        log = self.home / f"{command.split()[0]} {len(list(self.home.glob('*.log')))}.log"
        with log.open("wb") as output:
            self.running[command] = process = subprocess.Popen(
                ["sh", "-euc", f"exec {command}"],
                cwd=self.home,
                env=self._environ,
                stdout=output,
                stderr=output,
                text=True,
            )
        port = re.search(r"--port (\d+)", command)

        def answers() -> bool:
            assert process.poll() is None, (command, log.read_text("utf-8"))
            return listens(int(port[1])) if port else "http://127.0.0.1:" in log.read_text("utf-8")

        wait_until(answers, command)

    def end(self) -> None:
        """With SIGTERM, Milvus last."""
        for process in reversed(self.running.values()):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.wait(DEADLINE_S)
        for log in self.home.glob("*.log"):
            said = log.read_text("utf-8")
            # Milvus Lite logs one when two keepers create a collection at once; the second then uses it.
            assert "Traceback" not in said or not log.name.startswith("indexer "), said
            assert all(token not in said for token in self.tokens.values())

    @property
    def _environ(self) -> dict[str, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        token = self.tokens.get(USERS[0], "")
        return {"HOME": str(self.home), "PATH": path, "LANG": "C.UTF-8", "TOKEN": token}

    def _step(self, block: Block) -> None:
        if block.language == "toml":
            digests = iter([digest_of(token) for token in self.tokens.values()])
            text = re.sub(r'"[^"]*…[^"]*"', lambda _: f'"{next(digests)}"', block.text)
            with (self.home / block.file).open("a", encoding="utf-8") as file:
                file.write(text)
        elif block.commands == ["indexer gateway token"]:
            for user in USERS:  # "Run it once for each user"
                made = self.run(block.commands[0])
                assert block.shows(made), made
                self.tokens[user] = made.splitlines()[0]
        elif block.language == "console":
            (command,) = block.commands
            wait_until(lambda: block.shows(self.run(command)), f"{command} shows what the page does")
        else:
            for command in block.commands:
                self._do(command)

    def _do(self, command: str) -> None:
        if _RUNS_ON.match(command):
            self.start(command)
        elif command.startswith("curl "):
            self.questions.append(command)
        else:
            self.run(command)
            if "> gateway-2.toml" in command:
                self.copy = command
