"""Golden cases: a query for an agent and the expected properties of its answer, one YAML file each.

Every `.yaml` and `.yml` file of a folder of cases is a case, at any depth. Folders named `l1`, `l2` and `l3`
contain only cases of that layer; elsewhere the file names its layer. A file that is not a valid case is an
error that names the file and the key: a case that is not run must not look like one that passes.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from vault_evals import BUILT_IN_AGENTS
from vault_indexer.config.values import unknown_key
from vault_indexer.contract.marks import MAX_LIMIT
from vault_indexer.errors import UsageError
from vault_indexer.model import JsonValue
from vault_indexer.system import record
from vault_indexer.text.yaml_values import YamlRefusedError, load_mapping

AgentName = str
"""The agent of a case: a use case of the index (`BUILT_IN_AGENTS`), or a function that the user's
configuration names in `evals.agents`."""

Layer = Literal[1, 2, 3]
"""1: the structure of an answer, 2: its citations, 3: its meaning."""

LAYERS: tuple[Layer, ...] = (1, 2, 3)
LAYER_FOLDERS: Mapping[str, Layer] = {"l1": 1, "l2": 2, "l3": 3}
OTHER_FOLDERS = frozenset({"snapshots", "ranking"})
"""Folders, next to `l1`, `l2` and `l3`, whose files are not cases."""

SUFFIXES = frozenset({".yaml", ".yml"})

_Text = Annotated[str, Field(min_length=1)]
_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AgentInput(_Strict):
    """The input of the agent: `query` for search, `note` for related and links, `question` for ask.

    `limit` 0 means the agent's own number of findings. `use_model` False requests only quotes. `keys` is the
    input as written in the case, all of which a user's agent receives; None if the case has no input.
    """

    query: str = ""
    note: str = ""
    question: str = ""
    limit: Annotated[int, Field(ge=0, le=MAX_LIMIT)] = 0
    by_note: bool = False
    use_model: bool = True
    keys: dict[str, object] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is no input for a built-in agent."""
        return not (self.query or self.note or self.question)


class StructureExpected(_Strict):
    """Layer 1. Each given key is one check.

    `must_have_source` lists vault paths that must be among the findings, `sources_in_order` those that must
    appear in this order. `expected_paths` lists notes that a search must find among its first
    `expected_in_top_k` notes (without it: anywhere); a note counts once, at its best hit. Each of them may be
    a part of a document, such as `paper.pdf#page=3`. `expected_empty`: there are no findings, or the verdict
    is "none".
    """

    min_findings: Annotated[int, Field(ge=1)] | None = None
    must_have_source: tuple[_Text, ...] = ()
    sources_in_order: tuple[_Text, ...] = ()
    must_have_citation: Literal[True] | None = None
    forbidden_keywords_in_findings: tuple[_Text, ...] = ()
    expected_paths: tuple[_Text, ...] = ()
    expected_in_top_k: Annotated[int, Field(ge=1, le=MAX_LIMIT)] | None = None
    expected_empty: Literal[True] | None = None

    @model_validator(mode="after")
    def _checks_something(self) -> StructureExpected:
        if self.expected_in_top_k is not None and not self.expected_paths:
            raise ValueError("expected_in_top_k: needs expected_paths")
        if self.expected_empty and len(self.model_fields_set) > 1:
            raise ValueError(
                "expected_empty: excludes all other checks, because there are no findings to check"
            )
        if not self.model_fields_set or not any(getattr(self, name) for name in self.model_fields_set):
            raise ValueError(f"contains no check; choose from {', '.join(type(self).model_fields)}")
        return self


