"""Edits of a configuration file that keep comments and order."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tomli

from vault_indexer.config.load import DEFAULT_ORIGIN, LoadedConfig
from vault_indexer.config.schema import OPEN_STRATEGIES
from vault_indexer.config.sources import MAX_CONFIG_BYTES, STRATEGY_OPTION, toml_fault
from vault_indexer.config.tables.vault_table import VAULT_NAME, NamedVault, is_vault_name
from vault_indexer.config.values import toml_text
from vault_indexer.errors import UsageError, VaultError
from vault_indexer.system import record, resolved, with_home, write_atomically

# Changes of a hand-written configuration file. The rest of the file stays unchanged.


KeyPath = tuple[str, ...]
"""The names of the tables that contain a key, followed by the name of the key."""


def config_text(
    file: Path, part: str, *, follow_links: bool, most_bytes: int = MAX_CONFIG_BYTES
) -> str | None:
    """Returns the text of a configuration file whose `part` will be changed; None if there is no file.

    Raises UsageError for a file that no program should change (too large, not UTF-8, or no regular file if
    links are not followed), and VaultError if it cannot be read.
    """
    by_hand = f"change {part} by hand"
    try:
        if not (follow_links or stat.S_ISREG(file.lstat().st_mode)):
            raise UsageError(f"{file} is not a regular file: {by_hand}")
        data = file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise VaultError(f"cannot read {file}: {error.strerror}") from error
    if len(data) > most_bytes:
        raise UsageError(f"{file} is larger than {most_bytes} bytes: {by_hand}")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8: {by_hand}") from error


def replace_config(file: Path, text: str) -> None:
    """Replaces a configuration file atomically; its mode stays. Raises VaultError."""
    try:
        mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else 0o644
        write_atomically(file, text.encode(), mode)
    except OSError as error:
        raise VaultError(f"cannot write {file}: {error.strerror}") from error


def parsed_config(text: str, file: Path) -> dict[str, object]:
    """Parses a configuration. Raises UsageError if it is not TOML."""
    try:
        return tomli.loads(text)
    except (tomli.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{file} is not TOML: {toml_fault(str(error))}") from error


def with_values(text: str, values: Mapping[KeyPath, object], file: Path) -> str:
    """Returns the text of a configuration with these values. A value of None removes the key.

    Comments, order and line breaks stay. A missing table is added at the end. Raises UsageError if the text
    is not TOML, or if the result has other values than requested.
    """
    wanted = parsed_config(text, file)

    def change() -> str:
        changed = text.replace("\r\n", "\n")
        for place, value in values.items():
            _set(wanted, place, value)
            changed = _changed(changed, place, value)
        return changed

    keys = ", ".join(".".join(place) for place in values)
    changed = changed_for_sure(
        change, lambda found: _without_empty(found) == _without_empty(wanted), keys, file
    )
    return changed.replace("\n", "\r\n") if "\r\n" in text else changed


def changed_for_sure(
    change: Callable[[], str], says_so: Callable[[dict[str, object]], bool], keys: str, file: Path
) -> str:
    """The text that `change` makes, if it `says_so` when it is read. Raises UsageError that names the `keys`
    otherwise: whatever tomlkit makes of a file that it does not understand, the file stays."""
    from tomlkit.exceptions import TOMLKitError

    try:
        changed = change()
        is_right = says_so(tomli.loads(changed))
    except (tomli.TOMLDecodeError, TOMLKitError, LookupError, TypeError, ValueError, AttributeError):
        is_right = False
    if not is_right:
        raise UsageError(f"{file} cannot be changed safely: change {keys} by hand")
    return changed


def _set(document: dict[str, object], place: KeyPath, value: object) -> None:
    *tables, name = place
    table: object = document
    for one in tables:
        assert isinstance(table, dict)
        table = table.setdefault(one, {})
    if not isinstance(table, dict):
        raise TypeError(f"{tables} is not a table")
    if value is None:
        table.pop(name, None)
    else:
        table[name] = value


def _changed(text: str, place: KeyPath, value: object) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    *tables, name = place
    table: Any = document
    for one in tables:
        if one not in table:
            gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
            return f"{text}{gap}[{'.'.join(tables)}]\n{name} = {toml_text(value)}\n"
        table = table[one]
    if value is None:
        table.remove(name)
    elif isinstance(value, dict):
        inline = tomlkit.inline_table()
        inline.update(value)
        table[name] = inline
    else:
        table[name] = value
    return tomlkit.dumps(document)


def _without_empty(document: Mapping[str, object]) -> Mapping[str, object]:
    """A table whose last key was taken out may stay as a header or not."""
    return {name: value for name, value in document.items() if value != {}}


# Selection of the strategy in a hand-written configuration file. The rest of the file stays unchanged.


_KEY = "chunking.strategy"


@record
class StrategyInFile:
    """The key `chunking.strategy` of one configuration file, which need not exist.

    `file` has the highest precedence of the files in use, and `reload` reads all of them again. Thread-safe.
    """

    file: Path
    reload: Callable[[], LoadedConfig]

    @property
    def choices(self) -> tuple[str, ...]:
        """The strategies that run neither user code nor a language model: only a person chooses those."""
        return OPEN_STRATEGIES

    def current(self) -> str:
        """The strategy in use. Raises ConfigError."""
        return self.reload().settings.chunking.strategy

    def check(self, strategy: str) -> None:
        """Raises UsageError for a strategy that is not a choice, and if an environment variable or an option
        decides it."""
        if strategy not in self.choices:
            raise UsageError(f"strategy = {strategy[:60]!r}: choose one of {', '.join(self.choices)}")
        origin = self.reload().origins[_KEY]
        if origin == STRATEGY_OPTION:
            raise UsageError(
                f"{_KEY} is set by {origin} of the running program: start it without that option"
            )
        if origin != DEFAULT_ORIGIN and not origin.startswith("file "):
            raise UsageError(f"{_KEY} is set by {origin}, which overrides {self.file}: change it there")

    def choose(self, strategy: str) -> None:
        """Writes the strategy. If the resulting configuration is invalid, the file is restored.

        Raises UsageError as `check` does and for a file that cannot be changed safely; ConfigError for other
        keys that do not go with the strategy.
        """
        self.check(strategy)
        # Without following links: a link in a vault could lead to any file of the user.
        before = config_text(self.file, _KEY, follow_links=False)
        changed = with_values(before or "", {("chunking", "strategy"): strategy}, self.file)
        replace_config(self.file, changed)
        try:
            found = self.reload().settings.chunking.strategy
            if found != strategy:
                raise UsageError(f"{_KEY} stays {found!r}: another file overrides {self.file}")
        except BaseException:
            if before is None:
                os.unlink(self.file)  # noqa: PTH108 - a link that took its place is removed, not followed
            else:
                replace_config(self.file, before)
            raise


# Addition and removal of a vault in `[vaults]` of the user's configuration. The rest stays unchanged.


def add_vault(file: Path, vault: NamedVault) -> None:
    """Writes a vault into the table of a configuration file, which need not exist.

    Raises UsageError for a name that cannot be one or is taken, and for a file that cannot be changed for
    sure; VaultError if it cannot be written.
    """
    if not is_vault_name(vault.name):
        raise UsageError(f"name = {vault.name[:60]!r}: a name has {VAULT_NAME}")
    text = _read(file)
    entries = _entries(text, file)
    if vault.name in entries:
        raise UsageError(
            f"[vaults] of {file} has {vault.name} already: remove it first, or choose another name"
        )
    for name, entry in entries.items():
        folder = entry.get("path") if isinstance(entry, Mapping) else entry
        if isinstance(folder, str) and resolved(file.parent / with_home(folder)) == resolved(vault.path):
            raise UsageError(f"[vaults] of {file} has this folder already: {name}, {folder}")
    value: object = str(vault.path)
    if vault.index_dir is not None:
        value = {"path": value, "index_dir": str(vault.index_dir)}
    _write(file, with_values(text, {("vaults", vault.name): value}, file))


def remove_vault(file: Path, name: str) -> None:
    """Removes a vault from the table. Its notes and its index stay. Raises as `add_vault` does."""
    text = _read(file)
    entries = _entries(text, file)
    if name not in entries:
        known = f"it has {', '.join(entries)}" if entries else "there are none"
        raise UsageError(f"no vault {name[:60]!r} in [vaults] of {file}: {known}")
    _write(file, with_values(text, {("vaults", name): None}, file))


def _read(file: Path) -> str:
    return config_text(file, "[vaults]", follow_links=True) or ""


def _entries(text: str, file: Path) -> dict[str, object]:
    entries = parsed_config(text, file).get("vaults", {})
    if not isinstance(entries, dict):
        raise UsageError(f"{file}: vaults is not a table: change it by hand")
    return entries


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise VaultError(f"cannot write {file}: {error.strerror}") from error
    replace_config(file, text)
