"""What conditions on texts are made of: pieces of notes, sets of matches, and the search for one pattern."""

import pytest

from vault_indexer.errors import QueryError
from vault_indexer.parse import Task
from vault_indexer.search.deadline import LOOK, RENDERED, ReadingBudget
from vault_indexer.search.filters.candidates import Matches
from vault_indexer.search.filters.path_filter import name_contains, path_condition
from vault_indexer.search.filters.scopes import HeadingRow, NoteText, Pieces, pieces, task_states
from vault_indexer.search.filters.text import is_seen_in_text, required_regex, required_word
from vault_indexer.search.filters.text_pattern import SearchedText, plain, text_pattern
from vault_indexer.search.filters.text_source import NoteSource, PatternSearch, is_worth_scanning
from vault_indexer.search.query import Node, Phrase, Regex, Scope, Within, Word, compile_regex, parse_query
from vault_indexer.text.tokens import LONGEST_TERM

LOOKS = Pieces([2, 5, 9], [4, 9, 10], [4, 9, 12])


def test_a_position_is_in_a_piece_or_before_the_next() -> None:
    assert [LOOKS.at(position) for position in range(11)] == [None, None, 0, 0, None, 1, 1, 1, 1, 2, None]
    behind = [LOOKS.at_or_behind(position) for position in range(12)]
    assert behind == [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, None]
    assert (len(LOOKS), LOOKS.size) == (3, 2 + 4 + 1)
    none = Pieces([], [], [])
    assert (len(none), none.size, none.at(0), none.at_or_behind(0)) == (0, 0, None, None)


TEXT = "---\na: b\n---\nintro\n# A\na\n\n## B\nb\n# C\n- [ ] open\n- [x] done\n"


def note(**known: object) -> NoteText:
    headings = [
        HeadingRow(level, TEXT.index(title), TEXT.index(title) + len(title))
        for level, title in ((1, "# A"), (2, "## B"), (1, "# C"))
    ]
    return NoteText(TEXT, headings, **known)  # type: ignore[arg-type]  # as named


def shown(found: Pieces, *, places: bool = False) -> list[str]:
    ends = found.place_ends if places else found.ends
    return [TEXT[start:end] for start, end in zip(found.starts, ends, strict=True)]


BODY = TEXT[13:]


def test_the_pieces_of_each_scope() -> None:
    assert shown(pieces(note(), Scope.CONTENT)) == [BODY]
    assert shown(pieces(note(), Scope.LINE)) == BODY.splitlines(keepends=True)
    assert shown(pieces(note(), Scope.LINE), places=True) == BODY.splitlines(keepends=True)
    assert shown(pieces(note(), Scope.HEADING)) == ["# A", "## B", "# C"]
    assert shown(pieces(note(), Scope.HEADING), places=True) == [
        "# A\na\n\n## B\nb\n",
        "## B\nb\n",
        "# C\n- [ ] open\n- [x] done\n",
    ]
    assert shown(pieces(note(), Scope.SECTION)) == [
        "intro\n",
        "# A\na\n\n",
        "## B\nb\n",
        "# C\n- [ ] open\n- [x] done\n",
    ]
    blocks = shown(pieces(note(), Scope.BLOCK))
    assert [block.strip() for block in blocks] == [
        *("intro", "# A", "a", "## B", "b", "# C", "- [ ] open", "- [x] done"),
    ]
    assert shown(pieces(note(), Scope.PATH)) == []


def test_a_section_of_nothing_before_the_first_heading_is_none() -> None:
    found = pieces(NoteText("# A\n", [HeadingRow(1, 0, 3)]), Scope.SECTION)
    assert list(zip(found.starts, found.ends, strict=True)) == [(0, 4)]


@pytest.mark.parametrize(
    ("scope", "states", "tasks"),
    [
        (Scope.TASK, (False, True), ["open", "done"]),
        (Scope.TASK_TODO, (False,), ["open"]),
        (Scope.TASK_DONE, (True,), ["done"]),
        (Scope.LINE, (), None),
    ],
)
def test_tasks_are_chosen_by_their_state(
    scope: Scope, states: tuple[bool, ...], tasks: list[str] | None
) -> None:
    assert task_states(scope) == states
    if tasks is None:
        return
    parsed = shown(pieces(note(), scope))
    assert [task.strip()[-4:] for task in parsed] == tasks
    known = [Task(13, 18, is_done=True), Task(19, 22, is_done=False)]
    kept = shown(pieces(note(tasks=known), scope))
    assert kept == [text for text, is_done in (("intro", True), ("# A", False)) if is_done in states]


