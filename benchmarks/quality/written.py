"""Vaults that exist for their queries: notes and questions are written together, in one file a person edits.

`queries/languages/<code>.txt` holds notes with what is asked of them:

    = Title
    The note's text, up to the next line that starts with =, ? or ~.
    ? a question that shares (inflected) words with the note
    ~ a paraphrase, which shares none or nearly none

`queries/library.csv` holds a note a row: empty bodies, all that is known stands in the frontmatter. Its
queries follow from the columns, and `queries/library.txt` adds some that combine them.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from quality.queries import Query, read_queries
from quality.titles import unaccented

QUERIES = Path(__file__).parent.parent / "queries"
KINDS = {"?": "question", "~": "paraphrase"}
_LISTS = ("tags", "aliases")
_BY_VALUE = ("author", "genre", "year", "tags", "aliases", "country", "folder")


def languages() -> tuple[str, ...]:
    """The codes of the languages with a file, sorted."""
    return tuple(sorted(file.stem for file in (QUERIES / "languages").glob("*.txt")))


def language_notes(language: str) -> tuple[dict[str, str], tuple[Query, ...]]:
    """The notes of a language, text by path, and the queries. Raises ValueError naming a line at fault."""
    file = QUERIES / "languages" / f"{language}.txt"
    notes: dict[str, list[str]] = {}
    queries = []
    path = ""
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        mark, text = line[:1], line[1:].strip()
        if mark == "=":
            path = f"{text}.md"
            if path in notes:
                raise ValueError(f"{file.name}:{number}: a second note {text!r}")
            notes[path] = []
        elif mark in KINDS:
            queries.append(Query(KINDS[mark], text, {path: 1}))
        elif line.strip() and mark != "#":
            notes[path].append(line)
    return {path: "\n".join(lines) + "\n" for path, lines in notes.items()}, tuple(queries)


def library_notes() -> dict[str, str]:
    """The library's notes, text by path."""
    return {path: f"---\n{_yaml(row)}---\n" for path, row in _library()}


def library_queries() -> tuple[Query, ...]:
    """What the library is asked: single values of a column, and combinations."""
    holders: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    rows = list(_library())
    for path, row in rows:
        for column in _BY_VALUE:
            for value in _values(row, column):
                holders[(column, value)][path] = 1
    kinds = {"tags": "tag", "aliases": "alias"}
    single = [
        Query(kinds.get(column, column), value.replace("-", " ") if column == "tags" else value, grades)
        for (column, value), grades in holders.items()
    ]
    titles = [Query("title", row["title"], {path: 1}) for path, row in rows]
    accented = [one for one in (*titles, *single) if unaccented(one.text) != one.text]
    plain = [Query("no accents", unaccented(one.text).lower(), one.grades) for one in accented]
    return (*titles, *single, *plain, *read_queries(QUERIES / "library.txt", [path for path, _ in rows]))


def _library() -> Iterator[tuple[str, dict[str, str]]]:
    with (QUERIES / "library.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield f"{row['folder']}/{row['title']}.md".replace(":", ""), row


def _values(row: Mapping[str, str], column: str) -> list[str]:
    return [one.strip() for one in row[column].split(";") if one.strip()]


def _yaml(row: Mapping[str, str]) -> str:
    properties: dict[str, object] = {}
    for column, value in row.items():
        if column == "folder" or not value:
            continue
        if column in _LISTS:
            properties[column] = _values(row, column)
        else:
            properties[column] = int(value) if value.isdigit() else value
    return yaml.safe_dump(properties, allow_unicode=True, sort_keys=False)
