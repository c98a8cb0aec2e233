"""A daemon that is killed on the way to the better vectors goes on where it was."""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli_sandbox import PLAIN_MODEL, Sandbox
from reliability_lab import WORDS, sized, wait_until
from waiting import DEADLINE_S

pytestmark = pytest.mark.slow

NOTES = sized(80, 1_000)
KILLS = sized(2, 20)


class Keeper(Sandbox):
    """`indexer serve` in a process of its own, and what it says of its index."""

    def start(self) -> subprocess.Popen[bytes]:
        place = ("--vault", str(self.vault), "--index-dir", str(self.index_dir))
        with (self.root / "log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "vault_indexer.cli", "serve", *place],
                env=self.environ,
                stdout=log,
                stderr=log,
            )
        # A command that came before would keep the index itself.
        file = self.index_dir / "daemon.json"

        def is_announced() -> bool:
            return file.exists() and self.daemon_file()["pid"] == process.pid

        wait_until(is_announced, DEADLINE_S, "the daemon answers")
        return process

    def status(self) -> dict[str, object]:
        ran = self.indexer("status", "--json")
        return ran.data if ran.code == 0 else {}

    def made(self) -> int:
        """How many better vectors there are, -1 where that is not known."""
        upgrade = self.status().get("upgrade")
        return int(upgrade["done"]) if isinstance(upgrade, dict) else -1

    def has_better_model(self) -> bool:
        return "'provider': 'multilingual'" in str(self.status().get("manifest"))


def test_a_daemon_that_is_killed_on_the_way_goes_on_where_it_was(tmp_path: Path) -> None:
    rng, keeper, kept = random.Random(38), Keeper(tmp_path, PLAIN_MODEL), 0
    for number in range(NOTES):  # more than 200 kB, so that it is built with the static model first
        words = ". ".join(rng.choices(WORDS, k=700))
        keeper.write(f"Note {number}.md", f"# {rng.choice(WORDS)} {number}\n\n{words}\n")
    for number in range(KILLS):
        process, before = keeper.start(), kept

        def has_more(before: int = before) -> bool:
            return keeper.made() > before or keeper.has_better_model()

        # Made with the lowest priority: other tests leave little of a processor for it.
        wait_until(has_more, 600, f"more is made than before kill {number}")
        kept = max(kept, keeper.made())
        process.send_signal(signal.SIGKILL)
        process.wait(DEADLINE_S)
    process = keeper.start()
    keeper.write("Late.md", "# Late\n\nA zirconium edit on the way.\n")
    wait_until(keeper.has_better_model, 600, "the index has the better model")
    wait_until(lambda: not keeper.status().get("pending"), DEADLINE_S, "it has the edit")
    process.terminate()
    process.wait(DEADLINE_S)
    found = keeper.indexer("export").out
    assert "Late.md" in found
    fresh = ("--vault", str(keeper.vault), "--index-dir", str(tmp_path / "fresh"))
    chosen = Sandbox(tmp_path, {"INDEXER_EMBEDDING_PROVIDER": "multilingual"})
    assert chosen.run("rebuild", *fresh).code == 0
    assert chosen.run("export", *fresh).out == found
