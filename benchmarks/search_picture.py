"""Draws docs/search.svg: what `indexer search` prints at a terminal of 80 columns for the bundled notebook.

.venv/bin/python benchmarks/search_picture.py
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.text import Text

from vault_indexer.cli.connection.daemon_command import HINT_FILE

ROOT = Path(__file__).resolve().parent.parent
QUERIES = ("unwell kitten", "antifreeze")
STYLES = {"COLUMNS": "80", "FORCE_COLOR": "1", "TERM": "xterm-256color"}


def main() -> None:
    with TemporaryDirectory() as folder:
        place = ("--vault", str(ROOT / "src/vault_indexer/demo"), "--index-dir", f"{folder}/index")
        environ = {**os.environ, **STYLES, "XDG_CONFIG_HOME": folder}
        indexer = [sys.executable, "-m", "vault_indexer.cli"]
        subprocess.run([*indexer, "rebuild", *place], env=environ, check=True, capture_output=True)
        Path(folder, "index", HINT_FILE).touch()  # the hint to start the daemon was shown before
        console = Console(record=True, width=80, force_terminal=True, file=StringIO(), highlight=False)
        for query in QUERIES:
            line = [
                "script",
                "-qec",
                " ".join(map(_quoted, [*indexer, "search", query, "-n", "3", *place])),
                os.devnull,
            ]
            shown = subprocess.run(line, env=environ, check=True, capture_output=True, text=True).stdout
            console.print(Text.from_markup(f"[bold green]$[/] [bold]indexer search {query}[/]"))
            console.print(Text.from_ansi(re.sub(r"\x1b\]8;[^\x1b]*\x1b\\", "", shown.replace("\r", ""))))
        console.save_svg(str(ROOT / "docs/search.svg"), title="indexer search")


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


if __name__ == "__main__":
    main()
