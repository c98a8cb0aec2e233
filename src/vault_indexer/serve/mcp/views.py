"""The table of tools: which endpoints an agent can call, and what it sees of each.

A tool is a view of a row of the table of endpoints: some of its parameters, some keys of its answer, in
pages. To offer another endpoint, add a row here. Those that read notes and `set_chunker` have parameters
or answers of their own; they are endpoints that only agents have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from vault_indexer.contract.marks import MAX_LIMIT
from vault_indexer.contract.parameters import Parameter
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
from vault_indexer.serve.mcp.protocol import PATH

ASK_NAME = "ask"
"""The row of the endpoint that answers questions; the tool is offered if the table has it."""

LONG_TIMEOUT_S = 600.0
"""For tools that may ask a language model or search many times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolView:
    """One tool. The parameters of `endpoint` are those that an agent sees; those of `row` that are not
    among them have their defaults."""

    endpoint: Endpoint[Any]
    row: Endpoint[Any]
    """The endpoint that answers."""

    keep: Keep | None = None
    """The keys of the answer that an agent gets; None means all."""

    lists: tuple[str, ...] = ()
    """The lists of the answer that are divided into pages, in this order."""

    pages_itself: bool = False
    """Whether the answer is a page of the lists already."""

    listed: str = ""
    """The parameter that is a list for an agent, and a text here."""

    separator: str = ","
    """Between the entries of that text."""

    listed_values: tuple[int, ...] = ()
    """The numbers that may be in the list; empty: it is one of texts."""

    optional: tuple[str, ...] = ()
    """Keys of the entries of those lists that an answer may lack."""

    counts_notes: bool = False
    """Whether the limit counts notes, of which several entries may be."""

    has_all: bool = False
    """Whether the row gives whole lists where no limit is given."""

    names_vault: bool = True
    """Whether a parameter names the vault where there are several; else another one says it."""

    is_read_only: bool = True
    timeout_s: float | None = None
    """None means `server.timeout_s`."""

    @property
    def name(self) -> str:
        return self.endpoint.name


OFFSET = Parameter(name="offset", kind=int, default=0, minimum=0, help="")
"""`next_offset` of the page before. The instructions of the server explain it once, for all tools."""


def _limit(default: int) -> Parameter:
    return Parameter(name="limit", kind=int, default=default, minimum=1, maximum=MAX_LIMIT, help="")


def _view(row: Endpoint[Any], name: str, text: str, parameters: Sequence[Parameter]) -> Endpoint[Any]:
    return replace(row, name=name, help=text, own_parameters=tuple(parameters))


_PLACE = ("path", "title", "header_path", "start_line", "end_line")
_NOTE_NAME = replace(NOTE.parameter("path"), help="Path, or a unique name.")
_QUERY = replace(
    SEARCH.parameter("q"),
    name="query",
    help='Words or a question; also "phrases", -word, tag:#x, path:folder, [property:value], '
    "after:2026-01-31, before:7d.",
)
_DETAIL = Parameter(name="detail", default="snippets", choices=("snippets", "full"), help="full: whole text.")

_SEARCH = ToolView(
    endpoint=replace(
        _view(
            SEARCH,
            "search",
            "Search the notes by meaning, words and links, best first. Hits behind `likely` are only near.",
            (
                _QUERY,
                _DETAIL,
                replace(SEARCH.parameter("by"), default="note", help="One hit for each note, or chunk."),
                replace(SEARCH.parameter("fresh"), help="Index changes first."),
                replace(SEARCH.parameter("expand"), help="Add the text around each hit."),
                replace(_limit(10), help="Notes."),
                OFFSET,
            ),
        ),
        answer="FoundNotes",
    ),
    row=SEARCH,
    lists=("results",),
    counts_notes=True,
)

_READ_NOTE = ToolView(
    endpoint=replace(
        _view(
            NOTE,
            "read_note",
            "Read a note: all, a section, or lines. A long one begins with its headings.",
            (
                _NOTE_NAME,
                Parameter(name="heading", default="", help="Heading, or Heading#Subheading."),
                Parameter(name="start_line", kind=int, minimum=1, help=""),
                Parameter(name="end_line", kind=int, minimum=1, help=""),
                OFFSET,
            ),
        ),
        answer="NotePart",
    ),
    row=NOTE,
)

_GET_NOTES = ToolView(
    endpoint=replace(
        _view(
            NOTE,
            "get_notes",
            "Read up to 20 notes at once, each at least in part.",
            (Parameter(name="paths", required=True, help=""),),
        ),
        answer="NotesRead",
    ),
    row=NOTE,
    listed="paths",
    separator="\n",
)

_FETCH = ToolView(
    endpoint=replace(
        _view(
            NOTE,
            "fetch",
            "Read the note of a search result.",
            (Parameter(name="id", required=True, help="Of search; #Heading may follow."),),
        ),
        answer="FetchedNote",
    ),
    row=NOTE,
    names_vault=False,
)

_SINCE = replace(NOTES.parameter("since"), help="2026-01-31, 7d, today.")
_LIST_NOTES = ToolView(
    endpoint=_view(
        NOTES,
        "list_notes",
        "List notes of a folder, with a tag, changed since a time.",
        (
            replace(NOTES.parameter("folder"), help=""),
            replace(NOTES.parameter("tag"), help=""),
            _SINCE,
            replace(NOTES.parameter("order"), help=""),
            replace(NOTES.parameter("limit"), help=""),
            OFFSET,
        ),
    ),
    row=NOTES,
    lists=("notes",),
    pages_itself=True,
)

