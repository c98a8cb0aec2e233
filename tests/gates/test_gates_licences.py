"""What others wrote has a licence that is allowed, and its text: `.ci/licences` names what has not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from python_source import ROOT

VENDOR = "src/vault_indexer/serve/page/vendor"
TEXT = f"{VENDOR}/LICENSE.txt"
ISC = (ROOT / TEXT).read_text("utf-8")
BUNDLE = "src/obsidian-plugin/generated/main.js"
LOCK = '{"packages": {"node_modules/@a/pad": {"version": "1.3"}}}'
OURS = "Version: 1\nProvides-Extra: more\nRequires-Dist: pad; extra == 'more'"
MIT, GPL = "License-Expression: MIT", "License :: OSI Approved :: GNU General Public License v3 (GPLv3)"
NO_TEXT, NO_ENTRY = "no LICENSE.txt beside it with the text of", "no entry in VENDORED of .ci/licences"
REFUSED = "pad, installed for extra more: this licence is not allowed:"

CASES: tuple[tuple[dict[str, str], str, str], ...] = (
    ({f"{VENDOR}/d3-force.js": "", TEXT: ISC}, MIT, ""),
    ({f"{VENDOR}/d3-force.js": "", TEXT: "MIT"}, MIT, f"{VENDOR}/d3-force.js: {NO_TEXT} ISC"),
    ({f"{VENDOR}/katex/fonts/{n}": "" for n in "ab"}, MIT, f"{VENDOR}/katex/fonts: {NO_TEXT} OFL-1.1"),
    ({f"{VENDOR}/pad.js": "", TEXT: ISC}, MIT, f"{VENDOR}/pad.js: {NO_ENTRY}"),
    ({"tests/words.txt": "Copyright (c) 2020 A"}, MIT, f"tests/words.txt: {NO_ENTRY}"),
    (
        {BUNDLE: "// node_modules/@a/pad/a.js"},
        MIT,
        "main.js: no comment `/*! @a/pad 1.3` with the text of its licence",
    ),
    ({}, f"{MIT} AND (MPL-2.0 OR GPL-3.0-only)", ""),
    ({}, f"{MIT} AND GPL-3.0-only", f"{REFUSED} MIT AND GPL-3.0-only"),
    ({}, "License-Expression: AGPL-3.0-only", f"{REFUSED} AGPL-3.0-only"),
    ({}, f"License: MIT\nClassifier: {GPL}", f"{REFUSED} GNU General Public License v3"),
    ({}, "License: SSPL-1.0\n        Its text", f"{REFUSED} SSPL-1.0"),
    ({}, "", f"{REFUSED} unknown"),
)


@pytest.mark.parametrize(("files", "package", "fault"), CASES)
def test_what_lacks_a_licence_or_its_text_is_named(
    tmp_path: Path, files: dict[str, str], package: str, fault: str
) -> None:
    """In a repository with these files and an extra that adds a package with this metadata."""
    metadata = {
        "vault_indexer-1.dist-info/METADATA": OURS,
        "pad-1.dist-info/METADATA": f"Name: pad\nVersion: 1\n{package}",
    }
    plugin = {BUNDLE: "", "src/obsidian-plugin/package-lock.json": LOCK}
    for name, text in (plugin | files | metadata).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    command = [sys.executable, str(ROOT / ".ci" / "licences"), str(tmp_path)]
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert (done.stderr.strip(), done.returncode) == (fault, bool(fault))
