"""The names of a vault's attachments, kept in memory so that a search can look through them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.joined_texts import JoinedTexts


class AttachmentNames:
    """The paths of all attachments, the one changed last first. It never changes, so any thread may use it.

    `stamp` is the seq of the last commit that changed one of them. The readers of a catalog share the names
    until it changes. `times` are the modified times of `paths`, in nanoseconds. 100,000 paths take about
    15 MB.
    """

    def __init__(self, stamp: int, files: Iterable[tuple[str, int]]) -> None:
        known = list(files)
        self.stamp = stamp
        self.paths = tuple(path for path, _ in known)
        self.times = array("q", (mtime_ns for _, mtime_ns in known))
        self._folded = JoinedTexts([fold_path(path).encode("utf-8") for path in self.paths], b"\n")

    def numbers_containing(self, part: str) -> Iterator[int]:
        """The positions of the paths that contain a folded text, in order."""
        return self._folded.numbers_containing(part.encode("utf-8"))


def fold_path(path: str) -> str:
    """A path or a part of one without case and accents."""
    return path.lower() if path.isascii() else fold(normalize(path))
