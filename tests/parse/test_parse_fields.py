"""Fields of Dataview and the signs of Tasks: what is one, its name and its value."""

import json

from golden_cases import check_golden
from hypothesis import given
from hypothesis import strategies as st
from parse_goldens import FIXTURES

from vault_indexer.model import Note
from vault_indexer.parse import join_properties, parse_any, task_fields
from vault_indexer.parse.fields import MAX_FIELDS, fold_name


def fields_of(text: str) -> Note:
    return parse_any("Note.md", text.encode())


def test_fields_are_those_of_the_golden() -> None:
    def fields(text: str) -> str:
        note, with_returns = (
            fields_of(f"---\nrating: 1\n---\n{text}\n".replace("\n", end)) for end in ("\n", "\r\n")
        )
        assert note.fields == with_returns.fields
        assert note.frontmatter == {"rating": 1}
        return json.dumps(note.fields, ensure_ascii=False)

    check_golden(FIXTURES / "fields.md", {"": fields})


NAMES = st.from_regex(r"[A-Za-zé][A-Za-zé_]{0,8}( [A-Za-zé]{1,8})?", fullmatch=True)
VALUES = st.from_regex(r"[a-z]{1,6}( [a-z]{1,6}){0,2}", fullmatch=True).filter(
    lambda value: value not in ("true", "false", "null")
)
FORMS = ("{}", "- {}", "> {}", "- [ ] {}", "1. {}", "> - {}")
BRACKETS = ("{}:: {}", "[{}:: {}]", "before ({}:: {}) after")
HIDDEN = (
    *("```\n{}\n```", "~~~\n{}\n~~~", "`{}`", "%%{}%%", "<!-- {} -->", "$$\n{}\n$$", "\n    {}"),
    "[t](<{}>)",
)


@given(NAMES, VALUES, st.sampled_from(FORMS), st.sampled_from(BRACKETS), st.sampled_from(HIDDEN))
def test_every_form_is_found_everywhere_but_in_code(
    name: str, value: str, place: str, form: str, hidden: str
) -> None:
    written = form.format(name, value)
    assert fields_of(place.format(written)).fields == {fold_name(name): value}
    assert fields_of(f"Text.\n\n{hidden.format(written)}\n").fields == {}


def test_a_task_has_the_fields_of_its_own_text() -> None:
    assert task_fields("- [ ] pay %%[a:: 1]%% `📅 2026-01-01`\n  (b:: 2) 📅 2026-02-01") == {
        "b": 2,
        "due": "2026-02-01",
    }
    assert task_fields("- [ ] pay") == {}


def test_values_of_the_frontmatter_come_before_those_of_the_text() -> None:
    joined = join_properties({"Due Date": "a", "b": [1]}, {"due-date": ["x", "y"], "b": 2, "c": None})
    assert joined == {"Due Date": ["a", "x", "y"], "b": [1, 2], "c": None}


def test_fields_beyond_the_limit_are_text() -> None:
    note = fields_of("[a:: b]\n" * (MAX_FIELDS + 1))
    assert [problem.detail for problem in note.diagnostics] == ["more than 10,000 fields: the rest is text"]
