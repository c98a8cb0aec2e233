"""What a person reads of the state of an index: `status`, `check`, `rebuild`, `embed`, `pause`,
`documents`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from answering_daemon import AnsweringDaemon
from cli_sandbox import index_at
from command_here import CommandHere
from golden_cases import check_golden
from golden_commands import GOLDENS, Case, case, compare_cases

from vault_indexer.cli.known_vaults import remember_vault
from vault_indexer.model import (
    DaemonState,
    ErrorReport,
    IndexCounts,
    Orphan,
    Orphans,
    PauseState,
    Problem,
    Progress,
    RebuildReport,
    RebuildRun,
    SkippedFile,
    StatusReport,
    UnresolvedTarget,
    UpgradeState,
    VaultHealth,
    VectorUpgrade,
    Verification,
)
from vault_indexer.serve.api.endpoints import (
    EMBED,
    HEALTH,
    ORPHANS,
    PAUSE,
    REBUILD,
    REBUILD_STATE,
    RESUME,
    STATUS,
    VERIFY,
)


def skipped(count: int) -> tuple[SkippedFile, ...]:
    return tuple(SkippedFile(f"Bad {number}.md", f"reason {number}") for number in range(1, count + 1))


REPORT = StatusReport(
    vault="/v",
    index_dir="/no/such/index",
    state="ready",
    generation=1,
    seq=1,
    pending=0,
    counts=IndexCounts(notes=3, chunks=5, links=4, unresolved=0),
    daemon=DaemonState(True, 1, "http://127.0.0.1:1"),
    manifest={"embedding_model": {"provider": "wordllama"}},
)
UPGRADE = VectorUpgrade("e5", 1, 3, 80)
UNUSUAL: Mapping[str, Mapping[str, Any]] = {
    "Up to date": {},
    "No daemon": {"daemon": DaemonState()},
    "A build": {"progress": Progress("notes", 1200, 3400, 0, 1.0)},
    "Changes and vectors to come": {"pending": 1, "vectors_owed": 2},
    "Vectors to come": {"vectors_owed": 2},
    "Not kept up to date": {"state": "degraded", "detail": "Why."},
    "A warning": {"detail": "Why."},
    "A pause": {"paused": True},
    "Polling": {"watching": "poll"},
    "Polling for a reason": {"watching": "poll: no room"},
    "Watching in part": {"watching": "inotify: too few"},
    "Another model": {"manifest": {"embedding_model": {"provider": "ollama"}}},
    "Better vectors": {"upgrade": UPGRADE},
    "Better vectors that wait": {"upgrade": replace(UPGRADE, done=0, total=0, waits_for="it is paused")},
    "Ten files that are skipped are named": {"skipped": skipped(11)},
}
STATUS_CASES = [
    case(title, STATUS, replace(REPORT, **changes), "status", "200| status")
    for title, changes in UNUSUAL.items()
]

HEALTH_OF_ALL = VaultHealth(3, 1200, 10, 1500, 2500, (), {}, {}, 1, 0, 0, ())
WELL = Verification(True, ())
DIFFERENCES = Verification(
    False,
    (
        Problem("vectors", "ghost", "chunk 1"),
        Problem("keywords", "missing", "chunk 2"),
        Problem("vault", "changed", "A.md has changed"),
        Problem("vault", "changed", "A.md has changed"),
        Problem("graph", "missing", "B.md"),
    ),
)


def check_case(title: str, *commands: str, verified: Verification = WELL, **changes: Any) -> Case:
    answers = ((STATUS, replace(REPORT, **changes)), (VERIFY, verified), (HEALTH, HEALTH_OF_ALL))
    return Case(title, answers, commands or ("check",))


def lacking(count: int) -> Case:
    """A vault of which so many notes are skipped, orphans and wanted."""
    wanted = tuple(UnresolvedTarget(f"T{number}", number, ()) for number in range(1, count + 1))
    health = replace(HEALTH_OF_ALL, orphans=count, wanted_count=count, wanted=wanted)
    named = tuple(Orphan(f"{number}.md", "") for number in range(1, 4))
    made = check_case(
        f"What {count} notes lack",
        "check",
        skipped=skipped(count),
        counts=replace(REPORT.counts, unresolved=8),
    )
    return made._replace(
        answers=[*made.answers, (HEALTH, health), (ORPHANS, Orphans(named, count, count > 3))]
    )


LOST: Mapping[str, Any] = {"state": "degraded", "verified": DIFFERENCES}
CHECK_CASES = (
    check_case("All is well", "check", "200| check", "check --json"),
    check_case("Differences", "check", "check --repair", verified=DIFFERENCES),
    check_case(
        "Nothing is repaired of a vault whose notes are lost", "check --repair", detail="Gone.", **LOST
    ),
    check_case("One that looks empty", "check --repair", detail="No notes. The index is kept.", **LOST),
    lacking(3),
    lacking(12),
)


def rebuilt(title: str, *commands: str, seconds: float = 12.4, count: int = 0) -> Case:
    done = RebuildReport(2, 7, 9, skipped(count), seconds)
    answers = (
        (REBUILD, RebuildRun(True, None, None, None)),
        (REBUILD_STATE, RebuildRun(False, None, done, None)),
    )
    return Case(title, answers, commands)


PAUSED = PauseState(True, "", 0)
STARTED = RebuildRun(True, None, None, None)
FULL = RebuildRun(False, None, None, ErrorReport("disk_full", "The disk is full."))
WAITING = VectorUpgrade("e5", 1, 4, 5, "it is paused")
REBUILD_CASES = (
    rebuilt("Twenty files that are skipped", "rebuild --keep-weights --force", "rebuild --json", count=20),
    *(rebuilt(f"{count:,} files", "rebuild", count=count) for count in (21, 1021)),
    Case(
        "How far it is, and how it failed",
        (
            (REBUILD, STARTED),
            (REBUILD_STATE, [replace(STARTED, progress=Progress("notes", 5, 40, 9, 3.0)), FULL]),
        ),
        ("rebuild",),
    ),
    Case(
        "Better vectors",
        ((EMBED, UpgradeState(WAITING)), (STATUS, replace(REPORT, upgrade=WAITING))),
        ("embed", "embed --pause", "embed --resume", "embed --json"),
    ),
    case("No better vectors", STATUS, REPORT, "embed", "embed --resume --pause"),
    rebuilt("Better vectors now", "embed --now", "embed --now --json", seconds=0.5),
    case("A pause", PAUSE, PAUSED, "pause", "pause --for 1h30m", "pause --json", "pause --for soon"),
    *(
        case(f"After a pause, with {pending} to index", RESUME, PauseState(False, "", pending), "resume")
        for pending in range(3)
    ),
)


DOCUMENTS = replace(
    REPORT,
    skipped=(SkippedFile("a.md", "no YAML", is_indexed=True), SkippedFile("b.pdf", "locked by a password")),
    documents={"pdf": 1200, "text": 3},
    unrecognised_documents=2,
    unread_documents={"image": 4},
)
DOCUMENT_CASES = (
    case("Documents that are read and not read", STATUS, DOCUMENTS, "documents", "documents --json"),
    case("Images that are being read", STATUS, replace(DOCUMENTS, recognises_text=True), "documents"),
    case("No documents", STATUS, REPORT, "documents"),
    Case("Other words", (), tuple(f"documents {one}" for one in ("ocr", "ocr maybe", "pdf on"))),
)


@pytest.mark.posix("XDG_STATE_HOME")
@pytest.mark.parametrize(
    ("name", "cases"),
    [
        ("status", STATUS_CASES),
        ("check", CHECK_CASES),
        ("rebuild", REBUILD_CASES),
        ("documents", DOCUMENT_CASES),
    ],
)
def test_what_is_printed_of_a_state(
    name: str, cases: list[Case], here: CommandHere, daemon: AnsweringDaemon
) -> None:
    compare_cases(name, cases, here, daemon)


def test_a_pause_ends_in_local_time(here: CommandHere, daemon: AnsweringDaemon) -> None:
    moment = "2026-03-01T12:30:00Z"
    daemon.answer(PAUSE, replace(PAUSED, paused_until=moment))
    local = datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    assert here.indexer("pause", "--for", "5m").err == f"Indexing is paused until {local}.\n"


def test_status_says_the_size_of_an_index_in_decimal_units(
    here: CommandHere, daemon: AnsweringDaemon
) -> None:
    index = here.sandbox.root / "other"
    index.mkdir()
    daemon.answer(STATUS, replace(REPORT, index_dir=str(index)))

    def shown(size: str) -> str:
        with (index / "file").open("wb") as file:
            file.truncate(int(size))
        return here.indexer("status").out.splitlines()[-1].replace(str(index), "INDEX")

    check_golden(GOLDENS / "sizes.md", {"": shown})


@pytest.fixture
def healthy(daemon: AnsweringDaemon) -> None:
    """The daemon finds nothing wrong."""
    for endpoint, answer in CHECK_CASES[0].answers:
        daemon.answer(endpoint, answer)


@pytest.mark.posix("XDG_STATE_HOME")
@pytest.mark.usefixtures("healthy")
def test_check_fails_if_the_parser_misses_what_the_sample_contains(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_indexer.parse.dispatch._SAMPLE", "# Beds\n\n#summer/july\n")
    told = here.indexer("check", "--json")
    assert (told.code, told.data["ok"]) == (1, False)
    assert told.data["parser_misses"] == ["links", "tags", "tasks", "properties"]
    assert here.indexer("check").out.splitlines()[-1].startswith("!   parser")


@pytest.mark.usefixtures("healthy")
def test_check_names_left_over_indices_beside_the_vault_that_is_meant(here: CommandHere) -> None:
    remember_vault(here.sandbox.root / "gone", index_at(here.sandbox.root / "left"))
    ran = here.indexer("check")
    assert (ran.code, ran.out.splitlines()[-1].startswith("!   left-over index")) == (1, True)


@pytest.mark.posix("paths with slashes")
@pytest.mark.usefixtures("healthy")
def test_check_tells_the_warnings_of_the_configuration_that_a_daemon_keeps_to_itself(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INDEXER_SAERCH_LIMIT", "3")
    ran = here.indexer("check")
    assert (ran.code, len(ran.err.splitlines())) == (0, 1)
    assert ran.err.startswith("Warning: the variable INDEXER_SAERCH_LIMIT is unknown")
