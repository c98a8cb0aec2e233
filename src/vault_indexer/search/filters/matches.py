"""Sets of notes that pass a filter, with the matching places in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Ids = frozenset[int]
"""Note ids."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Matches:
    """Matching notes. `places` contains the matching spans of some of them; the others match as a whole."""

    notes: frozenset[int]
    places: Mapping[int, tuple[Span, ...]] = field(default_factory=dict)

    def both(self, other: Matches) -> Matches:
        """Returns the notes in both, with the places of both."""
        notes = self.notes & other.notes
        places = {
            note: (*self.places.get(note, ()), *other.places.get(note, ()))
            for note in {*self.places, *other.places}
            if note in notes
        }
        return Matches(notes, places)

    @staticmethod
    def any_of(found: Iterable[Matches]) -> Matches:
        """Returns the notes in any of them. A note that matches as a whole in one of them has no places."""
        sides = list(found)
        notes = frozenset[int]().union(*(side.notes for side in sides))
        whole = frozenset[int]().union(*(side.notes - side.places.keys() for side in sides))
        places: dict[int, tuple[Span, ...]] = {}
        for side in sides:
            for note, spans in side.places.items():
                if note not in whole:
                    places[note] = (*places.get(note, ()), *spans)
        return Matches(notes, places)
