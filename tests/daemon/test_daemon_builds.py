"""How the generations of an index are built: from what is known, when, and in a process of its own."""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
import tomlkit
from reliability_lab import in_one_process, is_slow
from scripted_builds import ScriptedAssembly
from vault_at_work import NOTES, WORDLLAMA, Place, daemon, hits, holding, opened, place, silent, wait_for

from vault_indexer.config import Manifest
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.state import Cause, StateHolder
from vault_indexer.daemon.sync import EVERYTHING, VaultSync
from vault_indexer.daemon.tasks.rebuild import (
    BuilderProcess,
    BuildJob,
    BuildRequest,
    CheckRequest,
    RebuildResult,
    RebuildTask,
)
from vault_indexer.errors import DamagedError, DiskFullError, UnavailableError, UsageError, VaultError
from vault_indexer.index.workers.pool import Slots
from vault_indexer.model import Problem, Progress, RebuildReport, SkippedFile
from vault_indexer.parse import parse_note
from vault_indexer.store import Generation


def beside(where: Place, **changed: object) -> Assembly:
    """The same vault with an index folder of its own, which is empty."""
    made = replace(in_one_process(where.target()), root=where.vault.with_name("own"), **changed)  # type: ignore[arg-type]
    made.index_dir.prepare()
    return made


def built_counts(assembly: Assembly, *, publish: bool = False) -> tuple[int, int]:
    """How many texts a build embeds, and how many it knows."""
    generation, report = assembly.build_next(silent, recompute_weights=False)
    if publish:
        assembly.index_dir.publish(generation)
    return report.embedded, report.reused


@pytest.mark.long
def test_a_build_knows_the_vectors_of_its_own_index_and_until_then_those_of_another(where: Place) -> None:
    alone = beside(where)
    count, known = built_counts(alone)
    assert count >= len(NOTES)
    assert known == 0
    shutil.rmtree(alone.root)
    sharing = beside(where, shared_root=where.index_dir)
    assert built_counts(sharing, publish=True) == (0, count)
    shutil.rmtree(where.index_dir)
    assert built_counts(sharing) == (0, count), "what it has itself is enough"


@pytest.mark.parametrize(
    ("slow", "newest_only", "lacks_vectors"), [(True, True, True), (True, False, False), (False, True, False)]
)
def test_words_come_before_vectors_where_the_model_is_slow_and_nothing_is_searched_yet(
    where: Place, slow: bool, newest_only: bool, lacks_vectors: bool
) -> None:
    assembly = beside(where, is_slow=is_slow if slow else (lambda _settings: False))
    generation, report = assembly.build_next(silent, recompute_weights=True, newest_only=newest_only)
    assert (report.notes, report.left_out) == (len(NOTES), 0)
    with closing(assembly.open_generation(generation)) as opened:
        assert bool(opened.writer.missing_vectors) is lacks_vectors


def test_an_exclusion_that_is_not_understood_is_among_what_a_build_skipped(where: Place) -> None:
    where.write("New.md", "# New\n")
    where.write(".indexerignore", "Cellar/\n[\n")
    _, report = in_one_process(where.target()).build_next(silent, recompute_weights=False)
    assert report.notes == len(NOTES), "no other note comes in"
    reason = "line 2 = '[': a class of characters ([…]) that is not closed"
    assert report.skipped[0] == SkippedFile(".indexerignore", reason)


def test_a_strategy_by_its_name_takes_the_options_of_the_configuration_and_asks_no_model(
    where: Place,
) -> None:
    rules = '[[chunking.rules]]\npaths = ["*.md"]\nstrategy = "none"\n'
    where.configure(f"{WORDLLAMA}[chunking.word]\nchunk_size = 4\nchunk_overlap = 0\n{rules}")
    assembly = in_one_process(where.target())
    note = parse_note("Long.md", b"One two three four five six seven eight nine ten.\n")
    found = assembly.chunker("word").chunk(note)
    assert len(found) == 3
    assert {chunk.strategy for chunk in found} == {"word"}
    with pytest.raises(UsageError, match="words"):
        assembly.chunker("words")


def test_the_model_of_a_build_is_loaded_without_a_trace(where: Place) -> None:
    def files() -> set[tuple[Path, int]]:
        return {(file, file.stat().st_mtime_ns) for file in where.index_dir.rglob("*")}

    target = where.target()  # which looks at the version of the catalog
    before = files()
    embedder = in_one_process(target).load_embedder()
    assert embedder.model.provider == "wordllama"
    assert files() == before


