"""Edits of real notes, as a person or a script saves them; none makes the vault larger for good."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from endurance.ground import be_nice, notes_of

_NEW_FOLDER = "written by the benchmark"
_NEW_NOTES = 50


class Editor:
    """Saves notes, most of them by writing a temporary file and renaming it, as editors do.

    A note's text is always the one it had plus one line. Of a hundred edits, two are of a note that comes,
    or goes again, or gets another name: in a folder of its own, of at most fifty notes.
    """

    def __init__(self, vault: Path, seed: int) -> None:
        self._chooser = random.Random(seed)
        self._notes = notes_of(vault)
        self._texts: dict[Path, bytes] = {}
        self._folder = vault / _NEW_FOLDER
        self.done = 0

    def edit(self) -> None:
        """One save."""
        self.done += 1
        if self.done % 50 == 0:
            self._come_or_go()
            return
        note = self._chooser.choice(self._notes)
        text = self._texts.setdefault(note, note.read_bytes())
        self._save(
            note, text + f"\n\nEdit {self.done}, at {self._chooser.random():.6f} of the day.\n".encode()
        )

    def restore(self) -> None:
        """The vault as it was."""
        for note, text in self._texts.items():
            note.write_bytes(text)
        for note in self._folder.glob("*.md"):
            note.unlink()
        if self._folder.exists():
            self._folder.rmdir()

    def _save(self, note: Path, text: bytes) -> None:
        if self.done % 4 == 0:
            note.write_bytes(text)
            return
        temporary = note.with_name(f".{note.name}.tmp")
        temporary.write_bytes(text)
        temporary.replace(note)

    def _come_or_go(self) -> None:
        self._folder.mkdir(exist_ok=True)
        note = self._folder / f"note {self._chooser.randrange(_NEW_NOTES)}.md"
        if not note.exists():
            note.write_bytes(self._chooser.choice(self._notes).read_bytes() + b"\n")
        elif self._chooser.random() < 0.5:
            note.unlink()
        else:
            note.replace(self._folder / f"note {self._chooser.randrange(_NEW_NOTES)}.md")


@contextmanager
def editing(editor: Editor, per_s: float, most: int | None = None) -> Iterator[threading.Event]:
    """Edit at this rate in a thread until `most` edits are done, which sets the event, or the block ends."""
    ended, stop = threading.Event(), threading.Event()
    failed: list[OSError] = []

    def work() -> None:
        be_nice()
        began = time.monotonic()
        try:
            while not stop.wait(max(0.0, began + editor.done / per_s - time.monotonic())):
                if most is not None and editor.done >= most:
                    break
                editor.edit()
        except OSError as error:
            failed.append(error)
        ended.set()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield ended
    finally:
        stop.set()
        thread.join()
    if failed:
        raise failed[0]
