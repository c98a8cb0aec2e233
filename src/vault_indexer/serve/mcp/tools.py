"""The answer of each tool, as a page of JSON. This module does not use the SDK: `server` converts the
answers."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, cast

from vault_indexer import model
from vault_indexer.contract.codec import encode
from vault_indexer.contract.marks import MAX_LIMIT
from vault_indexer.contract.parameters import Parameter, Value, WrongRequestError, validate
from vault_indexer.documents import part_name, span_of_parts
from vault_indexer.errors import IndexUnusableError, NoteError, UnknownNoteError, UsageError
from vault_indexer.parse import stem
from vault_indexer.serve.api.endpoints import NOTE, SEARCH, Endpoint
from vault_indexer.serve.api.respond import AnswerContext, answer
from vault_indexer.serve.mcp.budget import Keep, Schema, as_text, page, project, room_of, tokens_of
from vault_indexer.serve.mcp.drafts import check_draft, insertion_point
from vault_indexer.serve.mcp.protocol import OPTIONS, SHORT_HITS_QUERY
from vault_indexer.serve.mcp.reading import beginning_of, excerpt, lines_of, part_of, section_of
from vault_indexer.serve.mcp.views import ToolView
from vault_indexer.system import record
from vault_indexer.text.fold import nearest_names
from vault_indexer.text.language import function_words

_SNIPPET_TOKENS = (40, 116)
"""The least and the most that a hit shows of its note."""

_HIT_TOKENS = 45
"""The overhead of a hit: its place, title and keys."""

_LOOK_AGAIN_S = 0.2

_MOST_NOTES = 20
_MOST_NAMES = 40
"""Folders, tags and so on in an overview, each."""

_FETCH_TOKENS = room_of(8_000)
_NOTE_TOKENS = 50
"""The overhead of a note in a list of notes, in addition to its text."""

_LEAST_NOTE_TOKENS = 150
"""The room from which a note is shown in a list, with its overhead."""

_NAME_CHARS = 60
_NEAR = 50.0
"""The similarity, out of 100, from which an error names another note. A rule of thumb."""

_NEAR_NAMES = 3
_NAMED = 5
Object = dict[str, model.JsonValue]
CallWatch = Callable[[str], AbstractContextManager[object]]
"""A context manager around a call of the tool with a name; it gets the error of the call."""


@record
class ToolRow:
    """A tool that is an unmodified endpoint. `answer` takes a value for each of its parameters, and raises
    VaultIndexerError. An agent gets the keys `keep` of the answer (None: all)."""

    endpoint: Endpoint[Any]
    answer: Callable[[Mapping[str, Value]], Object]
    keep: Keep | None = None


def input_schema(view: ToolView) -> Schema:
    parameters, values = view.endpoint.parameters, view.listed_values
    required = [parameter.name for parameter in parameters if parameter.required]
    entry: Schema = {"enum": list(values)} if values else {"type": "string"}
    return {
        "type": "object",
        "properties": {
            one.name: {"type": "array", "items": entry} if one.name == view.listed else _parameter_schema(one)
            for one in parameters
        },
        **({"required": cast("model.JsonValue", required)} if required else {}),
    }


def _parameter_schema(parameter: Parameter) -> Schema:
    """The JSON schema of one parameter, as short as possible: bounds in bytes and defaults that mean "none"
    are omitted."""
    short = ("type", "exclusiveMinimum", "maximum")  # agents never request fewer than one
    schema = {name: value for name, value in parameter.schema.items() if name in short}
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    if parameter.default not in (None, "", False):
        schema["default"] = parameter.default
    if parameter.help:
        schema["description"] = parameter.help
    return schema


def checked_arguments(view: ToolView, given: Mapping[str, object]) -> dict[str, Value]:
    """A value for each parameter. Raises UsageError, with the text of the HTTP API, for a wrong, missing or
    unknown one; null counts as not given."""
    values = {name: value for name, value in given.items() if value is not None}
    listed = values.get(view.listed)
    if isinstance(listed, list):
        values[view.listed] = view.separator.join(str(one) for one in listed)
    try:
        return validate(view.endpoint.parameters, values, is_strict=not view.is_read_only)
    except WrongRequestError as error:
        known = ", ".join(parameter.name for parameter in view.endpoint.parameters)
        hint = f" ({view.name} has {known})" if "unknown key" in str(error) else ""
        raise UsageError(f"{error}{hint}") from error


def answer_of(view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    """The requested page. While an index is built for the first time, it waits for the first notes. Raises
    VaultIndexerError; an unknown name comes with the nearest ones."""
    try:
        added = context.actions.tools.get(view.name)
        own = _OWN.get(view.name, _row_answer)
        found = _once_there(context, partial(added or partial(own, view, context), arguments))
    except (UnknownNoteError, UsageError) as error:
        if near := _nearest_names(context, error, arguments):
            raise type(error)(f"{error}{near}") from error
        raise
    if not view.lists or view.pages_itself:
        return found
    offset, limit = cast("int", arguments["offset"]), cast("int | None", arguments.get("limit"))
    return page(cast("Object", project(found, view.keep)), view.lists, offset, limit)


def _nearest_names(context: AnswerContext, error: Exception, arguments: Mapping[str, Value]) -> str:
    """The nearest notes, folders or tags, for an error about an unknown one."""
    said = str(error)
    if "did you mean" in said or not said.startswith(("no such note", "no note of the index")):
        return ""
    if isinstance(error, UnknownNoteError):
        wanted = str(next((arguments[key] for key in ("path", "id") if arguments.get(key)), ""))
        own, _ = in_its_vault(context, wanted) if "id" in arguments else (context, "")
        wanted = wanted.partition("#")[0]
        names = {path: model.doc_id_of(path).rpartition("/")[2] for path in own.service.note_paths()}
        near = nearest_names(model.doc_id_of(wanted.rpartition("/")[2]), names, _NEAR_NAMES, _NEAR)
    else:
        overview = context.service.overview()
        is_tag = "has the tag" in said
        known = overview.tags if is_tag else overview.folders
        wanted = str(arguments["tag" if is_tag else "folder"])
        near = (
            nearest_names(wanted, {name: name for name in known}, _NEAR_NAMES, _NEAR) or list(known)[:_NAMED]
        )
    return f". Nearest: {', '.join(map(repr, near))}" if near else ""


def _once_there(context: AnswerContext, call: Callable[[], Object]) -> Object:
    """The answer as soon as there is an index. If there is none in time, raises an error that reports the
    progress."""
    deadline = time.monotonic() + context.first_notes_s
    while True:
        try:
            return call()
        except IndexUnusableError as error:
            if context.vaults.are_several and not context.vault:
                raise
            state = context.service.status()
            if state.state != "building":
                raise
            if context.is_cancelled() or time.monotonic() > deadline:
                raise IndexUnusableError(f"{error}{_progress(state.progress)}") from error
        threading.Event().wait(_LOOK_AGAIN_S)


def _progress(progress: model.Progress | None) -> str:
    read = f"; {progress.notes:,} of {progress.total:,} notes are read" if progress and progress.total else ""
    return f"{read}; call again in a few seconds (status shows the progress)"


def _row_answer(view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    return encode(_asked(view.row, context, _row_values(view, arguments)))


def _asked(row: Endpoint[Any], context: AnswerContext, values: Mapping[str, Value]) -> Any:
    return answer(row, context, row.all_arguments(values))


def _row_values(view: ToolView, arguments: Mapping[str, Value]) -> dict[str, Value]:
    """The values of the parameters of the row, under the row's names."""
    own = {parameter.field: parameter.name for parameter in view.row.parameters}
    values = {own[one.field]: arguments[one.name] for one in view.endpoint.parameters if one.field in own}
    if "limit" in arguments and not view.pages_itself:
        values.pop("limit", None)
        if not (view.has_all and arguments.get("view") != "mentions"):
            # A search with a small limit ranks fewer candidates, so pages belong to one ranking only if their
            # limits are equal.
            values["limit"] = MAX_LIMIT
    return values


