"""The use cases. The command line, HTTP, MCP and Python callers all use this module and no other entry."""

from __future__ import annotations

import posixpath
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol, TypeVar

import vault_indexer.answer as answering
from vault_indexer import model
from vault_indexer.answer import AskEvent, whole_answer, with_notices
from vault_indexer.bases import (
    BaseDefinition,
    VaultFiles,
    base_view,
    choose_view,
    read_definition,
    read_definitions_in_note,
)
from vault_indexer.chunk import NoteSentences, chunks_of
from vault_indexer.config import Settings
from vault_indexer.config.schema import OPEN_STRATEGIES
from vault_indexer.config.settings import SearchSettings
from vault_indexer.contract.marks import DEFAULT_MENTIONS, MAX_PAUSE_S, check_query
from vault_indexer.contract.parameters import check_bounds
from vault_indexer.contract.requests import (
    DEFAULT_ROWS,
    BaseRequest,
    LinksRequest,
    NoteOrder,
    NotesRequest,
    RebuildOptions,
    RelatedRequest,
)
from vault_indexer.documents import line_boxes, with_part_names, without_boxes
from vault_indexer.errors import (
    IndexUnusableError,
    NoteError,
    QueryCancelledError,
    UnknownNoteError,
    UsageError,
    VaultIndexerError,
)
from vault_indexer.index.reading import document_note, note_from, with_language
from vault_indexer.links import (
    MAX_DEPTH,
    MAX_NODES,
    cluster_map,
    links_of,
    links_of_draft,
    mark_missing_parts,
    mentions,
    neighbourhood,
    note_of,
    orphans,
    part_of,
    path_of,
    related_notes,
    unresolved_links,
    vault_path,
)
from vault_indexer.parse.canvas import canvas_drawing
from vault_indexer.parse.reading_view import property_view, reading_view, source_view
from vault_indexer.parse.resolve import normal, target_name
from vault_indexer.ports import Chunker
from vault_indexer.providers import language_model
from vault_indexer.search import (
    IndexReader,
    QueryDeadline,
    ReadyVault,
    ReadyVaults,
    complete_query,
    list_notes,
    list_tasks,
    never,
    vault_health,
    vault_overview,
)
from vault_indexer.search.present import editor_of, file_uri, passage_at, with_display_titles
from vault_indexer.store import Snapshot
from vault_indexer.store.catalog import export_lines
from vault_indexer.system import LruCache, record
from vault_indexer.text.fold import did_you_mean
from vault_indexer.text.phrases import iso_time
from vault_indexer.vault import (
    MAX_PICTURE_BYTES,
    NoteVanished,
    is_picture_name,
    open_file,
    picture_type,
    read_note,
    resolved_path,
    why_excluded,
)

if TYPE_CHECKING:
    from vault_indexer.answer import Answerer
    from vault_indexer.answer.sentences import Sentence
    from vault_indexer.arrays import Vectors
    from vault_indexer.vault.read import ReadResult

_PlaceT = TypeVar("_PlaceT", model.Backlink, model.Mention)
_MAPS_KEPT = 8
_GRAPH_HITS = 25
"""The number of best hits of a query around which its graph is drawn."""

_COMPLETIONS = 50

_FRESH_S = 10.0
"""The longest wait for changes in seconds for a fresh request, for all its vaults together."""


_BASE_SUFFIX = ".base"

MAX_NOTE_BYTES = 64 << 20
"""Notes of the index are smaller (`files.max_file_bytes`), but a file may have grown since."""


def _no_chunker(_: str) -> Chunker:
    raise UsageError("the chunking strategy can only be changed through the daemon")


_AS_USUAL = RebuildOptions()


