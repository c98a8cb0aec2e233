"""After any storm of edits, settings, exclusions, hidden files, rebuilds and restarts the live index
equals a fresh build: the daemon's own loop, stepped by hand."""

import json
import os
import random
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from file_operations import do_one, notes_of
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from loop_by_hand import LoopByHand, loop_by_hand
from reliability_lab import assert_equal, in_one_process, make_vault, opened, told_by, told_in, unheard
from unprivileged import permissions_count
from vault_at_work import Place

from vault_indexer.vault.ignore import Decision, IgnoreRules

pytestmark = pytest.mark.long

BASE = '[index]\nworkers = 1\nnice = 0\n[embedding]\nprovider = "wordllama"\n'

ODD_NAMES = (
    *("ΕΛΛΆΣ", "Ελλάς", "ΣΑΣ ", "ς", "straße", "STRASSE", "STRAẞE", "İzmir", "ızmir", "izmir", "I\u0307zmir"),
    *("\u00e9tude", "e\u0301tude", "É tude", "\u212b", "Å", "\u212a", "k", "ﬁn", "fin", "ǅ", "ǆ", "ſ", "s"),
    *(" lead", "a.b.md", "n.md", "ŉ", "ʼn", "ᾳ", "ΑΙ", "\u1e9e", "の\u3099", "の", "🙂", "x\u200dy"),
)
"""What case, normal form or a blank makes another name of, or does not."""


@dataclass
class Storm:
    """A vault, the daemon's loop over it, and what hides parts of the vault at the moment."""

    place: Place
    rng: random.Random
    stack: ExitStack
    kept: LoopByHand | None = None
    closed: list[Path] = field(default_factory=list)
    done: list[str] = field(default_factory=list)

    def loop(self) -> LoopByHand:
        if self.kept is None:
            self.kept = self.stack.enter_context(loop_by_hand(self.place, compared=False))
        return self.kept

    def end(self) -> None:
        """The daemon ends; what it has not done is done after the next start."""
        self.stack.close()
        self.kept = None

    def kill(self) -> None:
        """The daemon is killed: the next one gets what is on the disk at this moment, and nothing more."""
        index_dir, copy = self.place.index_dir, self.place.index_dir.with_name("killed")
        if self.kept is not None:
            self.kept.request_scan()
            self.kept.run(self.rng.choice([0.0, 0.5]))
            shutil.copytree(index_dir, copy)
            self.end()
            shutil.rmtree(index_dir)
            copy.rename(index_dir)

    def edit(self) -> None:
        """A save, a move or a deletion, as of people and programs."""
        self.done.append(do_one(self.place.vault, self.rng))

    def name_oddly(self) -> None:
        """Notes, links and cards with names of which case and normal form are odd."""
        name, target = self.rng.choice(ODD_NAMES), self.rng.choice(ODD_NAMES)
        folder = self.rng.choice(["", "Σας/"])
        place = self.place.vault / folder / f"{name}{self.rng.choice(['.md', '.MD', '.png', '.md '])}"
        if place.exists():
            place.unlink()
        elif not place.is_symlink():
            text = f"kestrel [[{target}]] [[{target.upper()}]] ![[{target.lower()}.png]] [x](<{target}.md>)\n"
            self.place.write(str(place.relative_to(self.place.vault)), text)
        card = {"id": "n", "type": "file", "file": f"{target}.md{self.rng.choice(['', ' '])}"}
        board = {"nodes": [card | {"x": 0, "y": 0, "width": 9, "height": 9}], "edges": []}
        self.place.write("board.canvas", json.dumps(board))

    def set_keys(self) -> None:
        """Another configuration."""
        lines = (
            self.rng.choice(["max_file_bytes = 1024", "max_file_bytes = 1500"]),
            'exclude = ["Sub/Deep/", "*7.md"]',
            'include = ["Sub/", "*1*"]',
            'sources = [".py"]',
            "use_obsidian_filters = false",
        )
        chosen = [line for line in lines if self.rng.random() < 0.25]
        self.place.configure("\n".join([f"{BASE}[files]", *chosen]))

    def set_lists(self) -> None:
        """Another `.indexerignore`, or other filters of Obsidian."""
        if self.rng.random() < 0.5:
            lines = self.rng.choices(["Sub/", "*3.md", "Über/", "!*3.md", "Σας/", "*.canvas", ""], k=2)
            self.place.write(".indexerignore", "\n".join(lines))
        else:
            filters = self.rng.choice([[], ["Sub/"], ["/1.md$/"], ["huge", "Über"], ["Σ"]])
            self.place.write(".obsidian/app.json", json.dumps({"userIgnoreFilters": filters}))

    def close_folder(self) -> None:
        """A folder cannot be read, or can be again."""
        if self.closed and self.rng.random() < 0.5:
            self.closed.pop().chmod(0o755)  # unless it was moved or deleted
            return
        vault = self.place.vault
        folders = [path for path in sorted(vault.iterdir()) if path.is_dir() and not path.is_symlink()]
        folders = [path for path in folders if path.name[:1] != "." and path not in self.closed]
        if folders:
            self.closed.append(self.rng.choice(folders))
            self.closed[-1].chmod(0)

    def evict(self) -> None:
        """A note is in iCloud only, or is downloaded again."""
        placeholders = sorted(self.place.vault.rglob(".*.icloud"))
        if placeholders and self.rng.random() < 0.5:
            self.download(self.rng.choice(placeholders))
        elif notes := [path for path in notes_of(self.place.vault) if not path.is_symlink()]:
            note = self.rng.choice(notes)
            note.rename(note.with_name(f".{note.name}.icloud"))

    def download(self, placeholder: Path) -> None:
        note = placeholder.with_name(placeholder.name[1 : -len(".icloud")])
        if note.exists() or note.is_symlink():
            placeholder.unlink()
        else:
            placeholder.rename(note)

    def look(self) -> None:
        """The daemon gets to index; sometimes it is told of nothing but that there may be something."""
        kept = self.loop()
        if self.rng.random() < 0.7:
            kept.request_scan()
        kept.run(self.rng.choice([0.5, 3.0, 8.0]))
        self.check_exclusions(kept)

    def rebuild(self) -> None:
        """The index is built again."""
        sync = self.loop().vault_sync
        if not sync.has_unconfirmed_losses():
            sync.activate(*sync.assembly.build_next(unheard, recompute_weights=False))

    def check_exclusions(self, kept: LoopByHand) -> None:
        """Once all that was heard of is indexed, nothing is found that is excluded: hidden or not."""
        if kept.loop.pending() or kept.notices:
            return
        rules: IgnoreRules = kept.vault_sync.rules
        current = kept.vault_sync.current
        assert current is not None
        with current.reader.holder.lease() as snapshot:
            paths = snapshot.catalog.note_paths()
        assert [path for path in paths if rules.decide(path, is_dir=False) is not Decision.INDEX] == []

    def settle(self) -> None:
        """Everything can be read again, and the daemon has looked at it."""
        for folder, names, _ in os.walk(self.place.vault):
            for name in names:
                if not Path(folder, name).is_symlink():
                    Path(folder, name).chmod(0o755)
        for placeholder in sorted(self.place.vault.rglob(".*.icloud")):
            self.download(placeholder)
        kept = self.loop()
        for _ in range(3):  # losses of many files at once are confirmed by another look
            kept.request_scan()
            kept.run(8.0)
        assert (kept.loop.pending(), kept.notices) == (0, ())
        self.check_exclusions(kept)


