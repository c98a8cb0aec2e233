"""Bases of a vault: which rows a view has, through the service, the command and HTTP."""

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import pytest
from cli_sandbox import Sandbox
from command_here import CommandHere
from golden_cases import check_golden, of_parts
from indexed_vault import OpenNotes, write_notes

from vault_indexer.bases import VaultFiles, base_view, choose_view, read_definition
from vault_indexer.bases.rows import SUMMARIES
from vault_indexer.documents.extractors import extract
from vault_indexer.errors import NoteError, UnknownNoteError, UsageError
from vault_indexer.model import BaseView, SearchRequest
from vault_indexer.service import VaultService
from vault_indexer.store.catalog import CatalogReader

NOW = datetime(2026, 3, 14, 12, 0)


def book(number: int, **properties: object) -> str:
    lines = "".join(f"{name}: {value}\n" for name, value in properties.items())
    return f"---\ntags: [book]\n{lines}---\nText of book {number}.\n"


BASE = """\
filters:
  and: ['file.hasTag("book")', 'file.ext == "md"']
formulas:
  cost: if(price, price.toFixed(2) + " coins")
  left: (due - today()) / 86400000
properties:
  formula.cost: {displayName: Costs}
  note.state: {displayName: State}
summaries:
  longest: values.map(value.length).sort().reverse()[0]
views:
  - type: table
    name: Shelf
    order: [file.name, note.state, author, formula.cost, formula.left]
    sort: [{property: state, direction: ASC}, {property: price, direction: DESC}]
    summaries: {note.state: longest, formula.left: Average}
  - type: cards
    name: Reading list
    filters:
      or:
        - state == "reading"
        - not: [price > 1, author]
    order: [file.name, price]
    groupBy: {property: state, direction: DESC}
    limit: 3
"""
NOTES = {
    "Shelf/Dune.md": book(1, price=12.5, state="reading", author='"[[Herbert]]"', due="2026-03-20"),
    "Shelf/Emma.md": book(2, price=3, state="done", due="2026-03-16"),
    "Shelf/Ulysses.md": book(3, price="much", state="reading"),
    "Shelf/Faust.md": book(4, state="waiting"),
    "Herbert.md": "Wrote [[Dune]].\n",
    "Shelves.md": """\
---
price: 3
---
```base
filters: price <= this.price
views:
- {name: Cheap, order: [file.name]}
- name: Dear

  filters: file.name == "none"
```
```yaml
views: [{name: Own}]
```
> - text
>   ~~~ base
>   formulas: {cost: price * 2}
>   views:
>   - {name: Quoted, order: [formula.cost], filters: file.name == "Emma.md"}
""",
    "Bad.md": "Text.\n\n```base\nformulas: {x: shout(1)}\nviews: [{order: [formula.x]}]\n```\n",
    "Torn.md": "Text.\n\n```base\nviews:\n  - name: [\n```\n",
    "Other.md": "price: 3\n",
    "Books.base": BASE,
    "Around.base": "filters: file.hasLink(this) || this.file.folder == file.folder\n",
    "Broken.base": "views:\n  - name: [\n",
    "Plain.base": "",
    "Wrong.base": """\
formulas:
  x: shout(1)
  y: formula.x + 1
  z: formula["x"]
  any: formula[file.name]
views:
- {name: A, order: [file.name]}
- {name: Column, order: [formula.x], filters: "false"}
- {name: Deep, order: [formula.y], filters: "false"}
- {name: Sort, sort: [formula.z]}
- {name: Filter, filters: formula.any}
""",
    "Late.base": "views:\n- {name: L, filters: note.price.lower() == 'a'}\n",
}


@pytest.fixture(scope="module")
def vault(open_notes: OpenNotes) -> VaultService:
    return open_notes(NOTES)[0]


def rows(found: BaseView) -> list[tuple[object, ...]]:
    return [row.cells for row in found.rows]


