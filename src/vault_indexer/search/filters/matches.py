"""Sets of notes that a filter leaves, each with the places that it found in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Ids = frozenset[int]
"""Note ids."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Matches:
    """`places`: of some of the notes, the spans that were found; the others match as a whole."""

    notes: frozenset[int]
    places: Mapping[int, tuple[Span, ...]] = field(default_factory=dict)

    def both(self, other: Matches) -> Matches:
        """Notes of both; where both have places, the places of either."""
        notes = self.notes & other.notes
        places = {
            note: (*self.places.get(note, ()), *other.places.get(note, ()))
            for note in {*self.places, *other.places}
            if note in notes
        }
        return Matches(notes, places)

    @staticmethod
    def any_of(found: Iterable[Matches]) -> Matches:
        """Notes of any; one that matches as a whole somewhere does so here."""
        sides = list(found)
        notes = frozenset[int]().union(*(side.notes for side in sides))
        whole = frozenset[int]().union(*(side.notes - side.places.keys() for side in sides))
        places: dict[int, tuple[Span, ...]] = {}
        for side in sides:
            for note, spans in side.places.items():
                if note not in whole:
                    places[note] = (*places.get(note, ()), *spans)
        return Matches(notes, places)
