"""The endpoint table: one row for each query and command that the index supports.

A row defines the HTTP route and its description in `/openapi.json` (`http`), the request of the daemon's
client (`client`), the call in this process (`respond`, by the name of the row) and, if the row says so, a
command. To add an endpoint, add a method of `VaultService`, dataclasses of the request and the answer, and a
row here. The module loads only the standard library and requests, because a search through the daemon imports
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from vault_indexer.contract import requests
from vault_indexer.contract.marks import check_note_name, check_query
from vault_indexer.contract.parameters import Parameter, Value, parameters_of

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated import shapes

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint(Generic[Answer]):
    """A row of the table: one query or command, its parameters and the type of its answer.

    The type argument is the JSON of the answer, so that `ask(STATUS)` of a client is a `StatusReportJson`.
    Rows are constants; any thread may read them. GET passes the parameters in the query string, POST in the
    body.
    """

    name: str
    """A Python name, unique in the table: the function of the route, the key in `answers`."""

    method: Literal["GET", "POST"] = "GET"
    path: str = ""
    """`/v1/NAME` if none is given."""

    help: str
    """One sentence, for the description of the route."""

    request: type = requests.NoParameters
    """The dataclass of the request, whose fields are the parameters."""

    own_parameters: tuple[Parameter, ...] | None = None
    """Parameters that replace those of the request, for example for a tool."""

    answer: str
    """The name of the answer's dataclass in `model`: this module loads none, so that a command starts fast.
    Several names are separated by " | ". A dataclass of an optional package is "module:name"."""

    answer_help: str
    other_answers: tuple[tuple[int, str, str], ...] = ()
    """Answers with a status other than 200: status, description and type."""

    line: str = ""
    """The type of each line, if the answer can be a stream of JSON lines instead."""

    has_etag: bool = False
    """Whether the answer has an ETag, so that a client that has it already gets status 304."""

    is_long_lived: bool = False
    """Whether an answer may take longer than the time limit of a request."""

    is_quick: bool = False
    """Whether it is answered from memory, so that searches in progress do not delay it."""

    builds_index: bool = True
    """Whether a missing index is built first if no daemon runs."""

    needs_daemon: bool = False
    """Whether it makes sense only for a daemon."""

    is_public: bool = False
    """Whether it needs no token."""

    vaults: Literal["one", "any", "none"] = "one"
    """The vaults it reads if the daemon serves several: one, which the request names; one or, without a name,
    all; or none, because it is about the daemon."""

    fixed: Mapping[str, Value] = field(default_factory=dict)
    """Parameter values that this row sets itself."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", self.path or f"/v1/{self.name}")

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return parameters_of(self.request) if self.own_parameters is None else self.own_parameters

    def parameter(self, name: str) -> Parameter:
        return {one.name: one for one in self.parameters}[name]

    def view(self, answer: str, **fixed: Value) -> Endpoint[Any]:
        """This endpoint with some parameters fixed, so that its answers have a single type."""
        return replace(self, answer=answer, fixed=fixed)

    def arguments(self, given: Mapping[str, Value]) -> dict[str, Value]:
        """The given and fixed values that differ from the default.

        Raises UsageError for a query or a note name that is empty or too long, and TypeError for an unknown
        or missing parameter, which is a mistake in the calling code.
        """
        values = {**self.fixed, **given}
        defaults = {parameter.name: parameter.default for parameter in self.parameters}
        required = {parameter.name for parameter in self.parameters if parameter.required}
        if values.keys() - defaults or required - values.keys():
            raise TypeError(
                f"{self.name} takes {sorted(defaults)}, required {sorted(required)}: {sorted(values)}"
            )
        for parameter in self.parameters:
            _check_text(parameter, values)
        return {name: value for name, value in values.items() if name in required or value != defaults[name]}

    def all_arguments(self, given: Mapping[str, Value]) -> dict[str, Value]:
        """A value for each parameter: the given ones, else the defaults. Raises as `arguments` does."""
        defaults = {parameter.name: parameter.default for parameter in self.parameters}
        return {**defaults, **self.arguments(given)}


def _check_text(parameter: Parameter, values: Mapping[str, Value]) -> None:
    text = values.get(parameter.name)
    if not isinstance(text, str):
        return
    if parameter.holds == "query":
        check_query(text, may_be_empty=bool(values.get("as_you_type")))
    elif parameter.holds == "note" and (text or parameter.required):
        check_note_name(text)