STEPS: tuple[tuple[Callable[[Storm], None], int], ...] = (
    (Storm.edit, 12),
    (Storm.name_oddly, 6),
    (Storm.set_keys, 3),
    (Storm.set_lists, 4),
    (Storm.close_folder, 3),
    (Storm.evict, 3),
    (Storm.look, 8),
    (Storm.rebuild, 1),
    (Storm.end, 1),
    (Storm.kill, 2),
)


# No shrinking: a smaller storm would be welcome, but each try costs seconds. `make hunt` has 200.
@settings(max_examples=settings().max_examples // 5, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(seed=st.integers(0, 2**32))
def test_any_storm(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    rng, room = random.Random(seed), tmp_path_factory.mktemp("storm")
    place = Place(make_vault(room / "vault", rng, 20), room / "index", room / "config.toml")
    place.configure(BASE)
    place.tune('[embedding]\ntoken_weights = "none"\n')
    place.write("Σας/a.md", "harbour [[ΣΑΣ]]\n")
    place.write("code.py", "class A:\n    pass\n")
    with opened(in_one_process(place.target())):
        pass
    with permissions_count(), ExitStack() as stack:
        storm = Storm(place, rng, stack)
        for _ in range(rng.randint(8, 40)):
            step = rng.choices([one for one, _ in STEPS], [weight for _, weight in STEPS])[0]
            storm.done.append(step.__name__)
            try:
                step(storm)
            except OSError as error:  # in a folder that cannot be read just now
                storm.done.append(str(error))
        storm.settle()
        sync = storm.loop().vault_sync
        assert sync.current is not None
        found = told_in(sync.current.reader.holder)
        assert sync.verify(repair=False) == ()
    fresh = replace(place, index_dir=room / "fresh")
    with opened(in_one_process(fresh.target())) as session:
        assert_equal(found, told_by(session))
