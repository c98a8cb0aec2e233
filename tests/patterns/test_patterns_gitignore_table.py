"""What single patterns of .gitignore match, and what a list of them decides."""

import pytest

from vault_indexer.patterns import GitignorePatterns, PatternError, parse_pattern


@pytest.mark.parametrize(
    ("pattern", "matched", "others"),
    [
        # names, at any depth, and paths
        ("a", "a d/a d/e/a", "ab ba a.b"),
        ("/a", "a", "d/a"),
        ("d/a", "d/a", "e/d/a a"),
        ("/d/a", "d/a", "e/d/a"),
        # stars and question marks
        ("*", "a d/a .x", ""),
        ("*.md", "a.md d/a.md .md", "a.md.x md"),
        ("a*b", "ab axb axxb d/ab", "a/b abx"),
        ("?", "a d/b", "ab"),
        ("a?b", "axb", "ab a/b"),
        ("/*", "a", "d/a"),
        ("d/*", "d/a", "d/e/a da"),
        ("d/*/a", "d/x/a", "d/a d/x/y/a"),
        # two stars
        ("**/a", "a d/a d/e/a", "ba d/ba"),
        ("d/**", "d/a d/e/a", "d e/d/a"),
        ("d/**/a", "d/a d/e/a d/e/f/a", "da d/ea"),
        ("d**/a", "d/a dx/a d/x/a", "e/a"),
        ("d/**a", "d/a d/xa", "d/x/a"),
        ("**", "a d/a", ""),
        ("a**b", "ab axxb", "a/b"),
        # classes
        ("[ab]", "a b", "c ab"),
        ("[a-c]x", "ax bx cx", "dx -x"),
        ("[!a]", "b", "a"),
        ("[^a-c]", "d", "a b c"),
        ("[a-]", "a -", "b"),
        ("[]]", "]", "a"),
        ("[]a]", "] a", "b"),
        ("[!]a]", "b", "] a"),
        ("[\\]]", "]", "\\ a"),
        ("[\\a-c]", "a b c", "\\ d"),
        ("[a\\-c]", "a - c", "b"),
        ("[[:digit:]]", "0 9", "a"),
        ("[[:alpha:]_]", "a Z _", "0"),
        ("[^[:alnum:]]", "-", "a Z 0"),
        ("[[:punct:]]", "! @ ~ _", "a 0"),
        ("[[:xdigit:]]", "0 f F", "g"),
        ("[[:]", ": [", "a"),
        ("[[:a]", ": [ a", "b"),
        ("[z-a]", "z", "a m"),
        ("d[,-0]a", "d-a d0a", "d/a dxa"),
        ("d[^x]a", "d-a", "d/a dxa"),
        ("[a-c-e]", "a c - e", "d"),
        # escapes, spaces, comments
        ("\\*", "*", "a"),
        ("\\a", "a", "\\a"),
        ("\\#a", "#a", "a"),
        ("\\!a", "!a", "a"),
        ("a  ", "a", "a_"),
        ("a.b", "a.b", "axb"),
        ("a+(b)", "a+(b)", "aab"),
        ("é?", "éa éé", "é"),
    ],
)
def test_a_pattern_matches_these_files_and_not_those(pattern: str, matched: str, others: str) -> None:
    patterns = GitignorePatterns([pattern])
    for path in matched.split():
        assert patterns.matches(path, is_dir=False), path
        assert patterns.matches(path, is_dir=True), path
    for path in others.split():
        assert not patterns.matches(path, is_dir=False), path


@pytest.mark.parametrize(
    ("pattern", "path", "is_matched"),
    [
        ("a\\ ", "a ", True),
        ("a\\ ", "a", False),
        ("a\\\\ ", "a\\", True),
        ("a\\  ", "a ", True),
        ("a\t", "a\t", True),
        ("a\t", "a", False),
        (" a", " a", True),
    ],
)
def test_a_space_at_the_end_counts_behind_a_backslash(pattern: str, path: str, is_matched: bool) -> None:
    assert GitignorePatterns([pattern]).matches(path, is_dir=False) is is_matched


@pytest.mark.parametrize("line", ["", " ", "   ", "#", "#a", "# a/"])
def test_blank_lines_and_comments_are_no_patterns(line: str) -> None:
    assert parse_pattern(line) is None
    assert not GitignorePatterns([line])
    assert not GitignorePatterns([line]).matches("a", is_dir=False)


def test_a_pattern_with_a_slash_at_its_end_matches_folders_alone() -> None:
    patterns = GitignorePatterns(["d/", "/e/f/"])
    assert [patterns.matches(path, is_dir=True) for path in ("d", "x/d", "e/f", "x/e/f")] == [
        True,
        True,
        True,
        False,
    ]
    assert not patterns.matches("d", is_dir=False)
    assert [patterns.selects(path) for path in ("d", "d/a", "x/d/y/a", "e/f/a", "e/a")] == [
        False,
        True,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("lines", "matched"),
    [
        (["*.md", "!a.md"], [False, True]),
        (["!a.md", "*.md"], [True, True]),
        (["*.md", "!/a.md"], [False, True]),
        (["/a.md", "!*.md"], [False, False]),
        (["!*.md", "/a.md"], [True, False]),
        (["*.md", "!a.md", "/a.md"], [True, True]),
        (["!a.md"], [False, False]),
        ([], [False, False]),
    ],
)
def test_the_last_pattern_that_matches_decides_names_and_paths_alike(
    lines: list[str], matched: list[bool]
) -> None:
    patterns = GitignorePatterns(lines)
    assert [patterns.matches(path, is_dir=False) for path in ("a.md", "b.md")] == matched
    assert [patterns.selects(path) for path in ("a.md", "b.md")] == matched
    assert bool(patterns) == bool(lines)


def test_what_a_folder_above_matches_is_selected_unless_a_later_pattern_says_otherwise() -> None:
    assert not GitignorePatterns(["d/", "!d/a"]).selects("d/a")
    assert GitignorePatterns(["!d/a", "d/"]).selects("d/a")
    assert [GitignorePatterns(["d/", "!d/e/"]).selects(path) for path in ("d/a", "d/e/a")] == [True, False]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[a", "a class of characters ([…]) that is not closed"),
        ("[", "a class of characters ([…]) that is not closed"),
        ("[]", "a class of characters ([…]) that is not closed"),
        ("[a\\", "a class of characters ([…]) that is not closed"),
        ("[[:alpha:", "a class of characters ([…]) that is not closed"),
        ("[a-", "a class of characters ([…]) that is not closed"),
        ("[[:word:]]", "an unknown class [:word:], choose one of alnum, alpha"),
        ("a\\", "it ends in a backslash"),
        ("a\0b", "a NUL character"),
    ],
)
def test_a_malformed_pattern_is_an_error(line: str, said: str) -> None:
    with pytest.raises(PatternError) as error:
        parse_pattern(line)
    assert str(error.value).startswith(said)


def test_a_list_has_twenty_thousand_stars_at_most() -> None:
    assert GitignorePatterns(["a*b"] * 3 + ["#" + "*" * 19_997]).matches("axb", is_dir=False)
    with pytest.raises(PatternError, match="more than 20,000 stars"):
        GitignorePatterns(["a*b"] * 3 + ["#" + "*" * 19_998])
