"""Obsidian's search operators over a small vault: the tables of fixtures/obsidian-search.md."""

import re
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest
from indexed_vault import Indexed, indexed_vault, notes_left

from vault_indexer.errors import QueryError
from vault_indexer.model import NoteRow, SearchRequest, note_id_of
from vault_indexer.parse import property_lines
from vault_indexer.search.query.parser import parse_query
from vault_indexer.search.query.regex import compile_regex

FIXTURES = Path(__file__).parent / "fixtures"
ROWS = re.findall(r"^\| `(.+)` \| (.+) \|$", (FIXTURES / "obsidian-search.md").read_text("utf-8"), re.M)
CASES = [(query.replace(r"\|", "|"), expected) for query, expected in ROWS]
FAILING = [(query, int(expected.split()[1])) for query, expected in CASES if expected.startswith("error")]
FINDING = [(query, expected) for query, expected in CASES if not expected.startswith("error")]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    folder = tmp_path_factory.mktemp("obsidian")
    vault = copytree(FIXTURES / "obsidian-vault", folder / "vault")
    with indexed_vault(vault, folder / "index") as both:
        yield both


def names_left(opened: Indexed, query: str) -> str:
    """The notes that a query leaves, as the fixture writes them."""
    return ", ".join(sorted(Path(path).stem for path in notes_left(opened[1], query))) or "–"


@pytest.mark.parametrize(("query", "expected"), FINDING)
def test_golden(opened: Indexed, query: str, expected: str) -> None:
    assert names_left(opened, query) == expected


@pytest.mark.parametrize(("query", "column"), FAILING)
def test_a_wrong_query_is_an_error_with_its_column(query: str, column: int) -> None:
    with pytest.raises(QueryError) as caught:
        parse_query(query)
    assert caught.value.column == column


def test_every_operator_of_obsidian_has_rows() -> None:
    names = "file path content match-case ignore-case tag line block section task task-todo task-done"
    queries = "\n".join(query for query, _ in CASES)
    assert [name for name in names.split() if not re.search(rf"^{name}:", queries, re.M)] == []


def named_texts(row: NoteRow) -> list[str]:
    """The texts of a note beside its body."""
    return [row.title, *row.aliases, *row.tags, "\n".join(property_lines(row.frontmatter))]


# Python's own engine judges: these expressions mean the same in both.
EXPRESSIONS = [
    *("meet(ing|up)", "hello", "happycats?", "state-of-the-art", "[a-z]{8,}", r"^\w+$", r"\.$", r"cat\b"),
    *("o{2}k", "flour and", "printers?", "note.*not", "x*", r"\d\d", "café", "caf", "€"),
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_index_narrows_an_expression_and_loses_no_note(opened: Indexed, expression: str) -> None:
    engine = re.compile(expression, re.I | re.M)
    with opened[1].holder.lease() as snapshot:
        notes = snapshot.catalog.notes({note_id_of(key) for key in snapshot.keywords.keys.tolist()})
        texts = snapshot.catalog.texts(notes)
    bodies = {id_: re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S) for id_, text in texts.items()}
    found = [
        Path(row.path).stem
        for id_, row in notes.items()
        if any(map(engine.search, [bodies[id_], *named_texts(row)]))
    ]
    assert names_left(opened, f"/{expression}/") == (", ".join(sorted(found)) or "–")


def test_time_is_linear_where_backtracking_never_ends(opened: Indexed) -> None:
    matcher = compile_regex("(a+)+$")
    assert not matcher.is_in("a" * 50_000 + "!")
    assert names_left(opened, "/(x+x+)+y/") == "–"
    with pytest.raises(QueryError, match="too large"):
        parse_query("/(.{1000}){1}/")


@pytest.mark.parametrize(
    "query", ["/happ", "/happ[", "/hap(", "path:/a(", "match-case:", "-tag:", "/(/", "file:"]
)
def test_what_is_unfinished_while_typing_is_no_error(opened: Indexed, query: str) -> None:
    answer = opened[0].search(SearchRequest(query, as_you_type=True))
    assert answer.results or answer.notices


def test_explain_names_the_expression_that_a_note_fails(opened: Indexed) -> None:
    told = opened[0].explain("Cats", SearchRequest("cat /in two/ match-case:CAT"))
    assert "it does not match the filter match-case:CAT" in told.reasons
    assert not any("/in two/" in reason for reason in told.reasons)


def test_the_hits_are_the_parts_that_the_expression_matches(opened: Indexed) -> None:
    answer = opened[0].search(SearchRequest("/a dog\\s+eats/"))
    assert [hit.path for hit in answer.results] == ["Pets/Dogs.md"]
    assert "A dog eats" in answer.results[0].content


@pytest.mark.parametrize("scope", ["line", "block", "section", "task", "content"])
@pytest.mark.parametrize(
    "expression", [r"\.$", r"\bcat", "dog.*cat|cat.*dog", r"l\s*", "$", "a[^!]*e", "É?l", r"\d"]
)
def test_a_piece_matches_as_a_text_of_its_own(opened: Indexed, scope: str, expression: str) -> None:
    """A second expression that is always true, in a group, keeps the search from taking the quick way."""
    assert names_left(opened, f"{scope}:/{expression}/") == names_left(
        opened, f"{scope}:(/{expression}/ OR /{expression}|{expression}/)"
    )
