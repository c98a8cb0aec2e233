"""The Python API: one or several vaults as objects.

`from vault_indexer import open_vault, open_all_vaults`.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from vault_indexer.bootstrap import named_target, named_vaults, open_index, resolve_target
from vault_indexer.config import NamedVault, load_own
from vault_indexer.config.sources import OptionValue
from vault_indexer.config.tables.chunking import normalize_strategy_options
from vault_indexer.contract.requests import Expand, NoteOrder
from vault_indexer.daemon.assembly import llm_cache_folder
from vault_indexer.daemon.discovery import shared_daemon_dir
from vault_indexer.errors import UsageError, VaultIndexerError
from vault_indexer.model import (
    AskAnswer,
    AskRequest,
    LinksAnswer,
    MentionsAnswer,
    NoteGraph,
    NoteList,
    NoteText,
    Orphan,
    Passage,
    Progress,
    RebuildReport,
    RelatedNote,
    SearchAnswer,
    SearchRequest,
    UnresolvedTarget,
)
from vault_indexer.service import VaultService
from vault_indexer.system import with_home
from vault_indexer.vaults import ClosedVault, OpenVault, VaultRuntime, Vaults

Report = Callable[[Progress], None]
P = ParamSpec("P")
R = TypeVar("R")


def open_vault(
    path: str | Path, index_dir: str | Path | None = None, *, report: Report | None = None, **options: object
) -> Vault:
    """Opens the vault with its index in this process. A missing or incompatible index is built first.

    Options are tables of the configuration, `search={"limit": 5}, chunking={"strategy": "none"}`, or dotted
    keys; they override files and environment variables. `report` is called with the progress of a build. A
    build starts other processes, which do not import the caller's script. If a daemon writes the same index,
    this process only reads it. Raises UsageError, ConfigError, VaultError, IndexUnusableError, ProcessError
    or ProviderError.
    """
    target = resolve_target(
        with_home(path),
        None if index_dir is None else Path(index_dir),
        None,
        environ=os.environ,
        options=dict(_dot_keys(options)),
    )
    return Vault(open_index(target, report or _ignore_progress))


def open_all_vaults(config: str | Path | None = None, *, report: Report | None = None) -> VaultGroup:
    """Opens all vaults of the table [vaults] in your configuration (or in the file `config`), like
    `open_vault`.

    A vault that cannot be opened is omitted, and the notices of each answer report it. Raises UsageError if
    the table has no vaults, and ConfigError.
    """
    config_file = None if config is None else with_home(config)
    named = named_vaults(config_file, os.environ)
    if not named:
        raise UsageError('there are no vaults. Run "indexer init ~/Notes" once.')
    opened = ExitStack()
    return VaultGroup(open_named(named, config_file, report or _ignore_progress, opened), opened)


def open_named(
    named: Sequence[NamedVault], config_file: Path | None, report: Report, opened: ExitStack
) -> Vaults:
    """Opens the indices of these vaults in this process; `opened` closes them. A vault that cannot be opened
    raises its error on use. Raises ConfigError."""
    settings = load_own(config_file, os.environ).settings
    holders: list[VaultRuntime] = []
    for one in named:
        try:
            service = open_index(named_target(one, config_file, os.environ), report)
        except VaultIndexerError as error:
            holders.append(ClosedVault(one.name, one.path, error))
            continue
        opened.callback(service.close)
        holders.append(OpenVault(one.name, one.path, service))
    llm_cache = llm_cache_folder(settings, shared_daemon_dir(config_file))
    return Vaults(holders, settings, llm_cache=llm_cache)


def _in_thread(
    method: Callable[Concatenate[Vault, P], R],
) -> Callable[Concatenate[AsyncVault, P], Coroutine[Any, Any, R]]:
    """The method of a vault as a coroutine function of `AsyncVault`."""

    @functools.wraps(method)
    async def run(self: AsyncVault, /, *args: P.args, **kwargs: P.kwargs) -> R:
        import asyncio  # 12 ms, which commands do not need

        return await asyncio.to_thread(method, self._vault, *args, **kwargs)

    return run


class VaultGroup(AbstractContextManager["VaultGroup"]):
    """Several vaults that are searched together. Thread-safe; close it, for example with `with`."""

    def __init__(self, vaults: Vaults, opened: ExitStack) -> None:
        self._vaults = vaults
        self._opened = opened

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the vaults."""
        return self._vaults.names

    def search(
        self, query: str | SearchRequest, *, vault: str = "", limit: int = 0, fresh: bool = False
    ) -> SearchAnswer:
        """Returns ranked hits of the vault with this name, or of all vaults in one ranking, where each hit
        has its `vault`. Otherwise like `Vault.search`."""
        request = SearchRequest(query, limit, fresh=fresh) if isinstance(query, str) else query
        return self._vaults.search(request, vault)

    def ask(
        self, question: str, *, vault: str = "", limit: int = 0, use_model: bool = True, fresh: bool = False
    ) -> AskAnswer:
        """Returns the answer from the vault with this name, or from all vaults, where each citation has its
        `vault`. Otherwise like `Vault.ask`."""
        return self._vaults.ask(AskRequest(question, limit, use_model, fresh), vault)

    def close(self) -> None:
        """Closes the indices."""
        self._opened.close()