FINNISH = "# Leipä\n\nVaivaa taikinaa, kunnes se on sileää, ja anna sen sitten kohota tunnin ajan.\n"


def test_a_better_model_is_advised_where_nobody_has_chosen_one(where: Place) -> None:
    for name in NOTES:
        where.write(name, FINNISH)
    chosen = in_one_process(where.target())
    generation, _ = chosen.build_next(silent, recompute_weights=False)
    where.configure("[index]\nworkers = 1\n")
    for assembly, advised in ((chosen, False), (in_one_process(where.target()), True)):
        with closing(assembly.open_generation(generation)) as opened:
            said = "most notes are in languages that the embedding model does not support (fi): "
            assert opened.advice.startswith(said) if advised else opened.advice == ""


def test_a_catalog_without_its_weights_is_damaged_where_it_is_not_what_was_written(where: Place) -> None:
    assembly = in_one_process(where.target())
    generation = assembly.index_dir.current()
    assert generation is not None
    content = generation.catalog.read_bytes()
    generation.catalog.write_bytes(content[:100] + bytes(len(content) - 100))
    with pytest.raises(
        DamagedError, match=f"^{re.escape(str(generation.catalog))} differs from the data written$"
    ):
        assembly.open_generation(generation)


LONG = "# Long\n\n" + "\n\n".join(
    f"Paragraph {n} tells about sourdough and rye in some words." for n in range(40)
)


@pytest.fixture
def unbuilt(tmp_path: Path) -> Place:
    made = place(tmp_path)
    made.write("Long.md", LONG)
    return made


def manifest_of(unbuilt: Place, generation: int) -> Path:
    return unbuilt.index_dir / "generations" / f"{generation:04d}" / "manifest.toml"


@pytest.mark.long
def test_a_manifest_with_a_field_missing_or_of_an_older_version_rebuilds(unbuilt: Place) -> None:
    with opened(unbuilt):
        pass
    kept = Manifest.from_toml(manifest_of(unbuilt, 1).read_text()).model_dump(mode="json")
    without = {name: value for name, value in kept.items() if name != "parsers"}
    for number, changed in enumerate([without, kept | {"spec_version": 1}], 1):
        manifest_of(unbuilt, number).write_text(tomlkit.dumps(changed))
        with opened(unbuilt) as service:
            assert service.status().generation == number + 1


@pytest.mark.long
def test_a_note_that_chooses_its_strategy_is_cut_by_the_options_configured(unbuilt: Place) -> None:
    unbuilt.configure("[chunking.word]\nchunk_size = 5\nchunk_overlap = 0\n")
    with opened(unbuilt):
        pass
    unbuilt.write("Quince.md", "---\nchunking: word\n---\n" + "quince jelly sets slowly now " * 10)
    with opened(unbuilt) as service:
        assert len(hits(service, "file:Quince quince")[0].content.split()) == 5
        assert service.status().generation == 1
        assert "word" in str(service.status().manifest["chunking_config"])
    unbuilt.configure("[chunking.word]\nchunk_size = 6\nchunk_overlap = 0\n")
    with opened(unbuilt) as service:
        assert service.status().generation == 2
        assert len(hits(service, "file:Quince quince")[0].content.split()) == 6


@pytest.mark.long
def test_an_edit_does_not_make_a_manifest_look_right_that_cannot_be_read(unbuilt: Place) -> None:
    with opened(unbuilt):
        pass
    manifest_of(unbuilt, 1).write_text("spec_version = 1\n")
    vault_sync = VaultSync(Assembly.of(unbuilt.target()), live=False)
    assert vault_sync.open_current(), "a rebuild is due"
    unbuilt.write("Quince.md", "---\nchunking: word\n---\nquince jelly sets slowly now\n")
    vault_sync.sync(EVERYTHING)
    vault_sync.close()
    assert manifest_of(unbuilt, 1).read_text() == "spec_version = 1\n"