class ExpectedCitation(_Strict):
    """A span of a note, or an external page.

    For a note: `path`, the text of the nearest `heading` above the span ("" before the first) or its `block`
    identifier, `start` and `end` (characters of the note decoded as UTF-8), the `quote` at that position and
    the `sha256` of its UTF-8. Keys that are not given are not compared, and `eval drift --accept` adds them.
    A path alone matches any span of that note. For a page: `url`, and `quote` if the page must contain some
    text.
    """

    path: str = ""
    heading: str | None = None
    block: str | None = None
    start: Annotated[int, Field(ge=0)] | None = None
    end: Annotated[int, Field(ge=1)] | None = None
    quote: str = ""
    sha256: _Sha256 | None = None
    url: Annotated[str, Field(pattern=r"^(https?://\S+)?$")] = ""

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> ExpectedCitation:
        if bool(self.path) == bool(self.url):
            raise ValueError("path: give either path or url")
        if self.path and not self.quote.strip() and self.model_fields_set != {"path"}:
            raise ValueError("quote: is missing or blank")
        if self.url and any(value is not None for value in (self.heading, self.block, self.start, self.end)):
            raise ValueError("url: heading, block, start and end do not apply to a page")
        if (self.start is None) != (self.end is None):
            raise ValueError("start: give both start and end, or neither")
        if self.start is not None and self.end is not None and self.end - self.start != len(self.quote):
            raise ValueError(
                f"end: {self.end} - {self.start} is {self.end - self.start} characters, the quote has "
                f"{len(self.quote)}"
            )
        if self.sha256 and self.quote and self.sha256 != sha256_of(self.quote):
            raise ValueError(f"sha256: does not match the quote, whose hash is {sha256_of(self.quote)}")
        return self

    @property
    def name(self) -> str:
        return self.url or self.path


class CitationsExpected(_Strict):
    """Layer 2. Each citation must verify, the answer must cite each, and each phrase must occur in one of the
    passages that the answer cites."""

    expected_citations: tuple[ExpectedCitation, ...] = ()
    support_phrases: tuple[_Text, ...] = ()

    @model_validator(mode="after")
    def _checks_something(self) -> CitationsExpected:
        if not self.expected_citations and not self.support_phrases:
            raise ValueError("contains no check; give expected_citations, support_phrases or both")
        return self


class MeaningExpected(_Strict):
    """Layer 3. The answer must contain at least one of `expected_keywords_any` and none of
    `expected_keywords_none`; then it is compared with `golden_answer`."""

    golden_answer: _Text
    expected_keywords_any: tuple[_Text, ...] = ()
    expected_keywords_none: tuple[_Text, ...] = ()


Expected = StructureExpected | CitationsExpected | MeaningExpected
_EXPECTED: Mapping[Layer, type[Expected]] = {1: StructureExpected, 2: CitationsExpected, 3: MeaningExpected}


@record
class GoldenCase:
    """One case. `metadata` may contain `vault`, the name of the folder of notes that the case is about, and
    `language`; other keys are free. `file` is the source of the case (None: created in memory)."""

    id: str
    agent: AgentName
    layer: Layer
    input: AgentInput
    expected: Expected
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    file: Path | None = None

    @property
    def asks(self) -> bool:
        """Whether the agent is asked: a case of layer 2 may only verify citations."""
        return not self.input.is_empty if self.agent in BUILT_IN_AGENTS else self.input.keys is not None

    @property
    def question(self) -> str:
        given = self.input
        keys = (given.keys or {}).items()
        return given.question or given.query or ", ".join(f"{key}: {value}" for key, value in keys)

    @property
    def vault(self) -> str:
        """The folder name of the vault that the case is about; "" for any."""
        return str(self.metadata.get("vault", ""))

    @property
    def language(self) -> str:
        """The language of the question; "" if the case does not specify it."""
        return str(self.metadata.get("language", ""))


class _Document(_Strict):
    id: Annotated[str, Field(pattern=r"^[\w.-]{1,128}$")]
    agent: Annotated[str, Field(pattern=r"^[\w.-]{1,128}$")]
    layer: Layer
    input: AgentInput = AgentInput()
    expected: dict[str, object]
    metadata: dict[str, object] = Field(default_factory=dict)


def is_url(source: str) -> bool:
    """Whether a cited source is a page, and no path of a note."""
    return source.startswith(("http://", "https://"))


