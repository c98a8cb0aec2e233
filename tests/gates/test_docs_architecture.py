"""The tables and lists of docs/internals/architecture.md and packages.md name what there is."""

from __future__ import annotations

import re

from call_chains import definition
from python_source import PACKAGE, ROOT, modules

INTERNALS = ROOT / "docs" / "internals"
ARCHITECTURE = (INTERNALS / "architecture.md").read_text(encoding="utf-8")
PACKAGES = (INTERNALS / "packages.md").read_text(encoding="utf-8")
RECIPES = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
DIVIDED = ("chunk", "cli", "config", "daemon", "index", "search", "serve", "store")


def sections() -> dict[str, str]:
    """The text below the heading of each package."""
    return dict(re.findall(r"^## `(\w+)`[^\n]*\n(.*?)(?=^## |\Z)", PACKAGES, re.MULTILINE | re.DOTALL))


def test_every_row_of_where_to_change_what_names_a_place_and_a_recipe() -> None:
    table = ARCHITECTURE.partition("## Where do I change X?")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.*?) \|$", table, re.MULTILINE)[2:]
    assert len(rows) >= 10
    for _, places, recipe in rows:
        for name in re.findall(r"`([a-z_]+(?:\.\w+)*)`", places):
            path = PACKAGE / name.replace(".", "/")
            is_class = definition(":".join(name.rsplit(".", 1)), modules(PACKAGE)) is not None
            assert path.is_dir() or path.with_suffix(".py").is_file() or is_class, name
        heading = re.escape(recipe.strip('"'))
        assert not recipe or re.search(rf"^##+ {heading}$", RECIPES, re.MULTILINE), recipe


def test_a_divided_package_lists_its_parts() -> None:
    for name in DIVIDED:
        parts = {folder.name for folder in (PACKAGE / name).iterdir() if (folder / "__init__.py").is_file()}
        named = set(re.findall(rf"`{name}\.([\w.]+)`", sections()[name]))
        assert parts <= named
        paths = {one: one.replace(".", "/") for one in named}
        assert [one for one, path in paths.items() if not list((PACKAGE / name).glob(f"{path}*"))] == []


def test_every_term_of_the_glossary_stands_once_and_in_order() -> None:
    terms = re.findall(r"^\| ([a-z][^|]*?) \|", ARCHITECTURE.partition("## Glossary")[2], re.MULTILINE)
    plain = [term.casefold() for term in terms]
    assert len(plain) > 25
    assert plain == sorted(set(plain))
