"""Selects the strategy and options of a note: from its own frontmatter, else a rule, else the settings.

Notes are untrusted: a note may choose among built-in strategies and set sizes. It may not choose a strategy
that runs code or calls a model, name a tokenizer, or give a regular expression. `config.schema` derives the
allowed strategies and options from the settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from vault_indexer.chunk.registry import chunker_for
from vault_indexer.config.fields import DisagreementError
from vault_indexer.config.schema import USER_STRATEGIES, refused_in_note
from vault_indexer.config.tables.chunking import (
    ChunkingSettings,
    normalize_strategy_options,
    without_overruled,
)
from vault_indexer.config.values import first_mistake
from vault_indexer.model import Chunk, Diagnostic, JsonValue, Note
from vault_indexer.patterns import GitignorePatterns
from vault_indexer.ports import Chunker, Embedder, Llm, Tokenizer

FRONTMATTER_KEY = "chunking"

_Overlay = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Choice:
    """The effective settings for one note (without rules), and the problems of its own choice."""

    settings: ChunkingSettings
    diagnostics: tuple[Diagnostic, ...] = ()


class Chooser:
    """Selects settings for many notes; the globs of the rules are compiled once."""

    def __init__(self, settings: ChunkingSettings) -> None:
        self._settings = settings.model_copy(update={"rules": ()})
        self._rules = [
            (_matcher(rule.paths), _overlay(self._settings, rule.choice)) for rule in settings.rules
        ]

    def choice(self, path: str, frontmatter: Mapping[str, JsonValue]) -> Choice:
        """The effective settings for the note; an invalid choice in its frontmatter is reported and
        ignored."""
        ruled = next((settings for matches, settings in self._rules if matches(path)), self._settings)
        own = frontmatter.get(FRONTMATTER_KEY)
        if own is None:
            return Choice(ruled)
        try:
            chosen = _read_choice(own)
            left_out = without_overruled(normalize_strategy_options(chosen))[1]
            said = tuple(
                Diagnostic("chunking", f"{FRONTMATTER_KEY}.{one} in the frontmatter {why}; ignored", 1)
                for one, why in left_out.items()
            )
            return Choice(_overlay(ruled, chosen), said)
        except ValidationError as error:
            return Choice(ruled, (_diagnostic(first_mistake(ChunkingSettings, error)),))
        except ValueError as error:
            return Choice(ruled, (_diagnostic(str(error)),))


def options_for(path: str, frontmatter: Mapping[str, JsonValue], settings: ChunkingSettings) -> Choice:
    """The effective settings for one note. For many notes, reuse a `Chooser`."""
    return Chooser(settings).choice(path, frontmatter)


class ChoosingChunker:
    """A chunker that splits each note as the note itself, a rule or the settings choose.

    Raises UsageError or ProviderError at the first note that requires a missing model. Only one thread may
    use it.
    """

    def __init__(
        self,
        settings: ChunkingSettings,
        *,
        embedder: Embedder | None = None,
        tokenizer: Tokenizer | None = None,
        llm: Llm | None = None,
        llm_cache: Path | None = None,
    ) -> None:
        self._chooser = Chooser(settings)
        self._build = partial(
            chunker_for, embedder=embedder, tokenizer=tokenizer, llm=llm, llm_cache=llm_cache
        )
        self._chunkers: dict[ChunkingSettings, Chunker] = {}
        self.strategy: str = settings.strategy

    def chunk(self, note: Note) -> list[Chunk]:
        settings = self._chooser.choice(note.path, note.frontmatter).settings
        chunker = self._chunkers.get(settings)
        if chunker is None:
            chunker = self._chunkers[settings] = self._build(settings)
        return chunker.chunk(note)

    def diagnostics(self, note: Note) -> tuple[Diagnostic, ...]:
        return self._chooser.choice(note.path, note.frontmatter).diagnostics


def _matcher(globs: tuple[str, ...]) -> Callable[[str], bool]:
    """Compiles globs as in .gitignore: without a slash they match in any folder."""
    return GitignorePatterns(globs).selects


def _read_choice(own: JsonValue) -> dict[str, object]:
    """A note's choice as a table. Raises ValueError for options that a note may not set."""
    table: dict[str, object] = {"strategy": own} if isinstance(own, str) else {}
    if isinstance(own, dict):
        table = dict(own)
    elif not isinstance(own, str):
        raise ValueError("must be the name of a strategy or a table of options")
    if str(table.get("strategy")) in USER_STRATEGIES:
        raise ValueError(f"strategy {table['strategy']}: only your own configuration can choose it")
    refused = refused_in_note(table)
    if refused:
        raise ValueError(f"{refused[0]}: only your own configuration can set it")
    return table


def _overlay(base: ChunkingSettings, overlay: _Overlay) -> ChunkingSettings:
    """The settings, overridden by a choice. Raises ValidationError.

    If a size of the choice contradicts one of the base, the one of the base is adjusted.
    """
    named = normalize_strategy_options(overlay)
    choice = normalize_strategy_options({"strategy": base.strategy, **named})
    table = base.model_dump(exclude_unset=True)
    try:
        return ChunkingSettings.model_validate(_merge(table, choice))
    except ValidationError as error:
        keys = _contradicting_keys(error)
        return ChunkingSettings.model_validate(_merge(_without(table, keys), choice))


def _merge(table: _Overlay, choice: _Overlay) -> dict[str, object]:
    merged = dict(table)
    for key, value in choice.items():
        below = merged.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            merged[key] = _merge(below, value)
        else:
            merged[key] = value
    return merged


def _contradicting_keys(error: ValidationError) -> frozenset[str]:
    causes = (details.get("ctx", {}).get("error") for details in error.errors(include_url=False))
    return frozenset(key for cause in causes if isinstance(cause, DisagreementError) for key in cause.keys)


def _without(table: _Overlay, keys: frozenset[str]) -> dict[str, object]:
    return {
        key: _without(value, keys) if isinstance(value, Mapping) else value
        for key, value in table.items()
        if key not in keys
    }


def _diagnostic(detail: str) -> Diagnostic:
    return Diagnostic("chunking", f"{FRONTMATTER_KEY} in the frontmatter is ignored: {detail}", 1)
