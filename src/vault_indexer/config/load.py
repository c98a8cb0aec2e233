"""Reads the configuration: option over environment over file over default. Reports all errors at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import field, replace
from pathlib import Path
from types import MappingProxyType

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from vault_indexer.config.fields import DisagreementError
from vault_indexer.config.schema import ALL_KEYS, SCHEMA
from vault_indexer.config.settings import Settings, VaultPatterns
from vault_indexer.config.sources import (
    STRATEGY_OPTION,
    VAULT_VARIABLE,
    IgnoredKey,
    OptionValue,
    Parsed,
    config_files,
    from_environment,
    from_file,
    from_options,
    unknown_variables,
)
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.config.values import RawValue, check, printable, toml_text
from vault_indexer.errors import ConfigError, ConfigProblem
from vault_indexer.system import record, user_config_file, with_home

MAX_PROBLEMS = 100
"""The limit for one source. A file that exceeds it is not a configuration."""

DEFAULT_ORIGIN = "default"

_ADDED = {"files.include": "include", "files.exclude": "exclude"}
"""The keys to which the vault's own file adds values in addition to the user's: field by key of
`VaultPatterns`."""


@record
class LoadedConfig:
    """The active settings, and the origin of the value of every dotted key.

    `looked_at` are the files that apply, lowest priority first, and `files` those of them that exist and were
    read. `added_origins` contains that of the vault for the lists that it adds to. `vault` is the one that
    the argument, the variable or the key `vault` names. `warnings` are sentences about suspicious entries
    without an effect.
    """

    settings: Settings
    origins: Mapping[str, str]
    files: tuple[Path, ...] = ()
    vault: Path | None = None
    looked_at: tuple[Path, ...] = ()
    added_origins: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def load(
    vault: Path | None,
    *,
    config_file: Path | None,
    environ: Mapping[str, str],
    options: Mapping[str, OptionValue],
) -> LoadedConfig:
    """The configuration for a vault; for None that of `INDEXER_VAULT`, or else of the key `vault`. Raises
    ConfigError.

    `config_file` is the file of `--config`; `options` contains dotted keys from the command line, None for
    unused ones. The error lists every mistake of every source, also those of overridden values.
    """
    named_vault = environ.get(VAULT_VARIABLE, "")
    if vault is None and named_vault:
        vault = with_home(named_vault)
    loaded = _load(vault, config_file, environ, options)
    default_vault = loaded.settings.vault
    if vault is not None or default_vault is None:
        return loaded
    return _load(default_vault, config_file, environ, options)


def load_own(config_file: Path | None, environ: Mapping[str, str]) -> LoadedConfig:
    """Loads the user's own configuration, or the named file, without that of a vault. Raises ConfigError."""
    return _load(None, config_file, environ, {})


def _load(
    vault: Path | None,
    config_file: Path | None,
    environ: Mapping[str, str],
    options: Mapping[str, OptionValue],
) -> LoadedConfig:
    files, sources = _read_files(vault, config_file, environ)
    chosen = list(from_options(options))
    variables = list(from_environment(environ))

    found = [item for source in [*sources, variables, chosen] for item in source]
    former = tuple(str(item) for item in found if isinstance(item, IgnoredKey))
    parsed = [item for item in found if not isinstance(item, IgnoredKey)]
    added = [item for item in parsed if isinstance(item, RawValue) and item.of_vault and item.key in _ADDED]
    active, problems = _check_values(item for item in parsed if item not in added)
    beside, more = _check_values(added)
    problems.extend(more)
    settings, disagreements = _assemble(active, {problem.key for problem in problems})
    if settings is None or problems or disagreements:
        raise ConfigError([*problems, *disagreements])
    if beside:
        settings = _with_vault_patterns(settings, beside)
    if STRATEGY_OPTION in {value.origin for value in active.values()}:
        settings = settings.with_replaced_strategy(_configured_strategy(parsed))
    origins = {name: value.origin for name, value in (beside | active).items()}
    origins = {name: origins.get(name, DEFAULT_ORIGIN) for name in SCHEMA}
    looked_at = tuple(file.path for file in config_files(vault, config_file, environ))
    return LoadedConfig(
        settings,
        MappingProxyType(origins),
        tuple(files),
        vault,
        looked_at,
        MappingProxyType({name: value.origin for name, value in beside.items()}),
        (*former, *unknown_variables(environ, _key_variables(found))),
    )


def _read_files(
    vault: Path | None, config_file: Path | None, environ: Mapping[str, str]
) -> tuple[list[Path], list[list[Parsed]]]:
    paths: list[Path] = []
    sources: list[list[Parsed]] = []
    for file in config_files(vault, config_file, environ):
        parsed = from_file(file, user_config_file(environ))
        if parsed is not None:
            paths.append(file.path)
            sources.append(list(_first_problems(parsed)))
    return paths, sources


def _first_problems(parsed: Iterable[Parsed]) -> Iterator[Parsed]:
    problems = 0
    for item in parsed:
        problems += isinstance(item, ConfigProblem)
        if isinstance(item, ConfigProblem) and problems > MAX_PROBLEMS:
            yield ConfigProblem(
                "…", "", f"more than {MAX_PROBLEMS} mistakes; the others are not shown", item.source
            )
            return
        yield item


