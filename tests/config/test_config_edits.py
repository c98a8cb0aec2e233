"""`chunking.strategy` and vaults written into a file that a person wrote."""

from pathlib import Path

import pytest
import tomli
from golden_cases import check_golden
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.config import NamedVault, StrategyInFile, add_vault, load, remove_vault
from vault_indexer.config.edits import config_text, replace_config, with_values
from vault_indexer.errors import ConfigError, UsageError, VaultError

FILE = Path("x.toml")
TO_WORD: dict[tuple[str, ...], object] = {("chunking", "strategy"): "word"}


def test_nothing_else_changes() -> None:
    golden = Path(__file__).parent / "fixtures" / "edits.md"
    check_golden(golden, {"": lambda text: repr(with_values(text, TO_WORD, FILE))})


@pytest.mark.parametrize("text", ["[chunking\n", 'chunking = "x"\n', "a = " + "[" * 100_000])
def test_what_cannot_be_changed_for_sure_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"x\.toml"):
        with_values(text, TO_WORD, FILE)


LINES = st.sampled_from(
    [
        *("[chunking]", "[search]", "[[chunking.rules]]", 'strategy = "none"', "a = 1", "# [chunking]"),
        *("'''", "b = '''", ""),
    ]
)


@given(st.lists(LINES, max_size=9).map("\n".join))
def test_it_is_the_same_document_but_for_the_strategy(text: str) -> None:
    try:
        changed = tomli.loads(with_values(text, TO_WORD, FILE))
    except UsageError:
        return
    before = tomli.loads(text)
    assert changed["chunking"].pop("strategy") == "word"
    before.get("chunking", {}).pop("strategy", None)
    assert {**before, "chunking": before.get("chunking", {})} == changed


def setting(vault: Path, environ: dict[str, str] | None = None) -> StrategyInFile:
    environ = {"XDG_CONFIG_HOME": str(vault.parent / "none"), **(environ or {})}
    return StrategyInFile(
        vault / ".indexer.toml", lambda: load(vault, config_file=None, environ=environ, options={})
    )


def test_a_chosen_strategy_is_in_use(tmp_path: Path) -> None:
    setting(tmp_path).choose("paragraph")
    assert setting(tmp_path).current() == "paragraph"


def test_a_file_whose_other_keys_do_not_fit_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / ".indexer.toml"
    text = '[chunking]\nstrategy = "word"\nword_pattern = "a"\n'
    file.write_text(text)
    try:
        setting(tmp_path).current()
    except ConfigError as error:
        pytest.fail(f"the test's own file is wrong: {error}")
    with pytest.raises(ConfigError):
        setting(tmp_path).choose("paragraph")
    assert file.read_text() == text


@pytest.mark.parametrize("name", ["custom", "llm", "agentic", "none\n", "../x"])
def test_neither_code_nor_a_model_is_a_choice(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="choose one of"):
        setting(tmp_path).choose(name)
    assert not (tmp_path / ".indexer.toml").exists()


@pytest.mark.posix("symbolic links")
def test_no_link_is_followed(tmp_path: Path) -> None:
    vault, other = tmp_path / "vault", tmp_path / "other"
    vault.mkdir()
    other.write_text("# mine\n")
    (vault / ".indexer.toml").symlink_to(other)
    with pytest.raises(UsageError, match="not a regular file"):
        setting(vault).choose("paragraph")
    assert other.read_text() == "# mine\n"


@pytest.mark.posix("paths with slashes")
def test_a_vault_is_added_and_removed_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "new" / "config.toml"
    add_vault(file, NamedVault("work", tmp_path / "w"))
    add_vault(file, NamedVault("home", tmp_path / "h", tmp_path / "i"))
    assert tomli.loads(file.read_text())["vaults"] == {
        "work": f"{tmp_path}/w",
        "home": {"path": f"{tmp_path}/h", "index_dir": f"{tmp_path}/i"},
    }
    with pytest.raises(UsageError, match="has work already: remove it first, or choose another name"):
        add_vault(file, NamedVault("work", tmp_path))
    (tmp_path / "link").symlink_to(tmp_path / "h")
    with pytest.raises(UsageError, match=f"has this folder already: home, {tmp_path}/h"):
        add_vault(file, NamedVault("other", tmp_path / "link"))
    with pytest.raises(UsageError, match=f"no vault 'x' in .vaults. of {file}: it has work, home"):
        remove_vault(file, "x")
    remove_vault(file, "work")
    assert list(tomli.loads(file.read_text())["vaults"]) == ["home"]
    for name in ("", "Work", "a b", "../x", "-a", "a" * 41, "a\nb", 'a"'):
        with pytest.raises(UsageError, match=r"^name = .* a name has lower-case letters"):
            add_vault(file, NamedVault(name, tmp_path))


