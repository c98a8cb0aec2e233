"""Choosing the strategy in a configuration file that a person wrote: all else in it stays as it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vault_indexer.config.edits.toml import config_text, replace_config, with_values
from vault_indexer.config.load import DEFAULT_ORIGIN, LoadedConfig
from vault_indexer.config.trust import OPEN_STRATEGIES
from vault_indexer.errors import UsageError

_KEY = "chunking.strategy"


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
        changed = with_values(before or "", {("chunking", "strategy"): strategy}, self.file)
        replace_config(self.file, changed)
        try:
            found = self.reload().settings.chunking.strategy
            if found != strategy:
                raise UsageError(f"{_KEY} stays {found!r}: another file counts more than {self.file}")
        except BaseException:
            self._restore(before)
            raise

    def _read(self) -> str | None:
        """No link is followed: one in a vault could lead to any file of the user's."""
        return config_text(self.file, _KEY, follow_links=False)

    def _restore(self, before: str | None) -> None:
        if before is None:
            os.unlink(self.file)  # noqa: PTH108 - a link that took its place is removed, not followed
        else:
            replace_config(self.file, before)
