"""How the end of a query can go on, in a small vault."""

from pathlib import Path

import pytest
from golden_cases import check_golden
from indexed_vault import Indexed, OpenNotes

from vault_indexer.search.query import OPERATORS
from vault_indexer.service import VaultService

Offered = list[tuple[str, int]]


def offered(service: VaultService, query: str, limit: int = 12) -> tuple[str, Offered]:
    """What is replaced, and by which texts; with each, how often it occurs."""
    found = service.complete(query, limit)
    return found.replaces, [(one.text, one.count) for one in found.items]


def test_what_is_offered_is_that_of_the_golden(indexed: Indexed) -> None:
    def shown(query: str) -> str:
        replaced, items = offered(indexed[0], query)
        return f"{replaced or 'nothing'}: {', '.join(f'{text} {count}' for text, count in items)}"

    check_golden(Path(__file__).parent / "fixtures" / "completion.md", {"": shown})


def test_an_operator_is_offered_by_its_beginning_with_what_it_finds(indexed: Indexed) -> None:
    found = indexed[0].complete("heap li")
    assert found.replaces == "li"
    names = ["links-to", "linked-from", "line"]
    assert [(one.text, one.kind, one.count) for one in found.items] == [
        (f"{n}:", "operator", 0) for n in names
    ]
    assert [one.help for one in found.items] == [OPERATORS[name] for name in names]
    assert offered(indexed[0], "x:li") == ("", [])
    assert offered(indexed[0], "heap -(lan") == ("lan", [("lang:", 0)])


@pytest.mark.parametrize("query", ["", "heap ", "tag:#soil ", "heap (", "-", "heap OR -", "-("])
def test_all_operators_are_offered_where_a_term_begins(indexed: Indexed, query: str) -> None:
    assert offered(indexed[0], query, 50) == ("", [(f"{name}:", 0) for name in OPERATORS])


@pytest.mark.parametrize("query", ["l", "tag:", "path:", "[", "heap "])
def test_no_more_are_offered_than_are_wanted(indexed: Indexed, query: str) -> None:
    replaced, items = offered(indexed[0], query)
    assert len(items) > 3
    assert offered(indexed[0], query, 3) == (replaced, items[:3])


def test_kinds_tell_folders_tags_properties_and_values_apart(indexed: Indexed) -> None:
    kinds = {query: indexed[0].complete(query, 1).items[0].kind for query in ("tag:", "path:", "[", "[tags:")}
    assert kinds == {"tag:": "tag", "path:": "folder", "[": "property", "[tags:": "value"}


@pytest.mark.posix("quotation marks in names")
def test_what_a_query_cannot_say_is_not_offered(open_notes: OpenNotes) -> None:
    """Brackets, quotation marks and line breaks in names and values; values that are long, or no text."""
    frontmatter = (
        f'"a[b": one\nplain: {{in: it}}\nmany: [say "x", fine, {"y" * 60}, {"z" * 61}, "a]b", 3.5, [deep]]'
    )
    notes = {
        "A.md": f"---\n{frontmatter}\n---\nText.\n",
        "B.md": "---\nMany: fine\nmany: fine\n---\nText.\n",
        "C.md": "---\nnothing\n---\nText.\n",
        'say "it"/in/D.md': "Text.\n",
        "say so/in/E.md": "Text.\n",
    }
    service, _ = open_notes(notes)
    assert offered(service, "path:") == ("path:", [('path:"say so/"', 1), ('path:"say so/in/"', 1)])
    assert offered(service, "[")[1] == [("[many]", 2), ("[Many]", 1), ("[plain]", 1)]
    assert offered(service, "[plain:")[1] == []
    values = [('[MANY:"fine"]', 3), ('[MANY:"3.5"]', 1), (f'[MANY:"{"y" * 60}"]', 1)]
    assert offered(service, "[MANY:")[1] == values
