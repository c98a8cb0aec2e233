"""Rights and withdrawn vaults written into a gateway's file; all else in it stays."""

from pathlib import Path

import pytest

from vault_gateway.commands import add_right, add_withdrawn
from vault_indexer.errors import UsageError, VaultError

VAULT = "work-0123456789abcdef"
USERS = '# mine\n[[users]]\nname = "ana" # first\nvaults = ["a"]\n[[users]]\nname = "ben"\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "gateway.toml"
    made.write_text(USERS)
    return made


def test_a_withdrawn_vault_stands_before_the_tables_and_once(file: Path) -> None:
    assert add_withdrawn(file, VAULT)
    assert file.read_text() == f'withdrawn = ["{VAULT}"]\n{USERS}'
    assert not add_withdrawn(file, VAULT)
    other = VAULT.replace("work", "home")
    assert add_withdrawn(file, other)
    changed = f'withdrawn = ["{VAULT}", "{other}"]\n{USERS}'
    assert file.read_text() == changed
    with pytest.raises(UsageError, match=r'withdrawn\[2\] = "alpha/Home": a vault id.*was not changed'):
        add_withdrawn(file, "alpha/Home")
    assert file.read_text() == changed


def test_a_user_or_a_group_gets_a_right_once(file: Path) -> None:
    assert add_right(file, "ben", VAULT)
    assert add_right(file, "ana", VAULT)
    assert not add_right(file, "ana", VAULT)
    text = USERS.replace('["a"]', f'["a", "{VAULT}"]')
    assert file.read_text() == f'{text}vaults = ["{VAULT}"]\n'
    file.write_text('[[groups]]\nname = "cooks"\n')
    assert [add_right(file, "group:cooks", VAULT) for _ in range(2)] == [True, False]
    assert file.read_text() == f'[[groups]]\nname = "cooks"\nvaults = ["{VAULT}"]\n'


@pytest.mark.parametrize(
    ("user", "said"),
    [
        ("carl", "has no user 'carl'; it has ana, ben"),
        ("group:cooks", "has no group 'cooks'; it has none"),
        ("x" * 61, f"has no user '{'x' * 60}'; it has ana, ben"),
    ],
)
def test_a_user_that_is_not_there_gets_nothing(file: Path, user: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        add_right(file, user, VAULT)
    assert str(refused.value) == f"{file} {said}"
    assert file.read_text() == USERS


def test_of_many_users_twenty_are_named(file: Path) -> None:
    file.write_text("".join(f'[[users]]\nname = "u{number}"\n' for number in range(21)))
    with pytest.raises(UsageError, match=r"u18, u19$"):
        add_right(file, "nobody", VAULT)


@pytest.mark.parametrize(
    ("content", "error", "said"),
    [
        (None, VaultError, "{file} does not exist"),
        (b"\xff", UsageError, "{file} is not UTF-8: change withdrawn by hand"),
        (b"= 1", UsageError, "{file} is not TOML: "),
        (b"folder", VaultError, "cannot read {file}: "),
    ],
)
def test_a_file_that_no_program_should_change_stays(
    tmp_path: Path, content: bytes | None, error: type[Exception], said: str
) -> None:
    file = tmp_path if content == b"folder" else tmp_path / "gateway.toml"
    if content and file != tmp_path:
        file.write_bytes(content)
    with pytest.raises(error) as refused:
        add_withdrawn(file, VAULT)
    assert said.format(file=file) in str(refused.value)
    assert (file.read_bytes() if file.is_file() else content) == content
