"""Finds citations of golden cases that are no longer where the cases claim, and updates the case files."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from vault_evals.agents import EvalService
from vault_evals.cases import CitationsExpected, ExpectedCitation, load_cases, parse_case
from vault_evals.citations import locate_citation
from vault_evals.pages import CitationState, Located
from vault_evals.runner import DEFAULT_OPTIONS, SuiteOptions, sources
from vault_indexer.errors import UsageError, VaultIndexerError
from vault_indexer.system import record, write_atomically
from vault_indexer.text.control_characters import json_text
from vault_indexer.text.phrases import iso_moment, quantity
from vault_indexer.text.yaml_values import YamlRefusedError, compose_nodes

if TYPE_CHECKING:
    import yaml


_LOCATED = tuple(one.name for one in fields(Located))

LABEL = "link-drift"
"""The label of the issue that a report becomes."""


@record
class Drift:
    """A citation that drifted: number `position` of its case, from 0. `now` has the current values (None:
    there are none to accept), `line` is its line in the note from 1 (0: unknown)."""

    case_id: str
    file: str
    position: int
    cited: str
    state: CitationState
    detail: str
    diff: str
    line: int
    now: ExpectedCitation | None


@record
class DriftReport:
    """The drifted ones of `checked` citations. `errors` are lines about those that could not be checked."""

    checked_at: str
    live: bool
    checked: int
    drifts: tuple[Drift, ...]
    errors: tuple[str, ...]

    @property
    def is_clean(self) -> bool:
        return not self.drifts and not self.errors


def find_drift(
    service: EvalService,
    cases_folder: Path,
    *,
    options: SuiteOptions = DEFAULT_OPTIONS,
    report: Callable[[int, int, str], None] = lambda _done, _total, _case: None,
) -> DriftReport:
    """Checks every citation of the cases that are about this vault, according to `options`.

    Raises UsageError for a folder of cases that is not valid, or without citations of this vault.
    """
    vault = Path(service.status().vault)
    cited = [
        (case, case.expected.expected_citations)
        for case in load_cases(cases_folder)
        if isinstance(case.expected, CitationsExpected)
        and case.expected.expected_citations
        and case.vault in ("", vault.name)
    ]
    if not cited:
        raise UsageError(f"{cases_folder}: no case cites a note of the vault {vault.name}, or a page")
    notes, pages = sources(service, vault, cases_folder, options)
    drifts: list[Drift] = []
    errors: list[str] = []
    checked = 0
    for done, (case, citations) in enumerate(cited):
        report(done, len(cited), case.id)
        for position, citation in enumerate(citations):
            checked += 1
            try:
                located = locate_citation(citation, notes, pages)
            except VaultIndexerError as error:
                errors.append(f"{case.id}: {error}")
                continue
            if located.state != "same":
                of_case = case.id, str(case.file or ""), position, citation.name
                drifts.append(Drift(*of_case, **{name: getattr(located, name) for name in _LOCATED}))
    now = iso_moment(datetime.now(UTC))
    return DriftReport(now, options.live, checked, tuple(drifts), tuple(errors))


def accept_drift(drifts: Sequence[Drift]) -> tuple[Drift, ...]:
    """Writes the current values into the case files. Returns the drifts without any, which stay unchanged.

    Only changed values are rewritten, so comments and order are preserved. Each file is replaced as a whole.
    Raises UsageError for a file that changed meanwhile or cannot be written.
    """
    by_file: dict[str, dict[int, ExpectedCitation]] = {}
    for drift in drifts:
        if drift.now is not None:
            by_file.setdefault(drift.file, {})[drift.position] = drift.now
    for file, citations in by_file.items():
        refresh_file(Path(file), citations)
    return tuple(drift for drift in drifts if drift.now is None)


def drift_json(report: DriftReport) -> str:
    drifts = [
        {**asdict(drift), "now": drift.now.model_dump(exclude_none=True) if drift.now else None}
        for drift in report.drifts
    ]
    data = {
        "checked_at": report.checked_at,
        "live": report.live,
        "checked": report.checked,
        "states": dict(Counter(one.state for one in report.drifts)),
        "drifts": drifts,
        "errors": list(report.errors),
    }
    return json_text(data, indent=2) + "\n"


def drift_markdown(report: DriftReport) -> str:
    return "\n".join(["# Link drift", "", *_body(report)]) + "\n"


def drift_issue(report: DriftReport) -> str:
    """The report as an issue: title and label in a header of YAML, followed by the text.

    The header has the form of GitHub's issue templates, and `gh issue create --body-file` uses the rest.
    """
    many = f"{len(report.drifts)} of {quantity(report.checked, 'citation')}"
    title = f"Link drift: {many}" + (f", {len(report.errors)} unchecked" if report.errors else "")
    return "\n".join(["---", f'title: "{title}"', f"labels: [{LABEL}]", "---", "", *_body(report)]) + "\n"


def _body(report: DriftReport) -> Iterator[str]:
    against = "the files and pages as they are now" if report.live else "the index and snapshots"
    yield from (
        f"Checked {quantity(report.checked, 'citation')} against {against} at {report.checked_at}.",
        "",
    )
    counts = Counter(drift.state for drift in report.drifts)
    for state, count in sorted(counts.items()):
        yield f"- {state}: {count}"
    if report.is_clean:
        yield "All are where the cases expect them."
    if report.errors:
        yield f"- could not be checked: {len(report.errors)}"
    yield ""
    for one in report.drifts:
        where = f", line {one.line}" if one.line else ""
        yield from (f"## `{one.case_id}`: {one.state}", "")
        yield from (f"{one.cited}{where}: {one.detail} ({one.file})", "")
        if one.diff:
            yield from ("```diff", *one.diff.splitlines(), "```", "")
    if report.errors:
        yield from ("## Could not be checked", "", *(f"- {line}" for line in report.errors), "")


Edit = tuple[int, int, str]
"""A span of the text and its replacement."""

_KEYS = ("path", "url", "heading", "block", "start", "end", "quote", "sha256")
_TRAILING_SPACE = re.compile(r"\s*\Z")
_SPECIAL = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")
"""Characters that JSON does not escape, but YAML reads as a line break or rejects."""


def refresh_file(file: Path, citations: Mapping[int, ExpectedCitation]) -> None:
    """Replaces the citations at these positions of the case in a file.

    Only values that differ are written. A written text is always in double quotes; a byte order mark is
    dropped; everything else is preserved. The file is replaced atomically. Raises UsageError if the file
    cannot be read or written, or would not contain these citations afterwards.
    """
    try:
        text = file.read_bytes().decode("utf-8-sig")
        mode = file.stat().st_mode & 0o777
        fresh = refresh(text, citations)
        _check(fresh, file, citations)
        write_atomically(file, fresh.encode(), mode=mode)
    except (OSError, UnicodeDecodeError, YamlRefusedError) as error:
        raise UsageError(f"{file}: cannot be refreshed: {error}") from error


def refresh(text: str, citations: Mapping[int, ExpectedCitation]) -> str:
    import yaml

    root = compose_nodes(text)
    listed = _value(_value(root, "expected"), "expected_citations")
    nodes = listed.value if isinstance(listed, yaml.SequenceNode) else []
    line_break = "\r\n" if "\r\n" in text else "\n"
    edits = [
        edit
        for position, citation in citations.items()
        if position < len(nodes)
        for edit in _edits(nodes[position], citation, text, line_break)
    ]
    for start, end, fresh in sorted(edits, reverse=True):
        text = text[:start] + fresh + text[end:]
    return text


def _edits(node: yaml.MappingNode, citation: ExpectedCitation, text: str, line_break: str) -> Iterator[Edit]:
    pairs = {str(key.value): (key, value) for key, value in node.value}
    added = []
    for name in _KEYS:
        value = getattr(citation, name)
        if name in pairs:
            old = pairs[name][1]
            if not _says(old, value):
                start, end = old.start_mark.index, old.end_mark.index
                # The node of a block of lines ends where the next line begins.
                trailing = _TRAILING_SPACE.search(text[start:end])
                yield start, end, _scalar(value) + (trailing[0] if trailing else "")
        elif value is not None and (value != "" or name == "heading"):
            added.append(f"{name}: {_scalar(value)}")
    if added:
        # Before the second key, so that the note or page stays first.
        before = node.value[min(1, len(node.value) - 1)][0].start_mark
        behind = ", " if node.flow_style else line_break + " " * before.column
        yield before.index, before.index, "".join(f"{one}{behind}" for one in added)


def _value(node: yaml.Node | None, name: str) -> yaml.Node | None:
    import yaml

    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for key, value in pairs if key.value == name), None)


def _says(node: yaml.Node, value: str | int | None) -> bool:
    if value is None:
        return node.tag.endswith(":null")
    return str(node.value) == str(value) and not node.tag.endswith(":null")


def _scalar(value: str | int | None) -> str:
    """The value as YAML: a text in double quotes, which can contain any character."""
    quoted = json.dumps(value, ensure_ascii=False)
    return _SPECIAL.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _check(text: str, file: Path, citations: Mapping[int, ExpectedCitation]) -> None:
    """Checks that the case in the text has these citations. Raises UsageError."""
    expected = parse_case(text, file).expected
    found = expected.expected_citations if isinstance(expected, CitationsExpected) else ()
    for position, wanted in citations.items():
        if position >= len(found) or found[position] != wanted:
            raise UsageError(f"{file}: expected.expected_citations.{position}: changed since it was checked")