class IndexSession(Protocol):
    """Keeps the index in sync with the vault, in a daemon's loop or in this process for one command."""

    @property
    def vault(self) -> Path: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def llm_cache(self) -> Path:
        """The folder that stores the answers of the language model."""

    def reader(self) -> IndexReader:
        """Returns the active index. Raises IndexUnusableError with the reason while there is none."""

    def pending(self) -> int:
        """Returns the number of detected changes that are not in the index yet."""

    def changes(self, before: int, now: int) -> model.NoteChanges:
        """Returns the notes whose changes led from one seq of the index to a later one."""

    def missing(self) -> int:
        """Returns a lower bound for the number of notes that were never indexed; 0 only once all were."""

    def notices(self) -> tuple[str, ...]:
        """Returns notices for users about the state: degraded, rebuilding, repaired."""

    @property
    def failure(self) -> VaultIndexerError | None:
        """The error that forces the daemon to end; None while it can continue."""

    @property
    def paused(self) -> bool: ...

    def pause(self, seconds: float | None) -> None:
        """Pauses indexing for some seconds, or (None) until `resume`. Raises DaemonError without a daemon."""

    def resume(self) -> None:
        """Resumes indexing. Raises DaemonError if no daemon runs."""

    def pause_upgrade(self, paused: bool) -> None:
        """Pauses or resumes the embedding with a better model. Raises DaemonError if no daemon runs."""

    def wait_fresh(self, deadline_s: float) -> bool:
        """Waits until all current changes of the vault are in the index. Returns False if the deadline passes
        first."""

    def rebuild(
        self, report: Callable[[model.Progress], None], options: RebuildOptions
    ) -> model.RebuildReport:
        """Builds the next generation and activates it. Raises VaultIndexerError, and VaultError if the vault
        has suddenly lost its notes and `options.force` is false."""

    def status(self) -> model.StatusReport: ...

    def verify(self, *, repair: bool) -> tuple[model.Problem, ...]:
        """Returns every disagreement between vault, catalog and derived indices; `repair` removes them."""

    def close(self) -> None:
        """Stops indexing, ends all processes, releases the lock."""


_FOUND_BY_NAME = frozenset({model.FileKind.ATTACHMENT, model.FileKind.DOCUMENT})
"""The kinds of files that are found by their names where their text is not read."""


