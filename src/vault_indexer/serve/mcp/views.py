"""The table of tools: the endpoints that an agent can call, and its view of each.

A tool is a view of a row of the endpoint table: some of its parameters, some keys of its answer, in pages. To
offer another endpoint, add a row here. Tools that read notes and `set_chunker` have their own parameters or
answers; they are endpoints for agents only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_indexer.contract.marks import MAX_LIMIT
from vault_indexer.contract.parameters import Parameter, Value
from vault_indexer.extensions import offered
from vault_indexer.model import JsonValue
from vault_indexer.serve.api.endpoints import (
    ALL_LINKS,
    NOTE,
    NOTES,
    RELATED,
    SEARCH,
    STATUS,
    VAULT,
    Endpoint,
)
from vault_indexer.serve.mcp.budget import Keep, keys

if TYPE_CHECKING:
    from vault_indexer.daemon.assembly import Target
    from vault_indexer.service import VaultService

ASK_NAME = "ask"
"""The row of the endpoint that answers questions; the tool is offered if the table has it."""

LONG_TIMEOUT_S = 600.0
"""The time limit of tools that may call a language model or search many times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolView:
    """One tool. An agent sees the parameters of `endpoint`; the other parameters of `row` have their
    defaults."""

    endpoint: Endpoint[Any]
    row: Endpoint[Any]
    """The endpoint that answers."""

    keep: Keep | None = None
    """The keys of the answer that an agent gets; None means all."""

    lists: tuple[str, ...] = ()
    """The lists of the answer that are divided into pages, in this order."""

    pages_itself: bool = False
    """Whether the answer is already a page of the lists."""

    listed: str = ""
    """The parameter that is a list for agents and a text in the row."""

    separator: str = ","
    """The separator between the entries of that text."""

    listed_values: tuple[int, ...] = ()
    """The allowed numbers in the list; empty for a list of texts."""

    optional: tuple[str, ...] = ()
    """Keys of the lists' entries that an answer may lack."""

    counts_notes: bool = False
    """Whether the limit counts notes instead of entries; a note may have several."""

    has_all: bool = False
    """Whether the row returns whole lists if no limit is given."""

    names_vault: bool = True
    """Whether a parameter names the vault if there are several; otherwise another parameter contains the
    name."""

    is_read_only: bool = True
    timeout_s: float | None = None
    """The time limit; None means `server.timeout_s`."""

    @property
    def name(self) -> str:
        return self.endpoint.name


class ExtensionTool(NamedTuple):
    """A tool of an optional package. `call` is a `ToolCall` of `api.respond` that also takes the vault."""

    view: ToolView
    call: Callable[[Target, VaultService, Mapping[str, Value]], dict[str, JsonValue]]


@functools.cache
def extension_tools() -> tuple[ExtensionTool, ...]:
    return tuple(tool for tools in offered("tools") for tool in tools)


OFFSET = Parameter(name="offset", kind=int, default=0, minimum=0, help="")
"""`next_offset` of the previous page. The instructions of the server explain it once for all tools."""


def _limit(default: int, text: str = "") -> Parameter:
    return Parameter(name="limit", kind=int, default=default, minimum=1, maximum=MAX_LIMIT, help=text)


def _of(row: Endpoint[Any], name: str, text: str = "", /, **changes: Any) -> Parameter:
    """The parameter of a row with another description."""
    return replace(row.parameter(name), help=text, **changes)


def _tool(
    row: Endpoint[Any], name: str, text: str, *parameters: Parameter, answer: str = "", **options: Any
) -> ToolView:
    """A tool that the row answers, with its own parameters and description."""
    endpoint = replace(row, name=name, help=text, own_parameters=parameters, answer=answer or row.answer)
    return ToolView(endpoint=endpoint, row=row, **options)


_NOTE_NAME = _of(NOTE, "path", "Path, or a unique name.")
_SINCE = _of(NOTES, "since", "2026-01-31, 7d, today.")

