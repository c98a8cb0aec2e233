"""Drift of citations: the list, the issue, and golden files that are refreshed in place."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from eval_lab import BREAD, NOTES, FakeService, write_case, write_vault

from vault_indexer.errors import UsageError
from vault_indexer.evals import (
    CitationsExpected,
    DriftReport,
    Page,
    SuiteOptions,
    accept_drift,
    drift_issue,
    drift_json,
    drift_markdown,
    find_drift,
    load_cases,
)
from vault_indexer.evals.golden_files import refresh_file

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


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.yaml: cannot be refreshed"):
        refresh_file(tmp_path / "gone.yaml", {})


def test_the_reports_of_drift(tmp_path: Path, cases: Path) -> None:
    accepted(tmp_path, NOTES)
    assert "All of them stand where the cases say." in drift_markdown(drift(tmp_path))
    found = drift(tmp_path, {"Kitchen/Bread.md": f"\n{BREAD.replace('250', '150')}"})
    markdown = drift_markdown(found)
    assert "- changed: 1\n- gone: 1\n- moved: 1\n" in markdown
    assert "## `knead`: changed\n\nKitchen/Bread.md, line 12: the words differ" in markdown
    assert "- Bake it at 250 degrees" in markdown
    assert "+ Bake it at 150 degrees" in markdown
    issue = drift_issue(found)
    assert issue.startswith('---\ntitle: "Link drift: 3 of 3 citations"\nlabels: [link-drift]\n---\n')
    assert issue.endswith(markdown.partition("# Link drift\n\n")[2])
    data = json.loads(drift_json(found))
    assert data["states"] == {"moved": 1, "gone": 1, "changed": 1}
    assert [one["state"] for one in data["drifts"]] == ["moved", "gone", "changed"]
    assert data["drifts"][2]["now"]["quote"].startswith("Bake it at 150")
    assert data["drifts"][1]["now"] is None


def test_what_could_not_be_checked_is_part_of_the_report() -> None:
    report = DriftReport("now", True, 3, (), ("a: no snapshot", "b: no host"))
    assert not report.is_clean
    body = (
        "Checked 3 citations against the files and pages as they are now at now.\n\n"
        "- could not be checked: 2\n\n## Could not be checked\n\n- a: no snapshot\n- b: no host\n\n"
    )
    assert drift_markdown(report) == f"# Link drift\n\n{body}"
    title = 'title: "Link drift: 0 of 3 citations, 2 unchecked"'
    assert drift_issue(report) == f"---\n{title}\nlabels: [link-drift]\n---\n\n{body}"
    clean = drift_markdown(replace(report, errors=(), live=False))
    assert "against the index and snapshots at now." in clean
    assert "All of them stand where the cases say." in clean


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