def sha256_of(text: str) -> str:
    """The hexadecimal SHA-256 of the text's UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def replace_citation(citation: ExpectedCitation, **values: str | int | None) -> ExpectedCitation:
    """The citation with other values, which are validated like those of a file."""
    return ExpectedCitation.model_validate({**citation.model_dump(), **values})


def load_cases(
    folder: Path,
    own_agents: Collection[str] | None = None,
    may_read: Callable[[Path], bool] = lambda _file: True,
) -> tuple[GoldenCase, ...]:
    """All cases of a folder, in the order of their files. `own_agents` are the agents that they may name in
    addition to the built-in ones (None: any, if no agent is queried). A file that fails `may_read` is an
    error.

    Raises UsageError: the folder is missing or contains no case, or, naming every file and key at fault, a
    file is not a valid case, names no agent, is in the folder of another layer, or repeats an id.
    """
    if not folder.is_dir():
        raise UsageError(f"no folder of cases: {folder}; name one with --cases DIR")
    cases: list[GoldenCase] = []
    problems: list[str] = []
    for file in _case_files(folder):
        try:
            if not may_read(file):
                raise UsageError(f"{file}: is outside the vault, excluded, or too large")
            cases.append(_load(file, folder))
        except UsageError as error:
            problems.append(str(error))
    problems += _repeated_ids(cases)
    if own_agents is not None:
        problems += _unknown_agents(cases, own_agents)
    if problems:
        raise UsageError("\n".join(problems))
    if not cases:
        raise UsageError(f"no cases in {folder}: they are .yaml files")
    return tuple(cases)


def parse_case(text: str, file: Path) -> GoldenCase:
    """The case in a file's text. Raises UsageError naming the file and each key at fault."""
    try:
        properties = load_mapping(text, unique_keys=True)
        document = _Document.model_validate_json(json.dumps(_in_our_words(properties)), strict=True)
    except YamlRefusedError as refusal:
        line = f":{refusal.line}" if refusal.line else ""
        raise UsageError(f"{file}{line}: {refusal.detail}") from refusal
    except ValidationError as error:
        raise UsageError(_problems(file, "", error)) from error
    try:
        expected = _EXPECTED[document.layer].model_validate_json(json.dumps(document.expected), strict=True)
    except ValidationError as error:
        raise UsageError(_problems(file, "expected", error)) from error
    metadata = cast("Mapping[str, JsonValue]", document.metadata)
    case = GoldenCase(document.id, document.agent, document.layer, document.input, expected, metadata, file)
    problems = [f"{file}: {problem}" for problem in _mismatches(case)]
    if problems:
        raise UsageError("\n".join(problems))
    return case


def _in_our_words(properties: Mapping[str, object]) -> dict[str, object]:
    """The keys of a case, with the notations of other suites converted: `layer: l1`, one source as a text,
    citations as URLs or paths, and an `input` with other keys, of which only `language` is used."""
    case = dict(properties)
    layer, given, expected = case.get("layer"), case.get("input"), case.get("expected")
    if isinstance(layer, str):
        case["layer"] = LAYER_FOLDERS.get(layer.lower(), int(layer) if layer in {"1", "2", "3"} else layer)
    if isinstance(given, Mapping):
        metadata = case.get("metadata", {})
        if "language" in given and isinstance(metadata, Mapping):
            case["metadata"] = {"language": given["language"], **metadata}
        known = {key: given[key] for key in AgentInput.model_fields if key in given}
        case["input"] = {**(known if case.get("agent") in BUILT_IN_AGENTS else {}), "keys": dict(given)}
    if isinstance(expected, Mapping):
        case["expected"] = {key: _listed(key, value) for key, value in expected.items()}
    return case


def _listed(key: str, value: object) -> object:
    if key == "must_have_source" and isinstance(value, str):
        return [value]
    if key == "expected_citations" and isinstance(value, list):
        return [{"url" if is_url(one) else "path": one} if isinstance(one, str) else one for one in value]
    return value


def _case_files(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("*"), key=lambda file: file.parts):
        parts = file.relative_to(folder).parts
        is_other = any(part in OTHER_FOLDERS or part.startswith(".") for part in parts)
        if file.suffix.lower() in SUFFIXES and file.is_file() and not is_other:
            yield file


