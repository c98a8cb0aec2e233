"""Patterns of .gitignore mean what they mean for git."""

import shutil
import time
from collections.abc import Sequence

import pytest
from git_ignored import GitFolder
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from vault_indexer.patterns import ExpressionSet, GitignorePatterns, PatternError, parse_pattern

FILES = (
    *("a", "b.md", "A.md", "Z", "-", "_", "]", "[", "[ab]", "!a", "#a", "a b", "a ", "a\t", "\\", "^"),
    *(":", "foo"),
    *("d/a", "d/b.md", "d/A.md", "d/e/a", "d/e/b.md", "d/e/f/a.md", "d/]/-", "d/ /a", "d/e f/[", "D/a"),
    "D/b.md",
    *("foo.d/a", "food/a", "foo-bar/x/y", "foo-x/b/bar", "ab/ba/aab.md", "b/a/b/a/b", "ä.md"),
    "x/éaaaaaaaaa/ö.md",
)
"""Of any two names only one is a folder."""

WILDMATCH = (
    *("foo", "*", "*f", "??", "???", "f*", "*foo*", "*ob*a*r*", "*ab", "foo\\*", "foo\\*bar", "f\\\\oo"),
    "[ten]a",
    *("*[al]?", "**[!te]", "**[!ten]", "t[a-g]n", "t[!a-g]n", "t[^a-g]n", "a[]]b", "a[]-]b", "a[]a-]b"),
    *("]", "[]]"),
    *("foo*bar", "foo**bar", "foo/**/bar", "foo/**/**/bar", "**/foo", "**/d/a", "d/**", "d/**/", "d/*"),
    *("d/*/", "d?a"),
    *("d[/]a", "d[^a-z]a", "f[^eiu][^eiu][^eiu][^eiu][^eiu]r", "**/a*", "d/**/a.md", "/d/a", "/a", "//a"),
    "a//b",
    *("[[:alpha:]]", "[[:upper:]]*", "[[:digit:][:space:]]", "[[:punct:]]", "[[:xdigit:]]"),
    "[a-c[:digit:]x-z]",
    *("[[:alnum:]_]", "[^[:alpha:]]", "[\\-_]", "[\\]]", "[[-\\]]", "[!]]", "[]-a]", "[!-/]", "[,-.]"),
    "[\\\\-^]",
    *("[a-]", "[-a]", "[--A]", "[ --]", "[[]ab]", "[[:]ab]", "[]ab]", "[\\[:]ab]", "[a-\\]]", "[Z-y]"),
    "[z-a]",
    *("!a", "\\!a", "\\#a", "#a", "a\\ ", "a ", "a\\  ", "a\t", "tab\t", " ", "\\ ", "\\a", "d/", "/d/"),
    *("d/e/", "e/"),
    *("**", "**/", "/**", "/*", "*/", "*/*", "*.md", "d/*.md", "foo**", "/foo**", "foo**/a"),
    *("/foo-**/bar", "d**/a"),
    *("a**/b", "d/**e", "d/e**", "***", "d/***/a", "**/**", "**/**/a", "d/**\\/a", "?", "/?", "ä.md"),
    "**/é*/",
    *("*a*b*a*b*", "*/*/*", "/", "//", "d//", "A.MD", "D/", "foo\\", "*/\\", "-*-*-*-*", "**/*a*b*g*n*t"),
    "*X*i",
)
"""Patterns as in git's own tests of wildmatch and of ignored files, and those that were misread here."""


@pytest.fixture(scope="module")
def git(tmp_path_factory: pytest.TempPathFactory) -> GitFolder:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    return GitFolder(tmp_path_factory.mktemp("git"), FILES)


def ignored(lines: Sequence[str], paths: dict[str, bool]) -> set[str]:
    """As git goes on: below an ignored folder, everything is."""
    patterns = GitignorePatterns(lines)
    found: set[str] = set()
    for path, is_dir in sorted(paths.items(), key=lambda item: item[0].count("/")):
        parent = path.rpartition("/")[0]
        if parent in found or patterns.matches(path, is_dir=is_dir):
            found.add(path)
    return found


def understood(lines: Sequence[str]) -> list[str]:
    kept = []
    for line in lines:
        try:
            parse_pattern(line)
            kept.append(line)
        except PatternError:
            continue
    return kept


@pytest.mark.parametrize("pattern", WILDMATCH)
def test_each_pattern_means_what_git_says(git: GitFolder, pattern: str) -> None:
    if understood([pattern]):
        assert ignored([pattern], git.paths) == git.ignored([pattern])
        assert ignored(["*", f"!{pattern}"], git.paths) == git.ignored(["*", f"!{pattern}"])
    else:  # git never matches what it does not understand
        assert git.ignored([pattern]) == set()


PIECES = st.sampled_from(
    [
        *"ab/*?[]!^-\\ \t#:.e",
        *("**", "**/", "/**", "[a-c]", "[!a", "[[:alpha:]]", "[[:upper:]", "d/", ".md", "\\ "),
    ]
)
LINES = st.lists(st.lists(PIECES, min_size=1, max_size=6).map("".join), min_size=1, max_size=8)


@pytest.mark.long
@example(["*", "!*/", "!*.md"])
@example(["*.md", "!d/**/a.md", "d/e/"])
@example(["????"])
@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LINES)
def test_lists_of_patterns_mean_what_git_says(git: GitFolder, lines: list[str]) -> None:
    kept = understood(lines)
    differing = ignored(kept, git.paths) ^ git.ignored(kept)
    # `?` and `[…]` stand for one character, where git counts bytes.
    assert [path for path in differing if path.isascii()] == []
    refused = [line.removeprefix("!") for line in lines if line not in kept]
    if refused:
        assert git.ignored([line for line in refused if not line.startswith("#")]) == set()


def test_the_whitelist_idiom_keeps_what_it_names_in_every_folder(git: GitFolder) -> None:
    kept = git.paths.keys() - ignored(["*", "!*/", "!*.md"], git.paths)
    assert {path for path in kept if not git.paths[path]} == {path for path in FILES if path.endswith(".md")}


def test_a_character_is_one_in_every_script() -> None:
    patterns = GitignorePatterns(["?.md", "[ä-ü]/"])
    assert patterns.matches("é.md", is_dir=False)
    assert patterns.matches("ö", is_dir=True)


@pytest.mark.long
def test_long_lists_and_many_stars_are_understood_and_fast() -> None:
    lines = [f"**/d{number}/*a*b*c*{number}" for number in range(2000)]
    patterns = GitignorePatterns(["*my*very*secret*draft*", *lines])
    assert patterns.matches("x/our my very secret old draft.md", is_dir=False)
    assert patterns.matches("x/d1999/abc1999", is_dir=False)
    started = time.process_time()
    for number in range(500):
        assert not patterns.matches(f"x/d{number}/note {number}.md", is_dir=False)
    assert time.process_time() - started < 5.0


def test_a_set_without_room_for_its_automaton_is_divided() -> None:
    stars = [(number, f"(?s:.*){number}a(?s:.*)b(?s:.*){number}c(?s:.*)") for number in range(300)]
    small = ExpressionSet(stars, memory=1 << 18)
    assert small.last_match("x 7a b 7c 12a b 12c") == 12
    assert small.last_match("x 7a") == -1
