"""Notes that are set aside are read again, ever less often, or at once after another fault."""

import pytest

from vault_indexer.vault.dirty import Quarantine


class Aside:
    """A quarantine with a clock that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.quarantine = Quarantine(lambda: self.now)

    def tries(self, until: float) -> list[float]:
        """When the note is read again, if that is looked at every second."""
        found = []
        while self.now < until:
            if self.quarantine.next_due() is not None:
                found.append(self.now)
            self.now += 1.0
        return found


def test_the_wait_doubles_up_to_an_hour() -> None:
    aside = Aside()
    aside.quarantine.use({"a.md": (1, "x")})
    tries = aside.tries(20_000)
    waits = [after - before for before, after in zip([0.0, *tries], tries, strict=False)]
    assert waits[:11] == [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]
    assert set(waits[11:]) == {3600}


def test_another_note_that_is_indexed_ends_the_first_wait_and_no_later_one() -> None:
    aside = Aside()
    aside.quarantine.use({"a.md": (1, "x")})
    assert aside.quarantine.next_due() is None
    aside.quarantine.use({"a.md": (1, "x")})
    assert aside.quarantine.next_due() == "a.md"
    assert aside.quarantine.next_due() is None
    aside.quarantine.use({"a.md": (1, "x")})
    assert aside.quarantine.next_due() is None, "it is its own fault"
    aside.now = 4.0
    assert aside.quarantine.next_due() == "a.md"


def test_a_note_that_is_new_says_nothing_of_the_others() -> None:
    aside = Aside()
    aside.quarantine.use({"a.md": (1, "x")})
    aside.now = 1.0
    aside.quarantine.use({"a.md": (1, "x"), "b.md": (2, "y")})
    assert aside.quarantine.next_due() is None
    aside.now = 2.0
    assert aside.quarantine.next_due() == "a.md"
    aside.now = 3.0
    assert aside.quarantine.next_due() == "b.md"
    assert aside.quarantine.next_due() is None


@pytest.mark.parametrize("change", [(2, "x"), (1, "y")])
def test_a_note_that_was_saved_again_waits_from_the_beginning(change: tuple[int, str]) -> None:
    aside = Aside()
    aside.quarantine.use({"a.md": (1, "x")})
    aside.quarantine.record_try("a.md")
    aside.now = 100.0
    aside.quarantine.use({"a.md": change})
    assert aside.quarantine.untried == 1
    assert aside.tries(110.0) == [102.0, 106.0]


def test_notes_that_were_not_read_again_are_counted() -> None:
    aside = Aside()
    assert aside.quarantine.untried == 0
    aside.quarantine.use({"a.md": (1, "x"), "b.md": (2, "y")})
    assert aside.quarantine.untried == 2
    aside.quarantine.record_try("a.md")
    aside.quarantine.record_try("none.md")
    assert aside.quarantine.untried == 1
    aside.quarantine.use({"a.md": (1, "x")})
    assert aside.quarantine.untried == 0
    aside.quarantine.use({})
    assert (aside.quarantine.untried, aside.quarantine.next_due()) == (0, None)
    aside.quarantine.use({"c.md": (3, "z")}, tried=True)
    assert aside.quarantine.untried == 0