@pytest.mark.posix("paths with slashes")
def test_a_file_that_cannot_hold_a_vault_is_named(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("vaults = 5\n")
    with pytest.raises(UsageError) as refused:
        add_vault(file, NamedVault("work", tmp_path))
    assert str(refused.value) == f"{file}: vaults is not a table: change it by hand"
    for below in (file / "config.toml", file / "deep" / "config.toml"):
        with pytest.raises(VaultError, match=f"cannot (read|write) {below}: "):
            add_vault(below, NamedVault("work", tmp_path))


def test_a_strategy_that_another_place_decides_stays(tmp_path: Path) -> None:
    file, stronger = tmp_path / "weak.toml", tmp_path / "strong.toml"
    stronger.write_text('chunking.strategy = "token"\n')

    def load_with(**environ: str) -> StrategyInFile:
        environ["XDG_CONFIG_HOME"] = str(tmp_path)
        return StrategyInFile(file, lambda: load(None, config_file=stronger, environ=environ, options={}))

    by_option, by_file = load_with(INDEXER_STRATEGY_OPTION="word"), load_with()
    for choose, name, reason in (
        (
            load_with(INDEXER_CHUNKING_STRATEGY="word").choose,
            "token",
            f"is set by environment INDEXER_CHUNKING_STRATEGY, which overrides {file}: change it there",
        ),
        (
            by_option.check,
            "paragraph",
            "is set by option --strategy of the running program: start it without that option",
        ),
        (by_file.choose, "word", f"stays 'token': another file overrides {file}"),
    ):
        with pytest.raises(UsageError) as refused:
            choose(name)
        assert str(refused.value) == f"chunking.strategy {reason}"
    assert by_option.reload().settings.replaced_strategy == "token"
    assert not file.exists()


@pytest.mark.posix("modes of files")
def test_the_mode_of_a_file_stays_and_a_new_one_can_be_read_by_others(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    replace_config(file, "a = 1\n")
    assert (file.read_text(), file.stat().st_mode & 0o7777) == ("a = 1\n", 0o644)
    file.chmod(0o600)
    replace_config(file, "# é\n")
    assert (file.read_text("utf-8"), file.stat().st_mode & 0o7777) == ("# é\n", 0o600)


@pytest.mark.posix("symbolic links")
def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    assert config_text(file, "x", follow_links=True) is None
    assert config_text(file, "x", follow_links=False) is None
    file.write_text("# é\n", "utf-8")
    (tmp_path / "link").symlink_to(file)
    assert config_text(tmp_path / "link", "x", follow_links=True) == "# é\n"
    assert config_text(file, "x", follow_links=False, most_bytes=5) == "# é\n"
    for most_bytes, data, said in (
        (4, b"# \xc3\xa9\n", "is larger than 4 bytes: change x by hand"),
        (5, b"\xff", "is not UTF-8: change x by hand"),
    ):
        file.write_bytes(data)
        with pytest.raises(UsageError) as refused:
            config_text(file, "x", follow_links=True, most_bytes=most_bytes)
        assert str(refused.value) == f"{file} {said}"
    with pytest.raises(UsageError, match="link is not a regular file: change x by hand"):
        config_text(tmp_path / "link", "x", follow_links=False)


@pytest.mark.parametrize(
    ("before", "values", "after"),
    [
        ('[vaults]\na = "x"\nb = "y"\n', {("vaults", "a"): None}, '[vaults]\nb = "y"\n'),
        ('[vaults]\na = "x"\n', {("vaults", "a"): None}, "[vaults]\n"),
        ("a = 1\n", {("b", "c"): 2, ("b", "d"): {"e": 3}}, "a = 1\n\n[b]\nc = 2\nd = {e = 3}\n"),
        ("a = 1", {("a",): [1, "x"]}, 'a = [1, "x"]'),
        ("a = 1\n", {("x", "y", "z"): True}, "a = 1\n\n[x.y]\nz = true\n"),
    ],
)
def test_values_are_set_and_taken_out(before: str, values: dict[tuple[str, ...], object], after: str) -> None:
    assert with_values(before, values, FILE) == after


def test_a_key_that_is_not_there_cannot_be_taken_out_for_sure() -> None:
    with pytest.raises(UsageError) as refused:
        with_values("a = 1\n[b]\n", {("b", "c"): None, ("a",): 2}, FILE)
    assert str(refused.value) == "x.toml cannot be changed safely: change b.c, a by hand"
