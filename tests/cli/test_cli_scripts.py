"""`--paths`, `--lines`, `--null`: places in notes for scripts and editors."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from cli_sandbox import Sandbox

pytestmark = pytest.mark.long


def run_in(sandbox: Sandbox, folder: Path, *arguments: str) -> list[str]:
    place = ("--vault", str(sandbox.vault), "--index-dir", str(sandbox.index_dir))
    ran = sandbox.run(*arguments, *place, cwd=folder)
    assert ran.code == 0, ran.err
    assert ran.err == ""
    return ran.out.splitlines()


def hits(sandbox: Sandbox, *query: str) -> list[tuple[str, int]]:
    results = json.loads(sandbox.indexer("search", *query, "--json").out)["results"]
    return [(hit["path"], hit["line"]) for hit in results]


def test_paths_open_from_where_one_is(served: Sandbox) -> None:
    expected = hits(served, "telescope")
    assert len({path for path, _ in expected}) > 1
    above = run_in(served, served.root, "search", "telescope", "--paths", "--nearest")
    assert above == [f"vault/{path}:{line}" for path, line in expected]
    sky = served.vault / "Sky"
    below = run_in(served, sky, "search", "telescope", "--paths", "--nearest")
    assert below[0] == "Night sky.md:3"
    assert below[1:] == [f"{served.vault}/{path}:{line}" for path, line in expected[1:]]
    for found in below:
        path, _, line = found.rpartition(":")
        assert int(line) <= len((sky / path).read_text().splitlines())


def test_the_package_is_the_command(sandbox: Sandbox) -> None:
    ran = sandbox.run_program([sys.executable, "-m", "vault_indexer", "links", "--null", "x"])
    assert ran.code == 2
    assert ran.err == "indexer: --null ends the lines of --files, --paths or --lines: add one of them\n"