class Vault(AbstractContextManager["Vault"]):
    """One vault and its index. Thread-safe; close it, for example with `with`."""

    def __init__(self, service: VaultService) -> None:
        self._service = service

    def __exit__(self, *_: object) -> None:
        self.close()

    def search(  # noqa: PLR0913 - the options of a request
        self,
        query: str | SearchRequest,
        *,
        limit: int = 0,
        offset: int | None = None,
        by_note: bool = False,
        as_you_type: bool = False,
        fresh: bool = False,
        correct: bool = True,
        min_relevance: float | None = None,
        expand: Expand = "",
    ) -> SearchAnswer:
        """Returns ranked hits of at most `limit` notes; 0 means the configured number. Raises UsageError for
        an empty or long query, or a number out of bounds.

        `by_note` returns one hit per note. With `as_you_type`, the last word may be unfinished. With `fresh`,
        pending changes of the vault are indexed first. With `correct`, likely spellings are also searched for
        words that no note contains. Hits with a relevance below `min_relevance`, in [0, 1], are omitted; None
        means the configured value. With `offset`, the first notes are left out; pages that all have one, the
        first 0, belong to one ranking of 200 notes. With `expand`, each hit has the text around it as
        `passage`; "parent" returns the parent of its chunk.
        """
        if isinstance(query, str):
            query = SearchRequest(
                query,
                limit,
                by_note,
                fresh,
                as_you_type,
                correct=correct,
                min_relevance=min_relevance,
                expand=expand,
                offset=offset,
            )
        return self._service.search(query)

    def ask(self, question: str, *, limit: int = 0, use_model: bool = True, fresh: bool = False) -> AskAnswer:
        """Returns the answer to a question: sentences, each with the span of a note that supports it.

        `limit` is the number of passages to read; 0 means the configured number. If `use_model` is false, no
        language model is called, even if one is configured. `fresh` is as in `search`. Raises UsageError for
        an empty or long question, and ProviderError if a configured model does not answer.
        """
        return self._service.ask(AskRequest(question, limit, use_model, fresh))

    def sentence(self, sentence_id: str) -> Passage:
        """Returns the sentence with an id from the `sentence_ids` of a chunk, hit or citation. Raises
        UnknownNoteError or UsageError if it does not exist."""
        return self._service.sentence(sentence_id.rpartition("_sentence_")[0], sentence_id)

    def related(self, note: str, limit: int = 10) -> tuple[RelatedNote, ...]:
        """Returns notes related to a note, given by its path or its unique name. Raises UsageError if it does
        not exist, or for a limit that is not 1 to 200."""
        return self._service.related(note, limit)

    def note(self, note: str) -> NoteText:
        """The current text of a note: its path, or its name if that is unique. Raises UnknownNoteError if
        there is no such note, and NoteError if its file cannot be read."""
        return self._service.note(note)

    def notes(
        self,
        *,
        folder: str = "",
        tag: str = "",
        since: str = "",
        order: NoteOrder = "path",
        limit: int = 50,
        offset: int = 0,
    ) -> NoteList:
        """Returns the notes in a folder, with a tag, changed since a time, by path or (`order="recent"`)
        newest change first. Raises UsageError for a folder without notes, a tag without notes, or an invalid
        time."""
        return self._service.notes(folder, tag, since, order, limit, offset)

    def links(self, note: str) -> LinksAnswer:
        """Returns all links of a note. Raises UsageError if it does not exist."""
        return self._service.links(note)

    def mentions(self, note: str, limit: int = 50) -> MentionsAnswer:
        """Returns places that mention a note without a link. Raises UsageError if it does not exist."""
        return self._service.mentions(note, limit)

    def unresolved_links(self, limit: int | None = None) -> tuple[UnresolvedTarget, ...]:
        """Returns the targets of broken links, most frequent first; at most `limit`."""
        return self._service.unresolved_links()[: _check_limit(limit)]

    def orphans(self, limit: int | None = None) -> tuple[Orphan, ...]:
        """Returns the notes without links in either direction, by path; at most `limit`."""
        return self._service.orphans()[: _check_limit(limit)]

    def graph(self, note: str, *, depth: int = 1, limit: int = 150, related: bool = True) -> NoteGraph:
        """Returns the files within `depth` (1 to 3) links of a note and, with `related`, notes with a similar
        meaning; at most `limit` (1 to 300) files. Raises UsageError for a number out of bounds, or if the
        note does not exist."""
        return self._service.graph(note, depth=depth, limit=limit, related=related)

    def rebuild(self, report: Report | None = None) -> RebuildReport:
        """Rebuilds the index. The old one answers searches until the new one is complete."""
        return self._service.rebuild(report or _ignore_progress)

    def close(self) -> None:
        """Closes the index."""
        self._service.close()


