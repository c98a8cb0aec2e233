"""Drift of citations: the list, the issue, and golden files that are refreshed in place."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from eval_lab import BREAD, NOTES, FakeService, write_case, write_vault
from golden_cases import compare_golden

from vault_evals.cases import CitationsExpected, ExpectedCitation, load_cases, sha256_of
from vault_evals.drift import (
    Drift,
    DriftReport,
    accept_drift,
    drift_issue,
    drift_json,
    drift_markdown,
    find_drift,
    refresh,
    refresh_file,
)
from vault_evals.pages import Page
from vault_evals.runner import SuiteOptions
from vault_indexer.errors import UsageError

CASE = """\
# Why this case: the dough was once over-kneaded.
id: knead   # keep
agent: search
layer: 2

expected:
  expected_citations:
    - path: Kitchen/Bread.md # the note
      quote: 'Knead the dough until it is smooth.'   # as she wrote it
      heading: Kneading
    # the second
    - {path: Sky.md, quote: "The telescope shows the rings of Saturn on a clear night."}
    - path: Kitchen/Bread.md
      quote: |-
        Bake it at 250 degrees for forty minutes under the lid.
      # behind the block
  support_phrases: [smooth]
"""


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    write_case(tmp_path / "cases", "l2/knead", CASE)
    return tmp_path / "cases"


def drift(tmp_path: Path, notes: dict[str, str] = NOTES) -> DriftReport:
    return find_drift(FakeService(write_vault(tmp_path / "vault"), notes=notes), tmp_path / "cases")


def accepted(tmp_path: Path, notes: dict[str, str]) -> str:
    assert accept_drift(drift(tmp_path, notes).drifts) == ()
    assert drift(tmp_path, notes).is_clean
    return (tmp_path / "cases/l2/knead.yaml").read_text(encoding="utf-8")


def test_accepting_writes_what_is_missing_and_keeps_the_rest(tmp_path: Path, cases: Path) -> None:
    text = accepted(tmp_path, NOTES)
    for kept in ("# Why this case", "id: knead   # keep", "# the note", "# as she wrote it", "# the second"):
        assert kept in text
    assert "# behind the block" in text
    assert "support_phrases: [smooth]" in text
    lines = [line for line in text.splitlines() if line not in CASE.splitlines()]
    written = ("start:", "end:", "sha256:", "heading:", "- {path: Sky")
    assert all(line.strip().startswith(written) for line in lines)
    (case,) = load_cases(cases)
    assert isinstance(case.expected, CitationsExpected)
    for one in case.expected.expected_citations:
        assert NOTES[one.path][one.start : one.end] == one.quote


def test_only_values_that_changed_are_written(tmp_path: Path, cases: Path) -> None:
    before = accepted(tmp_path, NOTES)
    after = accepted(tmp_path, {**NOTES, "Sky.md": "\n" + NOTES["Sky.md"]})
    changed = [line for line in after.splitlines() if line not in before.splitlines()]
    assert len(changed) == 1
    assert 'quote: "The telescope' in changed[0]
    assert accepted(tmp_path, {**NOTES, "Sky.md": "\n" + NOTES["Sky.md"]}) == after


def test_a_note_that_moved_and_words_that_changed_are_accepted(tmp_path: Path, cases: Path) -> None:
    text = accepted(
        tmp_path,
        {
            "New/Bread.md": BREAD.replace("250 degrees", '240 \u2028 degrees: "hot" \U0001f35e'),
            "Sky.md": NOTES["Sky.md"],
        },
    )
    assert 'path: "New/Bread.md" # the note' in text
    assert "# behind the block" in text
    (case,) = load_cases(cases)
    assert isinstance(case.expected, CitationsExpected)
    assert case.expected.expected_citations[2].quote == (
        'Bake it at 240 \u2028 degrees: "hot" \U0001f35e for forty minutes under the lid.'
    )


@pytest.mark.posix("modes of files")
def test_line_breaks_and_the_mode_of_a_file_stay(tmp_path: Path, cases: Path) -> None:
    file = cases / "l2/knead.yaml"
    file.write_bytes(CASE.replace("\n", "\r\n").encode())
    file.chmod(0o640)
    assert accept_drift(drift(tmp_path).drifts) == ()
    data = file.read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n")
    assert file.stat().st_mode & 0o777 == 0o640


def test_what_is_gone_cannot_be_accepted(tmp_path: Path, cases: Path) -> None:
    (left,) = accept_drift(drift(tmp_path, {"Kitchen/Bread.md": BREAD}).drifts)
    assert (left.state, left.cited) == ("gone", "Sky.md")
    assert "Saturn" in (cases / "l2/knead.yaml").read_text()


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path, cases: Path) -> None:
    found = drift(tmp_path)
    file = cases / "l2/knead.yaml"
    shorter = CASE[: CASE.index("    # the second")]
    file.write_text(shorter)
    with pytest.raises(UsageError, match=r"expected_citations\.1: changed since"):
        accept_drift(found.drifts)
    assert file.read_text() == shorter


def test_a_report_says_what_was_checked_and_that_nothing_drifted() -> None:
    report = DriftReport("now", True, 3, (), ())
    assert "Checked 3 citations against the files and pages as they are now at now." in drift_markdown(report)
    clean = drift_markdown(replace(report, live=False))
    assert "against the index and snapshots at now." in clean
    assert "All are where the cases expect them." in clean


LISTED = """\
id: a
expected:
  expected_citations:
    - path: A.md
      quote: old # q
    - {path: B.md, quote: b}
    - path: C.md
