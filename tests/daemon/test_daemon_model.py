"""Whatever happens to a vault: where nothing is pending and no notice stands, the index equals the vault."""

import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from loop_by_hand import LoopByHand, loop_by_hand
from vault_at_work import Place, opened, place

from vault_indexer.daemon.tasks.rebuild import CheckRequest
from vault_indexer.errors import UnavailableError

SOON_S = 5.0
TICK_S = 1.0
"""Longer than in life: the same time takes fewer steps of the loop."""

PATHS = ("Bread.md", "Oven.md", "Garden/Peas.md")
MANY = ("Garden/Beans.md", "Garden/Kale.md", "Garden/Leek.md", "Cellar.md", "Larder.md")
FEW = "[watch]\nfolder_scan_threshold = 2\nfull_scan_threshold = 4\n"
TEXTS = ("See [[Oven]] and [[Peas]].\n", "# Peas\n\nSow early.\n\n## Harvest\n\nPick green.\n", "")
WHEN = ("now", "now", "meanwhile", "afterwards")
EVENTS = ("mend", "pause", "scan", "verify", "rename", "folder gone", "move vault", "restart")
FAULTS = ("reading", "slow reading", "one note", "deadly note")
paths = st.sampled_from(PATHS)
texts = st.sampled_from((*TEXTS, None))
seconds = st.sampled_from((0, 1, 3, 12))


