"""The Python API: one or several vaults as objects. `from vault_indexer import open_vault,
open_all_vaults`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

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


def open_vault(
    path: str | Path, index_dir: str | Path | None = None, *, report: Report | None = None, **options: object
) -> Vault:
    """The vault with its index in this process; one that is missing or does not fit is built first.

    Options are the tables of the configuration, `search={"limit": 5}, chunking={"strategy": "none"}`, or
    dotted keys; they win over files and environment. `report` hears how a build gets on. Building starts
    other processes, which do not import the caller's script. Where a daemon writes the same index, it is
    only read here. Raises UsageError, ConfigError, VaultError, IndexUnusableError, ProcessError or
    ProviderError.
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
    """All vaults of the table [vaults] of your configuration (or of the file `config`), with their indices in
    this process, as `open_vault` opens one.

    One that cannot be opened is left out, and each answer says so in its notices. Raises UsageError where the
    table has none, and ConfigError.
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
    """Open the indices of these vaults in this process; `opened` closes them. A vault that cannot be opened
    raises its error when it is used. Raises ConfigError."""
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


class VaultGroup:
    """Several vaults that are asked together. Thread-safe; to be closed, as by `with`."""

    def __init__(self, vaults: Vaults, opened: ExitStack) -> None:
        self._vaults = vaults
        self._opened = opened

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def names(self) -> tuple[str, ...]:
        """What the vaults are called."""
        return self._vaults.names

    def search(
        self, query: str | SearchRequest, *, vault: str = "", limit: int = 0, fresh: bool = False
    ) -> SearchAnswer:
        """Ranked hits of the vault of this name, or of all in one ranking; then each hit names its `vault`.
        As `Vault.search` otherwise."""
        request = SearchRequest(query, limit, fresh=fresh) if isinstance(query, str) else query
        return self._vaults.search(request, vault)

    def ask(
        self,
        question: str,
        *,
        vault: str = "",
        limit: int = 0,
        use_model: bool = True,
        fresh: bool = False,
    ) -> AskAnswer:
        """The answer from the vault of this name, or from all; then each citation names its `vault`. As
        `Vault.ask` otherwise."""
        return self._vaults.ask(AskRequest(question, limit, use_model, fresh), vault)

    def close(self) -> None:
        """Let go of the indices."""
        self._opened.close()


class Vault:
    """One vault and its index. Thread-safe; to be closed, as by `with`."""

    def __init__(self, service: VaultService) -> None:
        self._service = service

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def search(  # noqa: PLR0913 - the options of a request
        self,
        query: str | SearchRequest,
        *,
        limit: int = 0,
        by_note: bool = False,
        as_you_type: bool = False,
        fresh: bool = False,
        correct: bool = True,
        min_relevance: float | None = None,
        expand: Expand = "",
    ) -> SearchAnswer:
        """Ranked hits of at most `limit` notes; 0 means the configured number. Raises UsageError for an empty
        or long query.

        `by_note`: one hit a note. `as_you_type`: the last word may be unfinished. `fresh`: what has changed
        in the vault up to now is indexed first. `correct`: of words that no note holds, likely spellings are
        searched as well. `min_relevance`, in [0, 1]: hits below are left out; None means the configured one.
        `expand`: each hit has the text around it as `passage`; "parent" gives what its chunk is a part of.
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
            )
        return self._service.search(query)

    def ask(self, question: str, *, limit: int = 0, use_model: bool = True, fresh: bool = False) -> AskAnswer:
        """The answer to a question: sentences, each with the span of a note that it rests on.

        `limit` is the number of passages to read, 0 means the configured one. With `use_model` false no
        language model is asked, also where one is configured. `fresh` is as in `search`. Raises UsageError
        for an empty or long question, ProviderError where the model is configured and does not answer.
        """
        return self._service.ask(AskRequest(question, limit, use_model, fresh))

    def sentence(self, sentence_id: str) -> Passage:
        """The sentence of an id that a chunk, hit or citation names in its `sentence_ids`. Raises
        UnknownNoteError or UsageError where there is none."""
        return self._service.sentence(sentence_id.rpartition("_sentence_")[0], sentence_id)

    def related(self, note: str, limit: int = 10) -> tuple[RelatedNote, ...]:
        """Notes near a note: its path, or its name if that is unique. Raises UsageError if there is none, or
        for a limit that is not 1 to 200."""
        return self._service.related(note, limit)

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
        """Notes in a folder, with a tag, changed since a time, by path or (`order="recent"`) those changed
        last first. Raises UsageError for a folder that holds none, a tag that none has, or a wrong time."""
        return self._service.notes(folder, tag, since, order, limit, offset)

    def links(self, note: str) -> LinksAnswer:
        """All links of a note. Raises UsageError if there is no such note."""
        return self._service.links(note)

    def mentions(self, note: str, limit: int = 50) -> MentionsAnswer:
        """Places that name a note without linking it. Raises UsageError if there is no such note."""
        return self._service.mentions(note, limit)

    def unresolved_links(self, limit: int | None = None) -> tuple[UnresolvedTarget, ...]:
        """What links of the vault name and no file is, most wanted first; at most `limit` of them."""
        return self._service.unresolved_links()[: _check_limit(limit)]

    def orphans(self, limit: int | None = None) -> tuple[Orphan, ...]:
        """The notes that neither link to a file nor are linked to, by path; at most `limit` of them."""
        return self._service.orphans()[: _check_limit(limit)]

    def graph(self, note: str, *, depth: int = 1, limit: int = 150, related: bool = True) -> NoteGraph:
        """The files within `depth` (1 to 3) links of a note and, with `related`, notes near in meaning; at
        most `limit` (1 to 300) files. Raises UsageError for a number out of bounds, or if there is no such
        note."""
        return self._service.graph(note, depth=depth, limit=limit, related=related)

    def rebuild(self, report: Report | None = None) -> RebuildReport:
        """Rebuild the index; searches go on until it takes over."""
        return self._service.rebuild(report or _ignore_progress)

    def close(self) -> None:
        """Let go of the index."""
        self._service.close()


def _check_limit(limit: int | None) -> int | None:
    if limit is not None and limit < 1:
        raise UsageError(f"limit {limit}: allowed is 1 or more, or None for all")
    return limit


def _ignore_progress(_: Progress) -> None:
    """Discard the progress of a build."""


def _dot_keys(options: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, OptionValue]]:
    for name, value in options.items():
        key = prefix + name
        if isinstance(value, Mapping):
            yield from _dot_keys(normalize_strategy_options(value) if key == "chunking" else value, f"{key}.")
        elif "." not in key:
            raise UsageError(f"option {key}: tables are wanted, as in search={{'limit': 5}}")
        elif value is None or isinstance(value, str | int | float | Path | list | tuple):
            yield key, value
        else:
            raise UsageError(f"option {key}: a value of type {type(value).__name__} cannot be configured")