def _load(file: Path, folder: Path) -> GoldenCase:
    # The folder itself may be that of a layer.
    parts = (folder.resolve().name, *file.relative_to(folder).parts[:-1])
    layers = {LAYER_FOLDERS[part.lower()] for part in parts if part.lower() in LAYER_FOLDERS}
    if len(layers) > 1:
        raise UsageError(f"{file}: a case must be below at most one folder named l1, l2 or l3")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: cannot be read: {error}") from error
    case = parse_case(text, file)
    if layers and case.layer not in layers:
        raise UsageError(f"{file}: layer: {case.layer}, but the file lies in the folder l{min(layers)}")
    return case


def _mismatches(case: GoldenCase) -> Iterator[str]:
    """The contradictions between the keys of a case, each of which is valid."""
    wanted = {"search": "query", "related": "note", "links": "note", "ask": "question"}.get(case.agent, "")
    given = {name for name in ("query", "note", "question") if getattr(case.input, name)}
    for name in sorted(given - {wanted}):
        yield f"input.{name}: the agent {case.agent} takes {wanted}"
    verifies = isinstance(case.expected, CitationsExpected) and case.expected.expected_citations
    if not case.asks and not verifies:
        key = f"input.{wanted}" if wanted else "input"
        yield f"{key}: is missing; the agent {case.agent} requires it"
    yield from _unanswerable(case)
    for key in ("vault", "language"):
        if not isinstance(case.metadata.get(key, ""), str):
            yield f"metadata.{key}: is not a text"


def _unanswerable(case: GoldenCase) -> Iterator[str]:
    expected = case.expected
    if isinstance(expected, StructureExpected):
        if case.agent in BUILT_IN_AGENTS and case.agent != "search":
            for key in ("expected_paths", "expected_in_top_k"):
                if getattr(expected, key):
                    yield f"expected.{key}: is for the agent search; here, use must_have_source"
        if case.agent in ("related", "links") and expected.must_have_citation:
            yield f"expected.must_have_citation: the agent {case.agent} cites no text"
    elif case.agent in ("related", "links") and not case.input.is_empty:
        yield f"agent: {case.agent} returns no text; layer {case.layer} requires search or ask"


def _unknown_agents(cases: Iterable[GoldenCase], own_agents: Collection[str]) -> list[str]:
    known = ", ".join([*BUILT_IN_AGENTS, *sorted(own_agents)])
    return [
        f"{case.file}: agent: {case.agent} is not one of {known}; evals.agents can define more"
        for case in cases
        if case.agent not in BUILT_IN_AGENTS and case.agent not in own_agents
    ]


def _repeated_ids(cases: Iterable[GoldenCase]) -> list[str]:
    first: dict[str, Path | None] = {}
    problems = []
    for case in cases:
        if case.id in first:
            problems.append(f"{case.file}: id: {case.id} is the id of {first[case.id]}, too")
        first.setdefault(case.id, case.file)
    return problems


_KEYS = tuple(
    key
    for model in (_Document, AgentInput, *_EXPECTED.values(), ExpectedCitation)
    for key in model.model_fields
    if key != "keys"
)
"""The keys of a case, to suggest the nearest for an unknown one."""


def _problems(file: Path, prefix: str, error: ValidationError) -> str:
    lines = []
    for one in error.errors(include_url=False):
        loc = ".".join(part for part in (prefix, *map(str, one["loc"])) if part)
        message = one["msg"].removeprefix("Value error, ")
        if one["type"] == "extra_forbidden":
            near = difflib.get_close_matches(str(one["loc"][-1]), _KEYS, n=1)
            message = unknown_key(near[0] if near else "")
        # A check of a whole mapping already names its key.
        is_own = one["type"] == "value_error" and message.partition(":")[0].isidentifier()
        joint = "." if is_own and loc else ": " if loc else ""
        lines.append(f"{file}: {loc}{joint}{message}")
    return "\n".join(lines)