class LoopMachine(RuleBasedStateMachine):
    """The loop of one vault, with all that a person, a disk, a model and a process can do to it.

    Every change gives a hint, as a watcher does, and then so many seconds pass. Each save has a text of its
    own.
    """

    template: ClassVar[Place]

    def __init__(self) -> None:
        super().__init__()
        self._room = TemporaryDirectory(prefix="vault-indexer-model-")
        self._running = ExitStack()
        self._saves = 0
        self._is_away = False
        self._hostile: set[str] = set()

    @initialize()
    def start(self) -> None:
        folder = Path(self._room.name)
        shutil.copytree(self.template.vault.parent, folder, dirs_exist_ok=True)
        self.where = Place(folder / "vault", folder / "index", folder / "config.toml")
        self._enter()

    def _enter(self) -> None:
        self.kept: LoopByHand = self._running.enter_context(loop_by_hand(self.where))

    def teardown(self) -> None:
        self._running.close()
        self._room.cleanup()

    @rule(path=paths, text=texts, when=st.sampled_from(WHEN), wait=seconds)
    def change(self, path: str, text: str | None, when: str, wait: int) -> None:
        """`when` notes are read: before the next one is, or after it and before it is in the index."""
        if when == "now":
            self._change(path, text)
        else:
            self._at_next_reading(when, lambda: self._change(path, text))
        self.kept.run(wait, TICK_S)

    def _change(self, path: str, text: str | None) -> None:
        if text is None:
            self.kept.delete(path)
        elif not self._is_away:
            self._saves += 1
            self.kept.save(path, f"{text}\nSave {self._saves}.\n")

    def _at_next_reading(self, when: str, act: Callable[[], None]) -> None:
        def act_once() -> None:
            setattr(self.kept.faults, when, lambda: None)
            act()

        setattr(self.kept.faults, when, act_once)
        self._change("Oven.md", TEXTS[0])

    @rule(fault=st.sampled_from(FAULTS), path=paths, wait=seconds)
    def break_and_change(self, fault: str, path: str, wait: int) -> None:
        faults = self.kept.faults
        faults.everything = faults.everything or fault.endswith("reading")
        faults.seconds = 8.0 if fault == "slow reading" else faults.seconds
        faults.poison |= {path} if fault == "one note" else set()
        faults.deadly |= {path} if fault == "deadly note" else set()
        self._hostile |= {path} if fault.endswith("note") else set()
        self._change(path, TEXTS[1])
        self.kept.run(wait, TICK_S)

    @rule(count=st.integers(2, len(MANY)), wait=seconds)
    def change_many(self, count: int, wait: int) -> None:
        """More than wait as paths: as a folder, or as the whole vault."""
        for path in MANY[:count]:
            self._change(path, TEXTS[0])
        self.kept.run(wait, TICK_S)

    @rule(event=st.sampled_from(("pause", "stop")), when=st.sampled_from(WHEN[2:]), wait=seconds)
    def disturb_reading(self, event: str, when: str, wait: int) -> None:
        loop = self.kept.loop
        self._at_next_reading(when, loop.stop if event == "stop" else lambda: loop.pause(0.001))
        self.kept.run(max(wait, TICK_S), TICK_S)
        self.kept.faults.meanwhile = self.kept.faults.afterwards = lambda: None
        if loop.is_stopping:
            self._stop()
            if self._is_away:
                self._return_vault()
            self._enter()

    @rule(event=st.sampled_from(EVENTS), path=paths, to=paths, wait=seconds)
    def disturb(self, event: str, path: str, to: str, wait: int) -> None:
        if event == "mend":
            self.kept.faults.mend()
        elif event == "pause":
            self.kept.loop.pause(0.001)
        elif event == "scan":
            self.kept.request_scan()
        elif event == "verify":
            self.kept.loop.request(CheckRequest(repair=True))
        elif event == "folder gone":
            shutil.rmtree(self.where.vault / "Garden", ignore_errors=True)
            self.kept.hints[-1].sink.folder_gone("Garden")
        elif event == "rename":
            self._rename(path, to)
        elif event == "move vault":
            self._move_vault()
        elif not self._is_away:  # a daemon does not start without its vault
            self._stop()
            self._enter()
        self.kept.run(wait, TICK_S)

    def _stop(self) -> None:
        """Nothing of what is under way is lost, and no request waits for ever."""
        self._running.close()
        assert self.kept.early == []
        late = CheckRequest()
        self.kept.loop.request(late)
        with pytest.raises(UnavailableError):
            late.answer.result()

    def _rename(self, path: str, to: str) -> None:
        source, target = self.where.vault / path, self.where.vault / to
        if source.exists():
            target.parent.mkdir(exist_ok=True)  # its folder may be gone
            source.rename(target)
        self.kept.hint(path)
        self.kept.hint(to)

    def _move_vault(self) -> None:
        """Away, or back. Nothing tells of it: the watcher looks each second."""
        if self._is_away:
            self._return_vault()
        else:
            self._is_away = True
            self.where.vault.rename(self.where.vault.with_name("away"))
        self.kept.run(2 * TICK_S, TICK_S)

    def _return_vault(self) -> None:
        self._is_away = False
        self.where.vault.with_name("away").rename(self.where.vault)

    @precondition(lambda self: not self._is_away)
    @rule()
    def mend_and_succeed(self) -> None:
        """From the first success on, five seconds are enough for all that has failed before. What failed by
        itself may wait longer, where a try takes long or ends a worker."""
        kept = self.kept
        kept.faults.mend()
        self._saves += 1
        kept.save("Mended.md", f"Save {self._saves}.\n")
        for _ in range(8):
            kept.run(TICK_S, TICK_S)
            if kept.indexed_text("Mended.md") == kept.saved_text("Mended.md"):
                break
        kept.run(SOON_S, TICK_S)
        for path in {*PATHS, *MANY} - self._hostile:
            if (self.where.vault / path).exists():
                assert kept.indexed_text(path) == kept.saved_text(path), f"{path} was saved"
        aside = kept.vault_sync.quarantine()
        self._hostile = {
            path
            for path in self._hostile
            if (self.where.vault / path).exists()
            and (path in aside or kept.indexed_text(path) != kept.saved_text(path))
        }

    @invariant()
    def where_nothing_is_pending_the_index_equals_the_vault(self) -> None:
        if not hasattr(self, "kept"):
            return
        assert self.kept.early == []
        if self.kept.loop.pending() == 0 and not self.kept.notices:
            found = self.kept.vault_sync.verify(repair=False)
            assert [problem for problem in found if problem.kind != "set aside"] == []


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Place:
    made = place(tmp_path_factory.mktemp("built"))
    made.tune(FEW)
    with opened(made):
        pass
    return made


@pytest.mark.long
@pytest.mark.parametrize("steps", [10, 25])
def test_a_history_leaves_the_index_as_the_vault(built: Place, steps: int) -> None:
    machine = type("Machine", (LoopMachine,), {"template": built})
    # A history that fails is shown as it was found: to shorten it takes longer than all of the suite.
    machine.TestCase.settings = settings(  # type: ignore[attr-defined]
        max_examples=settings().max_examples // 2,
        stateful_step_count=steps,
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
    )
    machine.TestCase("runTest").debug()  # type: ignore[attr-defined]