def test_a_view_has_its_columns_rows_and_summaries(vault: VaultService) -> None:
    found = vault.base("books", now=NOW)
    assert (found.path, found.view, found.type, found.count) == ("Books.base", "Shelf", "table", 4)
    assert found.views == ("Shelf", "Reading list")
    assert [column.name for column in found.columns] == ["name", "State", "author", "Costs", "left"]
    summaries = [(column.summary, column.summary_value) for column in found.columns if column.summary]
    assert summaries == [("longest", 7), ("Average", 4)]
    *_, wrong = [cell for row in rows(found) for cell in row if isinstance(cell, dict) and "error" in cell]
    assert "formulas.cost: toFixed() of a string is not supported" in str(wrong)
    assert rows(found) == [
        ({"text": "Emma", "path": "Shelf/Emma.md"}, "done", None, "3.00 coins", 2),
        ({"text": "Ulysses", "path": "Shelf/Ulysses.md"}, "reading", None, wrong, None),
        (
            {"text": "Dune", "path": "Shelf/Dune.md"},
            *("reading", {"text": "Herbert", "path": "Herbert.md"}, "12.50 coins", 6),
        ),
        ({"text": "Faust", "path": "Shelf/Faust.md"}, "waiting", None, None, None),
    ]


def test_another_view_filters_groups_and_limits(vault: VaultService) -> None:
    found = vault.base("Books.base", "reading LIST", limit=2, now=NOW)
    assert (found.group_by, found.count) == ("State", 3)
    groups = [(row.path, row.group) for row in found.rows]
    assert groups == [("Shelf/Faust.md", "waiting"), ("Shelf/Dune.md", "reading")]


@pytest.mark.parametrize(
    ("within", "paths"), [("", ["Around.base", "Books.base"]), ("Dune", ["Herbert.md", "Shelf/Dune.md"])]
)
def test_this_is_the_base_or_the_note_that_embeds_it(
    vault: VaultService, within: str, paths: list[str]
) -> None:
    found = [row.path for row in vault.base("Around", shown_in=within).rows]
    assert set(paths) <= set(found)
    assert ("Other.md" in found) == (not within)


def test_a_base_without_views_shows_every_file(vault: VaultService) -> None:
    found = vault.base("Plain")
    assert (found.view, found.count) == ("Table", len(NOTES) - 1)  # without the broken one


def test_an_unknown_function_in_a_formula_that_no_view_uses_is_no_error(vault: VaultService) -> None:
    assert vault.base("Wrong", "A").count == vault.base("Plain").count


@pytest.mark.parametrize(
    ("view", "line", "cells"),
    [
        ("", 0, [({"text": "Emma", "path": "Shelf/Emma.md"},), ({"text": "Shelves", "path": "Shelves.md"},)]),
        ("dear", 4, []),
        ("Quoted", 0, [(6,)]),
        ("", 16, [(6,)]),
    ],
)
def test_a_base_in_a_block_of_code_has_its_rows(
    vault: VaultService, view: str, line: int, cells: list[object]
) -> None:
    found = vault.base("Shelves", view, line=line)
    assert rows(found) == cells
    views = {0: ("Cheap", "Dear", "Quoted"), 4: ("Cheap", "Dear"), 16: ("Quoted",)}
    assert (found.path, found.views) == ("Shelves.md", views[line])


class ReadingsOfNotes:
    """Notes whether a catalog was asked for a few notes or for all of them."""

    def __init__(self, catalog: CatalogReader) -> None:
        self._catalog = catalog
        self.asked: list[str] = []

    def rows(self, sql: str, values: Sequence[str] = ()) -> list[Any]:
        if "FROM notes" in sql:
            self.asked.append(str(values[0]) if values else "all")
        return self._catalog.rows(sql, values)


@pytest.mark.parametrize(
    ("few", "asked"), [(9, ["Shelf/Dune.md", "Shelf/Emma.md"]), (1, ["Shelf/Dune.md", "all"])]
)
def test_properties_are_read_of_the_files_that_need_them(
    open_notes: OpenNotes, few: int, asked: list[str]
) -> None:
    text = "filters: file.inFolder('Shelf')\nviews: [{order: [price], sort: [price]}]"
    notes = {name: NOTES[name] for name in ("Shelf/Dune.md", "Shelf/Emma.md", "Other.md", "Plain.base")}
    service, reader = open_notes(notes)
    with reader.holder.lease() as snapshot:
        catalog = ReadingsOfNotes(snapshot.catalog)
        files = VaultFiles(cast("CatalogReader", catalog), service.vault, "Plain.base", few)
        definition, table = choose_view([read_definition("Plain.base", text)], "")
        found = base_view(files, definition, table, "Plain.base", limit=9, now=NOW)
    assert rows(found) == [(3,), (12.5,)]
    assert catalog.asked == asked


