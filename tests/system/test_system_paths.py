"""What Windows and macOS make of paths.

The rules of Windows are text. Spellings are tried on a file system of this test that ignores case and the
form of letters, and on the one that is there.
"""

import ntpath
import os
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from golden_cases import check_golden, of_escapes, of_parts

from vault_indexer.model import SizeLimits
from vault_indexer.system import Spelling, canonical_folder, creation_time
from vault_indexer.system.paths import same_name, windows_fault, windows_long_path, windows_short_path
from vault_indexer.vault import IgnoreRules, Scan, scan
from vault_indexer.vault.walk import Entry, SystemFiles, VaultFiles

pytestmark = pytest.mark.portable

DEEP = "\\".join(["a folder with a name"] * 15)


@pytest.mark.parametrize(
    ("path", "long"),
    [
        (r"C:\vault\Note.md", r"C:\vault\Note.md"),
        (rf"C:\vault\{DEEP}\Note.md", rf"\\?\C:\vault\{DEEP}\Note.md"),
        (rf"C:\vault/{DEEP}/./x/../Note.md", rf"\\?\C:\vault\{DEEP}\Note.md"),
        (rf"\\server\share\{DEEP}\Note.md", rf"\\?\UNC\server\share\{DEEP}\Note.md"),
        (rf"\\?\C:\{DEEP}\Note.md", rf"\\?\C:\{DEEP}\Note.md"),
        (rf"{DEEP}\Note.md", rf"{DEEP}\Note.md"),
    ],
)
def test_long_paths_of_windows(path: str, long: str) -> None:
    assert windows_long_path(path) == long
    assert windows_short_path(long) == ntpath.normpath(path).removeprefix("\\\\?\\")


def nfd(text: str) -> str:
    return unicodedata.normalize("NFD", text)


class Decomposed:
    """An entry of a listing with its name decomposed, as HFS+ gives it."""

    def __init__(self, entry: Entry) -> None:
        self.name = nfd(entry.name)
        self.is_symlink = entry.is_symlink
        self.is_dir = entry.is_dir
        self.stat = entry.stat


