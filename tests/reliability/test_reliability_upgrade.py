"""A daemon that is killed on the way to the better vectors goes on where it was."""

import json
import os
import random
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from reliability_lab import WORDS, sized
from waiting import DEADLINE_S, PROCESS_S, wait_until

pytestmark = pytest.mark.slow

NOTES = sized(80, 1_000)
KILLS = sized(2, 20)
_WORDS_A_NOTE = 700


def make_large_vault(folder: Path, rng: random.Random) -> None:
    """More than 200 kB, so that it is built with the static model first."""
    folder.mkdir()
    for number in range(NOTES):
        body = " ".join(
            f"{rng.choice(WORDS)}{'.' if rng.random() < 0.1 else ''}" for _ in range(_WORDS_A_NOTE)
        )
        (folder / f"Note {number}.md").write_text(f"# {rng.choice(WORDS)} {number}\n\n{body}\n", "utf-8")


class Keeper:
    """`indexer serve` in a process of its own, and what it says of its index."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._place = self._at("index")
        self._environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("INDEXER_")},
            "XDG_CONFIG_HOME": str(root / "config"),
            "XDG_STATE_HOME": str(root / "state"),
        }
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def _is_announced(self) -> bool:
        """A command that came before would keep the index itself."""
        try:
            info = json.loads((self._root / "index" / "daemon.json").read_text("utf-8"))
        except (OSError, ValueError):
            return False
        return self._process is not None and info["pid"] == self._process.pid

    def start(self) -> None:
        log = (self._root / "log").open("ab")
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "vault_indexer.cli", "serve", *self._place],
            env=self._environ,
            stdout=log,
            stderr=log,
        )
        wait_until(lambda: self._is_announced, "the daemon answers")

    def end(self, with_signal: int) -> None:
        assert self._process is not None
        self._process.send_signal(with_signal)
        self._process.wait(DEADLINE_S)

    def run(self, *command: str) -> str:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "vault_indexer.cli", *command],
            env=self._environ,
            capture_output=True,
            text=True,
            timeout=PROCESS_S,
            check=False,
        )
        return done.stdout

    def status(self) -> dict[str, object]:
        try:
            found = json.loads(self.run("status", "--json", *self._place) or "{}")
        except json.JSONDecodeError:
            return {}
        assert isinstance(found, dict)
        return found if found.get("daemon", {}).get("running") else {}

    def made(self) -> int:
        """How many better vectors there are, -1 where that is not known."""
        upgrade = self.status().get("upgrade")
        return int(upgrade["done"]) if isinstance(upgrade, dict) else -1

    @property
    def model(self) -> str:
        manifest = self.status().get("manifest")
        model = manifest.get("embedding_model") if isinstance(manifest, dict) else None
        return str(model["provider"]) if isinstance(model, dict) else ""

    def export(self, index: str = "index") -> str:
        return self.run("export", *self._at(index))

    def build(self, index: str) -> None:
        self.run("rebuild", *self._at(index))

    def _at(self, index: str) -> tuple[str, ...]:
        return ("--vault", str(self._root / "vault"), "--index-dir", str(self._root / index))


def test_a_daemon_that_is_killed_on_the_way_goes_on_where_it_was(tmp_path: Path) -> None:
    make_large_vault(tmp_path / "vault", random.Random(38))
    keeper, kept = Keeper(tmp_path), 0

    def has_more(than: int) -> bool:
        return keeper.made() > than or keeper.model == "multilingual"

    for number in range(KILLS):
        keeper.start()
        # Made with the lowest priority: other tests leave little of a processor for it.
        wait_until(partial(has_more, kept), f"more is made than before kill {number}", 600)
        kept = max(kept, keeper.made())
        keeper.end(signal.SIGKILL)
    keeper.start()
    (tmp_path / "vault" / "Late.md").write_text("# Late\n\nA zirconium edit on the way.\n", "utf-8")
    wait_until(lambda: keeper.model == "multilingual", "the index has the better model", 600)
    wait_until(lambda: not keeper.status().get("pending"), "it has the edit")
    keeper.end(signal.SIGTERM)
    found = keeper.export()
    own = tmp_path / "config" / "vault-indexer" / "config.toml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text('[embedding]\nprovider = "multilingual"\n', "utf-8")
    keeper.build("fresh")
    assert "Late.md" in found
    assert found == keeper.export("fresh")