def test_what_the_catalog_knows_of_a_note_is_not_parsed_again() -> None:
    assert shown(pieces(note(blocks=[(13, 18)]), Scope.BLOCK)) == ["intro"]
    assert shown(pieces(note(blocks=[]), Scope.BLOCK)) == []
    assert shown(pieces(note(tasks=[]), Scope.TASK)) == []


@pytest.mark.parametrize(
    ("text", "body", "shown_from"),
    [(TEXT, 13, 13), ("---\na: b\n---\n", 13, 0), ("---\na: b\n---\n \n", 13, 0), ("a", 0, 0), ("", 0, 0)],
)
def test_the_text_begins_with_the_body_or_where_there_is_none_with_the_frontmatter(
    text: str, body: int, shown_from: int
) -> None:
    found = NoteText(text)
    assert (found.body_start, found.text_start) == (body, shown_from)


ONE = Matches(frozenset({1, 2, 3}), {1: ((0, 1),), 2: ((5, 6),)})
OTHER = Matches(frozenset({2, 3, 4}), {2: ((7, 8),), 3: ((0, 2),), 4: ((1, 2),)})


def test_notes_of_both_keep_the_places_of_either() -> None:
    both = ONE.both(OTHER)
    assert both.notes == {2, 3}
    assert both.places == {2: ((5, 6), (7, 8)), 3: ((0, 2),)}


def test_a_note_that_matches_as_a_whole_anywhere_has_no_place() -> None:
    found = Matches.any_of(iter([ONE, OTHER]))
    assert found.notes == {1, 2, 3, 4}
    assert found.places == {1: ((0, 1),), 2: ((5, 6), (7, 8)), 4: ((1, 2),)}
    assert Matches.any_of([]) == Matches(frozenset())


def inside(query: str) -> Node:
    (condition,) = parse_query(f"line:({query})").conditions
    assert isinstance(condition.node, Within)
    assert condition.node.inside is not None
    return condition.node.inside


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("bread oven", "bread"),
        ("oven oval", "oval"),
        ('"the longest phrase" x', "longest"),
        ("bread OR oven", None),
        ("(bread ab) OR (oven bread)", "bread"),
        ("-bread", None),
        ("bread -ovens", "bread"),
        ("/bread/", None),
        ("日本", None),
        (f"{'x' * LONGEST_TERM} ab", "ab"),
        (f"{'x' * (LONGEST_TERM - 1)} ab", "x" * (LONGEST_TERM - 1)),
    ],
)
def test_the_longest_word_that_every_piece_must_have(query: str, word: str | None) -> None:
    found = required_word(inside(query))
    assert (found and found.source) == word
    assert required_word(None) is None


@pytest.mark.parametrize(
    ("query", "scope", "pattern"),
    [
        ("/a/ /b/", Scope.LINE, "a"),
        ("x /b/", Scope.LINE, "b"),
        ("/a/ OR /b/", Scope.LINE, None),
        ("-/a/", Scope.LINE, None),
        ("/a/", Scope.HEADING, None),
        ("/^a/", Scope.LINE, "^a"),
        ("/^a/", Scope.CONTENT, "^a"),
        ("/^a/ /b/", Scope.BLOCK, "b"),
        ("/^a/", Scope.SECTION, None),
    ],
)
def test_an_expression_that_every_piece_must_match(query: str, scope: Scope, pattern: str | None) -> None:
    found = required_regex(inside(query), scope)
    assert found == (
        None if pattern is None else required_regex(Regex(pattern, found_column(query, pattern)), scope)
    )
    assert (found is None) == (pattern is None)
    assert required_regex(None, scope) is None


def found_column(query: str, pattern: str) -> int:
    return len("line:(") + query.index(f"/{pattern}/") + 1


@pytest.mark.parametrize(
    ("words", "match_case", "is_worth"),
    [
        ("bread", False, False),
        ("bread", True, True),
        ("the oven", False, True),
        ("é", False, True),
        ("", False, False),
    ],
)
def test_of_a_single_word_the_index_says_where_it_is(words: str, match_case: bool, is_worth: bool) -> None:
    pattern = text_pattern(words, match_case=match_case)
    assert is_worth_scanning(pattern) == is_seen_in_text(pattern, Scope.HEADING) == is_worth


def spent(budget: ReadingBudget) -> int:
    """What was spent since the last call."""
    before, budget.spent = budget.spent, 0
    return before