VAULT = Parameter(
    name="vault",
    default="",
    max_chars=60,
    help="The name of the vault, as listed by `/v1/vaults`. It may be omitted if the daemon serves one "
    "vault. If it serves several, only search and ask may omit it: they then search all vaults.",
)
"""A query parameter of every request, whatever its method; equivalent to the address `/vault/NAME/v1/...`. It
is not a parameter of a row: the server removes it from a request before the row is answered."""

SEARCH: Endpoint[shapes.SearchAnswerJson] = Endpoint(
    name="search",
    help="Search the notes; the best hits come first.",
    request=requests.SearchRequest,
    answer="SearchAnswer",
    answer_help="Ranked hits.",
    vaults="any",
)

ASK: Endpoint[shapes.AskAnswerJson] = Endpoint(
    name="ask",
    method="POST",
    help="Answer a question with sentences, each with the span of a note that supports it.",
    request=requests.AskRequest,
    answer="AskAnswer",
    answer_help="The answer.",
    line="AskLine",
    is_long_lived=True,
    vaults="any",
)

EXPLAIN: Endpoint[shapes.ExplanationJson] = Endpoint(
    name="explain",
    help="The rank of a note in the answer to a query, with the reasons.",
    request=requests.ExplainRequest,
    answer="Explanation",
    answer_help="The rank and the reasons.",
)

STATUS: Endpoint[shapes.StatusReportJson] = Endpoint(
    name="status",
    help="The state of the index and of its daemon.",
    answer="StatusReport",
    answer_help="The state.",
    is_quick=True,
    builds_index=False,
)

RELATED: Endpoint[shapes.RelatedAnswerJson] = Endpoint(
    name="related",
    help="Notes related to a note, by meaning and by link.",
    request=requests.RelatedRequest,
    answer="RelatedAnswer",
    answer_help="The related notes.",
)

ALL_LINKS: Endpoint[
    shapes.LinksAnswerJson | shapes.MentionsAnswerJson | shapes.UnresolvedLinksJson | shapes.OrphansJson
] = Endpoint(
    name="links",
    help="Links and mentions of a note; unresolved links and orphans of the vault.",
    request=requests.LinksRequest,
    answer="LinksAnswer | MentionsAnswer | UnresolvedLinks | Orphans",
    answer_help="The chosen view.",
)
LINKS: Endpoint[shapes.LinksAnswerJson] = ALL_LINKS.view("LinksAnswer")
MENTIONS: Endpoint[shapes.MentionsAnswerJson] = ALL_LINKS.view("MentionsAnswer", view="mentions")
UNRESOLVED: Endpoint[shapes.UnresolvedLinksJson] = ALL_LINKS.view("UnresolvedLinks", view="unresolved")
ORPHANS: Endpoint[shapes.OrphansJson] = ALL_LINKS.view("Orphans", view="orphans")

NOTE: Endpoint[shapes.NoteTextJson] = Endpoint(
    name="note",
    help="The current text of an indexed note.",
    request=requests.NoteRequest,
    answer="NoteText",
    answer_help="The note.",
    has_etag=True,
)

NOTES: Endpoint[shapes.NoteListJson] = Endpoint(
    name="notes",
    help="The indexed notes, by folder, tag and time of change.",
    request=requests.NotesRequest,
    answer="NoteList",
    answer_help="The notes.",
)

BASE: Endpoint[shapes.BaseViewJson] = Endpoint(
    name="base",
    help="The rows of a view of an Obsidian base.",
    request=requests.BaseRequest,
    answer="BaseView",
    answer_help="The rows.",
)

GRAPH: Endpoint[shapes.NoteGraphJson] = Endpoint(
    name="graph",
    help="The files around a note, or around the notes of the best hits of a query, by link and by meaning.",
    request=requests.GraphRequest,
    answer="NoteGraph",
    answer_help="The graph.",
)

CLUSTERS: Endpoint[shapes.ClusterMapJson] = Endpoint(
    name="clusters",
    help="The whole vault as clusters of notes, with the links between them.",
    request=requests.ClustersRequest,
    answer="ClusterMap",
    answer_help="The clusters, the largest first.",
    is_long_lived=True,
)

VIEW: Endpoint[shapes.NoteViewJson] = Endpoint(
    name="view",
    help="An indexed note for reading: its outline, its properties, and its text as a tree.",
    request=requests.ViewRequest,
    answer="NoteView",
    answer_help="The note.",
    has_etag=True,
)

PICTURE: Endpoint[shapes.PictureJson] = Endpoint(
    name="picture",
    help="A picture that is an attachment in the index, at most 8 MB.",
    request=requests.PictureRequest,
    answer="Picture",
    answer_help="The picture.",
)