class VaultService:
    """The use cases of one vault's index.

    `bootstrap` creates it for a session of a daemon or of one command. The caller that opened it closes it.
    Any thread may call its methods. A read leases the current snapshot, so its answer is consistent even if
    the index is updated or rebuilt meanwhile.
    """

    def __init__(self, session: IndexSession, chunker: Callable[[str], Chunker] = _no_chunker) -> None:
        """`chunker` creates the chunker of a strategy. It is called when a strategy is compared."""
        self._session = session
        self._answerer: Answerer | None = None
        self._chunker = chunker
        self._maps: LruCache[tuple[int, int, str, str], model.ClusterMap] = LruCache(_MAPS_KEPT)
        self._map_lock = threading.Lock()

    @property
    def vault(self) -> Path:
        return self._session.vault

    def search(
        self,
        request: model.SearchRequest,
        *,
        fresh_deadline_s: float = _FRESH_S,
        is_cancelled: Callable[[], bool] = never,
    ) -> model.SearchAnswer:
        """Returns ranked hits. Raises UsageError for an empty or long query or a number out of bounds,
        QueryTimeoutError after `search.deadline_s`, and QueryCancelledError soon after `is_cancelled` returns
        True."""
        return self.asked_vaults(is_cancelled).search(request, fresh_deadline_s)

    def ask(self, request: model.AskRequest, *, is_cancelled: Callable[[], bool] = never) -> model.AskAnswer:
        """Returns the answer to a question, with a citation for each sentence. Raises as `search` does, and
        ProviderError if a configured language model does not answer."""
        return whole_answer(self.asked_vaults(is_cancelled).ask_events(request))

    def _lease(self) -> AbstractContextManager[Snapshot]:
        """The current state of the index. Raises IndexUnusableError while there is none."""
        return self._session.reader().holder.lease()

    def asked_vaults(self, is_cancelled: Callable[[], bool]) -> AskedVaults:
        """This vault alone, without a name, for a search or a question."""
        settings = self.settings.search
        return AskedVaults({"": lambda: self}, settings, self._current_answerer, is_cancelled)

    def _current_answerer(self) -> Answerer:
        """Returns the answerer for the current settings: a daemon reloads a changed configuration."""
        settings, answerer = self._session.settings, self._answerer
        if answerer is None or answerer.settings != settings:
            answerer = self._answerer = answering.Answerer(settings, self._session.llm_cache)
        return answerer

    def explain(
        self, note: str, request: model.SearchRequest, *, is_cancelled: Callable[[], bool] = never
    ) -> model.Explanation:
        """Explains the rank of a note in the answer to a request, or whether an attachment is in it.

        Raises as `search` does, and UnknownNoteError if there is no such note in the index. The error
        contains the reason if the file exists in the vault.
        """
        check_request(request)
        opened = self._session.reader()
        with opened.holder.lease() as snapshot:
            path = vault_path(self.vault, note)
            files = snapshot.catalog.files_at((path, f"{path}.md"))
            for file in files.values():
                if file.reason and file.state != "note":
                    raise UnknownNoteError(f"{file.path} is not in the index: {file.reason}")
            known = files.get(path)
            deadline = QueryDeadline(opened.searcher.settings.deadline_s, is_cancelled)
            if known and known.state == "linked" and model.kind_of(known.path) in _FOUND_BY_NAME:
                return opened.searcher.explain_attachment(snapshot, known.path, request, deadline)
            try:
                row = note_of(snapshot, self.vault, note)
            except UnknownNoteError:
                wanted = vault_path(self.vault, note).strip()
                if said := why_excluded(self.vault, self.settings.files, wanted):
                    raise UnknownNoteError(said) from None
                raise
            return opened.searcher.explain(snapshot, row, request, deadline)

    def related(self, note: str, limit: int = 10) -> tuple[model.RelatedNote, ...]:
        """Notes near a note. Raises UsageError for a limit out of bounds, UnknownNoteError if there is no
        such note."""
        check_bounds(RelatedRequest(note, limit))
        with self._lease() as snapshot:
            return tuple(related_notes(snapshot, path_of(snapshot, self.vault, note), limit))

    def path_of(self, note: str) -> str:
        """The vault path of a note of the index. Raises UnknownNoteError if there is no such note."""
        with self._lease() as snapshot:
            return path_of(snapshot, self.vault, note)

    def note(self, note: str) -> model.NoteText:
        """The current text of a note of the index, never of an excluded file. Raises UnknownNoteError if
        there is no such note, and NoteError if its file cannot be read."""
        path = self.path_of(note)
        if model.kind_of(path) is model.FileKind.DOCUMENT:  # its text exists only in the index
            with self._lease() as snapshot:
                row = note_of(snapshot, self.vault, path)
                text = without_boxes(snapshot.catalog.text(row.note_id))
                return model.NoteText(path, text, iso_time(row.mtime_ns))
        read = self.read_file(path)
        return model.NoteText(path, read.data.decode("utf-8-sig", "replace"), iso_time(read.stat.mtime_ns))

    def read_file(self, path: str) -> ReadResult:
        """The file of a note of the index as it is now. Raises UnknownNoteError if it is gone, and NoteError
        if it cannot be read."""
        try:
            return read_note(self.vault, path, MAX_NOTE_BYTES)
        except NoteVanished:
            raise UnknownNoteError(
                f"{path} was moved or deleted after it was indexed: search again in a few seconds"
            ) from None

    def changes(self, before: int, now: int) -> model.NoteChanges:
        return self._session.changes(before, now)

    def outline(self, note: str) -> model.NoteOutline:
        """The text and the headings of a note, as indexed. Raises UnknownNoteError if there is no such
        note."""
        with self._lease() as snapshot:
            row = note_of(snapshot, self.vault, note)
            text, headings = snapshot.catalog.text(row.note_id), snapshot.catalog.headings(row.note_id)
            return model.NoteOutline(row.path, row.title, self._uri(row.path), text, tuple(headings))

    def indexed_text(self, note: str) -> str:
        """The text of a note as it was indexed. Raises UnknownNoteError if there is no such note."""
        return self.outline(note).text

    def sentence(self, note: str, sentence_id: str) -> model.Passage:
        """Returns the indexed sentence of an id that a chunk, hit or citation contains.

        Raises UnknownNoteError if there is no such note, UsageError if it has no such sentence.
        """
        with self._lease() as snapshot:
            row = note_of(snapshot, self.vault, note)
            text = snapshot.catalog.text(row.note_id)
            blocks = snapshot.catalog.block_spans([row.note_id]).get(row.note_id, ())
        found = NoteSentences(model.doc_id_of(row.path), text, blocks)
        span = found.span(sentence_id)
        if span is None:
            ids = found.ids(0, len(text))
            named = f", with the ids {ids[0]} to {ids[-1]}" if ids else ""
            raise UsageError(f"{row.path} has no sentence {sentence_id!r}: it has {len(found)}{named}")
        return passage_at(text, span, "sentence", sentence_id)

    def note_paths(self) -> list[str]:
        with self._lease() as snapshot:
            return snapshot.catalog.note_paths()

    def notes(  # noqa: PLR0913 - one for each key of the request
        self,
        folder: str = "",
        tag: str = "",
        since: str = "",
        order: NoteOrder = "path",
        limit: int = 50,
        offset: int = 0,
        name: str = "",
    ) -> model.NoteList:
        """Returns the notes in a folder, with a tag, changed since a time, with words in their names. Each of
        the filters may be empty.

        Raises UsageError for a folder without notes, a tag that no note has, an invalid time, and a number
        out of bounds.
        """
        request = NotesRequest(folder, tag, since, order, limit, offset, name)
        check_bounds(request)
        with self._lease() as snapshot:
            return list_notes(snapshot.catalog, request)

    def base(
        self,
        note: str,
        view: str = "",
        limit: int = DEFAULT_ROWS,
        shown_in: str = "",
        line: int = 0,
        *,
        now: datetime | None = None,
    ) -> model.BaseView:
        """Returns at most `limit` rows of a view of a base, the first view for "". `shown_in` is the note
        that embeds it, and `now` a local time. For a note, its bases are the blocks of code, or only that at
        `line`.

        Raises UnknownNoteError if there is no such base, NoteError if its file cannot be read,
        QueryTimeoutError, and UsageError for an unknown view and for everything that is not supported.
        """
        check_bounds(BaseRequest(note, view, limit, shown_in, line))
        with self._lease() as snapshot:
            path = _base_path(snapshot, self.vault, note)
            this = path_of(snapshot, self.vault, shown_in) if shown_in else path
            definitions = self._bases_of(snapshot, path, line)
            definition, table = choose_view(definitions, view)
            files = VaultFiles(snapshot.catalog, self.vault, path)
            found = base_view(files, definition, table, this, limit=limit, now=now or datetime.now())
        return replace(found, views=tuple(name for one in definitions for name in one.view_names))

    def _bases_of(self, snapshot: Snapshot, path: str, line: int) -> Sequence[BaseDefinition]:
        if not path.lower().endswith(_BASE_SUFFIX):
            text = snapshot.catalog.text(note_of(snapshot, self.vault, path).note_id)
            return read_definitions_in_note(path, text, line)
        text = self.read_file(path).data.decode("utf-8-sig", "replace")
        return [read_definition(path, text)]

    def tasks(
        self, state: model.TaskState = "open", note: str = "", folder: str = ""
    ) -> list[model.VaultTask]:
        """Returns the tasks of the vault, of a note or of a folder. Raises UnknownNoteError if there is no
        such note, UsageError for a folder without notes."""
        today = datetime.now().astimezone().date()
        with self._lease() as snapshot:
            path = path_of(snapshot, self.vault, note) if note else ""
            if folder:
                list_notes(snapshot.catalog, NotesRequest(folder, limit=1))
            within = folder.strip().strip("/")
            return list_tasks(snapshot.catalog, state, path=path, folder=within, today=today)

    def overview(self) -> model.VaultOverview:
        """Returns the contents of the vault: folders, tags, properties, latest changes, open tasks."""
        today = datetime.now().astimezone().date()
        with self._lease() as snapshot:
            return vault_overview(snapshot.catalog, today)

    def titles(self, paths: Iterable[str]) -> dict[str, str]:
        """Returns the titles of notes by path, as hits show them; unknown paths are omitted."""
        with self._lease() as snapshot:
            rows = [row for path in paths if (row := snapshot.catalog.note(path)) is not None]
            shown = with_display_titles(snapshot.catalog, {row.note_id: row for row in rows})
        return {row.path: row.title for row in shown.values()}

    def draft_links(self, path: str, text: str) -> list[tuple[model.Link, model.OutgoingLink]]:
        """Returns the links of a text, each as it would resolve if the text were the note at this path."""
        draft = note_from(path, text.encode("utf-8", "replace"))
        with self._lease() as snapshot:
            return list(zip(draft.links, links_of_draft(snapshot, draft), strict=True))

    def citable(self, note: str, part: str = "") -> list[Sentence]:
        """Returns the sentences of a note, or of its heading, `^block` or page `part`, as indexed. Raises
        UnknownNoteError if there is no such note or part."""
        with self._lease() as snapshot:
            row = note_of(snapshot, self.vault, note)
            span = part_of(snapshot, row, snapshot.catalog.text(row.note_id), part)
            return answering.SentenceReader({"": snapshot.catalog}).of_note(row, span)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1 by the model of the index, one row a text. Raises ProviderError."""
        return self._session.reader().searcher.embedder.embed(texts)

    def links(self, note: str) -> model.LinksAnswer:
        """All links of a note. Raises UnknownNoteError if there is no such note."""
        with self._lease() as snapshot:
            return links_of(snapshot, path_of(snapshot, self.vault, note))

    def with_trees(self, places: Sequence[_PlaceT]) -> tuple[_PlaceT, ...]:
        """Returns backlinks or mentions with their snippets as trees, in which links lead where they do in
        their notes, and names are marked."""
        with self._lease() as snapshot:
            sources = dict.fromkeys(one.path for one in places)
            targets = {
                (path, normal(target_name(link.target))): link.resolved
                for path in sources
                for link in snapshot.catalog.links_from(path)
            }

        def with_tree(place: _PlaceT) -> _PlaceT:
            def resolve(target: str) -> str | None:
                return targets.get((place.path, normal(target_name(target))))

            return replace(place, tree=reading_view(_marked_snippet(place), 0, resolve).blocks)

        return tuple(map(with_tree, places))

    def unresolved_links(self) -> tuple[model.UnresolvedTarget, ...]:
        """Returns the link targets without a file, the most frequent first."""
        with self._lease() as snapshot:
            return unresolved_links(snapshot)

    def orphans(self) -> tuple[model.Orphan, ...]:
        """The notes that neither link to a file nor are linked to."""
        with self._lease() as snapshot:
            return orphans(snapshot)

    def mentions(self, note: str, limit: int = DEFAULT_MENTIONS) -> model.MentionsAnswer:
        """Places that name a note without linking it. Raises UsageError for a limit out of bounds,
        UnknownNoteError if there is no such note."""
        check_bounds(LinksRequest(note, "mentions", limit))
        with self._lease() as snapshot:
            return mentions(snapshot, path_of(snapshot, self.vault, note), limit)

    def graph(
        self, note: str = "", query: str = "", *, depth: int = 1, limit: int = MAX_NODES, related: bool = True
    ) -> model.NoteGraph:
        """Returns the files around a note, or around the notes of a query's best hits: within `depth` links,
        and (with `related`) notes with a similar meaning; at most `limit` files.

        Raises UsageError if neither or both are given or a number is out of bounds, UnknownNoteError if the
        note does not exist, and the errors of `search` for a query.
        """
        if bool(note) == bool(query):
            raise UsageError("give either a note or a query, not both")
        if not 1 <= depth <= MAX_DEPTH or not 1 <= limit <= MAX_NODES:
            raise UsageError(f"depth {depth}, limit {limit}: must be 1 to {MAX_DEPTH} and 1 to {MAX_NODES}")
        hits = self.search(model.SearchRequest(query, _GRAPH_HITS, by_note=True)).results if query else ()
        with self._lease() as snapshot:
            named = [path_of(snapshot, self.vault, note)] if note else [hit.path for hit in hits]
            centres = [path for path in dict.fromkeys(named) if snapshot.catalog.file(path)]
            return neighbourhood(snapshot, centres, depth=depth, limit=limit, with_related=related)

    def clusters(self, by: model.ClusterKind, folder: str = "") -> model.ClusterMap:
        """Returns the whole vault as clusters of notes; by folder, the folders in `folder`. The result is
        computed once for each state of the index."""
        # The lock, so that two requests for the same map do not both compute it.
        with self._lease() as snapshot, self._map_lock:
            key = (snapshot.generation, snapshot.seq, by, folder)
            return self._maps.get(key, lambda: cluster_map(snapshot, by, folder))

    def _uri(self, path: str, line: int = 0) -> str:
        editor = editor_of(self.vault, self.settings.page.editor)
        return file_uri(self.vault, path, line=line or 1, editor=editor)

    def view(self, note: str, part: str = "", line: int = 0) -> model.NoteView:
        """Returns an indexed note for reading; with `part`, only the text of a heading or of a `^block`. Of a
        very long text, only the part around `line` (1-based) of the file is returned; for 0, its beginning.

        A file whose text is not read is returned without text. Raises UnknownNoteError if there is no such
        file or part.
        """
        with self._lease() as snapshot:
            file = snapshot.catalog.file(vault_path(self.vault, note))
            if file and file.state != "note" and model.kind_of(file.path) in _FOUND_BY_NAME and not part:
                return _view_of_file(file, self._uri(file.path))
            row = note_of(snapshot, self.vault, note)
            text = snapshot.catalog.text(row.note_id)
            links = snapshot.catalog.links_from(row.path)
            resolved = {"": row.path} | {normal(target_name(link.target)): link.resolved for link in links}
            start, end = part_of(snapshot, row, text, part)
            folder = posixpath.dirname(row.path)

            def resolve(target: str) -> str | None:
                name = normal(target_name(target))
                if name in resolved:
                    return resolved[name]
                # The source of an `<img>` is no link of the note: it is a path in its folder or the vault.
                places = (posixpath.normpath(posixpath.join(folder, target)), target)
                return next((path for path in places if snapshot.catalog.file(path)), None)

            if language := model.language_of_path(row.path):
                shown = source_view(text[:end], start, language, line)
            else:
                shown = reading_view(text[:end], start, resolve, line)
                mark_missing_parts(snapshot, shown.blocks)
            return model.NoteView(
                path=row.path,
                title=row.title,
                uri=self._uri(row.path, line),
                language=row.language,
                tags=row.tags,
                aliases=row.aliases,
                properties=row.frontmatter,
                property_tree=property_view(row.frontmatter, resolve),
                headings=tuple(snapshot.catalog.headings(row.note_id)),
                blocks=with_part_names(shown.blocks, row.path, text),
                first_line=shown.first_line,
                last_line=shown.last_line,
                more=shown.is_cut_before or shown.is_cut_after,
                is_cut_before=shown.is_cut_before,
                is_cut_after=shown.is_cut_after,
                modified_time=iso_time(row.mtime_ns),
                canvas={} if part else self._drawing_of(row.path, resolve),
                boxes=line_boxes(text) if is_picture_name(row.path) else (),
            )

    def _drawing_of(self, path: str, resolve: Callable[[str], str | None]) -> dict[str, model.JsonValue]:
        """Returns the drawing of a canvas as it is now; empty for other files and if it cannot be read."""
        if not path.lower().endswith(".canvas"):
            return {}
        try:
            data = read_note(self.vault, path, MAX_NOTE_BYTES).data
        except NoteError:
            return {}
        return canvas_drawing(data, lambda text: list(reading_view(text, 0, resolve).blocks), resolve)

    def picture(self, path: str) -> model.Picture:
        """Returns the current content of a picture that is an attachment in the index.

        Raises UnknownNoteError if there is no such picture, and NoteError if it cannot be read, is too large
        or is not a picture.
        """
        known, real = self._indexed_file(path)
        if known is None or known.state == "skipped" or not is_picture_name(known.path):
            raise UnknownNoteError(f"no such picture in the index: {path!r}")
        if known.size > MAX_PICTURE_BYTES:
            raise NoteError(
                f"{known.path} has {known.size:,} bytes: the maximum for pictures is {MAX_PICTURE_BYTES:,}"
            )
        data = read_note(self.vault, real, MAX_PICTURE_BYTES).data
        media_type = picture_type(known.path, data)
        if media_type is None:
            raise NoteError(f"the content of {known.path} does not match its suffix")
        return model.Picture(known.path, media_type, len(data), data)

    def file(self, path: str) -> BinaryIO:
        """Opens a file that is in the index, whether its text is read or not.

        Raises UnknownNoteError if there is no such file, and NoteError if it cannot be read.
        """
        known, real = self._indexed_file(path)
        if known is None:
            raise UnknownNoteError(f"no such file in the index: {path!r}")
        return open_file(self.vault, real)

    def _indexed_file(self, path: str) -> tuple[model.FileRow | None, str]:
        """Returns a file of the index and its real vault path. A symbolic link is followed only to a file
        that is also in the index."""
        with self._lease() as snapshot:
            known = snapshot.catalog.file(vault_path(self.vault, path))
            if known is None:
                return None, ""
            real = resolved_path(self.vault, known.path)
            return (known if snapshot.catalog.file(real) else None), real

    def chunks(self, note: str, strategy: str = "") -> model.NoteChunks:
        """Returns the chunks of a note from the index, or those that another strategy creates from the same
        text. For a canvas the strategy reads the current file, because its indexed text lacks the cards.

        Raises UnknownNoteError if there is no such note, UsageError for a strategy that cannot be compared,
        and NoteError for a canvas that cannot be read.
        """
        if strategy and strategy not in OPEN_STRATEGIES:
            raise UsageError(f"strategy {strategy!r}: choose one of {', '.join(OPEN_STRATEGIES)}")
        with self._lease() as snapshot:
            row = note_of(snapshot, self.vault, note)
            stored = [one.chunk for one in snapshot.catalog.chunks_of(row.note_id)]
            text = snapshot.catalog.text(row.note_id) if strategy else ""
        if strategy:
            match model.kind_of(row.path):
                case model.FileKind.CANVAS:
                    largest = self.settings.files.max_file_bytes
                    parsed = note_from(row.path, read_note(self.vault, row.path, largest).data)
                case model.FileKind.DOCUMENT:
                    parsed = with_language(document_note(row.path, text))
                case _:
                    parsed = note_from(row.path, text.encode())
            return model.NoteChunks(
                row.path, strategy, OPEN_STRATEGIES, tuple(chunks_of(self._chunker(strategy), parsed))
            )
        used = stored[0].strategy if stored else ""
        return model.NoteChunks(row.path, used, OPEN_STRATEGIES, tuple(stored))

    def chunk_rows(self, keys: Iterable[int]) -> list[tuple[model.ChunkRow, str]]:
        """Returns the chunks with these keys, each with the path of its note, in order of the keys."""
        with self._lease() as snapshot:
            rows = snapshot.catalog.chunks(list(keys))
            notes = snapshot.catalog.notes({row.note_id for row in rows.values()})
        return [(rows[key], notes[rows[key].note_id].path) for key in sorted(rows)]

    def complete(self, query: str, limit: int = 12) -> model.Completions:
        """Returns completions of a query; `query` is the text before the cursor."""
        check_query(query, may_be_empty=True)
        with self._lease() as snapshot:
            return complete_query(snapshot.catalog, query, min(limit, _COMPLETIONS))

    def health(self) -> model.VaultHealth:
        """Returns statistics of the vault: chunk sizes, unresolved links, and the size of the index."""
        root = Path(self._session.status().index_dir)
        with self._lease() as snapshot:
            return vault_health(snapshot, root, unresolved_links(snapshot))

    def reader(self) -> IndexReader:
        """Returns the active index. Raises IndexUnusableError while there is none."""
        return self._session.reader()

    def ready_vault(self, name: str = "") -> ReadyVault:
        """Returns the vault prepared for a search, with a name if several vaults are searched. Raises
        IndexUnusableError while there is no index."""
        session, editor = self._session, self.settings.page.editor
        return ReadyVault(name, self.vault, self.reader(), session.pending, session.missing, editor)

    def notices(self) -> tuple[str, ...]:
        return self._session.notices()

    def status(self) -> model.StatusReport:
        return replace(
            self._session.status(),
            records_clicks=self.settings.records_clicks,
            language_model=language_model(self.settings.llm),
        )

    @property
    def settings(self) -> Settings:
        return self._session.settings

    @property
    def failure(self) -> VaultIndexerError | None:
        return self._session.failure

    def pause(self, seconds: float | None = None) -> model.StatusReport:
        """Pauses indexing for a time in seconds, or until `resume`. Searches continue, and changes are
        collected."""
        if seconds is not None and not 0 < seconds <= MAX_PAUSE_S:
            raise UsageError(f"a pause of {seconds:g} s: must be more than 0 and at most {MAX_PAUSE_S}")
        self._session.pause(seconds)
        return self._session.status()

    def resume(self) -> model.StatusReport:
        """Resumes indexing, beginning with the changes made during the pause."""
        self._session.resume()
        return self._session.status()

    def rebuild(
        self, report: Callable[[model.Progress], None], options: RebuildOptions = _AS_USUAL
    ) -> model.RebuildReport:
        """Builds a new index while the active one answers searches, then activates it. Raises VaultError if
        the vault has suddenly lost its notes, unless `options.force` is true."""
        provider = self.settings.embedding.provider
        if options.better and provider != "auto":
            raise UsageError(f'embedding.provider is "{provider}": only "auto" changes to a better model')
        return self._session.rebuild(report, options)

    def pause_upgrade(self, paused: bool) -> model.UpgradeState:
        self._session.pause_upgrade(paused)
        return model.UpgradeState(self._session.status().upgrade)

    def export(self) -> Iterator[str]:
        with self._lease() as snapshot:
            yield from export_lines(snapshot.catalog)

    def verify(self, *, repair: bool = False) -> tuple[model.Problem, ...]:
        return self._session.verify(repair=repair)

    def close(self) -> None:
        self._session.close()

    def wait_fresh(self, deadline_s: float) -> bool:
        return self._session.wait_fresh(deadline_s)

    @property
    def paused(self) -> bool:
        return self._session.paused


def _base_path(snapshot: Snapshot, vault: Path, note: str) -> str:
    """Returns the path of the base with a name, or else of the note. Raises UnknownNoteError, UsageError."""
    if note.lower().endswith(".md"):
        return path_of(snapshot, vault, note)
    name = note if note.lower().endswith(_BASE_SUFFIX) else note + _BASE_SUFFIX
    try:
        return path_of(snapshot, vault, name)
    except UnknownNoteError:
        for file in snapshot.catalog.skipped_files():
            if f"/{file.path}".lower().endswith(f"/{vault_path(vault, name).lower()}"):
                raise UsageError(f"{file.path}: {file.reason}") from None
        with suppress(UnknownNoteError):
            return path_of(snapshot, vault, note)
        paths = (path for path in snapshot.catalog.note_paths() if path.lower().endswith(_BASE_SUFFIX))
        bases = {path: Path(path).stem for path in paths}
        hint = did_you_mean(Path(name).stem, bases)
        raise UnknownNoteError(f"no such base in the index: {name!r}{hint}") from None


@record
class AskedVaults:
    """The vaults of one request: one without a name, or several by name.

    `vaults` contains functions that open them; each raises VaultIndexerError while its vault is unavailable.
    One of several vaults is then left out, and a notice gives the reason. The notices of several vaults begin
    with the name of the vault. `problem` describes an error in the configuration of all vaults ("": none).
    """

    vaults: Mapping[str, Callable[[], VaultService]]
    settings: SearchSettings
    answerer: Callable[[], Answerer]
    is_cancelled: Callable[[], bool]
    problem: str = ""

    def search(self, request: model.SearchRequest, fresh_deadline_s: float = _FRESH_S) -> model.SearchAnswer:
        """Returns ranked hits. Raises as `VaultService.search` does, and IndexUnusableError if no vault is
        available."""
        check_request(request)
        opened = self._open(fresh_deadline_s if request.fresh else None)
        answer = opened.ready.answer(request)
        return replace(answer, notices=(*opened.late, *answer.notices, *opened.notices()))

    def ask_events(self, request: model.AskRequest, fresh_deadline_s: float = _FRESH_S) -> Iterator[AskEvent]:
        """Yields the answer in steps: first the passages without sentences, then each checked sentence, and
        finally the whole answer. Raises as `VaultService.ask` does."""
        check_request(model.SearchRequest(request.question, request.limit))
        opened = self._open(fresh_deadline_s if request.fresh else None)
        events = self.answerer().answer_from(opened.ready, request, self.is_cancelled)
        yield from with_notices(events, opened.late, opened.notices)

    def _open(self, fresh_deadline_s: float | None) -> _Opened:
        """Opens the available vaults. With a deadline, waits for their changes first."""
        until = time.monotonic() + (fresh_deadline_s or 0.0)
        services: dict[str, VaultService] = {}
        ready: list[ReadyVault] = []
        late: list[str] = []
        unready: list[str] = []
        for name, open_service in self.vaults.items():
            if fresh_deadline_s is not None and self.is_cancelled():
                raise QueryCancelledError("the search was cancelled")
            try:
                service = open_service()
                if fresh_deadline_s is not None and not service.wait_fresh(
                    # Each vault gets a moment, even if those before it have used up the time.
                    max(0.1, until - time.monotonic())
                ):
                    late.append(_prefixed(name, _late_text(service, fresh_deadline_s)))
                ready.append(service.ready_vault(name))
                services[name] = service
            except VaultIndexerError as error:
                if not name:
                    raise
                unready.append(f"the vault {name} is not searched: {error}")
        if not ready:
            raise IndexUnusableError("; ".join(unready) or "there are no vaults")
        vaults = ReadyVaults(ready, self.settings, self.is_cancelled, len(unready))
        return _Opened(vaults, services, tuple(late), (*unready, *filter(None, (self.problem,))))


@record
class _Opened:
    """The available vaults of a request, with their services by name. `late` are notices about changes that
    are not indexed yet, and `wrong` are notices that concern all vaults."""

    ready: ReadyVaults
    services: Mapping[str, VaultService]
    late: tuple[str, ...]
    wrong: tuple[str, ...]

    def notices(self) -> tuple[str, ...]:
        """Returns the notices that concern all vaults, then those of each vault without duplicates."""
        own = [(name, notice) for name, service in self.services.items() for notice in service.notices()]
        return (*self.wrong, *(_prefixed(name, notice) for name, notice in own if notice not in self.wrong))


def _prefixed(name: str, notice: str) -> str:
    return f"{name}: {notice}" if name else notice


def _late_text(service: VaultService, deadline_s: float) -> str:
    if service.paused:
        return "results may be out of date: indexing is paused"
    return f"some changes were not indexed within {deadline_s:g} s"


def _marked_snippet(place: model.Backlink | model.Mention) -> str:
    """Returns the Markdown of a snippet, in which the name of a mention is highlighted."""
    if isinstance(place, model.Backlink):
        return _without_bars(place.snippet)
    (start, end), text = place.marks[0], place.snippet
    return _without_bars(f"{text[:start]}=={text[start:end]}=={text[end:]}")


_BAR = re.compile(r"(?<!\\)\|")


def _without_bars(line: str) -> str:
    """Returns a row of a table, which may be cut at one end, as its cells with dots between: without the
    other rows it is not a table in Markdown. Other lines stay as they are."""
    first, *cells = _BAR.split(line)
    outer = {first.lstrip("> ")[:1], cells[-1][-1:] if cells else line}
    if not outer <= {"", "…"} or "" not in outer:
        return line
    shown = (cell.strip().replace("\\|", "|") for cell in (first.lstrip("> "), *cells))
    return " · ".join(filter(None, shown))


def _view_of_file(file: model.FileRow, uri: str) -> model.NoteView:
    return model.NoteView(
        path=file.path,
        title=posixpath.basename(file.path),
        uri=uri,
        language="",
        tags=(),
        aliases=(),
        properties={},
        property_tree=property_view({}, lambda _: None),
        headings=(),
        blocks=(),
        first_line=1,
        last_line=1,
        more=False,
        is_cut_before=False,
        is_cut_after=False,
        modified_time=iso_time(file.mtime_ns),
    )


def check_request(request: model.SearchRequest) -> None:
    """Raises UsageError for a query that is empty or too long, a limit or a relevance out of bounds."""
    check_query(request.query, may_be_empty=request.as_you_type)
    check_bounds(request)