def test_looking_for_a_pattern_counts_by_what_is_read() -> None:
    budget = ReadingBudget()
    search = PatternSearch(budget)
    text = NoteSource(b"x" * 199 + b"* the oven")  # a mark, so that the part is rendered
    phrase, accents = text_pattern("the oven"), text_pattern("the öven")
    assert search.may_hold(phrase, text)
    assert spent(budget) == LOOK + 200
    assert not search.may_hold(text_pattern("an oven"), text)
    assert spent(budget) == LOOK + 209
    assert search.is_within(phrase, text, 190, 209)
    assert spent(budget) == LOOK + 11 + RENDERED * 209 + 19
    assert search.is_within(phrase, text, 200, 209)
    assert spent(budget) == LOOK + 1 + 9, "the part is rendered already"
    assert not search.is_within(accents, NoteSource(("é " * 10).encode()), 4, 14)
    assert spent(budget) == LOOK + 18
    assert search.may_hold(text_pattern(""), text)
    assert spent(budget) == 0


def test_whether_a_note_has_a_pattern_is_looked_for_once() -> None:
    budget = ReadingBudget()
    search = PatternSearch(budget)
    phrase, text, empty = text_pattern("the oven"), NoteSource(b"the oven"), NoteSource(b"")
    occurs = search.occurrence(phrase)
    assert [occurs(1, text), occurs(1, empty), occurs(2, empty)] == [True, True, False]
    assert spent(budget) == LOOK + LOOK
    assert search.occurrence(phrase)(1, empty) is True
    assert spent(budget) == 0
    search.forget()
    assert search.occurrence(phrase)(1, empty) is False
    assert spent(budget) == LOOK


@pytest.mark.parametrize(
    ("pattern", "text", "start", "places"),
    [
        ("an", "banana an", 0, [(1, 3)]),
        ("an", "an" + " " * 98 + "an", 0, [(0, 2), (100, 102)]),
        ("an", "an" + " " * 97 + "an", 0, [(0, 2)]),
        ("an", "an\nan\n\nan", 0, [(0, 2), (3, 5), (7, 9)]),
        ("an", "éan\nan", 2, [(4, 6)]),
        ("é", "日é\né", 0, [(1, 2), (3, 4)]),
        ("^", "a\nb", 0, [(0, 1), (1, 3)]),
        ("x*", "", 0, [(0, 1)]),
        ("a{150}", "a" * 300, 0, [(0, 150), (150, 300)]),
    ],
)
def test_the_places_of_an_expression(
    pattern: str, text: str, start: int, places: list[tuple[int, int]]
) -> None:
    search = PatternSearch(ReadingBudget())
    assert list(search.places(compile_regex(pattern), SearchedText(text), start)) == places


def test_a_piece_is_a_text_of_its_own_for_an_expression() -> None:
    budget = ReadingBudget()
    search = PatternSearch(budget)
    matcher = compile_regex("^b$")
    assert search.matches_within(matcher, "ab\r\nc", 1, 4)
    assert not search.matches_within(matcher, "abc\n", 1, 4)
    assert spent(budget) == 2 * LOOK + 1 + 2


UNFOLDED = "length(path) != length(CAST(path AS BLOB))"
LIKE = f"(path LIKE ? ESCAPE '\\' OR {UNFOLDED})"


@pytest.mark.parametrize(
    ("query", "sql", "values"),
    [
        ("a%b_c", LIKE, ["%a\\%b\\_c%"]),
        ("Café", LIKE, ["%cafe%"]),
        ("ж", UNFOLDED, []),
        ("a b", f"({LIKE} AND {LIKE})", ["%a%", "%b%"]),
        ("a OR ж", f"({LIKE} OR {UNFOLDED})", ["%a%"]),
        ("-a", "1", []),
        ("/a/", "1", []),
    ],
)
def test_the_paths_that_sqlite_lets_through(query: str, sql: str, values: list[str]) -> None:
    assert path_condition(inside(query)) == (sql, values)


@pytest.mark.parametrize(
    ("wanted", "is_in"),
    [
        (Word("cafe", 1), True),
        (Word("CAFÉ", 1), True),
        (Word("tea", 1), False),
        (Phrase("é p", 1), True),
        (Phrase("Café", 1, True), True),
        (Phrase("cafe", 1, True), False),
        (Phrase("Cafe\u0301", 1, True), True),
        (Regex("^café", 1), True),
        (Regex("^café", 1, True), False),
    ],
)
def test_a_name_contains_a_text_or_matches_an_expression(wanted: Node, is_in: bool) -> None:
    name = "Café plan.md"
    assert name_contains(name, plain(name), wanted) == is_in


def test_an_expression_that_is_wrong_is_refused_with_its_column() -> None:
    with pytest.raises(QueryError) as raised:
        compile_regex("a(", 5)
    assert raised.value.column == 5
    assert str(raised.value) == "column 5: this regular expression is not valid: missing ): a("


@pytest.mark.parametrize("words", ["\ud800", "a \ud800"])
def test_a_phrase_that_no_text_has_is_looked_for_without_a_scan(words: str) -> None:
    pattern = text_pattern(words)
    assert pattern.scanner is None
    assert not pattern.is_in("a b" * 50)