CHUNKS: Endpoint[shapes.NoteChunksJson] = Endpoint(
    name="chunks",
    help="The chunks of a note in the index, or those that another strategy would create.",
    request=requests.ChunksRequest,
    answer="NoteChunks",
    answer_help="The chunks.",
)

SENTENCE: Endpoint[shapes.PassageJson] = Endpoint(
    name="sentence",
    path="/v1/sentences",
    help="The indexed sentence with an id from a chunk, a hit or a citation.",
    request=requests.SentenceRequest,
    answer="Passage",
    answer_help="The sentence.",
)

COMPLETE: Endpoint[shapes.CompletionsJson] = Endpoint(
    name="complete",
    help="Completions for the end of a query: operators, tags, properties, values, folders.",
    request=requests.CompleteRequest,
    answer="Completions",
    answer_help="The completions.",
)

HEALTH: Endpoint[shapes.VaultHealthJson] = Endpoint(
    name="health",
    help="Sizes of chunks, languages, the size of the index, orphans, and the most frequent broken links.",
    answer="VaultHealth",
    answer_help="The figures.",
)

_REBUILD_RUN = "The progress of the rebuild."

REBUILD: Endpoint[shapes.RebuildReportJson] = Endpoint(
    name="rebuild",
    method="POST",
    help="Rebuild the index. If a rebuild is already running, no second one starts.",
    request=requests.RebuildRequest,
    answer="RebuildReport",
    answer_help="The rebuild has ended.",
    other_answers=((202, _REBUILD_RUN, "RebuildRun"),),
    is_long_lived=True,
    needs_daemon=True,
)

REBUILD_STATE: Endpoint[shapes.RebuildRunJson] = Endpoint(
    name="rebuild_state",
    path="/v1/rebuild",
    help="The progress of the rebuild that is running, or the result of the last one.",
    answer="RebuildRun",
    answer_help=_REBUILD_RUN,
    needs_daemon=True,
)

VERIFY: Endpoint[shapes.VerificationJson] = Endpoint(
    name="verify",
    method="POST",
    help="Compare the vault with the index, and list every difference.",
    request=requests.VerifyRequest,
    answer="Verification",
    answer_help="The differences.",
    is_long_lived=True,
    builds_index=False,
)

EMBED: Endpoint[shapes.UpgradeStateJson] = Endpoint(
    name="embed",
    method="POST",
    help="Pause or resume the creation of better vectors.",
    request=requests.EmbedRequest,
    answer="UpgradeState",
    answer_help="The progress of the better vectors.",
    needs_daemon=True,
)

PAUSE: Endpoint[shapes.PauseStateJson] = Endpoint(
    name="pause",
    method="POST",
    help="Pause indexing. Changes made meanwhile are indexed after the pause.",
    request=requests.PauseRequest,
    answer="PauseState",
    answer_help="Whether indexing is paused.",
    needs_daemon=True,
)

RESUME: Endpoint[shapes.PauseStateJson] = Endpoint(
    name="resume",
    method="POST",
    help="Resume indexing.",
    answer="PauseState",
    answer_help="Whether indexing is paused.",
    needs_daemon=True,
)

VAULTS: Endpoint[shapes.VaultListJson] = Endpoint(
    name="vaults",
    help="The vaults that the daemon serves, each with its state.",
    answer="VaultList",
    answer_help="The vaults, by name.",
    is_quick=True,
    builds_index=False,
    vaults="none",
)

PROOF: Endpoint[shapes.ProofJson] = Endpoint(
    name="proof",
    help="Proof that this server knows the token, for a page that has it from an earlier run: the "
    "HMAC-SHA256 of `PORT:CHALLENGE` by the token, in hexadecimal digits, and its process id. Needs no "
    "token.",
    request=requests.ProofRequest,
    answer="Proof",
    answer_help="The proof.",
    is_quick=True,
    is_public=True,
    vaults="none",
)
"""Not in `ENDPOINTS`: command line clients and tools do not need it."""

ENDPOINTS: tuple[Endpoint[Any], ...] = (
    *(SEARCH, ASK, EXPLAIN, STATUS, RELATED, ALL_LINKS, NOTE, NOTES, BASE, GRAPH, CLUSTERS, VIEW, PICTURE),
    *(CHUNKS, SENTENCE, COMPLETE, HEALTH, REBUILD, REBUILD_STATE, VERIFY, EMBED, PAUSE, RESUME, VAULTS),
)
