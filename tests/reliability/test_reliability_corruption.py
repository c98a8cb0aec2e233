"""Each file of an index emptied, halved, zeroed in a page, one bit flipped: all is found, and repaired."""

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from reliability_lab import Told, assembly_of, assert_equal, make_vault, opened, sized, told_by, unheard

from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.local_session import LocalSession

pytestmark = pytest.mark.slow

Damage = Callable[[bytes, random.Random], bytes]
PAGE = 4096


def emptied(_data: bytes, _rng: random.Random) -> bytes:
    return b""


def halved(data: bytes, _rng: random.Random) -> bytes:
    return data[: len(data) // 2]


def page_zeroed(data: bytes, rng: random.Random) -> bytes:
    """A page that holds something: zeroing zeros is no damage."""
    starts = [at for at in range(0, len(data), PAGE) if any(data[at : at + PAGE])]
    at = rng.choice(starts)
    return data[:at] + bytes(len(data[at : at + PAGE])) + data[at + PAGE :]


def bit_flipped(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


DAMAGES: tuple[tuple[Damage, int, int], ...] = (
    (emptied, 1, 1),
    (halved, 1, 1),
    (page_zeroed, 1, 4),
    (bit_flipped, 3, 24),
)


@dataclass(frozen=True)
class Sample:
    """An index that was edited after its build and closed, and one that was killed with a log unwritten."""

    vault: Path
    closed: Path
    killed: Path
    fresh: Told


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    room = tmp_path_factory.mktemp("corruption")
    vault = make_vault(room / "vault", random.Random(4), 20)
    with opened(assembly_of(vault, room / "closed")) as session:
        for number in range(3):
            (vault / f"late {number}.md").write_text(f"# Late {number}\n\nraven [[anchor]] saffron\n")
            session.wait_fresh(0)
        told = told_by(session)
        # What a process leaves that is killed now: log and all.
        shutil.copytree(room / "closed", room / "killed")
    assert (room / "killed/generations/0001/catalog.db-wal").stat().st_size > 0
    return Sample(vault, room / "closed", room / "killed", told)


def notices_of_reopening(vault: Path, index: Path, fresh: Told) -> list[str]:
    """What the next command says it repaired; afterwards everything must be right."""
    with opened(assembly_of(vault, index)) as session:
        notices = list(session.notices())
        assert_equal(told_by(session), fresh)
        assert [
            found for found in session.verify(repair=False) if found.kind not in ("healed", "rebuilt")
        ] == []
    with opened(assembly_of(vault, index)) as session:
        assert session.verify(repair=False) == ()
    return notices


def files_of(index: Path) -> list[str]:
    """Every file that holds part of the index, but for what is rebuilt by each process anyway."""
    every = [str(path.relative_to(index)) for path in sorted(index.rglob("*")) if path.is_file()]
    return [name for name in every if not name.endswith(("-shm", "lock", "lock.holder", "-wal"))]


def test_every_damage_to_every_file_is_found_and_mended(sample: Sample, tmp_path: Path) -> None:
    rng, done = random.Random(11), 0
    for name in files_of(sample.closed):
        for damage, small, full in DAMAGES:
            for _ in range(sized(small, full)):
                index = tmp_path / f"index{done}"
                shutil.copytree(sample.closed, index)
                target = index / name
                before = target.read_bytes()
                target.write_bytes(damage(before, rng))
                where = f"{name} {getattr(damage, '__name__', '')}"
                notices = notices_of_reopening(sample.vault, index, sample.fresh)
                # The name of the only generation is found without CURRENT: there is nothing to repair.
                assert notices or name == "CURRENT", f"{where}: nobody noticed"
                shutil.rmtree(index)
                done += 1
    assert done >= len(files_of(sample.closed)) * 6


def test_a_flipped_bit_anywhere_in_the_catalog_is_found(sample: Sample, tmp_path: Path) -> None:
    """Not only where it hurts: every page, and every byte of some of them."""
    index = tmp_path / "index"
    shutil.copytree(sample.closed, index)
    catalog = index / "generations/0001/catalog.db"
    data, rng, found = catalog.read_bytes(), random.Random(3), 0
    places = [rng.randrange(at, at + PAGE) for at in range(0, len(data), PAGE)]
    places += [rng.randrange(len(data)) for _ in range(sized(100, 2000))]
    for place in places:
        changed = bytearray(data)
        changed[place] ^= 1 << rng.randrange(8)
        catalog.write_bytes(changed)
        session = LocalSession(assembly_of(sample.vault, index))
        _, reasons = session.open_as_is()
        found += any("catalog" in reason for reason in reasons)
        session.close()
    assert found == len(places)


@pytest.mark.parametrize("damage", [emptied, halved, page_zeroed, bit_flipped])
def test_a_damaged_log_loses_nothing_for_long(damage: Damage, sample: Sample, tmp_path: Path) -> None:
    """SQLite drops the log from the damage on; the vault still has what is lost, and it is said."""
    rng = random.Random(5)
    for number in range(sized(2, 20)):
        index = tmp_path / f"index{number}"
        shutil.copytree(sample.killed, index)
        log = index / "generations/0001/catalog.db-wal"
        log.write_bytes(damage(log.read_bytes(), rng))
        notices_of_reopening(sample.vault, index, sample.fresh)
        shutil.rmtree(index)


def test_verify_finds_what_happens_while_the_index_is_open(sample: Sample, tmp_path: Path) -> None:
    index = tmp_path / "index"
    for name in [n for n in files_of(sample.closed) if n.startswith("generations") and "manifest" not in n]:
        shutil.copytree(sample.closed, index)
        with opened(assembly_of(sample.vault, index)) as session:
            target = index / name
            if target.exists() and not name.endswith(".sums"):
                data = bytearray(target.read_bytes())
                data[len(data) // 2] ^= 16
                with target.open("r+b") as file:
                    file.write(data)
                assert session.verify(repair=True), name
                assert [p for p in session.verify(repair=False) if p.kind != "healed"] == [], name
            assert_equal(told_by(session), sample.fresh)
        shutil.rmtree(index)


def test_verify_repair_mends_a_catalog_that_sqlite_calls_sound(sample: Sample, tmp_path: Path) -> None:
    """A word of a heading, changed behind the index's back, breaks no rule of SQLite's."""
    index = tmp_path / "index"
    shutil.copytree(sample.closed, index)
    catalog = index / "generations/0001/catalog.db"
    with opened(assembly_of(sample.vault, index)) as session:
        data = catalog.read_bytes()
        place = data.index(b"Late 1")
        with catalog.open("r+b") as file:
            file.seek(place)
            file.write(b"Fate 1")
        found = session.verify(repair=True)
        assert [problem.store for problem in found] == ["catalog"]
        assert session.verify(repair=False) == ()
        assert_equal(told_by(session), sample.fresh)


def test_a_pointer_that_names_an_older_generation_by_mistake_is_not_believed(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault", random.Random(1), 4)
    with opened(assembly_of(vault, tmp_path / "index")) as session:
        session.rebuild(unheard, RebuildOptions(refit=False))
        session.rebuild(unheard, RebuildOptions(refit=False))
    pointer = tmp_path / "index/CURRENT"
    text = pointer.read_text()
    assert text.startswith("0003 ")
    pointer.write_text("0002" + text[4:])
    with opened(assembly_of(vault, tmp_path / "index")) as session:
        assert session.status().generation == 3
