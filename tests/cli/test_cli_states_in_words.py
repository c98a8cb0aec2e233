"""What a person reads of the state of an index: `status`, `check`, `verify`, `rebuild`, `embed`, `pause`."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from answering_daemon import AnsweringDaemon, AskedFor
from command_here import CommandHere

from vault_indexer.cli.known_vaults import remember_vault
from vault_indexer.errors import DiskFullError
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


@pytest.fixture
def report(here: CommandHere) -> StatusReport:
    """An index that is up to date, with a daemon."""
    index_dir = here.sandbox.index_dir
    return StatusReport(
        vault=str(here.sandbox.vault),
        index_dir=str(index_dir),
        state="ready",
        generation=1,
        seq=1,
        pending=0,
        counts=IndexCounts(notes=3, chunks=5, links=4, unresolved=0),
        daemon=DaemonState(True, 1, "http://127.0.0.1:1"),
        manifest={"embedding_model": {"provider": "wordllama"}},
    )


def test_of_an_index_that_is_current_status_says_so(
    here: CommandHere, daemon: AnsweringDaemon, report: StatusReport
) -> None:
    daemon.answer(STATUS, report)
    ran = here.indexer("status")
    size = sum(file.stat().st_size for file in here.sandbox.index_dir.iterdir())
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        f"{here.sandbox.vault}  3 notes, up to date",
        "running      http://127.0.0.1:1",
        "model        wordllama, English",
        f"index        {size} bytes, {here.sandbox.index_dir}",
    ]
    assert here.indexer("status", "--json").data["notes"] == 3


GREEN, YELLOW, PLAIN = "\x1b[32m", "\x1b[33m", ""


@pytest.mark.parametrize(
    ("changes", "colour", "line"),
    [
        ({}, GREEN, "3 notes, up to date"),
        ({"daemon": DaemonState()}, PLAIN, "not running  indexed at each search"),
        (
            {"progress": Progress("notes", 1200, 3400, 0, 1.0)},
            YELLOW,
            "3 notes, reading notes: 1,200 of 3,400",
        ),
        ({"pending": 1, "vectors_owed": 2}, YELLOW, "3 notes, 1 change not indexed yet"),
        ({"vectors_owed": 2}, YELLOW, "3 notes, 2 chunks without a vector yet"),
        ({"state": "degraded", "detail": "Why."}, YELLOW, "3 notes, not kept up to date"),
        ({"detail": "Why."}, YELLOW, "warning      Why."),
        ({"skipped": skipped(1)}, GREEN, "3 notes, up to date, 1 skipped (indexer check)"),
        ({"paused": True}, YELLOW, "paused       until `indexer resume`"),
        ({"watching": "poll"}, PLAIN, "watching     reads the folder every few seconds"),
        ({"watching": "poll: no room"}, PLAIN, "watching     reads the folder every few seconds: no room"),
        ({"watching": "inotify: too few"}, PLAIN, "watching     inotify: too few"),
        ({"manifest": {"embedding_model": {"provider": "ollama"}}}, PLAIN, "model        ollama"),
        (
            {"upgrade": VectorUpgrade("e5", 1, 3, 80)},
            PLAIN,
            "better vectors (e5): 33%, about 1 min 20 s of idle time left; searches work meanwhile",
        ),
        (
            {"upgrade": VectorUpgrade("e5", 0, 0, 0, "it is paused")},
            PLAIN,
            "better vectors (e5): 0%, it is paused",
        ),
    ],
)
def test_status_says_what_is_unusual_in_yellow(
    here: CommandHere,
    daemon: AnsweringDaemon,
    report: StatusReport,
    changes: dict[str, object],
    colour: str,
    line: str,
) -> None:
    daemon.answer(STATUS, replace(report, **changes))  # type: ignore[arg-type]
    lines = here.indexer("status").out.splitlines()
    assert any(found == line or found.endswith(f"  {line}") for found in lines), lines
    words = line.rpartition("  ")[2]
    assert f"{colour}{words}" in here.terminal("status", columns=200).out


def test_status_names_ten_files_that_were_skipped(
    here: CommandHere, daemon: AnsweringDaemon, report: StatusReport
) -> None:
    daemon.answer(STATUS, replace(report, skipped=skipped(11)))
    lines = here.indexer("status").out.splitlines()
    assert lines[0].endswith("  3 notes, up to date, 11 skipped (indexer check)")
    assert lines[-10:] == [f"  Bad {number}.md: reason {number}" for number in range(1, 11)]


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (1_600_000, "2 MB"),
        (2_400_000_000, "2 GB"),
        (3_000_000_000_000, "3000 GB"),
    ],
)
def test_status_says_the_size_of_an_index_in_decimal_units(
    here: CommandHere, daemon: AnsweringDaemon, report: StatusReport, size: int, words: str
) -> None:
    index = here.sandbox.root / "other"
    index.mkdir()
    with (index / "file").open("wb") as file:
        file.truncate(size)
    daemon.answer(STATUS, replace(report, index_dir=str(index)))
    assert here.indexer("status").out.splitlines()[-1] == f"index        {words}, {index}"


def configure_two(here: CommandHere) -> tuple[Path, Path]:
    """A table of two vaults, `b` and `a`, whose indices are in folders of their names."""
    folders = here.sandbox.vault, here.sandbox.root / "second"
    folders[1].mkdir()
    indices = here.sandbox.root / "b", here.sandbox.root / "a"
    here.configure(
        "[vaults]\n"
        f'b = {{ path = "{folders[0]}", index_dir = "{indices[0]}" }}\n'
        f'a = {{ path = "{folders[1]}", index_dir = "{indices[1]}" }}\n'
    )
    return indices


def test_of_several_vaults_status_has_a_line_each_and_one_for_their_daemon(
    here: CommandHere, daemon: AnsweringDaemon, report: StatusReport
) -> None:
    for index in configure_two(here):
        daemon.announce(index, here.sandbox.vault)
    ran = DaemonState(True, 1, "http://127.0.0.1:1/vault/a")
    daemon.answer(STATUS, replace(report, daemon=ran))
    assert here.run("status").out.splitlines() == [
        "a            3 notes, up to date",
        "b            3 notes, up to date",
        "running      http://127.0.0.1:1",
    ]
    daemon.answer(STATUS, replace(report, daemon=DaemonState()))
    assert here.run("status").out.splitlines()[-1] == "not running  indexed at each search"


def test_of_several_vaults_one_that_cannot_be_searched_says_why(
    here: CommandHere, daemon: AnsweringDaemon, report: StatusReport
) -> None:
    index, _ = configure_two(here)
    daemon.announce(index, here.sandbox.vault)
    (here.sandbox.root / "second").rmdir()
    daemon.answer(STATUS, report)
    first, second = here.run("status").out.splitlines()[:2]
    problem = first.removeprefix("a            ")
    assert problem.startswith(f"no such vault: {here.sandbox.root / 'second'}")
    assert second == "b            3 notes, up to date"
    told = here.run("status", "--json").data["vaults"]
    assert isinstance(told, list)
    assert [(one["name"], one["status"] is None, one["problem"]) for one in told] == [
        ("a", True, problem),
        ("b", False, ""),
    ]


HEALTH_OF_ALL = VaultHealth(3, 1200, 10, 1500, 2500, (), {}, {}, 1, 0, 0, ())


@pytest.fixture
def healthy(daemon: AnsweringDaemon, report: StatusReport) -> None:
    """The daemon finds nothing wrong."""
    daemon.answer(STATUS, report)
    daemon.answer(VERIFY, Verification(True, ()))
    daemon.answer(HEALTH, HEALTH_OF_ALL)


def checked(here: CommandHere, code: int, *arguments: str) -> list[str]:
    """The lines of `check`, without the blanks of their columns."""
    ran = here.indexer("check", *arguments)
    assert (ran.code, ran.err) == (code, "")
    return [re.sub(r" {2,}", " | ", line) for line in ran.out.splitlines()]


@pytest.mark.usefixtures("healthy")
def test_check_says_that_all_is_well(here: CommandHere) -> None:
    assert checked(here, 0) == [
        "ok | configuration | defaults, no file",
        "ok | index | agrees with the vault: 3 notes",
        " | 1,200 chunks | 1,500 characters (median), 2,500 (largest)",
    ]
    shown = here.terminal("check", columns=200).out
    assert f"{GREEN}agrees with the vault: 3 notes" in shown
    assert YELLOW not in shown
    told = here.indexer("check", "--json")
    assert (told.code, told.data["ok"], told.data["left_over"]) == (0, True, [])
    assert told.data["vaults"] == [
        {
            "name": "",
            "configuration": [],
            "index": {"ok": True, "problems": []},
            "health": told.data["vaults"][0]["health"],  # type: ignore[index]
            "skipped": [],
        }
    ]


@pytest.mark.usefixtures("healthy")
def test_check_fails_if_the_parser_misses_what_the_sample_contains(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_indexer.parse.dispatch._SAMPLE", "# Beds\n\n#summer/july\n")
    told = here.indexer("check", "--json")
    assert (told.code, told.data["ok"]) == (1, False)
    assert told.data["parser_misses"] == ["links", "tags", "tasks", "properties"]
    assert checked(here, 1)[-1].startswith(
        "! | parser | finds no links, tags, tasks, properties with Python 3."
    )


@pytest.mark.usefixtures("healthy")
def test_check_names_left_over_indices_beside_the_vault_that_is_meant(here: CommandHere) -> None:
    left = here.sandbox.root / "left"
    left.mkdir()
    (left / "CURRENT").write_text("1")
    remember_vault(here.sandbox.root / "gone", left)
    (line,) = here.run("check").out.splitlines()
    assert line.startswith("!   left-over index") and "gone is gone" in line
    marks = [shown.partition(" | ")[::2] for shown in checked(here, 1)]
    assert [(mark, rest.partition(" | ")[0]) for mark, rest in marks] == [
        ("ok", "configuration"),
        ("ok", "index"),
        ("", "1,200 chunks"),
        ("!", "left-over index"),
    ]


DIFFERENCES = (
    Problem("vectors", "ghost", "chunk 1"),
    Problem("keywords", "missing", "chunk 2"),
    Problem("vault", "changed", "A.md has changed"),
    Problem("vault", "changed", "A.md has changed"),
    Problem("graph", "missing", "B.md"),
)


@pytest.mark.parametrize(
    ("options", "how"),
    [((), "5 differences (--repair fixes them)"), (("--repair",), "5 differences repaired")],
)
@pytest.mark.usefixtures("healthy")
def test_check_names_the_differences_that_are_most_frequent(
    here: CommandHere,
    daemon: AnsweringDaemon,
    report: StatusReport,
    options: tuple[str, ...],
    how: str,
) -> None:
    daemon.answer(STATUS, report)
    daemon.answer(VERIFY, Verification(False, DIFFERENCES))
    assert checked(here, 1, *options)[1:-1] == [
        f"! | index | {how}",
        "! | difference | A.md has changed (2 times)",
        "! | difference | meaning, left over: chunk 1",
        "! | difference | words, missing: chunk 2",
    ]
    again = [AskedFor(STATUS.path, {})] if options else []
    repair = {"repair": True} if options else {}
    assert daemon.requests == [
        AskedFor(STATUS.path, {}),
        AskedFor(VERIFY.path, repair),
        *again,
        AskedFor(HEALTH.path, {}),
    ]


@pytest.mark.parametrize(
    ("detail", "advice"),
    [
        (
            "No notes. The index is kept.",
            " Restore the notes, or accept the loss: indexer rebuild --force",
        ),
        ("The disk is gone.", ""),
    ],
)
@pytest.mark.usefixtures("healthy")
def test_check_repairs_nothing_where_the_notes_are_lost(
    here: CommandHere,
    daemon: AnsweringDaemon,
    report: StatusReport,
    detail: str,
    advice: str,
) -> None:
    daemon.answer(STATUS, replace(report, state="degraded", detail=detail))
    daemon.answer(VERIFY, Verification(False, DIFFERENCES))
    assert checked(here, 1, "--repair")[1:-1] == [f"! | vault | {detail}{advice}"]
    assert daemon.requests == [AskedFor(one.path, {}) for one in (STATUS, VERIFY, HEALTH)]


@pytest.mark.parametrize(("count", "more"), [(3, ""), (12, ", …")])
@pytest.mark.usefixtures("healthy")
def test_check_names_some_of_what_notes_lack(
    here: CommandHere,
    daemon: AnsweringDaemon,
    report: StatusReport,
    count: int,
    more: str,
) -> None:
    links = replace(report.counts, unresolved=8)
    daemon.answer(STATUS, replace(report, skipped=skipped(count), counts=links))
    wanted = tuple(UnresolvedTarget(f"T{number}", number, ()) for number in range(1, count + 1))
    daemon.answer(HEALTH, replace(HEALTH_OF_ALL, orphans=count, wanted_count=count, wanted=wanted))
    named = tuple(Orphan(f"{number}.md", "") for number in range(1, 4))
    daemon.answer(ORPHANS, Orphans(named, count, count > 3))
    reasons = [f"Bad {number}.md: reason {number}" for number in range(1, count + 1)][:10]
    assert checked(here, 1)[2:-1] == [
        f"! | {count} notes skipped | {reasons[0]}",
        *(f" | {reason}" for reason in reasons[1:]),
        *([" | and 2 more (indexer check --json)"] if more else []),
        f"! | 8 broken links | T1 1, T2 2, T3 3{more} (indexer links --broken)",
        f" | {count} orphans | 1.md, 2.md, 3.md{more}" + (" (indexer links --orphans)" if more else ""),
    ]
    assert AskedFor(ORPHANS.path, {"limit": "3", "view": "orphans"}) in daemon.requests


def test_check_of_a_wrong_configuration_asks_nothing(here: CommandHere, daemon: AnsweringDaemon) -> None:
    here.configure("[search]\nlimit = 0\n")
    (line,) = checked(here, 1)
    assert line.startswith(f"! | configuration | file {here.config}: search.limit = 0: ")
    assert daemon.requests == []
    told = here.indexer("check", "--json")
    assert (told.code, told.data["ok"]) == (1, False)


@pytest.mark.usefixtures("healthy")
def test_check_tells_the_warnings_of_the_configuration_that_a_daemon_keeps_to_itself(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INDEXER_SAERCH_LIMIT", "3")
    ran = here.indexer("check")
    assert ran.code == 0
    assert ran.err.startswith("Warning: the variable INDEXER_SAERCH_LIMIT is unknown and ignored")
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(("count", "more"), [(20, False), (21, True), (1021, True)])
def test_a_rebuild_names_twenty_files_that_were_skipped(
    here: CommandHere, daemon: AnsweringDaemon, count: int, more: bool
) -> None:
    done = RebuildReport(2, 7, 9, skipped(count), 12.4)
    daemon.answer(REBUILD, RebuildRun(True, None, None, None))
    daemon.answer(REBUILD_STATE, RebuildRun(False, None, done, None))
    ran = here.indexer("rebuild", "--keep-weights", "--force")
    assert (ran.code, ran.out) == (0, "Indexed 7 notes in 12 s.\n")
    lines = ran.err.splitlines()
    assert lines[:2] == [f"{count:,} files skipped:", "  Bad 1.md: reason 1"]
    assert lines[20] == "  Bad 20.md: reason 20"
    assert lines[21:] == ([f"  and {count - 20:,} more (indexer check)"] if more else [])
    assert daemon.requests[0] == AskedFor(REBUILD.path, {"wait": False, "refit": False, "force": True})
    told = here.indexer("rebuild", "--json")
    assert (told.data["notes"], told.err) == (7, "")


def test_a_rebuild_says_how_far_it_is_and_how_it_failed(here: CommandHere, daemon: AnsweringDaemon) -> None:
    started = RebuildRun(True, None, None, None)
    daemon.answer(REBUILD, started)
    progress = Progress("notes", 5, 40, 9, 3.0)
    daemon.answer(
        REBUILD_STATE,
        replace(started, progress=progress),
        RebuildRun(False, None, None, ErrorReport("disk_full", "The disk is full.")),
    )
    ran = here.indexer("rebuild")
    assert (ran.code, ran.out) == (DiskFullError.exit_code, "")
    assert ran.err == "Reading notes: 5 of 40\nindexer: The disk is full.\n"


def test_a_daemon_cuts_by_its_own_configuration(
    here: CommandHere, daemon: AnsweringDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INDEXER_STRATEGY_OPTION", "word")  # the option sets it: now it is taken back
    ran = here.indexer("rebuild", "--strategy", "token")
    assert (ran.code, daemon.requests) == (2, [])
    assert ran.complains("--strategy: the running daemon uses its own configuration", "indexer stop")


UPGRADE = VectorUpgrade("e5", 1, 4, 5, "it is paused")


@pytest.mark.parametrize(
    ("option", "asked"),
    [
        ("--pause", AskedFor(EMBED.path, {"paused": True})),
        ("--resume", AskedFor(EMBED.path, {})),
        ("", AskedFor(STATUS.path, {})),
    ],
)
def test_better_vectors_are_paused_resumed_and_shown(
    here: CommandHere, daemon: AnsweringDaemon, report: StatusReport, option: str, asked: AskedFor
) -> None:
    daemon.answer(EMBED, UpgradeState(UPGRADE))
    daemon.answer(STATUS, replace(report, upgrade=UPGRADE))
    options = filter(None, (option,))
    ran = here.indexer("embed", *options)
    assert (ran.code, ran.out, ran.err) == (0, "", "better vectors (e5): 25%, it is paused\n")
    assert daemon.requests == [asked]
    told = here.indexer("embed", "--json")
    assert told.data == {
        "upgrade": {"model": "e5", "done": 1, "total": 4, "seconds_left": 5, "waits_for": "it is paused"}
    }


def test_better_vectors_are_made_now(
    here: CommandHere, daemon: AnsweringDaemon, report: StatusReport
) -> None:
    daemon.answer(STATUS, report)
    assert here.indexer("embed").err == "There are no better vectors to create.\n"
    daemon.take_requests()
    daemon.answer(REBUILD, RebuildRun(True, None, None, None))
    daemon.answer(REBUILD_STATE, RebuildRun(False, None, RebuildReport(2, 1, 9, (), 0.5), None))
    assert here.indexer("embed", "--now").out == "Indexed 1 note in 0.5 s.\n"
    assert daemon.requests[0] == AskedFor(REBUILD.path, {"wait": False, "refit": False, "better": True})
    assert here.indexer("embed", "--now", "--json").data["notes"] == 1
    both = here.indexer("embed", "--resume", "--pause")
    assert (both.code, both.complains("give only one of --now, --pause and --resume")) == (2, True)


def test_a_pause_says_until_when(here: CommandHere, daemon: AnsweringDaemon) -> None:
    daemon.answer(PAUSE, PauseState(True, "", 0))
    ran = here.indexer("pause")
    assert (ran.code, ran.out, ran.err) == (0, "", "Indexing is paused until `indexer resume`.\n")
    moment = "2026-03-01T12:30:00Z"
    daemon.answer(PAUSE, PauseState(True, moment, 0))
    local = datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    assert here.indexer("pause", "--for", "1h30m").err == f"Indexing is paused until {local}.\n"
    assert [one.parameters for one in daemon.take_requests()] == [{}, {"seconds": 5400}]
    assert here.indexer("pause", "--json").data == {"paused": True, "paused_until": moment, "pending": 0}
    daemon.take_requests()
    wrong = here.indexer("pause", "--for", "soon")
    assert (wrong.code, wrong.complains("--for soon"), daemon.requests) == (2, True, [])


@pytest.mark.parametrize(
    ("pending", "rest"), [(0, ""), (1, ": 1 change to index"), (2, ": 2 changes to index")]
)
def test_the_end_of_a_pause_says_what_is_left(
    here: CommandHere, daemon: AnsweringDaemon, pending: int, rest: str
) -> None:
    daemon.answer(RESUME, PauseState(False, "", pending))
    ran = here.indexer("resume")
    assert (ran.code, ran.out, ran.err) == (0, "", f"Indexing resumed{rest}.\n")
    assert here.indexer("resume", "--json").data["pending"] == pending
