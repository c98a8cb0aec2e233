import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.config.settings import FilesSettings
from vault_indexer.errors import VaultError
from vault_indexer.vault import Decision, IgnoreRules, load_ignore_rules, scan

INDEX, LINK_ONLY, IGNORE = Decision.INDEX, Decision.LINK_ONLY, Decision.IGNORE


def rules_of(
    vault: Path, *, ignore: str | None = None, app: object = None, files: FilesSettings | None = None
) -> IgnoreRules:
    if ignore is not None:
        (vault / ".indexerignore").write_text(ignore, encoding="utf-8")
    if app is not None:
        (vault / ".obsidian").mkdir(exist_ok=True)
        text = app if isinstance(app, str) else json.dumps(app)
        (vault / ".obsidian/app.json").write_text(text, encoding="utf-8")
    return load_ignore_rules(vault, files or FilesSettings())


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("Note.md", INDEX),
        ("a/b/Note.MARKDOWN", INDEX),
        ("map.canvas", INDEX),
        ("Note.sync-conflict-20240101-120000-ABCDEFG.md", INDEX),
        ("node_modules/pkg/README.md", INDEX),
        ("img/photo.png", LINK_ONLY),
        ("data.base", LINK_ONLY),
        (".git/HEAD", IGNORE),
        ("sub/.git/info/Note.md", IGNORE),
        (".obsidian/Note.md", IGNORE),
        (".trash/Note.md", IGNORE),
        (".stversions/Note.md", IGNORE),
        (".hidden/deep/er/Note.md", IGNORE),
        ("a/.Note.md.swp", IGNORE),
        ("Note.md~", IGNORE),
        (".syncthing.Note.md.tmp", IGNORE),
        ("~syncthing~Note.md.tmp", IGNORE),
        (".indexer.toml", IGNORE),
        (".indexerignore", IGNORE),
    ],
)
def test_built_in_rules(tmp_path: Path, path: str, expected: Decision) -> None:
    assert rules_of(tmp_path).decide(path, is_dir=False) is expected


def test_the_indexerignore_file_has_gitignore_syntax(tmp_path: Path) -> None:
    rules = rules_of(tmp_path, ignore="# drafts\nDrafts/\n*.draft.md\n!keep.draft.md\n/top.md\n")
    assert rules.decide("Drafts", is_dir=True) is IGNORE
    assert rules.decide("x/Drafts/a/Note.md", is_dir=False) is IGNORE
    assert rules.decide("a.draft.md", is_dir=False) is IGNORE
    assert rules.decide("keep.draft.md", is_dir=False) is INDEX
    assert rules.decide("top.md", is_dir=False) is IGNORE
    assert rules.decide("sub/top.md", is_dir=False) is INDEX


def test_a_vault_cannot_undo_the_configuration_or_the_built_in_rules(tmp_path: Path) -> None:
    rules = rules_of(tmp_path, ignore="!private/\n!.git/\n", files=FilesSettings(exclude=("private/",)))
    assert rules.decide("private/Diary.md", is_dir=False) is IGNORE
    assert rules.decide(".git/Note.md", is_dir=False) is IGNORE


def test_include_leaves_other_notes_linkable(tmp_path: Path) -> None:
    rules = rules_of(tmp_path, files=FilesSettings(include=("work/**",)))
    assert rules.decide("work/a/Note.md", is_dir=False) is INDEX
    assert rules.decide("home/Note.md", is_dir=False) is LINK_ONLY


def test_obsidians_exclusions_leave_notes_linkable(tmp_path: Path) -> None:
    rules = rules_of(tmp_path, app={"userIgnoreFilters": ["Templates/", "/\\.excalidraw\\.md$/", 7]})
    assert rules.decide("Templates/Daily.md", is_dir=False) is LINK_ONLY
    assert rules.decide("Templates", is_dir=True) is INDEX
    assert rules.decide("a/Drawing.excalidraw.md", is_dir=False) is LINK_ONLY
    assert rules.decide("My Templates/Daily.md", is_dir=False) is INDEX
    off = rules_of(tmp_path, files=FilesSettings(use_obsidian_filters=False))
    assert off.decide("Templates/Daily.md", is_dir=False) is INDEX