class AsyncVault:
    """A vault whose methods are coroutines. Each runs the method of `Vault` with the same name in a thread.
    Close it, for example by `async with`."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    search = _in_thread(Vault.search)
    ask = _in_thread(Vault.ask)
    sentence = _in_thread(Vault.sentence)
    related = _in_thread(Vault.related)
    note = _in_thread(Vault.note)
    notes = _in_thread(Vault.notes)
    links = _in_thread(Vault.links)
    mentions = _in_thread(Vault.mentions)
    unresolved_links = _in_thread(Vault.unresolved_links)
    orphans = _in_thread(Vault.orphans)
    graph = _in_thread(Vault.graph)
    rebuild = _in_thread(Vault.rebuild)
    close = _in_thread(Vault.close)


async def open_vault_async(
    path: str | Path, index_dir: str | Path | None = None, *, report: Report | None = None, **options: object
) -> AsyncVault:
    """Opens a vault as `open_vault` does, without blocking the event loop."""
    import asyncio

    return AsyncVault(await asyncio.to_thread(open_vault, path, index_dir, report=report, **options))


def _check_limit(limit: int | None) -> int | None:
    if limit is not None and limit < 1:
        raise UsageError(f"limit {limit}: must be 1 or more, or None for all")
    return limit


def _ignore_progress(_: Progress) -> None: ...


def _dot_keys(options: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, OptionValue]]:
    for name, value in options.items():
        key = prefix + name
        if isinstance(value, Mapping):
            yield from _dot_keys(normalize_strategy_options(value) if key == "chunking" else value, f"{key}.")
        elif "." not in key:
            raise UsageError(f"option {key}: must be a table, such as search={{'limit': 5}}")
        elif value is None or isinstance(value, str | int | float | Path | list | tuple):
            yield key, value
        else:
            raise UsageError(f"option {key}: a value of type {type(value).__name__} cannot be configured")
