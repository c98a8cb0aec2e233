"""Regular expressions mean on RE2 what they mean in JavaScript and in Python, or are refused."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.patterns import (
    ExpressionSet,
    PatternError,
    TextPattern,
    check_linear,
    javascript_expression,
)


def finds(pattern: str, text: str) -> bool:
    """As `new RegExp(pattern).test(text)`."""
    return ExpressionSet([(0, javascript_expression(pattern))], whole=False).last_match(text) == 0


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"^Archive/\d{4}/.*\.md$", "Archive/2024/a.md", True),
        (r"^Archive/", "x\nArchive/", False),
        (r"a$", "a\n", False),
        (r"\d", "٣", False),
        (r"\w", "é", False),
        (r"a\sb", "a\u00a0b", True),
        (r"a\sb", "a\u200bb", False),
        (r"a[\s]b", "a\u3000b", True),
        (r"a[^\s]b", "a\u3000b", False),
        (r"a[\S]b", "a\u3000b", False),
        (r"a[\s\S]b", "a\nb", True),
        (r"a.b", "a\u2028b", False),
        (r"\u0041\x42\/\u{43}", "AB/C", True),
        (r"(?<year>\d+)\.md", "2024.md", True),
        (r"[^]", "\n", True),
        (r"[]", "x", False),
        (r"[[:alpha:]]", ":]", True),
        (r"(Private|Secret)+.*", "x/Secret", True),
        (r"a{,2}", "a{,2}", True),
        (r"a{2", "a{2", True),
        (r"a{2", "a{3", False),
        (r"a{2}b", "aab", True),
        (r"a\0b", "a\x00b", True),
        (r"a[\b]c", "a\bc", True),
        (r"\bc", "a c", True),
        (r"\p{Lu}b", "\u00c4b", True),
        (r"\P{Lu}b", "\u00c4b", False),
        (r"\-\_\u00e9", "-_\u00e9", True),
    ],
)
def test_javascript(pattern: str, text: str, found: bool) -> None:
    assert finds(pattern, text) is found


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("a(?=b)", "lookahead ((?=…)"),
        ("a(?!b)", "lookahead ((?!…)"),
        ("(?<=a)b", "lookbehind ((?<=…)"),
        ("(?<!a)b", "lookbehind ((?<!…)"),
        (r"(a)\1", r"a backreference (\1)"),
        (r"(?<n>a)\k<n>", r"a backreference (\k)"),
        (r"a\9", r"a backreference (\9)"),
        (r"a\p{Lu", "this regular expression is not valid"),
        (r"a\A", r"\A is not supported in a regular expression"),
        ("(a", "this regular expression is not valid: missing )"),
        ("[a", "this class of characters is never closed"),
        ("(a{500}){500}", "this regular expression is not valid"),
        ("a{900}" * 5, "this regular expression is too large"),
    ],
)
def test_what_needs_more_than_linear_time_is_refused_by_name(pattern: str, reason: str) -> None:
    with pytest.raises(PatternError) as caught:
        javascript_expression(pattern)
    assert str(caught.value).startswith(reason)


_PIECES = (
    r"a b 1 . ^ $ | \s \S \d \D \w [^\s] [\Sa] [\D1] []a] [^\w] (?: ) + ? {,2} {1,2} \. \u00e9 \xe9 é (?i) "
    r"[a-c] \n [[]"
)
PARTS = st.sampled_from([" ", *_PIECES.split()])
TEXTS = st.text(alphabet="aB1 .\n\u00a0\u3000é\u0663_[]\x1c\x85", max_size=12)


@pytest.mark.filterwarnings("ignore:Possible nested set")
@given(st.lists(PARTS, min_size=1, max_size=6).map("".join), TEXTS)
def test_what_is_accepted_means_the_same_as_in_python(pattern: str, text: str) -> None:
    try:
        expected = re.compile(pattern, re.MULTILINE)
        check_linear(pattern)
    except (re.error, PatternError):
        return
    spans = [match.span() for match in expected.finditer(text) if match[0]]
    if expected.match("") is None:  # the settings refuse others
        assert list(TextPattern(pattern).spans(text, 0)) == spans


def test_a_pattern_of_the_user_with_lookaround_is_matched_by_python() -> None:
    assert list(TextPattern(r"(?<=a)b").spans("ab cb", 0)) == [(1, 2)]


def test_nested_repetitions_take_linear_time() -> None:
    started = time.process_time()
    assert list(TextPattern(r"(a+)+(b|c)+$").spans("a" * 50_000, 0)) == []
    assert not finds("a?" * 34 + "a" * 34, "a" * 33)
    assert time.process_time() - started < 5.0