_VIEWS = (
    _tool(
        SEARCH,
        "search",
        "Search the notes by meaning, words and links, best first. Hits behind `likely` are only near.",
        _of(
            SEARCH,
            "q",
            'Words or a question; also "phrases", -word, tag:#x, path:folder, [property:value], '
            "after:2026-01-31, before:7d.",
            name="query",
        ),
        Parameter(name="detail", default="snippets", choices=("snippets", "full"), help="full: whole text."),
        _of(SEARCH, "by", "One hit for each note, or chunk.", default="note"),
        _of(SEARCH, "fresh", "Index changes first."),
        _of(SEARCH, "expand", "Add the text around each hit."),
        _limit(10, "Notes."),
        OFFSET,
        answer="FoundNotes",
        lists=("results",),
        counts_notes=True,
    ),
    _tool(
        NOTE,
        "read_note",
        "Read a note: all, a section, or lines. A long one begins with its headings.",
        _NOTE_NAME,
        Parameter(name="heading", default="", help="Heading, or Heading#Subheading."),
        Parameter(name="start_line", kind=int, minimum=1, help=""),
        Parameter(name="end_line", kind=int, minimum=1, help=""),
        OFFSET,
        answer="NotePart",
    ),
    _tool(
        NOTE,
        "get_notes",
        "Read up to 20 notes at once, each at least in part.",
        Parameter(name="paths", required=True, help=""),
        answer="NotesRead",
        listed="paths",
        separator="\n",
    ),
    _tool(
        NOTE,
        "fetch",
        "Read the note of a search result.",
        Parameter(name="id", required=True, help="Of search; #Heading may follow."),
        answer="FetchedNote",
        names_vault=False,
    ),
    _tool(
        NOTES,
        "list_notes",
        "List notes of a folder, with a tag, changed since a time.",
        _of(NOTES, "folder"),
        _of(NOTES, "tag"),
        _SINCE,
        _of(NOTES, "order"),
        _of(NOTES, "limit"),
        OFFSET,
        lists=("notes",),
        pages_itself=True,
    ),
    _tool(
        NOTES.view("NoteList", order="recent"),
        "recent_changes",
        "List the notes that changed last, newest first.",
        _SINCE,
        _of(NOTES, "limit", default=20),
        OFFSET,
        lists=("notes",),
        pages_itself=True,
    ),
    _tool(
        RELATED,
        "related",
        "Notes near a note, by meaning and by link.",
        _NOTE_NAME,
        _limit(10),
        OFFSET,
        keep=keys("note", results=keys("path", "title", "header_path", "score", "links", "shared")),
        lists=("results",),
    ),
    _tool(
        ALL_LINKS,
        "links",
        "Links, backlinks or unlinked mentions of a note; broken links of the vault; orphans.",
        replace(_NOTE_NAME, required=False, default="", help="The note, for the views note and mentions."),
        _of(ALL_LINKS, "view", "What to list."),
        _limit(100),
        OFFSET,
        keep=keys(
            *("path", "names", "count", "links", "targets"),
            *("outgoing_count", "backlink_count", "unresolved_count"),
            outgoing=keys("target", "line", "resolved"),
            backlinks=keys("path", "line", "snippet"),
            unresolved=keys("target", "count", sources=keys("path", "line")),
            orphans=keys("path", "title"),
            mentions=keys("path", "line", "name", "snippet"),
        ),
        lists=("outgoing", "backlinks", "unresolved", "orphans", "mentions"),
        has_all=True,
    ),
    _tool(
        STATUS,
        "status",
        "Index: counts, pending changes, files left out.",
        OFFSET,
        keep=keys(
            *("vault", "state", "detail", "notes", "chunks", "pending", "vectors_owed", "paused"),
            skipped=None,
            progress=keys("stage", "notes", "total"),
        ),
        lists=("skipped",),
    ),
)

_PLACE = ("path", "header_path", "start_line", "end_line", "start_pos", "end_pos", "quote", "sha256")


def _ask(row: Endpoint[Any]) -> ToolView:
    return _tool(
        row,
        ASK_NAME,
        "Answer a question by sentences with verified citations. `declined`: none knows, some are near.",
        _of(row, "q", "The question.", name="query"),
        Parameter(name="passages", kind=bool, default=False, help="Add what was read."),
        OFFSET,
        keep=keys(
            *("kind", "verdict", "missing_words", "notices"),
            sentences=keys("text", "verdict", "unchecked", citations=keys(*_PLACE)),
            dropped=keys("text", "reason"),
            passages=keys("path", "start_line", "end_line", "snippet", "content"),
        ),
        lists=("sentences", "dropped", "passages"),
        optional=("snippet", "content"),
        timeout_s=LONG_TIMEOUT_S if row.is_long_lived else None,
    )


def _set_chunker(strategies: Sequence[str]) -> ToolView:
    return _tool(
        STATUS,
        "set_chunker",
        "Split notes another way: writes the configuration, rebuilds. The user must agree.",
        Parameter(name="strategy", required=True, choices=tuple(strategies), help=""),
        Parameter(name="confirm", kind=bool, default=False, help="The user agreed."),
        Parameter(name="code", default="", help="From the call before."),
        answer="StrategyChange",
        is_read_only=False,
    )


def tool_views(
    endpoints: Sequence[Endpoint[Any]],
    *,
    strategies: Sequence[str] = (),
    more: Sequence[ToolView] = (),
    vaults: Sequence[str] = (),
) -> tuple[ToolView, ...]:
    """The tools of a server with these endpoints. `set_chunker` chooses among `strategies`, and is offered if
    there are any; `more` are those of optional packages. With several `vaults`, each tool can name one."""
    rows = {endpoint.name: endpoint for endpoint in endpoints}
    found = [view for view in _VIEWS if view.row.name in rows]
    if ASK_NAME in rows:
        found.insert(1, _ask(rows[ASK_NAME]))
    if strategies:
        found.append(_set_chunker(strategies))
    found += more
    return tuple(_in_vault(view, vaults) if len(vaults) > 1 and view.names_vault else view for view in found)


def _in_vault(view: ToolView, vaults: Sequence[str]) -> ToolView:
    """The tool with a parameter for the vault. Only a search may omit it; its hits name their vaults."""
    is_any = view.row.vaults == "any"
    text = "Without it: all." if is_any else "The vault of the note."
    chosen = replace(VAULT, choices=tuple(vaults), required=not is_any, max_chars=None, help=text)
    endpoint = replace(view.endpoint, own_parameters=(*view.endpoint.parameters, chosen))
    keep = view.keep
    if keep is not None and is_any:
        keep = _with_vault(keep, "passages")
        if "sentences" in keep:
            keep = {**keep, "sentences": _with_vault(keep["sentences"] or {}, "citations")}
    return replace(view, endpoint=endpoint, keep=keep)


def _with_vault(keep: Keep, *names: str) -> Keep:
    """The same selection, with the key `vault` in the values under these names."""
    own = {name: {"vault": None, **(keep[name] or {})} for name in names if name in keep}
    return {**keep, **own}
