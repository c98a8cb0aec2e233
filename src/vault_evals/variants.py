"""Configurations to compare: names such as `keyword` or `recursive+rrf`, and their settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import get_args

from pydantic import ValidationError

from vault_indexer.bootstrap import open_index
from vault_indexer.chunk import STRATEGIES
from vault_indexer.config import LoadedConfig, Settings
from vault_indexer.config.schema import ALL_KEYS, nearest
from vault_indexer.config.settings import EmbeddingSettings
from vault_indexer.config.values import RawValue, check, first_mistake
from vault_indexer.daemon.assembly import Assembly, Target
from vault_indexer.errors import ConfigError, IndexUnusableError, UsageError
from vault_indexer.model import Progress
from vault_indexer.search import IndexReader
from vault_indexer.store import Generation
from vault_indexer.system import record

CONFIGURED = "configured"
WHOLE_NOTE = "whole_note"

_VECTOR, _KEYWORD, _GRAPH = (f"search.weights.{name}" for name in ("vector", "keyword", "graph"))
_RERANK = "search.rerank"
_STRATEGY, _PROVIDER = "chunking.strategy", "embedding.provider"

Options = Mapping[str, str]

SEARCH_VARIANTS: Mapping[str, Options] = MappingProxyType(
    {
        CONFIGURED: {},
        "keyword": {_VECTOR: "0", _GRAPH: "0"},
        "vector": {_KEYWORD: "0", _GRAPH: "0"},
        "no_graph": {_GRAPH: "0"},
        "rrf": {_RERANK: "0"},
    }
)
"""The variants that share one index."""

DEFAULT_VARIANTS = (CONFIGURED, "keyword", "vector", "no_graph", "rrf")


@record
class Variant:
    """A configuration: its name, and the settings that differ from the active ones (dotted key to value)."""

    name: str
    options: Options

    @property
    def index_options(self) -> Options:
        return {key: value for key, value in self.options.items() if not key.startswith("search.")}


def parse_variants(names: Sequence[str]) -> tuple[Variant, ...]:
    """The distinct variants of some names.

    Parts of a name are joined by `+`: names of rankings, fusions, strategies or models, and `key=value` for
    any setting. Raises UsageError for an unknown part.
    """
    variants = []
    for name in filter(None, dict.fromkeys(name.strip() for name in names)):
        options: dict[str, str] = {}
        for part in name.split("+"):
            options |= _options_of(part.strip(), name)
        variants.append(Variant(name, options))
    return tuple(variants)


def known_names() -> tuple[str, ...]:
    """All names that a part of a variant can have, apart from `key=value`."""
    return (*SEARCH_VARIANTS, WHOLE_NOTE, *STRATEGIES, *_providers())


def settings_with(settings: Settings, options: Options, origin: str) -> Settings:
    """The settings with some values replaced. Raises ConfigError for values that are not allowed."""
    checked = [(key, *check(RawValue(key, value, origin, is_text=True))) for key, value in options.items()]
    problems = [problem for _, _, found in checked for problem in found]
    if problems:
        raise ConfigError(problems)
    values = settings.model_dump()
    for key, value, _ in checked:
        *tables, last = key.split(".")
        table = values
        for name in tables:
            table = table[name]
        table[last] = value
    try:
        replaced = Settings.model_validate(values)
    except ValidationError as error:
        raise UsageError(f"{origin}: {first_mistake(Settings, error)}") from error
    files = replaced.files.with_vault(settings.files.of_vault)
    return replaced.model_copy(update={"files": files})


def target_of_variant(target: Target, vault: Path, index_dir: Path, variant: Variant) -> Target:
    """The vault and index folder, with the configuration of `target` and the changes of the variant."""
    settings = settings_with(target.config.settings, variant.options, f"variant {variant.name}")
    config = replace(target.config, settings=settings)
    return Target(vault, index_dir, config, partial(_same, config), ())


def _same(config: LoadedConfig) -> LoadedConfig:
    return config


def _options_of(part: str, name: str) -> Options:
    if part in SEARCH_VARIANTS:
        return SEARCH_VARIANTS[part]
    if part == WHOLE_NOTE:
        return {_STRATEGY: "none"}
    if part in STRATEGIES:
        return {_STRATEGY: part}
    if part in _providers():
        return {_PROVIDER: part}
    key, equals, value = part.partition("=")
    if equals and key in ALL_KEYS:
        return {key: value}
    near = nearest(key if equals else part, ALL_KEYS if equals else known_names())
    hint = f"did you mean {near}?" if near else f"there are {', '.join(known_names())}, and key=value"
    raise UsageError(f"variant {name!r}: no {part!r}; {hint}")


def _providers() -> tuple[str, ...]:
    choices: tuple[str, ...] = get_args(EmbeddingSettings.model_fields["provider"].annotation)
    return choices


Report = Callable[[Progress], None]


def own_index(target: Target, report: Report) -> AbstractContextManager[IndexReader]:
    """The user's index of the vault, brought up to date unless a daemon writes it."""
    open_index(target, report).close()
    assembly = Assembly.of(target)
    current = assembly.index_dir.current()
    if current is None:
        raise IndexUnusableError("there is no index yet: run `indexer rebuild`")
    return _opened(assembly, current)


def built_index(target: Target, report: Report, shared: Path | None) -> AbstractContextManager[IndexReader]:
    """A new index in the folder of `target`, built by the pipeline that builds every index.

    `shared` is an index folder that provides existing vectors and the token weights.
    """
    assembly = replace(Assembly.of(target), shared_root=shared)
    assembly.index_dir.prepare()
    return _opened(assembly, assembly.build_next(report, recompute_weights=False)[0])


@contextmanager
def _opened(assembly: Assembly, generation: Generation) -> Iterator[IndexReader]:
    reader = assembly.open_to_read(generation)
    try:
        yield reader
    finally:
        reader.holder.publish(None)
