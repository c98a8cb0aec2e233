"""The settings that built a generation (`generations/NNNN/manifest.toml`), and their differences.

A generation is searched only with the settings that built it: any difference, or a manifest that cannot be
read, starts a rebuild.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import get_args

import tomli
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError, model_validator

from vault_indexer.config.settings import Settings
from vault_indexer.config.tables.chunking import ChunkingSettings, normalize_strategy_options
from vault_indexer.config.tables.chunking_options import OPTION_TABLES, HeaderBasedOptions, StrategyName
from vault_indexer.config.values import printable, toml_text
from vault_indexer.errors import ManifestError
from vault_indexer.model import LinkStyle
from vault_indexer.ports import EmbeddingModel

SPEC_VERSION = 3
"""Of the form of a generation on disk; raised when an older one can no longer be read."""


E5_PREFIXES = "+query-passage"
"""Follows the name of a model that gets "query: " and "passage: " before its texts: its vectors differ from
those of the model without them."""

_FIRST_WORD_VECTORS = "wordllama/l2_supercat_256"

_ONE_MODEL_PROVIDERS = ("wordllama", "minilm", "multilingual", "e5")


class Manifest(BaseModel):
    """The properties of an index that decide whether it still fits the configuration.

    `parsers` maps a parser's name to its version. `chunking_config` is the result of `chunking_config()`.
    `token_weights` names the weights frozen when the generation was built, "" for none; each rebuild makes
    new ones, so a different name alone is no difference. `language_model` is the result of
    `language_model()`. `word_vectors` names the model that numbers the words of the chunks, "" if they are
    not numbered. `link_style` is never `auto`; an older file, which does not name it, was built with
    Obsidian's links. `replaced_strategy` is the configured strategy if the option `--strategy` replaced it
    for the build, else "". Such a generation fits as long as the configuration names that strategy.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    spec_version: int
    embedding_model: EmbeddingModel
    parsers: dict[str, str]
    chunking_config: dict[str, JsonValue]
    analyzer: str
    token_weights: str
    language_model: str
    word_vectors: str
    link_style: LinkStyle = "obsidian"
    replaced_strategy: str = ""

    @model_validator(mode="before")
    @classmethod
    def _name_word_vectors(cls, table: JsonValue) -> JsonValue:
        """An older file does not name them: only chunks embedded with wordllama had their words numbered."""
        if not isinstance(table, dict) or "word_vectors" in table:
            return table
        model = table.get("embedding_model")
        numbered = isinstance(model, dict) and model.get("provider") == "wordllama"
        return {**table, "word_vectors": _FIRST_WORD_VECTORS if numbered else ""}

    @classmethod
    def from_toml(cls, text: str) -> Manifest:
        """Reads `manifest.toml`. Raises ManifestError naming every field that is missing or wrong."""
        try:
            return cls.model_validate_json(json.dumps(tomli.loads(text)), strict=True)
        except ValidationError as error:
            details = error.errors(include_url=False)
            found = {printable(".".join(map(str, one["loc"]))): one["type"] for one in details}
            mistakes = ", ".join(
                f"{name} {_FIELD_ERRORS.get(kind, 'is of the wrong type')}" for name, kind in found.items()
            )
            raise ManifestError(f"manifest.toml: {mistakes}", list(found)) from error
        except tomli.TOMLDecodeError as error:
            place = f"line {error.lineno}, column {error.colno}"
            raise ManifestError(f"manifest.toml: not valid TOML at {place}: {error.msg}") from error
        except (ValueError, TypeError, RecursionError) as error:
            raise ManifestError("manifest.toml: contains an invalid value") from error

    def to_toml(self) -> str:
        import tomlkit

        return tomlkit.dumps(self.model_dump(mode="json", exclude_defaults=True))


_FIELD_ERRORS: Mapping[str, str] = MappingProxyType(
    {
        "missing": "is missing",
        "extra_forbidden": "is not known",
        "unexpected_keyword_argument": "is not known",
    }
)
"""Pydantic's kinds of error in our words."""


def differences(old: Manifest, new: Manifest) -> list[str]:
    """A line for each difference by the name of its key, such as `chunking.max_chunk_chars is now 900`. If
    the strategy or the provider differs, its own options are not listed: they follow from it. Differences of
    the program itself are one line."""
    before, after = dict(_flat(_comparable(old))), dict(_flat(_comparable(new)))
    changed = [
        name
        for name in [*before, *(name for name in after if name not in before)]
        if before.get(name) != after.get(name)
    ]
    for leader in _LEADERS:
        if leader in changed:
            table = leader.rpartition(".")[0]
            changed = [name for name in changed if name == leader or not name.startswith(f"{table}.")]
    lines = [
        _ANOTHER_VERSION
        if name.partition(".")[0] in _OF_THE_PROGRAM
        else f"{_key_of(name)} is now {after.get(name, 'not set').strip(chr(34))}"
        for name in changed
    ]
    return [*dict.fromkeys(lines)]


