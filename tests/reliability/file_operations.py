"""Everything that people, editors and tools do to the files of a vault, drawn at random."""

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

from reliability_lab import WORDS, note_text

Operation = Callable[[Path, random.Random], None]


def notes_of(vault: Path) -> list[Path]:
    """All notes by path; links among them count as notes too."""
    return sorted(path for path in vault.rglob("*.md") if path.is_symlink() or path.is_file())


def folders_of(vault: Path) -> list[Path]:
    return sorted(path for path in vault.rglob("*") if path.is_dir() and not path.is_symlink())


def _a_note(vault: Path, rng: random.Random) -> Path:
    notes = [path for path in notes_of(vault) if not path.is_symlink()]
    return rng.choice(notes) if notes else _created(vault, rng)


def _place(vault: Path, rng: random.Random) -> Path:
    folder = rng.choice([vault, *folders_of(vault)])
    return folder / f"{rng.choice(WORDS)} {rng.randrange(60)}.md"


def _text(vault: Path, rng: random.Random) -> str:
    return note_text(rng, [path.name for path in notes_of(vault)][:80])


def _created(vault: Path, rng: random.Random) -> Path:
    place = _place(vault, rng)
    if place.is_symlink():
        place.unlink()
    if not place.is_dir():
        place.write_text(_text(vault, rng), encoding="utf-8")
    return place


def create(vault: Path, rng: random.Random) -> None:
    _created(vault, rng)


def truncate_and_write(vault: Path, rng: random.Random) -> None:
    _a_note(vault, rng).write_text(_text(vault, rng), encoding="utf-8")


def append(vault: Path, rng: random.Random) -> None:
    with _a_note(vault, rng).open("a", encoding="utf-8") as file:
        file.write(f"\n## {rng.choice(WORDS)}\n\n{' '.join(rng.choices(WORDS, k=30))}\n")


