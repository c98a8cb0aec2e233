"""A vault and a user's config folder of a test's own, so that no test reads the developer's configuration."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from vault_indexer.config import LoadedConfig, load
from vault_indexer.config.sources import OptionValue
from vault_indexer.errors import ConfigError, ConfigProblem
from vault_indexer.system import VAULT_CONFIG_NAME, user_config_file


@dataclass(frozen=True, slots=True)
class Sandbox:
    root: Path

    @property
    def vault(self) -> Path:
        return self.root / "vault"

    @property
    def environ(self) -> dict[str, str]:
        return {"XDG_CONFIG_HOME": str(self.root / "config"), "XDG_STATE_HOME": str(self.root / "state")}

    @property
    def user_file(self) -> Path:
        return user_config_file(self.environ)

    @property
    def vault_file(self) -> Path:
        return self.vault / VAULT_CONFIG_NAME

    def write(self, *, vault: str | bytes | None = None, user: str | bytes | None = None) -> None:
        self.vault.mkdir(parents=True, exist_ok=True)
        self.user_file.parent.mkdir(parents=True, exist_ok=True)
        for path, content in ((self.vault_file, vault), (self.user_file, user)):
            if content is not None:
                path.write_bytes(content.encode() if isinstance(content, str) else content)

    def load(
        self,
        *,
        env: Mapping[str, str] | None = None,
        options: Mapping[str, OptionValue] | None = None,
        config_file: Path | None = None,
    ) -> LoadedConfig:
        environ = self.environ | dict(env or {})
        return load(self.vault, config_file=config_file, environ=environ, options=options or {})

    def problems(
        self,
        *,
        env: Mapping[str, str] | None = None,
        options: Mapping[str, OptionValue] | None = None,
        config_file: Path | None = None,
    ) -> tuple[ConfigProblem, ...]:
        with pytest.raises(ConfigError) as caught:
            self.load(env=env, options=options, config_file=config_file)
        return caught.value.problems
