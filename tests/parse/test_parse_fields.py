"""Fields of Dataview and the signs of Tasks: what is one, its name and its value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.model import JsonValue, Note
from vault_indexer.parse import join_properties, parse_any, task_fields
from vault_indexer.parse.fields import MAX_FIELDS, fold_name

FIELDS: list[tuple[str, dict[str, JsonValue]]] = [
    # Forms and places
    ("Basic Field:: Some text\n**Bold Field**:: Nice!", {"basic-field": "Some text", "bold-field": "Nice!"}),
    ("I rate it [rating:: 9]! It was (mood:: fine).", {"rating": 9, "mood": "fine"}),
    ("- rating:: 3\n  - [deep:: x]\n1. (third:: y)", {"rating": 3, "deep": "x", "third": "y"}),
    ("- [ ] call [who:: Ada]\n- [/] level:: 2", {"who": "Ada", "level": 2}),
    ("> quoted:: yes\n> [!note] called:: 3\n> more:: true", {"quoted": "yes", "called": 3, "more": True}),
    ("# One [s:: 1]\n\n## Status:: open", {"s": 1, "status": "open"}),
    ("| a | b |\n|---|---|\n| [cell:: 4] | x:: y |", {"cell": 4}),
    ("one:: 1 [two:: 2]", {"two": 2}),
    ("see [the (inner:: 1) text](a.md)", {"inner": 1}),
    # Names
    (
        "Noël:: jeu\nクリスマス:: 家\n[🎄:: tree]\n[x mas🎄:: t]",
        {"noël": "jeu", "クリスマス": "家", "🎄": "tree", "x-mas🎄": "t"},
    ),
    ("*a*:: 1\n~~b~~ :: 2\n==c==::3", {"a": 1, "b": 2}),
    ("What is it? :: x\na.b:: 1\na, b:: 2", {}),
    # Values
    ("a:: 6\nb:: 2.4\nc:: -80\nd:: 1.10\ne:: 007", {"a": 6, "b": 2.4, "c": -80, "d": "1.10", "e": "007"}),
    ("a:: true\nb:: False\nc::\n[d::]\ne:: null", {"a": True, "b": False, "c": None, "d": None, "e": None}),
    ("d:: 2026-04-18\nt:: 2026-04-18T04:19", {"d": "2026-04-18", "t": "2026-04-18T04:19"}),
    ("l:: [[A Page|b]]\n[m:: [[B]], [[C]]]", {"l": "[[A Page|b]]", "m": ["[[B]]", "[[C]]"]}),
    (
        'a:: 1, 2, 3\nb:: "yes", "or"\nc:: x, y\nd:: "in it"',
        {"a": [1, 2, 3], "b": ["yes", "or"], "c": "x, y", "d": "in it"},
    ),
    ("a:: *very* `good` ^block-1", {"a": "very good"}),
    ("(a:: f(x) and [y])", {"a": "f(x) and [y]"}),
    ("a:: 1\nA:: 2\na:: 1\n[a:: 3, 4]", {"a": [1, 2, 3, 4]}),
    (
        "up::[[Home]]\nday::2026-01-02\nwww::https://x.org\n[mood::good]",
        {"up": "[[Home]]", "day": "2026-01-02", "www": "https://x.org", "mood": "good"},
    ),
    # No fields
    ("std::vector<int> v;\nstd::move(x)\n(std::sort)\nFoo::~Foo\n#[tokio::main]", {}),
    ("http://x::y\n:: no\n::: note\nfe80::1\nkey: value\na:b", {}),
    ("`[a:: b]` $[c:: d]$ %%[e:: f]%% <!-- [g:: h] --> <b title='[i:: j]'>", {}),
    ("[x](<k:: v>) [t:: v](http://a) [r:: q] ![[p|(z:: 1)]]\n\n[r:: q]: /u", {}),
    ("\\[no:: x\\] [open:: x\n\nclosed:: y]", {"closed": "y]"}),
    ("```\nc:: d\n```\n\n    e:: f\n\n~~~md\n[g:: h]\n~~~\n\n`code`:: x", {}),
    ("%%\n\na:: b\n\n%%\n\n$$\ng:: h\n$$\n\n$$\n\ni:: j\n\n$$\n\n<div>\nk:: l\n</div>", {}),
    # The signs of Tasks
    (
        "- [ ] a 📅 2026-12-01 ⏳ 2026-11-01 🛫2026-10-01 ➕ 2026-09-01 ⏫ 🔁 every 2 weeks",
        {
            "due": "2026-12-01",
            "scheduled": "2026-11-01",
            "start": "2026-10-01",
            "created": "2026-09-01",
            "priority": "high",
            "repeat": "every 2 weeks",
        },
    ),
    (
        "- [x] a ✅ 2026-12-01 ❌ 2026-12-02 🗓️2026-01-01",
        {"completion": "2026-12-01", "cancelled": "2026-12-02", "due": "2026-01-01"},
    ),
    ("- [ ] a 🔺\n- [ ] b 🔼\n- [ ] c 🔽\n- [ ] d ⏬", {"priority": ["highest", "medium", "low", "lowest"]}),
    ("- [ ] a [due:: 2026-12-01] 📅 2026-12-02", {"due": ["2026-12-01", "2026-12-02"]}),
    (
        "- [ ] a due:2026-01-01\n- [ ] b @due(2026-01-02)\n- [ ] DEADLINE: <2026-01-03>",
        {"due": ["2026-01-01", "2026-01-02", "2026-01-03"]},
    ),
    ("- bought 📅 2026-12-01 ⏫ due:2026-01-01", {"due": "2026-12-01"}),
    ("Text 📅 2026-12-01 ⏫\n\n- [ ] `📅 2026-12-02`", {}),
]


def fields_of(text: str) -> Note:
    return parse_any("Note.md", text.encode())


@pytest.mark.parametrize(("text", "fields"), FIELDS)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_field_has_a_name_and_a_value(text: str, fields: dict[str, JsonValue], line_end: str) -> None:
    note = fields_of(f"---\nrating: 1\n---\n{text}\n".replace("\n", line_end))
    assert note.fields == fields
    assert note.frontmatter == {"rating": 1}


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


def test_a_card_of_a_canvas_has_fields() -> None:
    canvas = b'{"nodes": [{"id": "1", "type": "text", "text": "rating:: 4", "x": 0, "y": 0}]}'
    assert parse_any("Board.canvas", canvas).fields == {"rating": 4}