class CaseBlindFiles:
    """A folder on this disk, seen as macOS would show it: any spelling opens a file, listings are NFD."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._real = SystemFiles()

    def lstat(self, path: str) -> os.stat_result:
        return self._real.lstat(self._on_disk(path))

    @contextmanager
    def scandir(self, path: str) -> Iterator[Iterator[Entry]]:
        with self._real.scandir(self._on_disk(path)) as entries:
            yield (Decomposed(entry) for entry in entries)

    def _on_disk(self, path: str) -> str:
        place = self._root
        for part in Path(path).relative_to(self._root).parts:
            names = [name for name in os.listdir(place) if same_name(name, part)]  # noqa: PTH208
            if not names:
                raise FileNotFoundError(path)
            place /= names[0]
        return str(place)


def put(vault: Path, *paths: str) -> None:
    for path in paths:
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text(path, encoding="utf-8")


def look(vault: Path, *within: str, files: VaultFiles | None = None) -> Scan:
    return scan(vault, IgnoreRules(), limits=SizeLimits(1 << 20), within=within or ("",), files=files)


def paths_of(found: Scan) -> list[str]:
    return [file.path for file in found.files]


def test_a_hint_is_followed_to_the_file_as_its_folder_spells_it(tmp_path: Path) -> None:
    put(tmp_path, "Küche/Café.md", "Other.md")
    files = CaseBlindFiles(tmp_path)
    listed = nfd("Küche/Café.md")
    assert paths_of(look(tmp_path, files=files)) == [listed, "Other.md"]
    for hint in ("Küche/Café.md", listed, "küche/CAFÉ.MD"):
        found = look(tmp_path, hint, files=files)
        assert paths_of(found) == [listed], hint
        assert found.within == {hint, listed}


@pytest.mark.posix("Wine keeps the case of a renamed file")
def test_after_a_rename_of_the_case_alone_the_old_name_is_gone(tmp_path: Path) -> None:
    put(tmp_path, "a/note.md")
    (tmp_path / "a" / "note.md").rename(tmp_path / "a" / "Note.md")
    for files in (CaseBlindFiles(tmp_path), SystemFiles()):
        found = look(tmp_path, "a/note.md", "a/Note.md", files=files)
        assert paths_of(found) == ["a/Note.md"]
        assert found.covers("a/note.md")


def test_what_is_gone_is_gone_under_any_name(tmp_path: Path) -> None:
    put(tmp_path, "a/b.md")
    found = look(tmp_path, "a/c.md", "x/y.md", files=CaseBlindFiles(tmp_path))
    assert paths_of(found) == []
    assert found.within == {"a/c.md", "x/y.md"}


def test_two_files_that_differ_in_case_are_two(tmp_path: Path) -> None:
    put(tmp_path, "note.md", "Note.md")
    if len(list(tmp_path.iterdir())) == 1:
        pytest.skip("this file system ignores case")
    assert paths_of(look(tmp_path, "note.md")) == ["note.md"]
    assert paths_of(look(tmp_path, "Note.md", "note.md")) == ["Note.md", "note.md"]
    os.link(tmp_path / "note.md", tmp_path / "NOTE.MD")  # one file, two names
    assert paths_of(look(tmp_path, "NOTE.MD", "note.md")) == ["NOTE.MD", "note.md"]


def test_a_listing_is_read_once_for_many_hints() -> None:
    listings: list[str] = []

    def identify(path: str) -> tuple[int, int]:
        return 1, len(path.casefold())

    def names_in(folder: str) -> list[str]:
        listings.append(folder)
        return ["Note.md", "b"]

    spelling = Spelling(identify, names_in)
    assert [spelling.of("/v", path) for path in ("note.md", "NOTE.md", "B")] == ["Note.md", "Note.md", "b"]
    assert listings == ["/v"]


def test_one_folder_has_one_path(tmp_path: Path) -> None:
    folder = tmp_path / "Notes" / "Sub"
    folder.mkdir(parents=True)
    typed = tmp_path / "notes" / "sub"
    exact = canonical_folder(folder)
    assert exact.parts[-2:] == ("Notes", "Sub")
    if typed.exists():
        assert canonical_folder(typed) == exact
    else:
        assert canonical_folder(typed).parts[-2:] == ("notes", "sub")
    assert canonical_folder(folder / ".." / "Sub") == exact


@pytest.mark.parametrize(("length", "is_long"), [(239, False), (240, True)])
def test_a_path_is_long_from_240_characters_on(length: int, is_long: bool) -> None:
    path = "C:\\" + "x" * (length - 3)
    assert windows_long_path(path) == (f"\\\\?\\{path}" if is_long else path)
    assert windows_long_path("\\" + "x" * 300) == "\\" + "x" * 300, "no drive"


def test_names_are_judged_as_the_golden_says() -> None:
    golden = Path(__file__).parent / "fixtures" / "names.md"
    check_golden(golden, {"windows": of_escapes(windows_fault), "same": of_escapes(of_parts(same_name))})


def test_a_folder_that_cannot_be_listed_leaves_the_name_as_it_was_given() -> None:
    def refuse(folder: str) -> list[str]:
        raise PermissionError(folder)

    assert Spelling(lambda path: (1, len(path)), refuse).of("/v", "note.md") == "note.md"
    assert Spelling(lambda path: (1, len(path)), lambda _: ["other.md"]).of("/v", "note.md") == "note.md"


def test_a_name_that_the_listing_has_is_kept_beside_one_like_it() -> None:
    names = {"/v": ["NOTE.md", "note.md"], "/": ["V"]}
    spelling = Spelling(lambda _: (1, 1), lambda folder: names[folder])
    assert spelling.of("/v", "note.md") == "note.md"
    assert spelling.of("/v", "NOTE.md") == "NOTE.md"
    assert spelling.of("/v", "Note.md") == "NOTE.md"
    assert spelling.of("", "v") == "V"


@pytest.mark.posix("Wine has no time of creation")
def test_a_file_was_created_before_it_was_changed(tmp_path: Path) -> None:
    before = time.time()
    note = tmp_path / "Zürich.md"
    note.write_text("Text.")
    os.utime(note, (before + 1e6, before + 1e6))
    assert before - 5 < creation_time(note) < before + 1e5
    with pytest.raises(FileNotFoundError):
        creation_time(tmp_path / "None.md")
