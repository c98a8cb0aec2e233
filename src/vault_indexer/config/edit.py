"""Changing one key of a configuration file that a person wrote: everything else in it stays as it is."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import tomli

from vault_indexer.config.load import DEFAULT_ORIGIN, LoadedConfig
from vault_indexer.config.sources import MAX_CONFIG_BYTES
from vault_indexer.config.trust import OPEN_STRATEGIES
from vault_indexer.errors import UsageError, VaultError
from vault_indexer.system import write_atomically

_KEY = "chunking.strategy"
HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
"""The beginning of any table."""

_TABLE = re.compile(r"^[ \t]*\[[ \t]*chunking[ \t]*\][ \t]*(#.*)?\r?$", re.MULTILINE)
_ASSIGNMENT = re.compile(r"^([ \t]*strategy[ \t]*=[ \t]*)(\"[^\"\n]*\"|'[^'\n]*')", re.MULTILINE)
_DOTTED = re.compile(
    r"^([ \t]*chunking[ \t]*\.[ \t]*strategy[ \t]*=[ \t]*)(\"[^\"\n]*\"|'[^'\n]*')", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class StrategyInFile:
    """The key `chunking.strategy` of one configuration file, which need not exist.

    `file` is the strongest of the files that count, and `reload` reads them all again. Any thread may use it.
    """

    file: Path
    reload: Callable[[], LoadedConfig]

    @property
    def choices(self) -> tuple[str, ...]:
        """Every strategy that runs neither code of the user's nor a language model: those only a person
        chooses."""
        return OPEN_STRATEGIES

    def current(self) -> str:
        """The strategy in use. Raises ConfigError."""
        return self.reload().settings.chunking.strategy

    def choose(self, strategy: str) -> None:
        """Write the strategy. The file stays as it was if the configuration with it cannot be used.

        Raises UsageError for a strategy that is not a choice, one that an environment variable or option
        decides, and a file that cannot be changed safely; ConfigError for other keys that do not go with
        the strategy.
        """
        if strategy not in self.choices:
            raise UsageError(f"strategy = {strategy[:60]!r}: allowed are {', '.join(self.choices)}")
        origin = self.reload().origins[_KEY]
        if origin != DEFAULT_ORIGIN and not origin.startswith("file "):
            raise UsageError(
                f"{_KEY} is set by {origin}, which counts more than {self.file}: change it there"
            )
        before = self._read()
        replace_config(self.file, with_strategy(before or "", strategy, self.file))
        try:
            found = self.reload().settings.chunking.strategy
            if found != strategy:
                raise UsageError(f"{_KEY} stays {found!r}: another file counts more than {self.file}")
        except BaseException:
            self._restore(before)
            raise

    def _read(self) -> str | None:
        """The text; None if there is no file. Raises UsageError for what is no plain file: a link in a
        vault could lead to any file of the user's."""
        try:
            if not stat.S_ISREG(self.file.lstat().st_mode):
                raise UsageError(f"{self.file} is not a regular file: change {_KEY} by hand")
            data = self.file.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise VaultError(f"cannot read {self.file}: {error.strerror}") from error
        if len(data) > MAX_CONFIG_BYTES:
            raise UsageError(f"{self.file} is larger than {MAX_CONFIG_BYTES} bytes: change {_KEY} by hand")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UsageError(f"{self.file} is not UTF-8: change {_KEY} by hand") from error

    def _restore(self, before: str | None) -> None:
        if before is None:
            os.unlink(self.file)  # noqa: PTH108 - a link that took its place is removed, not followed
        else:
            replace_config(self.file, before)


def replace_config(file: Path, text: str) -> None:
    """Replace a configuration file atomically; its mode stays. Raises VaultError."""
    try:
        mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else 0o644
        # A vault may come from someone else: the temporary file must not be a link that stands there already.
        file.with_name(f"{file.name}.tmp").unlink(missing_ok=True)
        write_atomically(file, text.encode(), mode)
    except OSError as error:
        raise VaultError(f"cannot write {file}: {error.strerror}") from error


def with_strategy(text: str, strategy: str, file: Path) -> str:
    """The text of a configuration with another `[chunking] strategy`. Comments, order and line breaks stay.

    Raises UsageError if the text is no TOML, or sets the key in a way that cannot be changed for sure.
    """
    wanted = _strategy_set(parsed_config(text, file), strategy)
    found = first_that_says(_candidates(text, strategy), wanted)
    if found is None:
        raise UsageError(f"{file} cannot be changed for sure: set [chunking] strategy = {strategy!r} by hand")
    return found


def first_that_says(candidates: Iterable[str], wanted: Mapping[str, object]) -> str | None:
    """The first of the texts that is TOML for exactly this; None if none is."""
    for candidate in candidates:
        try:
            if tomli.loads(candidate) == wanted:
                return candidate
        except tomli.TOMLDecodeError:
            continue
    return None


def parsed_config(text: str, file: Path) -> dict[str, object]:
    """What a configuration says. Raises UsageError if it is no TOML."""
    try:
        return tomli.loads(text)
    except (tomli.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{file} is not TOML: {error}") from error


def _strategy_set(document: dict[str, object], strategy: str) -> dict[str, object]:
    table = document.get("chunking", {})
    return {**document, "chunking": {**(table if isinstance(table, dict) else {}), "strategy": strategy}}


def _candidates(text: str, strategy: str) -> Iterator[str]:
    """Texts that may be right: TOML decides which is."""
    value = f'"{strategy}"'
    for header in _TABLE.finditer(text):
        following = HEADER.search(text, header.end())
        end = following.start() if following else len(text)
        for found in _ASSIGNMENT.finditer(text, header.end(), end):
            yield text[: found.start(2)] + value + text[found.end(2) :]
        line_break = "\r\n" if header[0].endswith("\r") else "\n"
        place = header.end() - len(line_break) + 1
        yield f"{text[:place]}{line_break}strategy = {value}{text[place:]}"
    for found in _DOTTED.finditer(text):
        yield text[: found.start(2)] + value + text[found.end(2) :]
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    yield f"{text}{gap}[chunking]\nstrategy = {value}\n"
