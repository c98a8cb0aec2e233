"""What commits have changed: chunks by key. Derived indices follow it."""

from __future__ import annotations

from dataclasses import dataclass, field

ADDED, REMOVED, EMBEDDED = 1, 0, 2
"""The operations in the table `changes`."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The chunks that came, that went, and that got the vector they had waited for, net: what came and went
    again is in none of them. A key is never used again. `embedded` can share keys with `added` alone."""

    added: set[int] = field(default_factory=set)
    removed: set[int] = field(default_factory=set)
    embedded: set[int] = field(default_factory=set)

    @property
    def touches_text(self) -> bool:
        """Whether chunks came or went."""
        return bool(self.added or self.removed)

    def note(self, key: int, operation: int) -> None:
        """Add the next row of the log."""
        if operation == EMBEDDED:
            self.embedded.add(key)
        elif operation == ADDED:
            self.added.add(key)
        else:
            self.embedded.discard(key)
            if key in self.added:
                self.added.discard(key)
            else:
                self.removed.add(key)