def edit_in_two_writes(vault: Path, rng: random.Random) -> None:
    text = _text(vault, rng)
    with _a_note(vault, rng).open("w", encoding="utf-8") as file:
        file.write(text[: len(text) // 2])
        file.flush()
        file.write(text[len(text) // 2 :])


def write_temporary_and_rename(vault: Path, rng: random.Random) -> None:
    note = _a_note(vault, rng)
    temporary = note.with_name(f".{note.name}.tmp")
    temporary.write_text(_text(vault, rng), encoding="utf-8")
    temporary.replace(note)


def save_as_vim_does(vault: Path, rng: random.Random) -> None:
    note = _a_note(vault, rng)
    backup = note.with_name(note.name + "~")
    note.rename(backup)
    note.write_text(_text(vault, rng), encoding="utf-8")
    backup.unlink()


def touch(vault: Path, rng: random.Random) -> None:
    _a_note(vault, rng).touch()


def write_the_same_length_at_the_same_time(vault: Path, rng: random.Random) -> None:
    note = _a_note(vault, rng)
    before = note.stat()
    data = note.read_bytes()
    note.write_bytes(data[::-1].decode("utf-8", "replace").encode()[: len(data)].ljust(len(data)))
    os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))


def rename_note(vault: Path, rng: random.Random) -> None:
    target = _place(vault, rng)
    if not target.is_dir():
        _a_note(vault, rng).rename(target)


def rename_in_case_only(vault: Path, rng: random.Random) -> None:
    note = _a_note(vault, rng)
    target = note.with_name(note.name.swapcase().replace(".MD", ".md"))
    if not target.exists():
        note.rename(target)


def swap_two_notes(vault: Path, rng: random.Random) -> None:
    one, other = _a_note(vault, rng), _a_note(vault, rng)
    if one != other:
        between = one.with_name("between.tmp")
        one.rename(between)
        other.rename(one)
        between.rename(other)


def rename_folder(vault: Path, rng: random.Random) -> None:
    folders = folders_of(vault)
    if folders:
        folder = rng.choice(folders)
        target = folder.with_name(f"{rng.choice(WORDS)}{rng.randrange(9)}")
        if not target.exists():
            folder.rename(target)


def move_folder_into_another(vault: Path, rng: random.Random) -> None:
    folders = folders_of(vault)
    if len(folders) > 2:
        folder, into = rng.sample(folders, 2)
        target = into / folder.name
        if not into.is_relative_to(folder) and not target.exists() and len(into.parts) < 16:
            folder.rename(target)


def delete(vault: Path, rng: random.Random) -> None:
    notes = notes_of(vault)
    if len(notes) > 30:
        rng.choice(notes).unlink()


def delete_and_create_again(vault: Path, rng: random.Random) -> None:
    note = _a_note(vault, rng)
    note.unlink()
    note.write_text(_text(vault, rng), encoding="utf-8")


def delete_folder(vault: Path, rng: random.Random) -> None:
    folders = [folder for folder in folders_of(vault) if len(notes_of(folder)) < 8]
    if folders and len(notes_of(vault)) > 40:
        shutil.rmtree(rng.choice(folders))


def new_folder_with_notes(vault: Path, rng: random.Random) -> None:
    folder = vault / f"{rng.choice(WORDS)}{rng.randrange(9)}" / rng.choice(WORDS)
    if len(notes_of(vault)) < 150 and not any(part.is_file() for part in (folder, folder.parent)):
        folder.mkdir(parents=True, exist_ok=True)
        for _ in range(rng.randint(1, 5)):
            place = folder / f"{rng.choice(WORDS)} {rng.randrange(60)}.md"
            if not place.is_dir() and not place.is_symlink():
                place.write_text(_text(vault, rng), encoding="utf-8")


def binary_garbage(vault: Path, rng: random.Random) -> None:
    place = _place(vault, rng)
    if not place.is_dir() and not place.is_symlink():
        place.write_bytes(rng.randbytes(rng.randint(0, 4000)))


def huge_note(vault: Path, rng: random.Random) -> None:
    place = vault / f"huge {rng.randrange(3)}.md"
    if not place.is_dir():
        size = rng.choice([200_000, 5 * 1024 * 1024 + 1])
        place.write_text(("# Huge\n\n" + " ".join(WORDS) + "\n\n") * (size // 190), encoding="utf-8")


def note_becomes_folder(vault: Path, rng: random.Random) -> None:
    note = _a_note(vault, rng)
    note.unlink()
    note.mkdir()
    (note / "inside.md").write_text(_text(vault, rng), encoding="utf-8")


def folder_becomes_note(vault: Path, rng: random.Random) -> None:
    folders = [path for path in folders_of(vault) if path.suffix == ".md"]
    if folders:
        folder = rng.choice(folders)
        shutil.rmtree(folder)
        folder.write_text(_text(vault, rng), encoding="utf-8")


def link_to_a_note(vault: Path, rng: random.Random) -> None:
    place = _place(vault, rng)
    if not place.exists() and not place.is_symlink():
        place.symlink_to(_a_note(vault, rng))


def link_to_nowhere_or_in_a_loop(vault: Path, rng: random.Random) -> None:
    place = _place(vault, rng)
    if not place.exists() and not place.is_symlink():
        place.symlink_to(rng.choice([place, vault, vault.parent, vault / "no such note.md"]))


def attachment(vault: Path, rng: random.Random) -> None:
    place = _place(vault, rng).with_suffix(rng.choice([".png", ".canvas", ".pdf"]))
    if place.suffix == ".canvas":
        place.write_text('{"nodes":[{"id":"a","type":"text","text":"kestrel card","x":0,"y":0}],"edges":[]}')
    else:
        place.write_bytes(rng.randbytes(40))


OPERATIONS: tuple[tuple[Operation, int], ...] = (
    (create, 8),
    (truncate_and_write, 8),
    (append, 6),
    (edit_in_two_writes, 3),
    (write_temporary_and_rename, 6),
    (save_as_vim_does, 6),
    (touch, 2),
    (write_the_same_length_at_the_same_time, 3),
    (rename_note, 6),
    (rename_in_case_only, 2),
    (swap_two_notes, 2),
    (rename_folder, 3),
    (move_folder_into_another, 2),
    (delete, 8),
    (delete_and_create_again, 4),
    (delete_folder, 2),
    (new_folder_with_notes, 4),
    (binary_garbage, 2),
    (huge_note, 1),
    (note_becomes_folder, 2),
    (folder_becomes_note, 2),
    (link_to_a_note, 2),
    (link_to_nowhere_or_in_a_loop, 2),
    (attachment, 3),
)


def do_one(vault: Path, rng: random.Random) -> str:
    """One operation; its name, for the message of a failure."""
    operation: Operation = rng.choices([o for o, _ in OPERATIONS], [w for _, w in OPERATIONS])[0]
    operation(vault, rng)
    return getattr(operation, "__name__", "")
