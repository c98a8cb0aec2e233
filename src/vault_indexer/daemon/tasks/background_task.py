"""What the daemon's loop does between edits."""

from __future__ import annotations

from typing import Protocol


class BackgroundTask(Protocol):
    """Work that waits until nothing else is to be done. The daemon's loop owns it and calls it from its
    thread.

    `step` never waits for a process or a model, except where a task says so: an edit comes first.
    """

    @property
    def faults(self) -> tuple[str, ...]:
        """What does not succeed at the moment, each as one line for the user."""
        ...

    def step(self, *, is_idle: bool) -> None:
        """Accept a result that is there. Begin what is next only where the loop is `is_idle`. Raises
        VaultIndexerError or OSError if the index cannot be written."""
        ...

    def end(self) -> None:
        """Abandon what is under way: its result does not count."""
        ...


class RemoteFollower(BackgroundTask, Protocol):
    """A task that brings a server to the state of the catalog, in a thread of its own: no edit and no search
    waits for the server. An optional package offers it."""

    def behind(self) -> int:
        """The commits that searches on the server do not show yet; 1 while that is unknown. Any thread."""
        ...
