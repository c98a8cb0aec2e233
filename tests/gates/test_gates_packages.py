"""Each package says what it is and is used through what it exports; the plan in the docs is checked."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import tomllib
from pathlib import Path

import pytest
from python_source import PACKAGE, ROOT, Module, all_modules, imported_names, imports_in, module

PACKAGES = sorted(
    file.parent.relative_to(PACKAGE).as_posix().replace("/", ".") for file in PACKAGE.glob("*/**/__init__.py")
)
# Packages with a public face. The others are flat, and light parts of them are imported one by one: the
# commands of `cli` and the clients in `serve` and `daemon` must not load what stands beside them.
FACED = (
    "chunk",
    "chunk.llm_client",
    "links",
    "search",
    "search.filters",
    "search.filters.text",
    "search.present",
    "search.query",
    "search.rank",
    "search.terms",
    "store",
    "store.catalog",
    "store.graph",
    "store.keywords",
    "store.vectors",
    "system",
)


def contract_layers() -> list[str]:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers: list[str] = config["tool"]["importlinter"]["contracts"][0]["layers"]
    return layers


def internals(page: str) -> str:
    return (ROOT / "docs" / "internals" / page).read_text(encoding="utf-8")


def sort_key(name: str) -> tuple[int, str]:
    """Ruff's order of `__all__`: constants, then classes, then the rest."""
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2), name


def around_the_faces(parts: list[Module]) -> list[str]:
    """Imports from inside a faced package by a module outside of it."""
    found = []
    for part in parts:
        own = part.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for statement in imports_in(ast.walk(part.tree)):
            for name in imported_names(statement):
                target = name.removeprefix("vault_indexer.")
                holders = [face for face in FACED if target.startswith(f"{face}.") and target not in FACED]
                outside = [face for face in holders if not f"{own}.".startswith(f"{face}.")]
                if outside:
                    found.append(part.at(statement, f"imports {target}: import from {outside[-1]}"))
    return found


def test_neighbours_import_through_the_face_of_a_package() -> None:
    assert around_the_faces(all_modules()) == []


def test_an_import_around_a_face_is_found() -> None:
    text = "from vault_indexer.store.catalog.reader import CatalogReader"
    assert around_the_faces([module(text, "index/build.py")]) == [
        "index/build.py:1: imports store.catalog.reader: import from store.catalog"
    ]
    assert around_the_faces([module(text, "store/catalog/stored_notes.py")]) == []
    assert around_the_faces([module("from vault_indexer.store.catalog import CatalogReader")]) == []


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_says_what_it_is(name: str) -> None:
    doc = importlib.import_module(f"vault_indexer.{name}").__doc__ or ""
    assert len(doc.split()) >= 5, f"{name}/__init__.py needs a docstring"


@pytest.mark.parametrize("name", ["", *PACKAGES])
def test_all_is_true(name: str) -> None:
    package = importlib.import_module(f"vault_indexer.{name}".rstrip("."))
    exported: list[str] = list(getattr(package, "__all__", []))
    assert [name for name in exported if not hasattr(package, name)] == []
    assert exported == sorted(set(exported), key=sort_key)
    public = {
        name
        for name, value in vars(package).items()
        if not name.startswith("_")
        and not inspect.ismodule(value)
        and str(getattr(value, "__module__", "")).startswith("vault_indexer")
    }
    assert public - set(exported) == set()


def test_every_package_has_its_heading_on_the_page_of_packages() -> None:
    names = {re.sub(r"[()\s]", "", name) for layer in contract_layers() for name in layer.split("|")}
    present = {name for name in names if (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()}
    headings = "\n".join(re.findall(r"^## .*$", internals("packages.md"), re.MULTILINE))
    assert {name for name in present if f"`{name}" not in headings} == set()


def test_the_architecture_draws_the_contract() -> None:
    drawn = re.search(r"```text layers\n(.*?)```", internals("architecture.md"), re.DOTALL)
    assert drawn is not None
    assert [line.strip() for line in drawn.group(1).splitlines()] == contract_layers()


def test_a_test_file_has_a_name_of_its_own() -> None:
    files = sorted((ROOT / "tests").rglob("*.py"))
    # pytest wants conftest.py by that name, so mypy leaves them out.
    names = [file.name for file in files if file.name not in {"__init__.py", "conftest.py"}]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_the_demo_vault_is_part_of_the_package() -> None:
    assert len(list((PACKAGE / "demo").rglob("*.md"))) >= 20
    assert not list(Path(PACKAGE / "demo").rglob("*.py"))


def test_what_a_package_exports_has_a_docstring() -> None:
    """The definition itself: a function or class whose module lists it, or whose package does."""
    exported = {
        name
        for part in all_modules()
        for node in part.tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        for name in ast.literal_eval(node.value)
    }
    without = [
        part.at(node, node.name)
        for part in all_modules()
        for node in part.tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and node.name in exported
        and not ast.get_docstring(node)
    ]
    assert without == []
