"""The demo finds what README promises."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from python_source import PACKAGE, ROOT


def shell(script: str, home: Path) -> str:
    """Standard output of the script, run by `sh -eu` with our `indexer` first on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-euc", script],
        cwd=home,
        # A busy machine takes long to load all that ranks.
        env={"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", "INDEXER_TUNING": "search.deadline_s = 600"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_readme_begins_with_three_lines_and_the_demo_ends_with_the_next() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = readme.partition("```sh\n")[2].partition("```")[0].splitlines()
    assert [line.partition("#")[0].split()[:2] for line in first] == [
        ["pipx", "install"],
        ["indexer", "init"],
        ["indexer", "search"],
    ]
    assert readme.index("```sh") < readme.index("![") < readme.index("\n- **")
    demo = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ndemo: ")[2].partition("\n\n")[0]
    assert demo.count("\tfind '") == 3
    assert "--limit 3 --by note" in demo
    assert "indexer init ~/Notes" in demo.splitlines()[-1]


@pytest.fixture(scope="module")
def demo_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demo vault as `Notes` and its index as `index`."""
    folder = tmp_path_factory.mktemp("demo")
    shutil.copytree(PACKAGE / "demo", folder / "Notes")
    shell("indexer rebuild --vault Notes --index-dir index --json", folder)
    return folder


def demo_why(demo_index: Path, query: str, note: str) -> dict[str, dict[str, float] | None]:
    """Why the note's best hit is among the first five for a query that `make demo` shows."""
    assert f"'{query}'" in (ROOT / "Makefile").read_text(encoding="utf-8")
    output = shell(f"indexer search '{query}' --vault Notes --index-dir index --limit 5 --json", demo_index)
    hits = [hit for hit in json.loads(output)["results"] if hit["path"] == note]
    assert hits, f"{query!r} does not find {note}"
    why: dict[str, dict[str, float] | None] = hits[0]["why"]
    return why


def rank(reason: dict[str, float] | None) -> float:
    """The rank in one ranking; infinite for "not in it"."""
    return reason["rank"] if reason else math.inf


def test_the_demo_finds_by_meaning_by_word_and_by_link(demo_index: Path) -> None:
    meant = demo_why(demo_index, "unwell kitten", "House/Miso.md")
    assert (rank(meant["vector"]), meant["keyword"]) == (1, None)
    assert rank(demo_why(demo_index, "F52", "House/Oven.md")["keyword"]) == 1
    linked = demo_why(demo_index, "antifreeze", "House/Flask tea.md")
    assert linked["graph"] is not None
    assert linked["keyword"] is None
    assert rank(linked["vector"]) > 5


def test_the_picture_of_the_readme_shows_what_the_search_prints_today() -> None:
    """`benchmarks/search_picture.py` draws it anew."""
    views = (ROOT / "tests/cli/fixtures/views-80.md").read_text(encoding="utf-8")
    printed = views.partition("## search unwell kitten\n")[2].partition("[exit")[0]
    drawn = (ROOT / "docs/search.svg").read_text(encoding="utf-8").partition("antifreeze")[0]
    texts = [text.replace("&#160;", " ").strip() for text in re.findall(r">([^<>]+)</text>", drawn)]
    notes = [text for text in texts if text.endswith(".md")]
    assert len(notes) == 3
    found = [line.split("  ")[0] for line in printed.splitlines() if ".md  " in line]
    assert notes == found[:3]  # the picture is drawn with -n 3
