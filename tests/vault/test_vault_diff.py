"""Two ascending lists of files: what was added, modified and removed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.vault.diff import FileChanges, diff
from vault_indexer.vault.files import FileStat

STATS = st.builds(
    FileStat,
    path=st.text(alphabet="ab/é\U0001f600", min_size=1, max_size=3),
    size=st.integers(0, 2),
    mtime_ns=st.integers(0, 2),
    ctime_ns=st.integers(0, 2),
    inode=st.integers(0, 3),
)
LISTINGS = st.lists(STATS, unique_by=lambda stat: stat.path, max_size=8).map(
    lambda stats: sorted(stats, key=lambda stat: stat.path)
)


def stat(path: str, size: int = 1, mtime_ns: int = 1, ctime_ns: int = 1, inode: int = 1) -> FileStat:
    return FileStat(path, size, mtime_ns, ctime_ns, inode)


@given(LISTINGS, LISTINGS)
def test_applying_the_changes_gives_what_was_found(known: list[FileStat], found: list[FileStat]) -> None:
    changes = diff(known, found)
    state = {item.path: item for item in known}
    for item in changes.removed:
        assert state.pop(item.path) == item
    for item in changes.added:
        assert item.path not in state
        state[item.path] = item
    for item in changes.modified:
        assert state[item.path] != item
        state[item.path] = item
    assert state == {item.path: item for item in found}


@given(LISTINGS)
def test_nothing_changed_is_no_change(listing: list[FileStat]) -> None:
    assert diff(listing, listing) == FileChanges()


@given(LISTINGS, LISTINGS)
def test_what_the_scan_does_not_vouch_for_is_not_removed(
    known: list[FileStat], found: list[FileStat]
) -> None:
    changes = diff(known, found, covers=lambda path: "a" not in path)
    assert all("a" not in item.path for item in changes.removed)
    assert (changes.added, changes.modified) == (diff(known, found).added, diff(known, found).modified)


@pytest.mark.parametrize("value", [0, 2])
@pytest.mark.parametrize("field", ["size", "mtime_ns", "ctime_ns", "inode"])
def test_any_part_of_the_stat_makes_a_file_suspect(field: str, value: int) -> None:
    changed = stat("a", **{field: value})
    assert diff([stat("a")], [changed]).modified == (changed,)


@pytest.mark.parametrize("paths", ["ba", "aa", "aca"])
def test_a_list_that_does_not_ascend_is_refused(paths: str) -> None:
    files = [stat(path) for path in paths]
    for known, found in ((files, []), ([], files)):
        with pytest.raises(ValueError, match="paths must ascend: 'a' after"):
            diff(known, found)
