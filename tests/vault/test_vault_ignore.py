import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.config.settings import FilesSettings, VaultPatterns
from vault_indexer.errors import ExclusionError
from vault_indexer.model import SizeLimits
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
        ("data.base", INDEX),
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


def test_obsidians_exclusions_leave_notes_linkable(tmp_path: Path) -> None:
    rules = rules_of(tmp_path, app={"userIgnoreFilters": ["Templates/", "/\\.excalidraw\\.md$/"]})
    assert rules.decide("Templates/Daily.md", is_dir=False) is LINK_ONLY
    assert rules.decide("Templates", is_dir=True) is INDEX
    assert rules.decide("a/Drawing.excalidraw.md", is_dir=False) is LINK_ONLY
    assert rules.decide("My Templates/Daily.md", is_dir=False) is INDEX
    off = rules_of(tmp_path, files=FilesSettings(use_obsidian_filters=False))
    assert off.decide("Templates/Daily.md", is_dir=False) is INDEX


@pytest.mark.parametrize("app", [{}, {"userIgnoreFilters": None}, {"userIgnoreFilters": [""]}])
def test_an_app_file_without_filters_excludes_nothing(tmp_path: Path, app: object) -> None:
    assert rules_of(tmp_path, app=app).decide("Note.md", is_dir=False) is INDEX


@pytest.mark.parametrize(
    ("ignore", "said"),
    [
        (b"a/\n[b\n\\\n", r".indexerignore: line 2 = '[b': a class of characters ([…]) that is not closed; "),
        (b"a/\n[b\n\\\n", r".indexerignore: line 3 = '\\': it ends in a backslash"),
        (b"[\n" * 9, "; and 6 more"),
        (b"a/\nb\xff/\n", ".indexerignore: line 2: is not UTF-8; what it excludes is unknown"),
        (b"*" * 30_000, ".indexerignore: all lines: the list has more than 20,000 stars"),
        (b"a\n" * 200_000, ".indexerignore: the file: too large"),
    ],
)
def test_an_ignore_file_that_is_not_understood_is_an_error(tmp_path: Path, ignore: bytes, said: str) -> None:
    (tmp_path / ".indexerignore").write_bytes(ignore)
    with pytest.raises(ExclusionError) as caught:
        load_ignore_rules(tmp_path, FilesSettings())
    assert said in str(caught.value)


def test_lines_are_divided_as_git_divides_them(tmp_path: Path) -> None:
    (tmp_path / ".indexerignore").write_bytes("\ufeffa/\r\nb\x0bc\u2028d/\r\n#e/".encode())
    rules = load_ignore_rules(tmp_path, FilesSettings())
    assert rules.decide("a", is_dir=True) is IGNORE
    assert rules.decide("b\x0bc\u2028d", is_dir=True) is IGNORE
    assert rules.decide("#e", is_dir=True) is INDEX


def test_what_is_not_understood_leaves_the_former_list_active(tmp_path: Path) -> None:
    before = rules_of(tmp_path, ignore="Private/\n", app={"userIgnoreFilters": ["Old/"]})
    (tmp_path / ".indexerignore").write_text("Secret/\n[\n")
    (tmp_path / ".obsidian/app.json").write_text('{"userIgnoreFilters": ["New/"]}')
    rules = load_ignore_rules(tmp_path, FilesSettings(exclude=("Own/",)), before)
    assert [problem.key for problem in rules.problems] == ["line 2"]
    assert rules.fault.startswith("some exclusions are invalid, and the former ones stay active until they")
    decisions = {
        name: rules.decide(f"{name}/a.md", is_dir=False)
        for name in ("Private", "Secret", "Own", "Old", "New")
    }
    assert decisions == {"Private": IGNORE, "Secret": INDEX, "Own": IGNORE, "Old": INDEX, "New": LINK_ONLY}
    assert load_ignore_rules(tmp_path, FilesSettings(), rules).lists == rules.lists