def test_an_error_names_base_key_and_file(vault: VaultService) -> None:
    def error(name: str, view: str) -> str:
        with pytest.raises((UsageError, UnknownNoteError)) as caught:
            vault.base(name, view)
        return re.sub("(not valid YAML): [^(]*", r"\1 ", str(caught.value))  # in the words of its parser

    check_golden(Path(__file__).parent / "fixtures" / "errors.md", {"": of_parts(error)})


WRONG = {
    "filters: {all: [x]}": "filters: must be a text or have the keys and, or, not",
    "filters: [1]": "filters: must be a text",
    "views: {a: 1}": "views: must be a list",
    "views: [a]": r"views\[0\]: must be keys with values",
    "views: [{limit: ten}]": r"views\[0\].limit: must be a whole number, not 'ten'",
    "views: [{sort: [{property: a, direction: UP}]}]": r"views\[0\].sort: .* direction ASC or DESC",
    "views: [{groupBy: {direction: ASC}}]": r"views\[0\].groupBy: must have a property",
    "views: [{order: [formula.x]}]": "formula.x is not a formula of this base",
    "views: [{order: [file.x]}]": "file.x is not supported",
    "views: [{order: [a], summaries: {a: Total}}]": "summary 'Total' is not supported; there are",
}


@pytest.fixture(scope="module")
def wrong(open_notes: OpenNotes) -> VaultService:
    return open_notes({f"{number}.base": text for number, text in enumerate(WRONG)})[0]


@pytest.mark.parametrize(("number", "message"), list(enumerate(WRONG.values())))
def test_an_error_of_the_file_names_its_key(wrong: VaultService, number: int, message: str) -> None:
    try:
        told = str(rows(wrong.base(f"{number}.base")))
    except UsageError as error:
        told = str(error)
    assert re.search(message, told)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("Average", 2.5), ("Min", 1), ("Max", 4), ("Sum", 5), ("Range", 3), ("Median", 2.5)),
        *(
            ("Stddev", 1.5),
            ("Earliest", datetime(2026, 1, 1)),
            ("Latest", datetime(2026, 1, 3)),
            ("Checked", 2),
        ),
        *(("Unchecked", 1), ("Empty", 1), ("Filled", 8), ("Unique", 8)),
    ],
)
def test_each_summary_reads_the_values_of_its_type(name: str, value: object) -> None:
    values = [1, 4, datetime(2026, 1, 1), datetime(2026, 1, 3), True, True, False, None, "x"]
    kinds = {"number": int, "date": datetime}
    wanted, function = SUMMARIES[name]
    chosen = [one for one in values if wanted == "any" or type(one) is kinds[wanted]]
    assert function(chosen) == value


def test_a_base_is_found_by_its_views_and_filters(vault: VaultService) -> None:
    hits = vault.search(SearchRequest('kind:base "reading list"')).results
    assert [(hit.path, hit.kind) for hit in hits] == [("Books.base", "base")]
    assert "## Reading list" in extract("Books.base", BASE.encode())
    with pytest.raises(NoteError, match="damaged: not valid YAML"):
        extract("A.base", b"a: [")


@pytest.mark.long
def test_the_command_prints_rows_for_people_and_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = CommandHere(Sandbox(tmp_path), capsys, monkeypatch)
    write_notes(here.sandbox.vault, NOTES)
    ran = here.indexer("base", "Books", "--view", "Reading list")
    assert ran.code == 0
    assert [line.split() for line in ran.out.splitlines()] == [
        ["name", "price"],
        *(["State:", "waiting"], ["Faust"], ["State:", "reading"], ["Dune", "12.5"], ["Ulysses", "much"]),
    ]
    assert "Reading list: 3 files\nOther views: Shelf\n" in ran.err
    lines = here.indexer("base", "Books", "-n", "3").out.splitlines()
    assert lines[2].split("  ")[-1].startswith("error: ") or "error: " in lines[2]
    assert lines[-1] == "left, Average: " + lines[-1].rpartition(" ")[2]
    assert here.indexer("base", "Books", "--json").data["count"] == 4
    assert here.indexer("base", "Shelves", "--view", "Quoted").out.splitlines()[1].strip() == "6"
    wrong = here.indexer("base", "Wrong", "--view", "Column")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err.endswith("Wrong.base: formulas.x: shout() is not supported (in 'shout(1)')\n")
