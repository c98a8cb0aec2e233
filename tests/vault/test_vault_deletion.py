"""Which deletions are believed, and how long they are held."""

import pytest

from vault_indexer.vault.dirty import CONFIRM_AFTER_S, DeletionDecision, VaultObservation, assess_deletions
from vault_indexer.vault.files import RootIdentity

HOME, OTHER = RootIdentity(1, 2), RootIdentity(1, 3)
MOVED = "the vault is another folder or disk than before, and 1 files are gone. The index is kept."


def look(
    known: int, gone: int, root: RootIdentity | None = HOME, at: float = 100.0, error: str = ""
) -> VaultObservation:
    return VaultObservation(root, known, gone, at, error)


@pytest.mark.parametrize(
    ("observation", "home", "reason"),
    [
        (look(0, 0), HOME, ""),
        (look(100, 0), HOME, ""),
        (look(100, 5), HOME, ""),
        (look(10, 9), HOME, ""),
        (look(19, 18), HOME, ""),
        (look(20, 18), HOME, ""),
        (look(20, 19), HOME, "19 of 20 files are gone at once. The index is kept."),
        (look(100, 90), HOME, ""),
        (look(100, 91), HOME, "91 of 100 files are gone at once. The index is kept."),
        (look(1, 1), HOME, "the vault looks empty (1 files expected). The index is kept."),
        (look(3, 4), HOME, "the vault looks empty (3 files expected). The index is kept."),
        (look(100, 100), HOME, "the vault looks empty (100 files expected). The index is kept."),
        (look(10, 1, OTHER), HOME, MOVED),
        (look(10, 1, RootIdentity(9, 2)), HOME, MOVED),
        (look(10, 0, OTHER), HOME, ""),
        (look(10, 1, OTHER), None, ""),
        (look(10, 0, None), HOME, "the vault cannot be read"),
        (look(10, 10, None, error="no such folder"), HOME, "no such folder"),
    ],
)
def test_losses_are_doubted_where_they_are_sudden(
    observation: VaultObservation, home: RootIdentity | None, reason: str
) -> None:
    assert assess_deletions(observation, home, None) == DeletionDecision(ok=not reason, reason=reason)


@pytest.mark.parametrize(
    ("earlier", "is_believed"),
    [
        (look(10, 10, at=100.0 - CONFIRM_AFTER_S), True),
        (look(10, 10, at=100.1 - CONFIRM_AFTER_S), False),
        (look(10, 11, at=90.0), True),
        (look(10, 9, at=90.0), False),
        (look(10, 10, OTHER, at=90.0), False),
    ],
)
def test_a_second_look_confirms_the_losses_of_a_first(earlier: VaultObservation, is_believed: bool) -> None:
    assert assess_deletions(look(10, 10), HOME, earlier).ok is is_believed


def test_a_vault_that_cannot_be_read_confirms_nothing() -> None:
    missing = look(10, 10, None, error="no such vault: /v")
    for earlier in (look(10, 10, at=90.0), look(10, 10, None, at=90.0)):
        assert assess_deletions(missing, HOME, earlier) == DeletionDecision(ok=False, reason=missing.error)