def chunking_config(settings: Settings, also_in_use: Iterable[str] = ()) -> dict[str, JsonValue]:
    """The part of the configuration that decides how notes are split: the strategy, the rules, and the
    options of the strategies in use, so that an option of an idle strategy rebuilds nothing.

    `also_in_use` are strategies that notes choose for themselves.
    """
    chunking = settings.chunking
    choices = (normalize_strategy_options(rule.choice) for rule in chunking.rules)
    in_use = {chunking.strategy, *also_in_use, *(choice.get("strategy") for choice in choices)}
    bases = {options.starts_from for name, options in OPTION_TABLES.items() if name in in_use}
    idle = set(get_args(StrategyName)) - in_use - bases
    if not chunking.is_contextual:
        idle.add("contextual")
    if _DEFAULT_STRATEGY in idle:
        idle |= set(HeaderBasedOptions.model_fields)
    if not chunking.rules:
        idle.add("rules")
    table: dict[str, JsonValue] = chunking.model_dump(mode="json", exclude_none=True)
    return {name: value for name, value in table.items() if name not in idle}


def strategies_in(table: Mapping[str, JsonValue]) -> set[str]:
    """The strategies whose options a manifest's `chunking_config` contains."""
    named = {name for name in get_args(StrategyName) if name in table}
    default = set(HeaderBasedOptions.model_fields) <= set(table)
    return named | ({_DEFAULT_STRATEGY} if default else set())


def settings_of(manifest: Manifest, settings: Settings) -> Settings:
    """The configuration that a generation was built with, as far as its manifest records it. The options of
    strategies that none of its notes uses yet are those of `settings`."""
    model, built = manifest.embedding_model, manifest.chunking_config
    made = {"provider": model.provider, "token_weights": "idf" if manifest.token_weights else "none"}
    if model.provider not in _ONE_MODEL_PROVIDERS:
        made["model"] = model.name.removesuffix(E5_PREFIXES)
    embedding = settings.embedding.model_copy(update=made)
    idle = settings.chunking.model_dump(mode="json", exclude_unset=True, exclude={"rules", "contextual"})
    chunking = ChunkingSettings.model_validate({**idle, **built})
    links = settings.links.model_copy(update={"style": manifest.link_style})
    return settings.model_copy(update={"embedding": embedding, "chunking": chunking, "links": links})


def language_model(settings: Settings) -> str:
    """Provider and model that help to split notes, "" if none does; another model splits differently."""
    return f"{settings.llm.provider}/{settings.llm.model}" if settings.chunking.asks_model else ""


_LEADERS = ("chunking_config.strategy", "embedding_model.provider")
_TABLES = MappingProxyType({"chunking_config": "chunking", "embedding_model": "embedding"})

_OF_THE_PROGRAM = ("spec_version", "parsers", "analyzer")
_ANOTHER_VERSION = "another version of vault-indexer built it"

_DEFAULT_STRATEGY = "header_based"
"""Its options stand in `[chunking]` itself, those of any other in `[chunking.<strategy>]`."""


def _key_of(name: str) -> str:
    """The key of the configuration that a part of the manifest comes from, else its name."""
    if name == "link_style":
        return "links.style"
    table, _, rest = name.partition(".")
    return f"{_TABLES[table]}.{rest}" if table in _TABLES else name


def _comparable(manifest: Manifest) -> dict[str, JsonValue]:
    """The manifest without values that do not affect the content, such as the name of the weights."""
    table: dict[str, JsonValue] = manifest.model_dump(mode="json", exclude={"replaced_strategy"})
    return table | {"token_weights": "idf" if manifest.token_weights else "none"}


def _flat(value: JsonValue, name: str = "") -> Iterator[tuple[str, str]]:
    if not isinstance(value, dict):
        yield name, toml_text(_in_order(value))
        return
    for key, part in value.items():
        yield from _flat(part, f"{name}.{key}" if name else key)


def _in_order(value: JsonValue) -> JsonValue:
    """Sorts the keys of tables, also within lists: their order has no meaning and may vary."""
    if isinstance(value, list):
        return [_in_order(part) for part in value]
    if isinstance(value, dict):
        return {name: _in_order(value[name]) for name in sorted(value)}
    return value
