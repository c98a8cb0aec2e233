"""Builds that do what a test says, in a process of their own. `test_daemon_builds.py` starts them."""

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from vault_indexer.config import Settings
from vault_indexer.errors import VaultError
from vault_indexer.model import Progress, RebuildReport
from vault_indexer.store import Generation, IndexDir

Report = Callable[[Progress], None]


@dataclass(frozen=True)
class ScriptedAssembly:
    """In the place of an Assembly. `plan` says how a build ends."""

    folder: Path
    plan: object
    settings: Settings = field(default_factory=Settings)

    @property
    def index_dir(self) -> IndexDir:
        return IndexDir(self.folder)

    def build_next(
        self, report: Report, *, recompute_weights: bool, newest_only: bool, better: bool = False
    ) -> tuple[Generation, RebuildReport]:
        with (self.folder / "tries").open("a") as file:
            file.write("x")
        report(Progress("notes", 1, 2, 3, 0.5))
        if self.plan == "fail":
            raise VaultError("the vault is gone")
        if self.plan == "full":
            raise OSError(errno.ENOSPC, "No space left on device")
        if self.plan == "die":
            os._exit(7)
        was_resumed = (self.folder / "resumed").exists()
        asked = "".join(map(str, map(int, (recompute_weights, newest_only, better, was_resumed))))
        return Generation(5, self.folder), RebuildReport(5, 1, 2, (), 0.5, reasons=(asked,))