@pytest.mark.long
def test_the_daemon_rebuilds_when_its_configuration_changes_and_answers_and_indexes_meanwhile(
    unbuilt: Place,
) -> None:
    with daemon(unbuilt) as service:
        assert service.status().generation == 1
        unbuilt.configure("[chunking]\nmax_chunk_chars = 400\nmin_chunk_chars = 100\n[index]\nworkers = 1\n")
        wait_for(lambda: service.status().state == "rebuilding")
        assert hits(service, "E-417")[0].path == "Oven.md"
        unbuilt.write("Quince.md", "# Quince\n\nMakes a fine jelly.\n")
        wait_for(lambda: "Quince.md" in holding(service, "jelly"))
        wait_for(lambda: service.status().generation == 2 and service.status().state == "ready")
        assert "Quince.md" in holding(service, "jelly")
        assert max(len(hit.content) for hit in hits(service, "sourdough rye")) < 500
        told: list[int] = []
        report = service.rebuild(lambda progress: told.append(progress.notes))
        assert (report.generation, report.notes, report.skipped) == (3, 5, ())
        assert told and max(told) == 5
        assert service.status().generation == 3


REPORT = RebuildReport(5, 1, 2, (), 0.5)


class Daemon:
    """Implements what the task asks of a VaultSync, and counts as another vault that wants to build."""

    def __init__(self, folder: Path, plan: object = "done", reasons: tuple[str, ...] = ()) -> None:
        self.assembly = ScriptedAssembly(folder, plan)
        self.current: object = SimpleNamespace(reasons=())
        self.losses = ""
        self.documents_wait = False
        self.activated: list[Generation] = []
        self.after: tuple[str, ...] = ()
        self.state, self.slots = StateHolder(reasons=reasons), Slots()
        self.task = RebuildTask(cast(VaultSync, self), self.state, self.slots)

    def has_unconfirmed_losses(self) -> bool:
        return bool(self.losses)

    def check_losses(self) -> None:
        if self.losses:
            raise VaultError(self.losses)

    def activate(
        self, made: Generation, _built: RebuildReport, on_progress: Callable[[int], None], _parts: object
    ) -> None:
        self.activated.append(made)
        on_progress(3)
        assert self.task.catching_up
        self.current = SimpleNamespace(reasons=self.after)

    def step(self) -> RebuildResult | None:
        return self.task.step(lambda _left: None, lambda: None)

    def result(self) -> RebuildResult:
        found: list[RebuildResult] = []

        def is_there() -> bool:
            found.extend(filter(None, [self.step()]))
            return bool(found)

        wait_for(is_there)
        return found[0]

    def may_build(self) -> bool:
        """Whether another vault could build now."""
        is_free = self.slots.try_acquire(self)
        self.slots.release(self)
        return is_free


def error_of(request: BuildRequest | CheckRequest) -> BaseException | None:
    return request.answer.exception(timeout=0)


@pytest.fixture
def building(tmp_path: Path) -> Iterator[Daemon]:
    made = Daemon(tmp_path)
    yield made
    made.task.end()


@pytest.mark.long
def test_a_build_rests_while_it_is_held_and_goes_on(building: Daemon, tmp_path: Path) -> None:
    seen: list[Progress] = []
    request = BuildRequest(seen.append, RebuildOptions(refit=False, better=True))
    building.after = ("another program",)
    building.task.request(request)
    assert building.step() is None
    assert (building.task.busy, building.may_build()) == (True, False)
    building.task.hold(True)
    assert building.may_build()
    wait_for(lambda: building.step() or seen)
    assert building.state.next.progress == seen[0] == Progress("notes", 1, 2, 3, 0.5)
    (tmp_path / "resumed").touch()
    building.task.hold(False)
    result = building.result()
    assert result.report is not None
    assert result.report.reasons == ("0011",), "better, and told to rest before it was done"
    assert [made.number for made in building.activated] == [5]
    assert not (building.task.busy or building.task.catching_up or building.state.next.progress)
    building.task.answer(result)
    assert request.answer.result(timeout=0) is result.report
    told = "restart the daemon: its builds are incompatible with it (another program)"
    assert building.state.next.fault(Cause.UNFIT) == told
    assert building.state.next.reasons == ("another program",)
    assert building.step() is None
    assert not building.task.busy, "to build again and again would not help"


@pytest.mark.long
@pytest.mark.parametrize(
    ("is_first", "requested", "asked"),
    [(True, False, "1100"), (True, True, "1000"), (False, False, "0000"), (False, True, "0000")],
)
def test_a_first_build_that_nobody_waits_for_begins_with_the_newest_notes(
    building: Daemon, is_first: bool, requested: bool, asked: str
) -> None:
    if is_first:
        building.current = None
    if requested:
        building.task.request(BuildRequest())
    else:
        building.task.use_reasons(("the model is another",))
    report = building.result().report
    assert report is not None
    assert report.reasons == (asked,)