@pytest.mark.parametrize("app", ["{not json", "[" * 100_000, [], {"userIgnoreFilters": "x"}])
def test_a_broken_app_file_excludes_nothing_and_is_named_if_not_json(tmp_path: Path, app: object) -> None:
    rules = rules_of(tmp_path, app=app)
    assert rules.decide("Note.md", is_dir=False) is INDEX
    assert bool(rules.problems) is isinstance(app, str)


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|aa)*b", "([a-z]*)*x", ".*.*.*.*b", "(?:x{1,50})+y", "[", r"(a)\1", "a" * 5000]
)
def test_dangerous_or_broken_filters_are_refused_and_named(tmp_path: Path, pattern: str) -> None:
    rules = rules_of(tmp_path, app={"userIgnoreFilters": [f"/{pattern}/"]})
    assert len(rules.problems) == 1
    assert ".obsidian/app.json" in rules.problems[0]
    assert rules.link_only_patterns == ()


@pytest.mark.parametrize(
    "pattern", [r"^Archive/\d{4}/.*\.md$", "(Templates|Scripts)/", r"[*+]{2}", r"\(a\)+"]
)
def test_harmless_filters_are_kept(tmp_path: Path, pattern: str) -> None:
    rules = rules_of(tmp_path, app={"userIgnoreFilters": [f"/{pattern}/"]})
    assert rules.problems == ()
    assert [kept.pattern for kept in rules.link_only_patterns] == [pattern]


def test_a_glob_of_many_stars_is_refused_and_named(tmp_path: Path) -> None:
    rules = rules_of(tmp_path, ignore="*a*a*a*a*a*b\nDrafts/\n")
    assert "*a*a*a*a*a*b" in rules.problems[0]
    assert rules.decide("Drafts/x.md", is_dir=False) is IGNORE


def test_the_worst_accepted_patterns_take_milliseconds(tmp_path: Path) -> None:
    rules = rules_of(tmp_path, ignore="*a*a*b\n", app={"userIgnoreFilters": ["/.*a.*b$/"]})
    assert rules.problems == ()
    started = time.process_time()
    rules.decide("a" * 250 + ".md", is_dir=False)
    assert time.process_time() - started < 10.0  # backtracking would take years


def test_an_ignore_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".indexerignore").mkdir()
    with pytest.raises(VaultError, match=r"\.indexerignore"):
        load_ignore_rules(tmp_path, FilesSettings())


def test_the_fingerprint_changes_with_every_kind_of_rule(tmp_path: Path) -> None:
    prints = [rules_of(tmp_path).fingerprint]
    prints.append(rules_of(tmp_path, ignore="a/\n").fingerprint)
    prints.append(rules_of(tmp_path, app={"userIgnoreFilters": ["b/"]}).fingerprint)
    prints.append(rules_of(tmp_path, files=FilesSettings(exclude=("c/",))).fingerprint)
    prints.append(rules_of(tmp_path, files=FilesSettings(include=("c/",))).fingerprint)
    assert len(set(prints)) == len(prints)
    assert rules_of(tmp_path).fingerprint == rules_of(tmp_path).fingerprint


NAMES = st.sampled_from(["a", "b", ".git", "Drafts", "x.md", "y.png", "z~", ".h.md", "t.canvas"])


@given(st.lists(NAMES, min_size=1, max_size=5))
def test_nothing_below_an_ignored_folder_is_known(parts: list[str]) -> None:
    rules = IgnoreRules()
    for depth in range(1, len(parts)):
        if rules.decide("/".join(parts[:depth]), is_dir=True) is IGNORE:
            assert rules.decide("/".join(parts), is_dir=False) is IGNORE


def test_walker_and_predicate_agree(tmp_path: Path) -> None:
    paths = ["a.md", "d/b.md", "d/.x/c.md", "Drafts/e.md", "d/Drafts/f.md", "g.png", "h.md~"]
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x", encoding="utf-8")
    rules = rules_of(tmp_path, ignore="Drafts/\n")
    found = {file.path: file.decision for file in scan(tmp_path, rules, max_file_bytes=9999).files}
    asked = {path: rules.decide(path, is_dir=False) for path in paths}
    assert found == {path: decision for path, decision in asked.items() if decision is not IGNORE}
    assert set(found) == {"a.md", "d/b.md", "g.png"}