def _key_variables(found: Iterable[Parsed]) -> frozenset[str]:
    values = (item.value for item in found if isinstance(item, RawValue) and item.key.endswith("_env"))
    return frozenset(value for value in values if isinstance(value, str))


def _check_values(
    parsed: Iterable[RawValue | ConfigProblem],
) -> tuple[dict[str, RawValue], list[ConfigProblem]]:
    """Checks every value, also those that lose. Of each key the last one (of the strongest source) stays, as
    it is for the settings."""
    active: dict[str, RawValue] = {}
    problems: list[ConfigProblem] = []
    for item in parsed:
        if isinstance(item, ConfigProblem):
            problems.append(item)
            continue
        value, wrong = check(item)
        problems.extend(wrong)
        if not wrong:
            active[item.key] = replace(item, value=value)
    return active, problems


def _assemble(active: Mapping[str, RawValue], wrong: Set[str]) -> tuple[Settings | None, list[ConfigProblem]]:
    """The settings as a whole, or where values contradict each other (not of keys already `wrong`)."""
    try:
        return Settings.model_validate(_nest(active)), []
    except ValidationError as error:
        found = [_disagreement(details, active, wrong) for details in error.errors(include_url=False)]
        return None, [problem for problem in found if problem is not None]


def _with_vault_patterns(settings: Settings, beside: Mapping[str, RawValue]) -> Settings:
    lists = {_ADDED[name]: value.value for name, value in beside.items()}
    files = settings.files.with_vault(VaultPatterns(**lists))  # type: ignore[arg-type] # checked as the keys are
    return settings.model_copy(update={"files": files})


def _configured_strategy(parsed: Iterable[RawValue | ConfigProblem]) -> str:
    """The strategy without the option `--strategy`."""
    found = [
        str(check(item)[0])
        for item in parsed
        if isinstance(item, RawValue) and item.key == "chunking.strategy" and item.origin != STRATEGY_OPTION
    ]
    return found[-1] if found else ChunkingSettings().strategy


def _nest(active: Mapping[str, RawValue]) -> dict[str, object]:
    root: dict[str, object] = {}
    for name, item in active.items():
        table = root
        *parents, last = name.split(".")
        for parent in parents:
            below = table.setdefault(parent, {})
            assert isinstance(below, dict)
            table = below
        table[last] = item.value
    return root


def _disagreement(
    details: ErrorDetails, active: Mapping[str, RawValue], wrong: Set[str]
) -> ConfigProblem | None:
    """Reports it by the keys that someone set, with the values of all that are involved."""
    table = ".".join(str(part) for part in details["loc"])
    cause = details.get("ctx", {}).get("error")
    if not isinstance(cause, DisagreementError):
        return ConfigProblem(table, "", "cannot be used with the other values", "configuration")
    names = [f"{table}.{key}" if table else key for key in cause.keys]
    if wrong & set(names):
        return None
    culprit = next((name for name in names if name in active), names[0])
    values = {name: active[name].value if name in active else ALL_KEYS[name].default for name in names}
    shown = {name: printable(toml_text(value)) for name, value in values.items()}
    others = ", ".join(f"{name} is {value}" for name, value in shown.items() if name != culprit)
    origin = active[culprit].origin if culprit in active else DEFAULT_ORIGIN
    allowed = f"{cause.allowed} ({others})" if others else cause.allowed
    return ConfigProblem(culprit, shown[culprit], allowed, origin)


# What a configuration lacks to run: settings that a provider cannot do without.
#
# Loading does not check this. A provider is only needed where a model is asked, and says itself what it
# lacks.


_NEEDED: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType(
    {
        ("embedding", "huggingface"): ("model",),
        ("embedding", "ollama"): ("model",),
        ("embedding", "openai"): ("model", "url"),
        ("llm", "ollama"): ("model",),
        ("llm", "openai"): ("model", "url"),
        ("llm", "anthropic"): ("model", "api_key_env"),
    }
)
"""The keys that must not be empty, by table and provider. The providers raise ProviderError without them."""


def missing_settings(loaded: LoadedConfig, environ: Mapping[str, str]) -> Iterator[ConfigProblem]:
    """Each setting, or environment variable with an API key, that the configuration needs and lacks."""
    settings = loaded.settings
    for table, of_table in (("embedding", settings.embedding), ("llm", settings.llm)):
        origin = loaded.origins[f"{table}.provider"]
        reason = f"must be set: {table}.provider is {toml_text(of_table.provider)}"
        for key in _NEEDED.get((table, of_table.provider), ()):
            if not getattr(of_table, key):
                yield ConfigProblem(f"{table}.{key}", '""', reason, origin)
        variable = of_table.api_key_env
        if variable and (table, of_table.provider) in _NEEDED and not environ.get(variable):
            key = f"{table}.api_key_env"
            reason = "this environment variable is not set"
            yield ConfigProblem(key, toml_text(variable), reason, loaded.origins[key])
    if settings.chunking.asks_model and settings.llm.provider == "none":
        yield ConfigProblem(
            "llm.provider",
            toml_text("none"),
            "must be set: the options of chunking need a language model",
            loaded.origins["llm.provider"],
        )