@pytest.mark.long
def test_a_needed_build_waits_while_documents_wait_for_mains_power(building: Daemon) -> None:
    building.documents_wait = True
    building.task.use_reasons(("documents",))
    assert building.step() is None
    assert not building.task.busy
    building.task.request(BuildRequest())
    assert building.result().report is not None


@pytest.mark.long
@pytest.mark.parametrize(
    ("plan", "needed", "kind", "said"),
    [
        ("fail", True, UnavailableError, "the vault is gone"),
        ("full", False, DiskFullError, "[Errno 28] No space left on device"),
    ],
)
def test_a_build_that_fails_is_a_fault_where_it_was_needed(
    tmp_path: Path, plan: str, needed: bool, kind: type[Exception], said: str
) -> None:
    building = Daemon(tmp_path, plan, ("the model is another",) if needed else ())
    request = BuildRequest()
    if not needed:
        building.task.request(request)
    result = building.result()
    assert (type(result.error), str(result.error), result.report) == (kind, said, None)
    assert result.reasons == building.state.next.reasons
    building.task.answer(result)
    assert needed or error_of(request) is result.error
    assert building.state.next.fault(Cause.BUILD) == (
        "the rebuild failed: the vault is gone" if needed else ""
    )
    assert building.step() is None
    assert (building.task.busy, building.may_build()) == (False, True)
    building.task.use_reasons(())
    assert building.state.next.fault_texts == ()


@pytest.mark.long
def test_a_build_that_ends_without_a_result_begins_again_twice(tmp_path: Path) -> None:
    assembly = cast(Assembly, ScriptedAssembly(tmp_path, "die"))
    builder = BuilderProcess(BuildJob(assembly, recompute_weights=True, newest_only=False))
    seen: list[Progress] = []
    with pytest.raises(UnavailableError, match=r"^the build ended without a result 3 times: .* status 7$"):
        wait_for(lambda: builder.poll(seen.append))
    assert (tmp_path / "tries").read_text() == "xxx"
    assert len(seen) == 3
    builder.kill()


@pytest.mark.long
def test_a_build_waits_for_that_of_another_vault(tmp_path: Path) -> None:
    building = Daemon(tmp_path)
    assert building.slots.try_acquire("another vault")
    first, second = BuildRequest(), BuildRequest()
    building.task.request(first)
    assert building.step() is None
    assert (building.task.busy, building.may_build()) == (True, False)
    refused = UnavailableError("paused")
    building.task.refuse(refused)
    assert error_of(first) is refused
    assert building.step() is None
    assert (building.task.busy, building.may_build()) == (False, False)
    building.task.request(second)
    building.step()
    building.task.end()
    assert str(error_of(second)) == "the daemon was stopped"


@pytest.mark.long
def test_notes_that_the_vault_has_suddenly_lost_are_not_built_away(building: Daemon) -> None:
    building.losses = "the vault looks empty"
    building.task.use_reasons(("the model is another",))
    assert building.step() is None
    assert not building.task.busy
    building.task.use_reasons(())
    request = BuildRequest()
    building.task.request(request)
    assert building.step() is None
    assert str(error_of(request)) == "the vault looks empty"
    assert (building.task.busy, building.may_build()) == (False, True)
    assert not (building.assembly.folder / "tries").exists()


@pytest.mark.long
def test_a_build_that_cannot_begin_lets_others_build(tmp_path: Path) -> None:
    building = Daemon(tmp_path, plan=lambda: "no process takes this")
    building.task.request(BuildRequest())
    with pytest.raises((AttributeError, TypeError)):
        building.step()
    assert building.may_build()


@pytest.mark.long
def test_a_check_is_answered_when_the_build_that_repairs_has_ended(building: Daemon) -> None:
    problems = (Problem("catalog", "damaged", "a page"),)
    repaired, failed, nothing = CheckRequest(), CheckRequest(), CheckRequest()
    building.task.answer_after_repair(repaired, problems)
    building.task.answer(RebuildResult((), report=REPORT))
    assert repaired.answer.result(timeout=0) == problems
    building.task.answer_after_repair(failed, problems)
    error = UnavailableError("no room")
    building.task.answer(RebuildResult((), error=error))
    assert error_of(failed) is error
    building.task.answer_after_repair(nothing, problems)
    building.task.answer(RebuildResult(()))
    assert str(error_of(nothing)) == "the build has no result"
