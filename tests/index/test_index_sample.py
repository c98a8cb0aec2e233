"""The first index of a large vault: what changed last answers first, and the rest follows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.index.reading.prepare import FIRST_BYTES, first_part
from vault_indexer.model import FileKind
from vault_indexer.vault.files import FileStat, RootIdentity
from vault_indexer.vault.ignore import Decision
from vault_indexer.vault.walk import Scan, ScannedFile

MB = 1_000_000
sizes = st.integers(0, 5 * MB)


def found(notes: list[int], attachments: int = 0) -> Scan:
    """A vault of notes of these sizes, each changed later than the one before."""
    texts = [
        ScannedFile(FileStat(f"{n:03}.md", size, n, n, n), FileKind.NOTE, Decision.INDEX)
        for n, size in enumerate(notes)
    ]
    others = [
        ScannedFile(FileStat(f"z{n}.png", 9 * MB, 0, 0, n), FileKind.ATTACHMENT, Decision.LINK_ONLY)
        for n in range(attachments)
    ]
    return Scan(RootIdentity(1, 1), files=(*texts, *others))


def names(scan: Scan) -> list[str]:
    return [file.path for file in scan.files]


def test_a_small_vault_is_built_whole() -> None:
    assert first_part(found([MB, MB, MB], attachments=3)) == found([MB, MB, MB], attachments=3)


def test_of_a_large_one_what_changed_last_comes_first_and_links_find_their_files() -> None:
    assert names(first_part(found([MB] * 10, attachments=1))) == ["008.md", "009.md", "z0.png"]


@given(st.lists(sizes, max_size=12))
def test_the_part_is_bounded_and_the_newest(notes: list[int]) -> None:
    part = first_part(found(notes))
    if len(part.files) < len(notes):
        assert sum(file.stat.size for file in part.files) <= FIRST_BYTES
        assert names(part) == [file.path for file in found(notes).files][len(notes) - len(part.files) :]
