"""Windows' Python under Wine, which shares files and ports with this system."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from serve_api import Api
from waiting import PROCESS_S, wait_until

SLOW_S = 4 * PROCESS_S
"""Under Wine a command takes ten seconds on a quiet machine."""

WINPY = Path(os.environ.get("WINPY", Path(__file__).parents[3] / "shared/windows/winpy"))


def missing() -> str:
    """Why nothing can be run, or ""."""
    if shutil.which("wine") is None:
        return "wine is not installed"
    if not WINPY.is_file():
        return f"{WINPY} is missing; the variable WINPY names another"
    home = Path(os.environ.get("WINPY_HOME", Path.home() / ".cache/winpy"))
    return (
        ""
        if (home / "python/python.exe").is_file()
        else f"there is no Python in {home}: run {WINPY.parent}/setup"
    )


def windows_path(path: Path) -> str:
    """A path of this system, as Windows' programs name it."""
    return "Z:" + str(path).replace("/", "\\")


@dataclass(frozen=True)
class Ran:
    """How a program ended; its output as bytes, because their encoding is a question of Windows."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode().replace("\r\n", "\n")


@dataclass(frozen=True)
class Windows:
    """A vault, an index and a configuration in one folder."""

    root: Path

    @property
    def vault(self) -> Path:
        return self.root / "Notes"

    @property
    def index(self) -> Path:
        return self.root / "index"

    def write(self, path: str, text: str | bytes) -> None:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    @property
    def environ(self) -> dict[str, str]:
        own = {
            "XDG_STATE_HOME": windows_path(self.root / "state"),
            "XDG_CONFIG_HOME": windows_path(self.root / "config"),
            "INDEXER_EMBEDDING_PROVIDER": "wordllama",  # loads fastest
            "INDEXER_TUNING": "search.deadline_s = 600",
        }
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("INDEXER_", "PYTHON"))
        }
        return {**kept, **own}

    def python(self, *arguments: str, variables: Mapping[str, str] | None = None) -> Ran:
        """Run `python.exe ARGUMENTS`."""
        done = subprocess.run(
            [WINPY, *arguments],
            cwd=self.root,
            env={**self.environ, **(variables or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SLOW_S,
            check=False,
        )
        err = done.stderr.decode(errors="replace")
        assert "Traceback" not in err, err
        return Ran(done.returncode, done.stdout, err)

    def indexer(
        self, *arguments: str, index: Path | None = None, variables: Mapping[str, str] | None = None
    ) -> Ran:
        """Run `indexer ARGUMENTS` on the vault."""
        place = ("--vault", windows_path(self.vault), "--index-dir", windows_path(index or self.index))
        return self.python("-m", "vault_indexer", *arguments, *place, variables=variables)

    def evaluate(self, code: str, variables: Mapping[str, str]) -> object:
        """What the Python `code` prints as JSON."""
        ran = self.python("-c", code, variables=variables)
        assert ran.code == 0, ran.err
        return json.loads(ran.out)

    def api(self) -> Api:
        """The daemon, which answers on this system's loopback."""
        told = json.loads((self.index / "daemon.json").read_text())
        return Api(int(told["url"].rpartition(":")[2]), told["token"], self.index, self.vault)

    def start(self) -> Api:
        ran = self.indexer("start", "--wait", str(int(SLOW_S)))
        assert ran.code == 0, ran.err
        api = self.api()
        wait_until(lambda: api.ask("/v1/status").json["state"] == "ready", "the index is built", SLOW_S)
        return api

    def kill_workers(self) -> int:
        """Kill the processes in which the daemon reads notes; how many there were."""
        state = f"XDG_STATE_HOME={self.environ['XDG_STATE_HOME']}".encode()
        killed = 0
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended, or is another user's
                if (
                    b"process_entry.py" in (process / "cmdline").read_bytes()
                    and state in (process / "environ").read_bytes()
                ):
                    os.kill(int(process.name), signal.SIGKILL)
                    killed += 1
        return killed

    @contextmanager
    def held_file(self, path: str) -> Iterator[None]:
        """A program has the note open and shares it with nobody, as some editors do."""
        code = (
            "import _winapi, sys\n"
            f"name = {windows_path(self.vault / path)!r}\n"
            "_winapi.CreateFile(name, 0xC0000000, 0, 0, _winapi.OPEN_EXISTING, 0, 0)\n"
            "print('held', flush=True)\n"
            "sys.stdin.read()\n"
        )
        with subprocess.Popen(
            [WINPY, "-c", code], env=self.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout and process.stdin
            assert process.stdout.readline().strip() == b"held"
            try:
                yield
            finally:
                process.stdin.close()
                process.wait(SLOW_S)
