"""The docs are a vault: what they link and name must be there."""

from __future__ import annotations

import re
from pathlib import Path

from markdown_pages import CODE_SPAN, FENCE, broken_links, find, wikilinks
from python_source import PACKAGE, ROOT

NAMED_FILE = re.compile(r"`((?:src|tests|docs|benchmarks|\.ci)/[\w./*-]*)`")
NAMED_TEST = re.compile(r"`(tests/[\w./-]+\.py)::(\w+)`")

TOP_FILE = re.compile(r"`([\w-]+\.(?:md|toml))`")
MARKDOWN_LINK = re.compile(r"\]\(([\w./-]+)\)")


def test_every_wikilink_of_the_docs_leads_somewhere() -> None:
    assert broken_links(ROOT / "docs") == []


def test_every_wikilink_of_the_demo_vault_leads_somewhere() -> None:
    assert broken_links(PACKAGE / "demo") == []


def test_every_page_of_the_docs_is_two_links_from_home_at_most() -> None:
    folder = ROOT / "docs"
    reached = {folder / "Home.md"}
    for _ in range(2):
        targets = {target for page in reached for target, _ in wikilinks(page.read_text(encoding="utf-8"))}
        found = {find(folder, target) for target in targets if target}
        reached |= {page for page in found if page is not None and page.suffix == ".md"}
    assert {page.stem for page in folder.rglob("*.md")} == {page.stem for page in reached}


def test_every_file_the_docs_name_exists() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    named = {
        (page.name, path) for page in pages for path in NAMED_FILE.findall(page.read_text(encoding="utf-8"))
    }
    assert named
    assert sorted(pair for pair in named if not any(ROOT.glob(pair[1].rstrip("/")))) == []


def test_every_test_the_docs_name_exists() -> None:
    named = {
        found
        for page in (ROOT / "docs").rglob("*.md")
        for found in NAMED_TEST.findall(page.read_text(encoding="utf-8"))
    }
    assert named
    assert (
        sorted((path, name) for path, name in named if f"def {name}(" not in (ROOT / path).read_text("utf-8"))
        == []
    )


def test_contributing_names_files_that_exist_and_is_linked() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(TOP_FILE.findall(text)) | set(MARKDOWN_LINK.findall(text))
    assert {"pyproject.toml", "CHANGELOG.md", "docs/internals/architecture.md"} <= named
    assert sorted(path for path in named if not (ROOT / path).exists()) == []
    assert "(CONTRIBUTING.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "`CONTRIBUTING.md`" in (ROOT / "docs" / "Home.md").read_text(encoding="utf-8")


LONGEST_LINE = 120


def test_lines_of_pages_are_short() -> None:
    """But for tables, code, and a line that cannot be divided."""
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md"))]
    assert (
        sorted(
            f"{page.relative_to(ROOT)}: {line[:40]}"
            for page in pages
            for line in FENCE.sub("", page.read_text(encoding="utf-8")).split("\n")
            if len(line) > LONGEST_LINE and not line.startswith("|") and len(CODE_SPAN.sub("", line)) > 1
        )
        == []
    )


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "Here.md").write_text("# Top\n\nA line. ^mark\n", encoding="utf-8")
    (tmp_path / "Page.md").write_text(
        "[[Here]] [[sub/here#top|x]] [[Here#^mark]] [[#Own]] `[[code]]`\n\n```\n[[fenced]]\n```\n\n# Own\n\n"
        "[[Gone]] [[Here#Nowhere]] ![[Here#^other]]\n",
        encoding="utf-8",
    )
    assert broken_links(tmp_path) == [
        "Page.md: [[Gone]]",
        "Page.md: [[Here#Nowhere]]",
        "Page.md: [[Here#^other]]",
    ]
