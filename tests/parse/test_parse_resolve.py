"""Resolution as the catalog uses it: only links with an affected key are resolved again."""

import unicodedata
from functools import partial

from golden_cases import check_golden, of_parts
from hypothesis import given
from hypothesis import strategies as st
from parse_goldens import FIXTURES, outcome, scenes

from vault_indexer.parse import VaultPaths, link_key, resolve

NAMES = [
    *("n.md", "N.md", "n", "n.md.md", "p.png", "p.png.md", "é.md", "e\u0301.md", "É.MD", "v1.2.md", ".md"),
    *("x y.md", " x y.md", "ΣΑΣ.md", "σας.md", "straße.md", "STRASSE.md", "ΣΑΣ", "İ.md", "ŉ.PNG"),
]
FOLDERS = ["", "a/", "A/", "b/", "a/b/", "b/a/", "a/b/c/", "ΣΑΣ/"]
PATHS = [folder + name for folder in FOLDERS for name in NAMES]
TARGETS = [
    *("n", "N", "n.md", "N.MD", "n.md.md", "a/n", "b/n", "a/b/n", "A/N", "./n", "../n", "../../n", "/n"),
    *("/a/n", "a/../n", "p.png", "p", "P.PNG", "a/p.png", "é", "e\u0301", "É", "b/é.md", "v1.2", "v1"),
    *(".md", "x y", "", "..", "a/", "n/", "x y ", "a/n\t", " a/n.md ", "a/ x y", "../ x y", "n /"),
    *("\u2003n.md\u2003", "ΣΑΣ", "Σας", "σασ.md", "a/ΣΑΣ", "ΣΑΣ/n", "STRAẞE", "straße", "strasse"),
    *("i\u0307", "İ.md", "ŉ.png"),
]
SOURCES = ["s.md", "a/s.md", "a/b/s.md", "b/a/s.md"]
STEP = st.tuples(st.booleans(), st.lists(st.sampled_from(PATHS), min_size=1, max_size=3))


@given(st.lists(st.sampled_from(PATHS), max_size=8), st.lists(STEP, max_size=12))
def test_links_with_an_affected_key_are_all_that_change(
    start: list[str], steps: list[tuple[bool, list[str]]]
) -> None:
    paths = VaultPaths(start)
    links = [(target, source) for target in TARGETS for source in SOURCES]
    known = {link: resolve(*link, paths) for link in links}
    for add, changed in steps:
        affected = paths.add(*changed) if add else paths.remove(*changed)
        for target, source in links:
            if link_key(target) in affected:
                known[target, source] = resolve(target, source, paths)
        scratch = VaultPaths(sorted(paths))
        assert known == {link: resolve(*link, scratch) for link in links}


@given(st.lists(st.sampled_from(PATHS), max_size=8), st.sampled_from(TARGETS), st.sampled_from(SOURCES))
def test_what_is_found_is_in_the_vault(start: list[str], target: str, source: str) -> None:
    paths = VaultPaths(start)
    found = resolve(target, source, paths)
    if target and found.path is not None:
        assert found.path in paths
        assert link_key(found.path) == link_key(target)
    if found.ambiguous:
        assert found.path in found.ambiguous
        assert set(found.ambiguous) <= set(paths)
        assert len(found.ambiguous) > 1


@given(st.permutations(PATHS[:20]), st.sampled_from(TARGETS), st.sampled_from(SOURCES))
def test_the_order_of_the_paths_does_not_matter(paths: list[str], target: str, source: str) -> None:
    assert resolve(target, source, VaultPaths(paths)) == resolve(target, source, VaultPaths(sorted(paths)))


def test_what_changes_nothing_affects_nothing() -> None:
    paths = VaultPaths(["a/Note.md"])
    assert paths.add("a/Note.md") == frozenset()
    assert paths.remove("b/Note.md") == frozenset()
    assert paths.remove("a/Note.md") == {"note"}
    assert paths.add("x/Pic.PNG", "y/Other.md") == {"pic.png", "other"}
    assert len(paths) == 2


def test_every_path_with_an_extension_can_be_reached_by_its_own_name() -> None:
    """Except where two names differ only in how their letters are composed: no link can tell those apart."""
    paths = VaultPaths(PATHS)
    for path in (path for path in PATHS if "." in path and "\u0301" not in path):
        found = resolve("/" + path, "s.md", paths).path
        assert found is not None
        assert unicodedata.normalize("NFC", found) == path


def test_a_link_leads_where_the_golden_says() -> None:
    golden = FIXTURES / "resolution.md"
    known = scenes(golden.read_text("utf-8"))
    check_golden(golden, {title: partial(outcome, scene) for title, scene in known.items()})


def test_of_several_files_the_one_beside_or_below_the_note_is_meant() -> None:
    def found(paths: str, source: str) -> str | None:
        return resolve("b/n", source, VaultPaths(paths.split())).path

    check_golden(FIXTURES / "beside.md", {"": of_parts(found)})
