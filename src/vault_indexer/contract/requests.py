"""The requests: a named tuple for each row of the table of endpoints.

What a parameter means, its bounds and its name over HTTP are marks of the field.
From these come the checks of HTTP, `/openapi.json`, the schemas of tools, the client and the options of
commands. A command imports the module before it asks a daemon: dataclasses would take 12 ms more to make.
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
"""How much text around a hit is wanted; "" for none, "parent" for what the chunk is a part of."""

ClusterKind = Literal["folder", "community"]
"""How the notes of a vault are put together: by folder, or by the links between them."""

NoteOrder = Literal["path", "recent"]
"""The order of a list of notes: by path, or those changed last first."""

_MAX_LINE = 10**9

Query = Annotated[
    str,
    Key("q"),
    Says(
        help=f"The query: words, phrases, filters; at most {MAX_QUERY_BYTES} bytes of UTF-8.", holds="query"
    ),
]
NoteName = Annotated[
    str,
    Key("path"),
    Says(
        help="A note: its path in the vault, its absolute path, or its name if only one note has it.",
        holds="note",
    ),
]
Fresh = Annotated[bool, Says(help="Wait until all changes made to the vault so far are indexed.")]
Correct = Annotated[bool, Says(help="Search likely spellings of words that no note holds as well.")]
By = Annotated[
    bool,
    Key("by"),
    Words("chunk", "note"),
    Says(help="One hit for each chunk, or the best one of each note."),
]
Fields = Annotated[
    str,
    Says(
        help="The keys of each hit that are wanted, separated by commas; empty means all.",
        max_chars=MAX_QUERY_BYTES,
    ),
]


class SearchRequest(NamedTuple):
    """One search. `limit` counts notes; 0 means the configured number. `expand` asks for the text around
    each. Hits with a relevance below `min_relevance` are left out; None means the configured one.

    `correct`: of words that are probably misspelt, likely spellings are searched as well. `stale`: each hit
    says whether its file has changed since it was indexed; without it no file is looked at. `by_field`: it
    says what each field gave to its BM25F score; without it a search is quicker.
    """

    query: Query
    limit: Annotated[
        int, Says(help="Notes at most; 0 means the configured number.", minimum=0, maximum=MAX_LIMIT)
    ] = 0
    by_note: By = False
    fresh: Fresh = False
    as_you_type: Annotated[bool, Says(help="The last word may be unfinished.")] = False
    expand: Annotated[Expand, Says(help="Add the text around each hit; empty adds none.")] = ""
    correct: Correct = True
    min_relevance: Annotated[
        float | None,
        Says(
            help="Leave out hits whose relevance is lower; without it, the configured one.",
            minimum=0,
            maximum=1,
        ),
    ] = None
    fields: Fields = ""
    stale: Annotated[bool, HIDDEN] = True
    by_field: Annotated[bool, HIDDEN] = True


class AskRequest(NamedTuple):
    """One question. `use_model` False answers with quotes alone, also where a language model is configured.

    `limit` 0 means the configured number of passages to read. `fresh`: changes made so far are indexed first.
    `as_written`: sentences of a model are wanted one by one, while it writes. `show_prompt`: the model is not
    asked, and the answer says what it would be sent.
    """

    question: Annotated[
        str,
        Key("q"),
        Says(
            help=f"The question; filters as in a query. At most {MAX_QUERY_BYTES} bytes of UTF-8.",
            holds="query",
        ),
    ]
    limit: Annotated[
        int,
        Says(help="Passages to read at most; 0 means the configured number.", minimum=0, maximum=MAX_LIMIT),
    ] = 0
    use_model: Annotated[
        bool,
        Key("model"),
        Says(help="Have the configured language model write the answer; without one, notes are quoted."),
    ] = True
    fresh: Fresh = False
    as_written: Annotated[
        bool,
        Key("stream"),
        Says(help="Send the answer as it arises, one JSON object on each line (application/x-ndjson)."),
    ] = False
    show_prompt: Annotated[
        bool,
        Says(help="Do not ask the language model; the key prompt of the answer is what it would be sent."),
    ] = False


class NoParameters(NamedTuple):
    """A request that says all by its route."""


class ExplainRequest(NamedTuple):
    """Where a note is in the answer to a query."""

    note: NoteName
    query: Query
    correct: Correct = True


class RelatedRequest(NamedTuple):
    """Notes near a note."""

    note: NoteName
    limit: Annotated[int, Says(help="Notes at most.", minimum=1, maximum=MAX_LIMIT)] = 10


class LinksRequest(NamedTuple):
    """Links of a note or of the vault. `limit` None: as many as the view has, of mentions a few."""

    note: Annotated[
        str,
        Key("path"),
        Says(help="The note, as in /v1/related. Required for the views note and mentions.", holds="note"),
    ] = ""
    view: Annotated[
        Literal["note", "mentions", "unresolved", "orphans"],
        Says(
            help="The links of a note, places that name it without a link, links of the vault that "
            "lead nowhere, or notes without links."
        ),
    ] = "note"
    limit: Annotated[
        int | None,
        Says(
            help=f"Entries of each list at most. Without it: {DEFAULT_MENTIONS} mentions, all of the others.",
            minimum=1,
            maximum=MAX_LIMIT,
        ),
    ] = None


class NotesRequest(NamedTuple):
    """Which notes are listed, and in which order."""

    folder: Annotated[
        str, Says(help="Notes in this folder and below it; empty: of all.", max_chars=MAX_QUERY_BYTES)
    ] = ""
    tag: Annotated[
        str, Says(help="Notes with this tag or one below it; empty: all.", max_chars=MAX_QUERY_BYTES)
    ] = ""
    since: Annotated[
        str, Says(help="Notes changed since then: 2026-01-31, 2026-01-31T09:30, 7d, today.", max_chars=40)
    ] = ""
    order: Annotated[NoteOrder, Says(help="By path, or those changed last first.")] = "path"
    limit: Annotated[int, Says(help="Notes at most.", minimum=1, maximum=MAX_LIMIT)] = 50
    offset: Annotated[int, Says(help="How many are passed over.", minimum=0, maximum=_MAX_LINE)] = 0


class NoteRequest(NamedTuple):
    """One note."""

    note: NoteName


class GraphRequest(NamedTuple):
    """The files around a note, or around the notes of the best hits of a query."""

    note: Annotated[
        str, Key("path"), Says(help="The note, as in /v1/related; or give `q`.", holds="note")
    ] = ""
    query: Annotated[str, Key("q"), Says(help="A query, instead of a note.", holds="query")] = ""
    depth: Annotated[int, Says(help="Links from the note at most.", minimum=1, maximum=3)] = 1
    limit: Annotated[int, Says(help="Files at most.", minimum=1, maximum=300)] = 150
    related: Annotated[bool, Says(help="Add notes that are near in meaning.")] = True


class ClustersRequest(NamedTuple):
    """The whole vault as clusters."""

    by: Annotated[
        ClusterKind, Says(help="Notes of one folder, or notes that link to each other more than to others.")
    ] = "folder"
    folder: Annotated[
        str,
        Says(help="By folder: the folder whose folders are the clusters.", max_chars=MAX_QUERY_BYTES),
    ] = ""


class ViewRequest(NamedTuple):
    """A note to be read."""

    note: NoteName
    part: Annotated[
        str,
        Says(
            help="Only this part: a heading, `heading#heading below it` or `^block`, as in a link.",
            max_chars=MAX_QUERY_BYTES,
        ),
    ] = ""
    line: Annotated[
        int,
        Says(
            help="Of a very long note, the part with this line; 0 means its beginning.",
            minimum=0,
            maximum=_MAX_LINE,
        ),
    ] = 0


class PictureRequest(NamedTuple):
    """A picture of the vault."""

    path: Annotated[str, Says(help="The path of the picture in the vault, as `view` names it.", holds="note")]


class ChunksRequest(NamedTuple):
    """The chunks of a note."""

    note: NoteName
    strategy: Annotated[
        str,
        Says(
            help="A strategy that needs no language model; empty: the index.",
            holds="strategy",
            max_chars=MAX_QUERY_BYTES,
        ),
    ] = ""


class SentenceRequest(NamedTuple):
    """A sentence by its id."""

    note: NoteName
    sentence_id: Annotated[
        str,
        Key("id"),
        Says(help="The id, such as Folder/Note_sentence_7.", max_chars=MAX_QUERY_BYTES),
    ]


class CompleteRequest(NamedTuple):
    """How the end of a query can go on."""

    query: Annotated[str, Key("q"), Says(help="The query up to the cursor.", max_chars=MAX_QUERY_BYTES)]
    limit: Annotated[int, Says(help="Entries at most.", minimum=1, maximum=50)] = 12


Refit = Annotated[bool, Says(help="Weigh words anew if the number of notes has changed much.")]
Force = Annotated[
    bool,
    Says(help="Rebuild even if the vault has suddenly lost its notes; otherwise the index is kept then."),
]
Better = Annotated[
    bool, Says(help='Use the better model that `embedding.provider = "auto"` stands for, at once.')
]


class RebuildOptions(NamedTuple):
    """What a rebuild may do."""

    refit: Refit = True
    force: Force = False
    better: Better = False


class RebuildRequest(NamedTuple):
    """Rebuild the index."""

    refit: Refit = True
    force: Force = False
    better: Better = False
    wait: Annotated[
        bool, Says(help="Answer when the rebuild has ended; otherwise as soon as it has started.")
    ] = True


class VerifyRequest(NamedTuple):
    """Compare the vault with the index."""

    repair: Annotated[bool, Says(help="Repair what differs.")] = False


class EmbedRequest(NamedTuple):
    """Have the vectors of the better model made while the daemon is idle, or not."""

    paused: Annotated[bool, Says(help="Make none until this is false, or the daemon starts again.")] = False


class PauseRequest(NamedTuple):
    """Pause indexing; `seconds` None: until it is resumed."""

    seconds: Annotated[
        float | None,
        Says(help="How long to pause; without it, until `/v1/resume`.", above=0, maximum=MAX_PAUSE_S),
    ] = None


class ProofRequest(NamedTuple):
    """A challenge to prove that the server knows the token."""

    challenge: Annotated[str, Says(help="", min_chars=16, max_chars=128)]
