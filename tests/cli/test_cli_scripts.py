"""`--paths`, `--lines`, `--null`: places in notes for scripts and editors."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_sandbox import Sandbox, make
from waiting import PROCESS_S

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


def test_lines_are_those_of_grep(served: Sandbox) -> None:
    assert run_in(served, served.vault, "search", "telescope", "--files") == ["Sky/Night sky.md"]
    lines = run_in(served, served.vault, "search", "telescope", "--lines", "--nearest")
    assert len(lines) == len(hits(served, "telescope"))
    assert all(re.fullmatch(r"[^:]+\.md:[0-9]+:.+", line) for line in lines)
    assert "telescope shows the rings of Saturn" in lines[0]


def test_null_ends_each_place(served: Sandbox) -> None:
    for style in ("--paths", "--lines"):
        lines = run_in(served, served.root, "search", "telescope", style)
        for option in ("-0", "--null"):
            ran = served.indexer("search", "telescope", style, option)
            assert ran.out == "".join(f"{line}\0" for line in lines)


def test_related_and_links_give_places_too(served: Sandbox) -> None:
    near = json.loads(served.indexer("related", "Night sky", "--json").out)["results"]
    assert run_in(served, served.vault, "related", "Night sky", "--paths") == [one["path"] for one in near]
    first = run_in(served, served.vault, "related", "Night sky", "--lines")[0]
    assert first.startswith(f"{near[0]['path']}:1:{near[0]['title']} (linked from, cosine")

    welcome = run_in(served, served.vault, "links", "Welcome", "--lines")
    assert welcome == [
        "Welcome.md:3:Bread -> Kitchen/Bread.md",
        "Welcome.md:3:Night sky -> Sky/Night sky.md",
        "Welcome.md:5:Nowhere -> nowhere",
    ]
    sky = run_in(served, served.vault, "links", "Night sky", "--paths")
    assert sky == ["Sky/Night sky.md:5", "Welcome.md:3"]
    assert run_in(served, served.vault, "links", "--unresolved", "--lines") == ["Welcome.md:5:Nowhere"]


def test_orphans_and_mentions_give_places_too(sandbox: Sandbox) -> None:
    sandbox.write("Alone.md", "# Alone\n\nOf the night sky.\n")
    assert run_in_process(sandbox, "links", "--orphans", "--paths") == ["Alone.md"]
    assert run_in_process(sandbox, "links", "--orphans", "--lines") == ["Alone.md:1:Alone"]
    assert run_in_process(sandbox, "links", "--mentions", "Night sky", "--lines") == [
        "Alone.md:3:Of the night sky."
    ]


def run_in_process(sandbox: Sandbox, *arguments: str) -> list[str]:
    place = ("--vault", str(sandbox.vault), "--index-dir", str(sandbox.index_dir))
    return sandbox.run(*arguments, *place, cwd=sandbox.vault).out.splitlines()


def test_odd_names_reach_a_program_as_they_are(tmp_path: Path) -> None:
    sandbox = make(tmp_path)
    sandbox.write("-dash\x1b.md", "# A zeppelin\n\nIt \x1b[31mflies: \x07 high.\n")
    place = ("--vault", str(sandbox.vault), "--index-dir", str(sandbox.index_dir))
    ran = sandbox.run("search", "zeppelin", "--limit", "1", "--lines", "-0", *place, cwd=sandbox.vault)
    path, _, text = ran.out.rstrip("\0").partition(":")
    assert (sandbox.vault / path).read_text().startswith("# A zeppelin")
    assert path.startswith("./-dash")
    assert text.isprintable()
    assert "\x1b" not in sandbox.terminal("search", "zeppelin", "--limit", "1", "--paths").out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--paths", "--json"), "one at a time"),
        (("--paths", "--lines"), "one at a time"),
        (("--null",), "--paths or --lines"),
        (("--files", "--paths"), "one at a time"),
        (("--json", "-0"), "--paths or --lines"),
    ],
)
def test_options_that_exclude_each_other(sandbox: Sandbox, options: tuple[str, ...], said: str) -> None:
    for command in (("search", "x"), ("related", "x"), ("links", "x")):
        ran = sandbox.indexer(*command, *options)
        assert ran.code == 2
        assert ran.out == ""
        assert ran.complains(said)


def test_nothing_found_is_said_on_standard_error(sandbox: Sandbox) -> None:
    for path in list(sandbox.vault.rglob("*.md")):
        path.unlink()
    assert sandbox.indexer("rebuild").code == 0
    ran = sandbox.indexer("search", "telescope", "--paths")
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert ran.complains('"telescope"')


def test_the_package_is_the_command(sandbox: Sandbox) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "vault_indexer", "links", "--null", "x"],
        env=sandbox.environ,
        capture_output=True,
        text=True,
        timeout=PROCESS_S,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "indexer: --null ends the lines of --files, --paths or --lines: add one of them\n"