_RECENT_CHANGES = ToolView(
    endpoint=_view(
        NOTES,
        "recent_changes",
        "List the notes that changed last, newest first.",
        (_SINCE, replace(NOTES.parameter("limit"), default=20, help=""), OFFSET),
    ),
    row=NOTES.view("NoteList", order="recent"),
    lists=("notes",),
    pages_itself=True,
)

_RELATED = ToolView(
    endpoint=_view(
        RELATED, "related", "Notes near a note, by meaning and by link.", (_NOTE_NAME, _limit(10), OFFSET)
    ),
    row=RELATED,
    keep=keys("note", results=keys("path", "title", "header_path", "score", "links", "shared")),
    lists=("results",),
)

_LINKS = ToolView(
    endpoint=_view(
        ALL_LINKS,
        "links",
        "Links, backlinks or unlinked mentions of a note; broken links of the vault; orphans.",
        (
            replace(
                _NOTE_NAME, required=False, default="", help="The note, for the views note and mentions."
            ),
            replace(ALL_LINKS.parameter("view"), help="What to list."),
            _limit(100),
            OFFSET,
        ),
    ),
    row=ALL_LINKS,
    keep=keys(
        *(
            "path",
            "names",
            "count",
            "links",
            "targets",
            "outgoing_count",
            "backlink_count",
            "unresolved_count",
        ),
        outgoing=keys("target", "line", "resolved"),
        backlinks=keys("path", "line", "snippet"),
        unresolved=keys("target", "count", sources=keys("path", "line")),
        orphans=keys("path", "title"),
        mentions=keys("path", "line", "name", "snippet"),
    ),
    lists=("outgoing", "backlinks", "unresolved", "orphans", "mentions"),
    has_all=True,
)

_STATUS = ToolView(
    endpoint=_view(STATUS, "status", "Index: counts, pending changes, files left out.", (OFFSET,)),
    row=STATUS,
    keep=keys(
        *(
            "vault",
            "state",
            "detail",
            "notes",
            "chunks",
            "pending",
            "vectors_owed",
            "paused",
        ),
        skipped=None,
        progress=keys("stage", "notes", "total"),
    ),
    lists=("skipped",),
)

_SET_CHUNKER = ToolView(
    endpoint=Endpoint(
        name="set_chunker",
        method="POST",
        path=PATH,
        help="Split notes another way: writes the configuration, rebuilds. The user must agree.",
        own_parameters=(
            Parameter(name="strategy", required=True, help=""),
            Parameter(name="confirm", kind=bool, default=False, help="The user agreed."),
            Parameter(name="code", default="", help="From the call before."),
        ),
        answer="StrategyChange",
        answer_help="What was changed.",
    ),
    row=STATUS,
    is_read_only=False,
)

_VIEWS = (
    _SEARCH,
    _READ_NOTE,
    _GET_NOTES,
    _FETCH,
    _LIST_NOTES,
    _RECENT_CHANGES,
    _RELATED,
    _LINKS,
    _STATUS,
)


def _ask(row: Endpoint[Any]) -> ToolView:
    places = ("path", "header_path", "start_line", "end_line", "start_pos", "end_pos", "quote", "sha256")
    return ToolView(
        endpoint=_view(
            row,
            ASK_NAME,
            "Answer a question by sentences with verified citations. `declined`: none knows, some are near.",
            (
                replace(row.parameter("q"), name="query", help="The question."),
                Parameter(name="passages", kind=bool, default=False, help="Add what was read."),
                OFFSET,
            ),
        ),
        row=row,
        keep=keys(
            *("kind", "verdict", "missing_words", "notices"),
            sentences=keys("text", "verdict", "unchecked", citations=keys(*places)),
            dropped=keys("text", "reason"),
            passages=keys("path", "start_line", "end_line", "snippet", "content"),
        ),
        lists=("sentences", "dropped", "passages"),
        optional=("snippet", "content"),
        timeout_s=LONG_TIMEOUT_S if row.is_long_lived else None,
    )


def tool_views(
    endpoints: Sequence[Endpoint[Any]],
    *,
    strategies: Sequence[str] = (),
    more: Sequence[ToolView] = (),
    vaults: Sequence[str] = (),
) -> tuple[ToolView, ...]:
    """The tools of a server with these endpoints. `set_chunker` chooses among `strategies`, and is offered
    if there are any; `more` are those of optional packages. Where there are several `vaults`, each tool can
    name one."""
    rows = {endpoint.name: endpoint for endpoint in endpoints}
    found = [view for view in _VIEWS if view.row.name in rows]
    if ASK_NAME in rows:
        found.insert(1, _ask(rows[ASK_NAME]))
    if strategies:
        chosen = replace(_SET_CHUNKER.endpoint.parameter("strategy"), choices=tuple(strategies))
        others = (one for one in _SET_CHUNKER.endpoint.parameters if one.name != "strategy")
        endpoint = replace(_SET_CHUNKER.endpoint, own_parameters=(chosen, *others))
        found.append(replace(_SET_CHUNKER, endpoint=endpoint))
    found += more
    return tuple(_in_vault(view, vaults) if len(vaults) > 1 and view.names_vault else view for view in found)


def _in_vault(view: ToolView, vaults: Sequence[str]) -> ToolView:
    """The tool with a parameter for the vault, which only a search can go without; its hits name theirs."""
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
    """The same, with the key `vault` in what stands under these names."""
    own = {name: {"vault": None, **(keep[name] or {})} for name in names if name in keep}
    return {**keep, **own}
