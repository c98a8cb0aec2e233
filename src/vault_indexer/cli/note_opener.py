"""Opens a note in the editor of the user, at a line."""

from __future__ import annotations

import os
import shlex
import subprocess
import webbrowser
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from vault_indexer.cli.output.hit_list import has_text
from vault_indexer.errors import UnavailableError, UsageError

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import HitJson

_LINE_OPTIONS: Mapping[str, str] = {
    "code": "--goto {file}:{line}",
    "codium": "--goto {file}:{line}",
    "cursor": "--goto {file}:{line}",
    "zed": "{file}:{line}",
    "hx": "{file}:{line}",
    "subl": "{file}:{line}",
}
"""How an editor is told a line, by the name of its program. Others understand `+LINE FILE`, as vi does."""


def open_note(vault: Path, hit: HitJson) -> None:
    """Open the file of a hit at its line, in the editor of the variables VISUAL and EDITOR; without them in
    Obsidian, if the vault is one of Obsidian's. Returns when the editor has ended.

    Raises UsageError where neither is there, UnavailableError where the editor cannot be run.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if editor:
        command = editor_command(
            editor, (vault / hit["path"]).absolute(), hit["line"] if has_text(hit) else None
        )
        try:
            subprocess.run(command, check=False)
        except OSError as error:
            raise UnavailableError(f"{command[0]}: {error.strerror}") from error
    elif not (vault / ".obsidian").is_dir() or not webbrowser.open(hit["uri"]):
        raise UsageError("--open needs an editor: set the variable EDITOR, such as EDITOR=vim")


def editor_command(editor: str, file: Path, line: int | None) -> list[str]:
    """The command line that opens the file at the line (None: at no line), for the value of EDITOR."""
    program, *options = shlex.split(editor) or [editor]
    if line is None:
        return [program, *options, str(file)]
    form = _LINE_OPTIONS.get(Path(program).stem, "+{line} {file}")
    return [program, *options, *(part.format(file=file, line=line) for part in form.split())]
