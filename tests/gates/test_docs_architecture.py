"""The tables and lists of docs/architecture.md name what there is."""

from __future__ import annotations

import re

from call_chains import definition
from python_source import PACKAGE, ROOT, modules

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
DIVIDED = ("chunk", "cli", "config", "daemon", "index", "search", "serve", "store")


def sections() -> dict[str, str]:
    """The text below the heading of each package."""
    return dict(re.findall(r"^## `(\w+)`[^\n]*\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def test_every_class_of_the_map_exists() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `([\w.]+)` \|", PAGE, re.MULTILINE)
    assert len(rows) > 20
    missing = [row for row in rows if definition(f"{row[1]}:{row[0]}", modules(PACKAGE)) is None]
    assert missing == []


def test_a_divided_package_lists_its_parts() -> None:
    for name in DIVIDED:
        parts = {folder.name for folder in (PACKAGE / name).iterdir() if (folder / "__init__.py").is_file()}
        named = set(re.findall(rf"`{name}\.([\w.]+)`", sections()[name]))
        assert parts <= named
        paths = {one: one.replace(".", "/") for one in named}
        assert [one for one, path in paths.items() if not list((PACKAGE / name).glob(f"{path}*"))] == []


def test_every_term_of_the_glossary_stands_once_and_in_order() -> None:
    terms = re.findall(r"^\| ([a-z][^|]*?) \|", PAGE.partition("## Glossary")[2], re.MULTILINE)
    plain = [term.casefold() for term in terms]
    assert len(plain) > 25
    assert plain == sorted(set(plain))
