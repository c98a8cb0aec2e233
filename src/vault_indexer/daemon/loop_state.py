"""What other threads know of the daemon's loop."""

from __future__ import annotations

from dataclasses import dataclass

from vault_indexer.errors import VaultIndexerError
from vault_indexer.model import Progress


@dataclass(frozen=True, slots=True)
class LoopState:
    """The state of the loop at one moment. The loop replaces it as a whole, so all fields belong together.

    `reasons` tell why the active generation does not fit (empty: it does), `vault_problem` why
    the vault is not followed. `faults` are the failures of the loop, `task_faults` those of background
    tasks. `failure` is why the daemon has to end. `step_began` is the clock when the step under way began
    (None: the loop waits).
    """

    building: bool = False
    progress: Progress | None = None
    reasons: tuple[str, ...] = ()
    vault_problem: str = ""
    faults: tuple[str, ...] = ()
    task_faults: tuple[str, ...] = ()
    unwritable: bool = False
    happened: tuple[str, ...] = ()
    failure: VaultIndexerError | None = None
    step_began: float | None = None