def test_where_the_former_list_is_unknown_nothing_else_comes_in(tmp_path: Path) -> None:
    known = {"a.md": INDEX, "Old/b.md": LINK_ONLY, "pic.png": LINK_ONLY}
    (tmp_path / ".indexerignore").write_text("[\n")
    rules = load_ignore_rules(tmp_path, FilesSettings(), IgnoreRules(known=known))
    assert "no new files are indexed" in rules.fault
    decisions = [rules.decide(path, is_dir=False) for path in (*known, "Private/c.md", "new.png")]
    assert decisions == [INDEX, LINK_ONLY, LINK_ONLY, IGNORE, IGNORE]
    (tmp_path / ".indexerignore").write_text("Private/\n")
    corrected = load_ignore_rules(tmp_path, FilesSettings(), rules)
    assert (corrected.known, corrected.fault) == (None, "")
    assert corrected.fingerprint != rules.fingerprint
    assert corrected.decide("new.md", is_dir=False) is INDEX


def test_a_vault_can_only_leave_out_more_files(tmp_path: Path) -> None:
    own = FilesSettings(exclude=("Private/",), include=("Work/", "Home/"))
    files = own.with_vault(VaultPatterns(exclude=("!Private/", "*.draft.md"), include=("Work/", "Other/")))
    rules = rules_of(tmp_path, ignore="!Private/\n!.git/\n", files=files)
    paths = ("Private/a.md", ".git/a.md", "Work/a.draft.md", "Work/a.md", "Home/a.md", "Other/a.md")
    decisions = [rules.decide(path, is_dir=False) for path in paths]
    assert decisions == [IGNORE, IGNORE, IGNORE, INDEX, LINK_ONLY, LINK_ONLY]
    assert pickle.loads(pickle.dumps(files)).exclude_lists == files.exclude_lists


def test_the_fingerprint_changes_with_every_kind_of_rule(tmp_path: Path) -> None:
    prints = [rules_of(tmp_path).fingerprint]
    prints.append(rules_of(tmp_path, ignore="a/\n").fingerprint)
    prints.append(rules_of(tmp_path, app={"userIgnoreFilters": ["b/"]}).fingerprint)
    prints.append(rules_of(tmp_path, files=FilesSettings(exclude=("c/",))).fingerprint)
    prints.append(rules_of(tmp_path, files=FilesSettings(include=("c/",))).fingerprint)
    prints += [
        rules_of(tmp_path, files=FilesSettings(sources=of)).fingerprint for of in ((".py",), (".py", ".rs"))
    ]
    assert len(set(prints)) == len(prints)
    assert {len(one) for one in prints} == {16}
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
    found = {file.path: file.decision for file in scan(tmp_path, rules, limits=SizeLimits(9999)).files}
    asked = {path: rules.decide(path, is_dir=False) for path in paths}
    assert found == {path: decision for path, decision in asked.items() if decision is not IGNORE}
    assert set(found) == {"a.md", "d/b.md", "g.png"}


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("Note.md", ""),
        ("keep.draft.md", "no pattern of files.include selects it"),
        ("a.draft.md", ".indexerignore excludes it by '*.draft.md'"),
        ("Old/deep/Note.md", "files.exclude excludes it by 'Old/'"),
        (".trash/Note.md", "names such as '.trash' are hidden or temporary files, as in Obsidian"),
        ("Private/Note.md", "Obsidian's excluded files (.obsidian/app.json) have 'Private/'"),
        ("Plan 7.md", "Obsidian's excluded files (.obsidian/app.json) have '/Plan \\\\d/'"),
    ],
)
def test_a_reason_names_the_list_and_the_pattern(tmp_path: Path, path: str, reason: str) -> None:
    rules = rules_of(
        tmp_path,
        ignore="*.draft.md\n!keep.draft.md\n",
        app={"userIgnoreFilters": ["Private/", "/Plan \\d/"]},
        files=FilesSettings(exclude=("Old/",), include=("*.md", "!keep*")),
    )
    assert rules.reason(path) == reason
    assert (rules.decide(path, is_dir=False) is INDEX) == (not reason)
