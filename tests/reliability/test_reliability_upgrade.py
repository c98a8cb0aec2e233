"""A daemon that is killed on the way to the better vectors goes on where it was."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from reliability_lab import WORDS, sized, wait_until
from waiting import DEADLINE_S, PROCESS_S

pytestmark = pytest.mark.slow

NOTES = sized(300, 1_000)
KILLS = sized(4, 20)
_WORDS_A_NOTE = 700


def make_large_vault(folder: Path, rng: random.Random) -> None:
    """More than a megabyte, so that it is built with the static model first."""
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
        self._place = ["--vault", str(root / "vault"), "--index-dir", str(root / "index")]
        self._environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("INDEXER_")},
            "XDG_CONFIG_HOME": str(root / "config"),
            "XDG_STATE_HOME": str(root / "state"),
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        log = (self._root / "log").open("ab")
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "vault_indexer.cli", "serve", *self._place],
            env=self._environ,
            stdout=log,
            stderr=log,
        )

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
        return self.run(
            "export", "--vault", str(self._root / "vault"), "--index-dir", str(self._root / index)
        )


def test_a_daemon_that_is_killed_on_the_way_goes_on_where_it_was(tmp_path: Path) -> None:
    rng = random.Random(38)
    make_large_vault(tmp_path / "vault", rng)
    keeper = Keeper(tmp_path)
    kept = 0
    for number in range(KILLS):
        keeper.start()
        wait_until(lambda: keeper.made() >= kept, DEADLINE_S, f"what was made before kill {number} is there")
        wait_until(
            lambda: keeper.made() > kept or keeper.model == "multilingual", DEADLINE_S, "more are made"
        )
        kept = max(kept, keeper.made())
        keeper.end(signal.SIGKILL)
        if kept < 0:
            break
    keeper.start()
    (tmp_path / "vault" / "Late.md").write_text("# Late\n\nA zirconium edit on the way.\n", "utf-8")
    wait_until(lambda: keeper.model == "multilingual", 600, "the index has the better model")
    wait_until(lambda: not keeper.status().get("pending"), DEADLINE_S, "it has the edit")
    keeper.end(signal.SIGTERM)
    found = keeper.export()
    (tmp_path / "config" / "vault-indexer").mkdir(parents=True)
    own = tmp_path / "config" / "vault-indexer" / "config.toml"
    own.write_text('[embedding]\nprovider = "multilingual"\n', "utf-8")
    fresh = keeper.export("fresh")
    assert "zirconium" in found
    assert found == fresh
