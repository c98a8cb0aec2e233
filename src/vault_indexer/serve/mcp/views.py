"""The table of tools: the endpoints that an agent can call, and its view of each.

A tool is a view of a row of the endpoint table: some of its parameters, some keys of its answer, in pages. To
offer another endpoint, add a row here. Tools that read notes and `set_chunker` have their own parameters or
answers; they are endpoints for agents only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from vault_indexer.contract.marks import MAX_LIMIT
from vault_indexer.contract.parameters import Parameter, Value
from vault_indexer.extensions import offered
from vault_indexer.model import JsonValue, TaskState
from vault_indexer.serve.api.endpoints import ALL_LINKS, NOTE, NOTES, RELATED, SEARCH, STATUS, VAULT, Endpoint
from vault_indexer.serve.mcp.budget import DEFAULT_TOKENS, MAX_TOKENS, Keep, keys

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

    has_all: bool = False
    """Whether the row returns whole lists if no limit is given."""

    names_vault: bool = True
    """Whether a parameter names the vault if there are several; otherwise another parameter contains the
    name."""

    title: str = ""
    """The name for people."""

    text_key: str = ""
    """The key of a note's text, which a result contains as it is, in a block behind its JSON."""

    is_admin: bool = False
    """Whether it is offered only if the host asks for such tools."""

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

_MAX_TOKENS = Parameter(
    name="max_tokens", kind=int, default=DEFAULT_TOKENS, minimum=200, maximum=MAX_TOKENS, help=""
)


def _limit(default: int, text: str = "") -> Parameter:
    return Parameter(name="limit", kind=int, default=default, minimum=1, maximum=MAX_LIMIT, help=text)


def _of(row: Endpoint[Any], name: str, text: str = "", /, **changes: Any) -> Parameter:
    """The parameter of a row with another description."""
    return replace(row.parameter(name), help=text, **changes)


def _tool(row: Endpoint[Any], name: str, text: str, *parameters: Parameter, **options: Any) -> ToolView:
    """A tool that the row answers, with its own parameters and description."""
    endpoint = replace(row, name=name, help=text, own_parameters=parameters)
    return ToolView(endpoint=endpoint, row=row, **options)


_NOTE_NAME = _of(NOTE, "path", "Path, or a unique name.")
_FOLDER = _of(NOTES, "folder")
_SEARCH_HELP = """\
Search the notes by meaning, words and links, best first. Words rank; operators filter:
tag:#x  a tag or one below it
path:folder file:name  part of the path or file name
[key] [key:value] [key:>3] [key:<2026-02]  a property
task-todo:word task-done:word task:"" task-due:<2026-02  tasks (dates: tool tasks)
links-to:Note linked-from:Note  links
line:(a b) block:(a b) section:(a b) heading:a  both words in one place
after:2026-01-31 before:7d  time of change
"exact words" -word a OR b (a OR b) lang:es
More: resource docs://query-language.
A hit: id (the path), line of the match, heading, text as written ("…": lines left out), properties the \
query names, copies (same text). verdict: is the vault about it? strong, likely, weak (near only), none. \
Hits behind the first `likely` are only near. relevance (detail full): 0 to 1, comparable between queries."""

