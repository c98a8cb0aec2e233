import pytest

from vault_indexer.vault import (
    CONFIRM_AFTER_S,
    DeleteHold,
    DeletionDecision,
    RootIdentity,
    VaultObservation,
    assess_deletions,
)

HOME = RootIdentity(1, 2)
OTHER = RootIdentity(9, 2)


def look(known: int, gone: int, at: float = 0.0, root: RootIdentity | None = HOME) -> VaultObservation:
    return VaultObservation(root=root, known=known, gone=gone, at=at)


@pytest.mark.parametrize(
    ("known", "gone", "root", "ok"),
    [
        (100, 0, HOME, True),
        (100, 5, HOME, True),
        (100, 90, HOME, True),
        (100, 91, HOME, False),
        (19, 18, HOME, True),
        (20, 19, HOME, False),
        (100, 100, HOME, False),
        (3, 3, HOME, False),
        (0, 0, HOME, True),
        (100, 0, OTHER, True),
        (100, 1, OTHER, False),
    ],
)
def test_the_first_look(known: int, gone: int, root: RootIdentity, ok: bool) -> None:
    verdict = assess_deletions(look(known, gone, root=root), HOME, None)
    assert verdict.ok is ok
    assert bool(verdict.reason) is not ok


def test_a_missing_root_is_never_a_deletion() -> None:
    missing = VaultObservation(root=None, known=10, gone=10, at=99.0, error="no such vault: /v")
    assert assess_deletions(missing, HOME, missing) == DeletionDecision(ok=False, reason="no such vault: /v")


def test_a_second_look_confirms_only_the_same_loss_later() -> None:
    first = look(50, 50, at=0.0)
    assert assess_deletions(look(50, 50, at=CONFIRM_AFTER_S), HOME, first).ok
    assert not assess_deletions(look(50, 50, at=CONFIRM_AFTER_S - 0.1), HOME, first).ok
    assert not assess_deletions(look(50, 50, at=9.0, root=OTHER), HOME, first).ok
    assert not assess_deletions(look(50, 50, at=9.0), HOME, look(50, 48)).ok
    assert assess_deletions(look(50, 48, at=9.0), HOME, first).ok


def test_an_index_without_a_home_trusts_the_folder_it_is_given() -> None:
    assert assess_deletions(look(10, 1, root=OTHER), None, None).ok


def test_a_deletion_is_held_and_a_path_that_reappears_is_dropped() -> None:
    now = [0.0]
    hold = DeleteHold(2.0, clock=lambda: now[0])
    hold.hold("b.md")
    hold.hold("a.md")
    now[0] = 1.0
    hold.hold("a.md")  # told again: the first time counts
    hold.hold("late.md")
    hold.drop("b.md")
    assert (hold.next_due(), hold.take_due()) == (2.0, ())
    now[0] = 2.0
    assert hold.take_due() == ("a.md",)
    assert "a.md" not in hold
    assert "late.md" in hold
    assert hold.next_due() == 3.0
    hold.drop("late.md")
    assert (len(hold), hold.next_due()) == (0, None)


@pytest.mark.parametrize(
    ("known", "gone", "root", "reason"),
    [
        (3, 3, HOME, "the vault looks empty (3 files expected). The index is kept."),
        (3, 4, HOME, "the vault looks empty (3 files expected). The index is kept."),
        (100, 91, HOME, "91 of 100 files are gone at once. The index is kept."),
        (
            9,
            1,
            OTHER,
            "the vault is another folder or disk than before, and 1 files are gone. The index is kept.",
        ),
        (9, 1, None, "the vault cannot be read"),
    ],
)
def test_why_a_deletion_is_not_believed_is_said(
    known: int, gone: int, root: RootIdentity | None, reason: str
) -> None:
    verdict = assess_deletions(look(known, gone, root=root), HOME, look(known, gone))
    assert verdict == DeletionDecision(ok=False, reason=reason)


def test_paths_that_are_due_at_once_come_in_order() -> None:
    hold = DeleteHold(0.0, clock=lambda: 5.0)
    for path in ("b", "c", "a"):
        hold.hold(path)
    assert len(hold) == 3
    assert hold.take_due() == ("a", "b", "c")
    assert (hold.take_due(), hold.next_due()) == ((), None)
