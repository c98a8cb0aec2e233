"""The requests: a named tuple for each row of the endpoint table.

The marks of a field define the meaning of a parameter, its bounds and its name over HTTP. The checks of HTTP
requests, `/openapi.json`, the schemas of tools, the client and the options of commands are derived from them.
Commands import this module before they send a request, so it uses named tuples: creating dataclasses would
take 12 ms more.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from vault_indexer.contract.marks import (
    DEFAULT_MENTIONS,
    HIDDEN,
    MAX_LIMIT,
    MAX_PAUSE_S,
    MAX_QUERY_BYTES,
    Key,
    Says,
    Words,
)

Expand = Literal["", "section", "window", "section_or_window", "parent"]
"""The extent of the text around a hit; "" for none, "parent" for the parent of the chunk."""

ClusterKind = Literal["folder", "community"]
"""Clusters of notes by folder, or by the links between them."""

NoteOrder = Literal["path", "recent"]
"""By path, or by time of the last change, newest first."""

_MAX_LINE = 10**9

Query = Annotated[
    str,
    Key("q"),
    Says(f"The query: words, phrases, filters; at most {MAX_QUERY_BYTES} bytes of UTF-8.", holds="query"),
]
NoteName = Annotated[
    str,
    Key("path"),
    Says(
        "A note: its path in the vault, its absolute path, or its name if only one note has it.", holds="note"
    ),
]
Fresh = Annotated[bool, Says("Wait until all changes made to the vault so far are indexed.")]
Correct = Annotated[bool, Says("Also search likely spellings of words that no note contains.")]
By = Annotated[
    bool, Key("by"), Words("chunk", "note"), Says("One hit for each chunk, or the best one of each note.")
]
Fields = Annotated[
    str,
    Says("The keys to return for each hit, separated by commas; empty means all.", max_chars=MAX_QUERY_BYTES),
]


class SearchRequest(NamedTuple):
    """One search. `limit` is the number of notes; 0 means the configured one. With an `offset`, the first
    of the notes are left out, and pages with the same query belong to one ranking of `MAX_LIMIT` notes.
    `expand` adds the text around each hit. Hits with a relevance below `min_relevance` are left out; None
    means the configured value.

    With `correct`, likely spellings of probably misspelt words are also searched. With `stale`, each hit
    reports whether its file has changed since it was indexed, which requires a look at the file. With
    `by_field`, each hit reports the share of each field in its BM25F score; a search is faster without it.
    """

    query: Query
    limit: Annotated[
        int, Says("Maximum number of notes; 0 means the configured number.", minimum=0, maximum=MAX_LIMIT)
    ] = 0
    by_note: By = False
    fresh: Fresh = False
    as_you_type: Annotated[bool, Says("The last word may be unfinished.")] = False
    expand: Annotated[Expand, Says("Add the text around each hit; empty adds none.")] = ""
    correct: Correct = True
    min_relevance: Annotated[
        float | None,
        Says(
            "Leave out hits with a lower relevance; the default is the configured one.", minimum=0, maximum=1
        ),
    ] = None
    fields: Fields = ""
    offset: Annotated[
        int | None,
        Says(
            "Notes to leave out at the beginning; pages belong together if each gives one, the first 0.",
            minimum=0,
            maximum=MAX_LIMIT,
        ),
    ] = None
    stale: Annotated[bool, HIDDEN] = True
    by_field: Annotated[bool, HIDDEN] = True


class AskRequest(NamedTuple):
    """One question. If `use_model` is False, the answer only contains quotes, even if a language model is
    configured.

    `limit` 0 means the configured number of passages to read. With `fresh`, pending changes are indexed
    first. With `as_written`, the sentences of a model are returned one by one while it writes. With
    `show_prompt`, the model is not called, and the answer contains the prompt.
    """

    question: Annotated[
        str,
        Key("q"),
        Says(
            f"The question; filters as in a query. At most {MAX_QUERY_BYTES} bytes of UTF-8.", holds="query"
        ),
    ]
    limit: Annotated[
        int,
        Says(
            "Maximum number of passages to read; 0 means the configured number.", minimum=0, maximum=MAX_LIMIT
        ),
    ] = 0
    use_model: Annotated[
        bool,
        Key("model"),
        Says("Let the configured language model write the answer; if there is none, notes are quoted."),
    ] = True
    fresh: Fresh = False
    as_written: Annotated[
        bool, Key("stream"), Says("Stream the answer, one JSON object per line (application/x-ndjson).")
    ] = False
    show_prompt: Annotated[
        bool, Says("Do not call the language model; the key `prompt` of the answer is what would be sent.")
    ] = False


class NoParameters(NamedTuple):
    """A request without parameters."""


class ExplainRequest(NamedTuple):
    note: NoteName
    query: Query
    correct: Correct = True


class RelatedRequest(NamedTuple):
    note: NoteName
    limit: Annotated[int, Says("Maximum number of notes.", minimum=1, maximum=MAX_LIMIT)] = 10


class LinksRequest(NamedTuple):
    """Links of a note or of the vault. `limit` None means the default of the view."""

    note: Annotated[
        str,
        Key("path"),
        Says("The note, as in /v1/related. Required for the views note and mentions.", holds="note"),
    ] = ""
    view: Annotated[
        Literal["note", "mentions", "unresolved", "orphans"],
        Says(
            "The links of a note, places that mention it without a link, broken links of the vault, "
            "or notes without links."
        ),
    ] = "note"
    limit: Annotated[
        int | None,
        Says(
            f"Maximum entries of each list. Default: {DEFAULT_MENTIONS} mentions, all of the others.",
            minimum=1,
            maximum=MAX_LIMIT,
        ),
    ] = None
    rendered: Annotated[
        bool, Says("Add the tree of each backlink's or mention's snippet, as `view` has it of a note.")
    ] = False


DEFAULT_ROWS, MAX_ROWS = 1_000, 10_000
"""Rows of a base."""


class BaseRequest(NamedTuple):
    note: Annotated[
        str,
        Key("path"),
        Says(
            "A base, or a note with bases as blocks of code: its path in the vault, or its name.",
            holds="note",
        ),
    ]
    view: Annotated[str, Says("The name of the view; empty means the first.", max_chars=MAX_QUERY_BYTES)] = ""
    limit: Annotated[int, Says("Maximum number of rows.", minimum=1, maximum=MAX_ROWS)] = DEFAULT_ROWS
    shown_in: Annotated[
        str, Says("The note that embeds the base, `this` in its expressions; else the base.", holds="note")
    ] = ""
    line: Annotated[
        int,
        Says(
            "Of a note, the block of code that begins at this line; 0 means all.",
            minimum=0,
            maximum=_MAX_LINE,
        ),
    ] = 0


class NotesRequest(NamedTuple):
    folder: Annotated[
        str, Says("Only notes in this folder or its subfolders; empty means all.", max_chars=MAX_QUERY_BYTES)
    ] = ""
    tag: Annotated[
        str, Says("Only notes with this tag or one below it; empty means all.", max_chars=MAX_QUERY_BYTES)
    ] = ""
    since: Annotated[
        str,
        Says("Only notes changed since this time: 2026-01-31, 2026-01-31T09:30, 7d, today.", max_chars=40),
    ] = ""
    order: Annotated[NoteOrder, Says("By path, or by time of the last change, newest first.")] = "path"
    limit: Annotated[int, Says("Maximum number of notes.", minimum=1, maximum=MAX_LIMIT)] = 50
    offset: Annotated[int, Says("Number of notes to skip.", minimum=0, maximum=_MAX_LINE)] = 0
    name: Annotated[
        str,
        Says(
            "Only notes with these words, or parts of them, in the title, an alias or the path. They "
            "are ordered by how well the name matches, unless `order` is recent.",
            max_chars=MAX_QUERY_BYTES,
        ),
    ] = ""


class NoteRequest(NamedTuple):
    note: NoteName


class GraphRequest(NamedTuple):
    """The files around a note, or around the notes of the best hits of a query."""

    note: Annotated[str, Key("path"), Says("The note, as in /v1/related; or give `q`.", holds="note")] = ""
    query: Annotated[str, Key("q"), Says("A query, instead of a note.", holds="query")] = ""
    depth: Annotated[
        int, Says("Maximum number of links between the note and a file.", minimum=1, maximum=3)
    ] = 1
    limit: Annotated[int, Says("Maximum number of files.", minimum=1, maximum=300)] = 150
    related: Annotated[bool, Says("Add notes with a similar meaning.")] = True


class ClustersRequest(NamedTuple):
    by: Annotated[
        ClusterKind, Says("Notes of one folder, or notes that link to each other more than to others.")
    ] = "folder"
    folder: Annotated[
        str, Says("By folder: the folder whose subfolders are the clusters.", max_chars=MAX_QUERY_BYTES)
    ] = ""


class ViewRequest(NamedTuple):
    note: NoteName
    part: Annotated[
        str,
        Says(
            "Only this part: a heading, `heading#heading below it` or `^block`, as in a link.",
            max_chars=MAX_QUERY_BYTES,
        ),
    ] = ""
    line: Annotated[
        int,
        Says(
            "For a very long note, return the part with this line; 0 means its beginning.",
            minimum=0,
            maximum=_MAX_LINE,
        ),
    ] = 0


class PictureRequest(NamedTuple):
    path: Annotated[str, Says("The path of the picture in the vault, as `view` names it.", holds="note")]


class ChunksRequest(NamedTuple):
    note: NoteName
    strategy: Annotated[
        str,
        Says(
            "A strategy that needs no language model; empty means the chunks of the index.",
            holds="strategy",
            max_chars=MAX_QUERY_BYTES,
        ),
    ] = ""


class SentenceRequest(NamedTuple):
    note: NoteName
    sentence_id: Annotated[
        str, Key("id"), Says("The id, such as Folder/Note_sentence_7.", max_chars=MAX_QUERY_BYTES)
    ]


class CompleteRequest(NamedTuple):
    query: Annotated[str, Key("q"), Says("The query up to the cursor.", max_chars=MAX_QUERY_BYTES)]
    limit: Annotated[int, Says("Maximum number of entries.", minimum=1, maximum=50)] = 12


Refit = Annotated[bool, Says("Recompute word weights if the number of notes has changed a lot.")]
Force = Annotated[
    bool, Says("Rebuild even if the vault has suddenly lost its notes; otherwise the index is kept.")
]
Better = Annotated[bool, Says('Switch to the better model of `embedding.provider = "auto"` at once.')]


class RebuildOptions(NamedTuple):
    """Options of a rebuild, without those of its HTTP route."""

    refit: Refit = True
    force: Force = False
    better: Better = False


class RebuildRequest(NamedTuple):
    refit: Refit = True
    force: Force = False
    better: Better = False
    wait: Annotated[bool, Says("Answer when the rebuild has ended; otherwise as soon as it has started.")] = (
        True
    )


class VerifyRequest(NamedTuple):
    repair: Annotated[bool, Says("Repair the differences.")] = False


class EmbedRequest(NamedTuple):
    paused: Annotated[bool, Says("Create no better vectors until this is false or the daemon restarts.")] = (
        False
    )


class PauseRequest(NamedTuple):
    seconds: Annotated[
        float | None,
        Says("Duration of the pause; the default is until `/v1/resume`.", above=0, maximum=MAX_PAUSE_S),
    ] = None


class ProofRequest(NamedTuple):
    """A challenge to prove that the server knows the token."""

    challenge: Annotated[str, Says("", min_chars=16, max_chars=128)]