"""


def test_what_is_new_stands_behind_the_note_and_what_differs_in_its_place() -> None:
    cited = {
        0: ExpectedCitation(path="A.md", quote="new \x85 \ufeff", start=0, end=7, heading=""),
        1: ExpectedCitation(path="B.md", quote="b", start=3, end=4, block="x", sha256=sha256_of("b")),
        2: ExpectedCitation(path="D.md"),
        3: ExpectedCitation(path="E.md"),
    }
    assert refresh(LISTED, cited) == LISTED.replace(
        "quote: old #", 'heading: ""\n      start: 0\n      end: 7\n      quote: "new \\u0085 \\ufeff" #'
    ).replace(
        "{path: B.md, quote", f'{{path: B.md, block: "x", start: 3, end: 4, sha256: "{sha256_of("b")}", quote'
    ).replace("path: C.md", 'path: "D.md"')


@pytest.mark.parametrize("question", ["{question: Who is it?}", "{question: ?who}", '{question: "𝄞 é?"}'])
def test_a_case_is_refreshed_as_it_is_read(question: str) -> None:
    text = f"input: {question}\n{LISTED}"
    cited = ExpectedCitation(path="A.md", quote="new")
    assert refresh(text, {0: cited}) == text.replace("quote: old", 'quote: "new"')


def test_a_file_that_cannot_be_read_or_whose_tabs_hide_places_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(LISTED.replace("- path: C", "-\t\tpath: C"))
    for name, why in (("gone", "No such file"), ("a", "a tab")):
        with pytest.raises(UsageError, match=rf"{name}\.yaml: cannot be refreshed: .*{why}"):
            refresh_file(tmp_path / f"{name}.yaml", {0: ExpectedCitation(path="A.md", quote="new")})


@pytest.mark.parametrize("text", ["", "expected: 3\n", "expected: {expected_citations: 3}\n", "- a\n"])
def test_a_text_without_citations_stays(text: str) -> None:
    assert refresh(text, {0: ExpectedCitation(path="D.md")}) == text


def test_a_value_that_is_gone_is_null_and_one_that_is_null_stays() -> None:
    text = LISTED.replace("quote: old # q", "heading: Old\n      block: ~")
    cited = ExpectedCitation(path="A.md")
    assert refresh(text, {0: cited}) == text.replace("heading: Old", "heading: null")
    named = ExpectedCitation(path="A.md", quote="q", block="null", heading="Old")
    assert refresh(text, {0: named}) == text.replace("~", '"null"').replace(
        "heading:", 'quote: "q"\n      heading:'
    )


def drifted(position: int, **values: object) -> Drift:
    known: dict[str, object] = {"case_id": "a", "file": "a.yaml", "position": position, "cited": "A.md"}
    told: dict[str, object] = {"state": "gone", "detail": "why", "diff": "", "line": 0, "now": None}
    return Drift(**{**known, **told, **values})  # type: ignore[arg-type] # as the fields want them


def test_a_report_lists_what_drifted_by_state_and_one_by_one() -> None:
    now = ExpectedCitation(path="A.md", quote="new")
    drifts = (
        drifted(0, state="moved", line=3, now=now),
        drifted(1, diff="- old\n+ new"),
        drifted(2, state="moved"),
    )
    report = DriftReport("12:00", False, 1, drifts, ("b: no snapshot",))
    text = drift_markdown(report)
    compare_golden(Path(__file__).parent / "fixtures" / "drift.md", text)
    title = 'title: "Link drift: 3 of 1 citation, 1 unchecked"'
    body = text.removeprefix("# Link drift\n\n")
    assert drift_issue(report) == f"---\n{title}\nlabels: [link-drift]\n---\n\n{body}"
    data = json.loads(drift_json(report))
    assert (data["checked"], data["live"], data["errors"]) == (1, False, ["b: no snapshot"])
    assert data["states"] == {"moved": 2, "gone": 1}
    assert data["drifts"][0]["now"] == now.model_dump(exclude_none=True)
    assert data["drifts"][1] == asdict(drifts[1])
    assert [replace(report, errors=()).is_clean, replace(report, drifts=()).is_clean] == [False, False]


def test_what_cannot_be_checked_hides_nothing_behind_it(tmp_path: Path) -> None:
    other = "id: other\nagent: search\nlayer: 2\nexpected: {expected_citations: [Sky.md, Gone.md]}\n"
    write_case(tmp_path / "cases", "l2/other", other)
    page = "id: page\nagent: ask\nlayer: 2\nexpected: {expected_citations: ['https://a.b', Lost.md]}\n"
    write_case(tmp_path / "cases", "l2/page", page)
    write_case(
        tmp_path / "cases", "l2/far", other.replace("id: other", "id: far") + "metadata: {vault: far}\n"
    )
    shown: list[tuple[int, int, str]] = []
    found = find_drift(
        FakeService(write_vault(tmp_path / "vault")),
        tmp_path / "cases",
        report=lambda *progress: shown.append(progress),
    )
    assert shown == [(0, 2, "other"), (1, 2, "page")]
    assert (found.checked, found.live) == (4, False)
    assert [(one.case_id, one.position, one.cited) for one in found.drifts] == [
        ("other", 1, "Gone.md"),
        ("page", 1, "Lost.md"),
    ]
    (error,) = found.errors
    assert error.startswith("page: https://a.b: no snapshot of this page")


def test_a_page_drifts_too(tmp_path: Path) -> None:
    url = "https://example.org/bread"
    text = f"id: page\nagent: ask\nlayer: 2\nexpected:\n  expected_citations:\n    - url: {url} # page\n"
    file = write_case(tmp_path / "cases", "l2/page", text)
    service = FakeService(write_vault(tmp_path / "vault"))
    options = SuiteOptions(live=True, fetch=lambda url: Page(url, 200, f"{url}/new", "", ""))
    (found,) = find_drift(service, tmp_path / "cases", options=options).drifts
    assert (found.state, found.detail) == ("moved", f"now {url}/new")
    assert accept_drift([found]) == ()
    assert f'url: "{url}/new" # page' in file.read_text()
    # Without a snapshot there is nothing to say, which is no success.
    report = find_drift(service, tmp_path / "cases")
    assert not report.is_clean
    assert "no snapshot of this page" in report.errors[0]


def test_citations_of_other_vaults_are_no_drift(tmp_path: Path) -> None:
    write_case(tmp_path / "cases", "l2/knead", CASE + "metadata: {vault: other}\n")
    with pytest.raises(UsageError, match="no case cites a note of the vault vault"):
        drift(tmp_path)