_VIEWS = (
    _tool(
        SEARCH,
        "search",
        _SEARCH_HELP,
        _of(SEARCH, "q", "Words or a question, and operators.", name="query"),
        Parameter(
            name="detail", default="snippets", choices=("snippets", "full"), help="full: whole chunks."
        ),
        _of(SEARCH, "by", "One hit a note, or up to three.", default="note"),
        _of(SEARCH, "fresh", "Index changes first."),
        _of(SEARCH, "expand", "Add the text around."),
        _limit(10, "Notes."),
        _MAX_TOKENS,
        OFFSET,
        title="Search notes",
        lists=("results",),
        pages_itself=True,
    ),
    _tool(
        NOTE,
        "read_note",
        "Read a note as it is now: all, a section, or lines. The JSON is the place, the next block the text. "
        "A note of several pages begins with its headings.",
        _NOTE_NAME,
        Parameter(name="heading", default="", help="Heading, or Heading#Subheading."),
        Parameter(name="parts", default="", help="Pages of a PDF, slides or sheets: 3 or 3-5."),
        Parameter(name="start_line", kind=int, minimum=1, help=""),
        Parameter(name="end_line", kind=int, minimum=1, help=""),
        _MAX_TOKENS,
        OFFSET,
        title="Read a note",
        text_key="text",
    ),
    _tool(
        NOTE,
        "get_notes",
        "Read up to 20 notes at once, each at least in part: a JSON with the place, then the text.",
        Parameter(name="paths", required=True, help="Paths, names or patterns: Log/2026-*.md, **/Plan*."),
        _MAX_TOKENS,
        OFFSET,
        title="Read several notes",
        listed="paths",
        separator="\n",
        text_key="text",
    ),
    _tool(
        NOTE,
        "fetch",
        "Read the note of a search result.",
        Parameter(name="id", required=True, help="Of search; #Heading may follow."),
        title="Fetch a search result",
        names_vault=False,
    ),
    _tool(
        NOTE,
        "vault_overview",
        "What the vault contains: folders, tags, properties with types and examples, languages, the folder "
        "of daily notes, the latest changes, open tasks by note. A good first call.",
        title="Overview of the vault",
    ),
    _tool(
        NOTES,
        "list_notes",
        "List notes of a folder, with a tag, changed since a time; order recent: the last changed first.",
        _FOLDER,
        _of(NOTES, "tag"),
        _of(NOTES, "since", "2026-01-31, 7d, today."),
        _of(NOTES, "order"),
        _of(NOTES, "limit"),
        OFFSET,
        title="List notes",
        lists=("notes",),
        pages_itself=True,
    ),
    _tool(
        NOTE,
        "tasks",
        "Tasks (- [ ]) as written, by note, with line and due date. due, overdue: open ones by date.",
        Parameter(name="state", default="open", choices=get_args(TaskState), help=""),
        replace(_NOTE_NAME, required=False, default="", help="Only of this note."),
        replace(_FOLDER, help="Only of this folder."),
        _limit(100),
        OFFSET,
        title="List tasks",
        lists=("tasks",),
        pages_itself=True,
    ),
    _tool(
        RELATED,
        "related",
        "Notes near a note, by meaning and by link, each with the reason.",
        _NOTE_NAME,
        _limit(10),
        OFFSET,
        title="Related notes",
        keep=keys("note", results=keys("path", "title", "heading", "score", "why")),
        lists=("results",),
    ),
    _tool(
        ALL_LINKS,
        "links",
        "Links of a note (out) and to it (in), unlinked mentions; broken links of the vault; orphans.",
        replace(_NOTE_NAME, required=False, default="", help="The note, for the views note and mentions."),
        _of(ALL_LINKS, "view", "What to list."),
        Parameter(name="direction", default="both", choices=("both", "in", "out"), help=""),
        _limit(100),
        OFFSET,
        title="Links and backlinks",
        keep=keys(
            *("path", "names", "count", "links", "targets"),
            *("outgoing_count", "backlink_count", "unresolved_count"),
            backlinks=keys("path", "line", "snippet"),
            outgoing=keys("target", "line", "resolved", "problem"),
            unresolved=keys("target", "count", sources=keys("path", "line")),
            orphans=keys("path", "title"),
            mentions=keys("path", "line", "name", "snippet"),
        ),
        lists=("backlinks", "outgoing", "unresolved", "orphans", "mentions"),
        has_all=True,
    ),
    _tool(
        NOTE,
        "insertion_point",
        "Where new text belongs in a note, for tools that write: insert behind `line`, if the file still has "
        "this sha256.",
        _NOTE_NAME,
        Parameter(name="heading", default="", help="The section; without it, the note."),
        Parameter(name="at", default="end", choices=("end", "start"), help=""),
        title="Where to insert text",
    ),
    _tool(
        NOTE,
        "check_draft",
        "Check a text before it is written: do its [[links]] resolve, do cited notes support the sentences "
        "that cite them, which notes already say the same.",
        Parameter(name="text", required=True, max_chars=50_000, help=""),
        Parameter(name="path", default="", help="The path it will have."),
        title="Check a draft",
    ),
    _tool(
        STATUS,
        "status",
        "Index: counts, pending changes, files left out.",
        OFFSET,
        title="State of the index",
        keep=keys(
            *("vault", "state", "detail", "notes", "chunks", "pending", "vectors_owed", "paused"),
            skipped=None,
            progress=keys("stage", "notes", "total"),
        ),
        lists=("skipped",),
    ),
)


def _ask(row: Endpoint[Any]) -> ToolView:
    place = keys(
        *("path", "part", "header_path", "start_line", "end_line", "start_pos", "end_pos", "date", "quote"),
        "sha256",
    )
    return _tool(
        row,
        ASK_NAME,
        "Answer a question by sentences with verified citations (a missing quote is the sentence itself). "
        "passages: where to look if no sentence answers it.",
        _of(row, "q", "The question.", name="query"),
        Parameter(name="passages", kind=bool, default=False, help="Add what was read."),
        OFFSET,
        keep=keys(
            *("kind", "verdict", "missing_words", "notices"),
            sentences=keys("text", "verdict", "unchecked", citations=place),
            dropped=keys("text", "reason"),
            passages=keys("path", "start_line", "end_line", "snippet", "content", "copies"),
        ),
        lists=("sentences", "dropped", "passages"),
        title="Answer a question",
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
        title="Change the chunking",
        is_admin=True,
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
    found += [replace(view, is_admin=True) for view in more]
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