_MOST_COPIES = 20
_PROPERTY_TOKENS = 40
_SHOWN_PROPERTIES = 3
"""The best hits, of which all properties are shown if they are short."""

_QUERY_WORD = re.compile(r"\w{3,}")
_IDLE_PROPERTIES = frozenset({"tags", "aliases", "cssclasses", "title"})


def _search(view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    offset, limit = cast("int", arguments["offset"]), cast("int", arguments["limit"])
    found: model.SearchAnswer = _asked(SEARCH, context, {**_row_values(view, arguments), "limit": MAX_LIMIT})
    rest = found.results[offset:]
    wanted = rest[: model.count_in_notes(((hit.vault, hit.path) for hit in rest), limit)]
    room = _room(arguments)
    least, most = _SNIPPET_TOKENS
    each = max(least, min(most, room // max(1, len(wanted)) - _HIT_TOKENS))
    query = " ".join([str(arguments["query"]), *(one.searched for one in found.corrections)])
    hits = tuple(
        _found_note(context, hit, query, 0 if arguments["detail"] == "full" else each, offset + number)
        for number, hit in enumerate(wanted)
    )
    likely = max(0, found.likely - offset)
    answer = encode(
        model.FoundNotes(found.verdict, likely, hits, found.missing_words, found.notices, found.corrections)
    )
    shown = page(answer, view.lists, 0, None, room)
    return _with_next_offset(shown, "results", offset, len(found.results))


def _with_next_offset(shown: Object, name: str, offset: int, count: int) -> Object:
    """A page that begins at `offset` of `count` entries, with the offset of the next one."""
    shown.pop("next_offset", None)
    end = offset + len(cast("list[model.JsonValue]", shown[name]))
    return {**shown, "next_offset": end} if end < count else shown


def _room(arguments: Mapping[str, Value]) -> int:
    return room_of(cast("int", arguments["max_tokens"]))


def _words_of(query: str, language: str) -> frozenset[str]:
    """The beginnings of the words of a query, which also begin their other forms."""
    words = {word.casefold() for word in _QUERY_WORD.findall(query)}
    words -= function_words(language) | function_words("en")
    return frozenset(word if len(word) < 6 else word[:-2] for word in words)


def _found_note(
    context: AnswerContext, hit: model.Hit, query: str, tokens: int, rank: int
) -> model.FoundNote:
    """A hit with an excerpt of this size, or (0) with its whole chunk."""
    own_id = _id_of(context, hit.path, hit.vault or context.vault)
    is_short = SHORT_HITS_QUERY in OPTIONS.get()
    words = _words_of(query, hit.language)
    headings = hit.header_path.split(model.HEADER_SEPARATOR)
    found = model.FoundNote(
        id=own_id,
        title="" if is_short and hit.title == stem(hit.path) else hit.title,
        url="" if is_short else _url_of(own_id),
        line=hit.line or hit.start_line,
        part=hit.part,
        heading=model.HEADER_SEPARATOR.join(headings[headings[0] == hit.title :]),
        properties=_shown_properties(hit.frontmatter, words, is_whole=rank < _SHOWN_PROPERTIES),
        passage=hit.passage,
        vault=hit.vault,
        copies=hit.copies[:_MOST_COPIES],
    )
    if not tokens:
        return replace(
            found,
            line=hit.start_line,
            text=hit.content,
            relevance=hit.relevance,
            modified_time=hit.modified_time,
        )
    if hit.kind != "note":
        return replace(found, text=hit.snippet)
    own = replace(context, vault=hit.vault or context.vault)
    marked = {hit.snippet[start:end].casefold() for start, end in hit.marks}
    chunk = (hit.start_line, hit.end_line)
    text = excerpt(own.service.indexed_text(hit.path), found.line, {*marked, *words}, chunk, tokens)
    is_shown = re.search(rf"^#+ +{re.escape(headings[-1])}\s*$", text, re.MULTILINE)
    return replace(found, text=text, heading="" if is_shown else found.heading)


def _url_of(own_id: str) -> str:
    """The address of a note as a resource, readable where it can be."""
    return f"vault://{own_id.replace('%', '%25').replace(' ', '%20').replace('#', '%23').replace('?', '%3F')}"


def _shown_properties(
    frontmatter: Mapping[str, model.JsonValue], words: frozenset[str], *, is_whole: bool
) -> dict[str, model.JsonValue]:
    """The properties that contain words of the query, or all if they are short and `is_whole`."""
    found: dict[str, model.JsonValue] = {}
    everything = {name: value for name, value in frontmatter.items() if name not in _IDLE_PROPERTIES}
    if is_whole and tokens_of(as_text(everything)) <= _PROPERTY_TOKENS:
        return everything
    for name, value in everything.items():
        said = f"{name} {as_text(value)}".casefold()
        if (
            any(word in said for word in words)
            and tokens_of(as_text({**found, name: value})) <= _PROPERTY_TOKENS
        ):
            found[name] = value
    return found


def _ask(view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    """The answer, with its passages if they are requested, or with places to look at if the vault is hardly
    about the question. A citation without a quote has the sentence itself as its quote."""
    found = _row_answer(view, context, arguments)
    passages = cast("list[Object]", found["passages"])
    dates = {passage["path"]: str(passage["modified_time"])[:10] for passage in passages}
    sentences = cast("list[Object]", found["sentences"])
    for sentence in sentences:
        sentence["citations"] = [
            {
                **{key: value for key, value in cited.items() if key != "quote" or value != sentence["text"]},
                "date": dates.get(cited["path"]),
            }
            for cited in cast("list[Object]", sentence["citations"])
        ]
    wanted = bool(arguments["passages"])
    if not wanted and sentences and found["verdict"] not in ("weak", "none"):
        return {**found, "passages": []}
    unwanted = "snippet" if wanted else "content"
    return {
        **found,
        "passages": [
            {name: value for name, value in passage.items() if name != unwanted} for passage in passages
        ],
    }


def _read_note(_view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    path, heading = str(arguments["path"]), str(arguments["heading"])
    first, last = cast("int | None", arguments["start_line"]), cast("int | None", arguments["end_line"])
    offset = cast("int", arguments["offset"])
    note = note_text(context, path)
    outline = context.service.outline(note.path)
    if parts := str(arguments["parts"]).strip():
        if heading.strip() or first is not None or last is not None:
            raise UsageError("parts and a heading or lines are both given: give one of them")
        try:
            span = span_of_parts(note.text, parts) if part_name(note.path) else (0, 0)
        except ValueError as error:
            raise UsageError(f"parts = {parts}: {error}") from None
        if span == (0, 0):
            raise UsageError(f"parts = {parts}: {note.path} has no pages, slides or sheets")
    elif heading.strip():
        if first is not None or last is not None:
            raise UsageError("heading and lines are both given: give one of them")
        # The positions of headings refer to the indexed text, so that text is cut.
        note, span = replace(note, text=outline.text), section_of(outline, heading)
    else:
        span = lines_of(note.text, first or 1, last)
    tokens = _room(arguments) - _NOTE_TOKENS
    return encode(
        part_of(note, span, offset, tokens) if offset else beginning_of(note, outline, span, tokens)
    )


def _get_notes(_view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    """Each note has its share of the result; an unused part goes to the following notes. Notes for which no
    room is left are those of the next page."""
    paths = list(_paths_meant(context, str(arguments["paths"]).split("\n")))
    is_pattern = any(map(_is_pattern, str(arguments["paths"]).split("\n")))
    if not paths or (len(paths) > _MOST_NOTES and not is_pattern):
        raise UsageError(f"paths: {len(paths)} are given; allowed are 1 to {_MOST_NOTES}")
    offset = cast("int", arguments["offset"])
    if offset >= len(paths):
        raise UsageError(f"offset = {offset}: paths names {len(paths)} notes")
    shown, room = paths[offset : offset + _MOST_NOTES], _room(arguments)
    found: list[model.ReadNote] = []
    while len(found) < len(shown) and (room >= _LEAST_NOTE_TOKENS or not found):
        sharing = min(len(shown) - len(found), max(1, room // _LEAST_NOTE_TOKENS))
        one = _note_within(context, shown[len(found)], room // sharing - _NOTE_TOKENS)
        room -= tokens_of(one.text) + _NOTE_TOKENS
        found.append(one)
    end = offset + len(found)
    return encode(model.NotesRead(tuple(found), len(paths) - end, end if end < len(paths) else 0))


def _is_pattern(path: str) -> bool:
    return any(sign in path for sign in "*?")


def _paths_meant(context: AnswerContext, given: Iterable[str]) -> dict[str, None]:
    """The paths as given, and the paths of the notes that patterns match, each once. Raises UsageError for a
    pattern without notes."""
    found: dict[str, None] = {}
    for path in filter(str.strip, given):
        if not _is_pattern(path):
            found[path] = None
            continue
        pattern = _expression_of(path.strip().removeprefix("./"))
        matching = [one for one in context.service.note_paths() if pattern.fullmatch(one)]
        if not matching:
            raise UsageError(f"no note matches the pattern {path!r}: vault_overview shows the folders")
        found.update(dict.fromkeys(matching))
    return found


def _expression_of(pattern: str) -> re.Pattern[str]:
    """`*` and `?` match within a folder, `**` any number of folders; `.md` may be missing."""
    signs = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return re.compile("".join(signs.get(part, re.escape(part)) for part in parts) + r"(?:\.md)?")


def _note_within(context: AnswerContext, path: str, tokens: int) -> model.ReadNote:
    try:
        note = note_text(context, path)
    except (UsageError, NoteError, UnknownNoteError) as error:
        return model.ReadNote(path, error=f"{error}{_nearest_names(context, error, {'path': path})}")
    part = part_of(note, (0, len(note.text)), 0, tokens)
    return model.ReadNote(note.path, part.text, part.total_lines, note.modified_time, part.next_offset)


def _fetch(_view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    wanted = str(arguments["id"])
    own, name = in_its_vault(context, wanted)
    service = own.service
    try:
        path, heading = service.path_of(name), ""
    except UnknownNoteError:
        path, _, heading = name.partition("#")
        if not heading.strip():
            raise
    outline, note = service.outline(path), note_text(own, path)
    span = (0, len(note.text))
    if heading:
        note, span = replace(note, text=outline.text), section_of(outline, heading)
    part = beginning_of(note, outline, span, _FETCH_TOKENS)
    known = _id_of(own, note.path, own.vault)
    more = f"\n[…] The note goes on. An id of a section, such as {known}#Heading, gives more.\n"
    return encode(
        model.FetchedNote(
            id=wanted,
            title=service.titles([path]).get(path, outline.title),
            text=part.text + (more if part.next_offset else ""),
            url=_url_of(known),
            metadata=model.FetchedMetadata(
                note.path, note.modified_time, tuple(one.heading for one in part.headings)
            ),
        )
    )


def _id_of(context: AnswerContext, path: str, vault: str) -> str:
    """The id of a note at the requested address: its path, after the name of its vault if there are several
    and the address covers all of them."""
    return path if context.address or not context.vaults.are_several else f"{vault}/{path}"


def in_its_vault(context: AnswerContext, name: str) -> tuple[AnswerContext, str]:
    """Splits an id or the path of a resource into its vault and the rest. Raises UnknownNoteError."""
    if context.vault or not context.vaults.are_several:
        return context, name
    vault, _, rest = name.partition("/")
    if vault not in context.vaults.names:
        known = ", ".join(context.vaults.names)
        raise UnknownNoteError(f"{name[:_NAME_CHARS]!r} does not begin with the name of a vault: {known}")
    return replace(context, vault=vault), rest


def _list_notes(view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    offset = cast("int", arguments["offset"])
    found: model.NoteList = _asked(view.row, context, {**_row_values(view, arguments), "offset": offset})
    titles = context.service.titles(note.path for note in found.notes)
    shown = replace(
        found, notes=tuple(replace(note, title=titles.get(note.path, note.title)) for note in found.notes)
    )
    return _with_next_offset(page(encode(shown), view.lists, 0), "notes", offset, found.count)


def _tasks(view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    """The tasks, grouped by note, so that its path is there once."""
    offset, limit = cast("int", arguments["offset"]), cast("int", arguments["limit"])
    if str(arguments["path"]).strip() and str(arguments["folder"]).strip():
        raise UsageError("path and folder are both given: give one of them")
    found = context.service.tasks(
        cast("model.TaskState", arguments["state"]), str(arguments["path"]), str(arguments["folder"])
    )
    entries: list[model.JsonValue] = [encode(task) for task in found]
    shown = page({"count": len(found), "tasks": entries}, view.lists, offset, limit)
    listed = cast("list[Object]", shown.pop("tasks"))
    notes: list[model.JsonValue] = []
    for path, tasks in groupby(listed, key=itemgetter("path")):
        rows = [
            {key: task[key] for key in ("line", "text", "due") if key != "due" or task[key]} for task in tasks
        ]
        notes.append({"path": path, "tasks": cast("model.JsonValue", rows)})
    return {"count": len(found), "notes": notes, **shown}


def _vault_overview(_view: ToolView, context: AnswerContext, _: Mapping[str, Value]) -> Object:
    found = context.service.overview()
    shown = encode(found)
    shown["recent"] = dict(found.recent)
    left_out: Object = {}
    for name, value in shown.items():
        if isinstance(value, dict | list) and len(value) > _MOST_NAMES:
            left_out[name] = len(value) - _MOST_NAMES
            cut = dict(list(value.items())[:_MOST_NAMES]) if isinstance(value, dict) else value[:_MOST_NAMES]
            shown[name] = cast("model.JsonValue", cut)
    return {**shown, **({"left_out": left_out} if left_out else {})}


def _links(view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    if str(arguments["path"]).strip() and arguments["view"] in ("unresolved", "orphans"):
        raise UsageError(f"path is given, and view is {arguments['view']}, which is of the whole vault")
    if arguments["direction"] != "both" and arguments["view"] != "note":
        raise UsageError(f"direction is given, and view is {arguments['view']}: only the view note has one")
    found = _row_answer(view, context, arguments)
    unwanted = {"in": ("outgoing", "unresolved"), "out": ("backlinks",)}.get(str(arguments["direction"]), ())
    for link in cast("list[Object]", found.get("outgoing", [])):
        link["target"] = f"{link['target']}#{link['subpath']}" if link["subpath"] else link["target"]
    return {name: [] if name in unwanted else value for name, value in found.items()}


def _related(view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    found: model.RelatedAnswer = _asked(view.row, context, _row_values(view, arguments))
    titles = context.service.titles(note.path for note in found.results)
    return {
        "note": found.note,
        "results": [
            {
                "path": note.path,
                "title": titles.get(note.path, note.title),
                "heading": note.header_path or None,
                "score": round(note.score, 2),
                "why": _why_related(note),
            }
            for note in found.results
        ],
    }


def _why_related(note: model.RelatedNote) -> str:
    """The reasons, the strongest first."""
    shared = ", ".join(note.shared[:3]) + (
        f" and {note.shared_count - 3} more" if note.shared_count > 3 else ""
    )
    reasons = [
        (note.why.link, " and ".join(note.links)),
        (note.why.shared, f"both linked with {shared}" if note.shared else ""),
        (note.why.meaning, f"similar in meaning ({note.similarity:.2f})" if note.similarity else ""),
    ]
    return "; ".join(reason for _, reason in sorted(reasons, reverse=True) if reason)


def note_text(context: AnswerContext, path: str) -> model.NoteText:
    """The current text of a note of the index, or the cards of a canvas, whose lines are those of its hits.
    Raises VaultIndexerError."""
    note: model.NoteText = _asked(NOTE, context, {"path": path})
    is_canvas = model.kind_of(note.path) is model.FileKind.CANVAS
    return replace(note, text=context.service.indexed_text(note.path)) if is_canvas else note


_OWN: Mapping[str, Callable[[ToolView, AnswerContext, Mapping[str, Value]], Object]] = {
    "search": _search,
    "ask": _ask,
    "read_note": _read_note,
    "get_notes": _get_notes,
    "fetch": _fetch,
    "vault_overview": _vault_overview,
    "list_notes": _list_notes,
    "tasks": _tasks,
    "related": _related,
    "links": _links,
    "insertion_point": insertion_point,
    "check_draft": check_draft,
}


def strategy_change(context: AnswerContext, strategy: str) -> model.StrategyChange:
    """The change that `set_chunker` would make, with an explanation as the question to the user. Raises
    VaultIndexerError if it cannot be made."""
    setting = context.actions.strategy
    assert setting is not None
    current = setting.current()
    if strategy != current:
        setting.check(strategy)
    notes = context.service.status().counts.notes
    message = (
        f"The strategy is {current} already; nothing is changed."
        if current == strategy
        else f"Split notes by {strategy} instead of {current}? This writes [chunking] strategy into the "
        f"configuration of the vault, and the index of {notes} notes is rebuilt; searches go on meanwhile."
    )
    return model.StrategyChange(strategy, current, changed=False, message=message)


def change_strategy(context: AnswerContext, change: model.StrategyChange) -> model.StrategyChange:
    """Writes the strategy that the user agreed to. Raises VaultIndexerError."""
    setting = context.actions.strategy
    assert setting is not None
    setting.choose(change.strategy)
    message = "The strategy is written, and the index is being rebuilt: status shows the progress."
    return replace(change, changed=True, message=message)
