"""The index rebuilds by itself when what it was built with no longer fits, and only then."""

from pathlib import Path

import pytest
import tomlkit
from vault_at_work import Place, daemon, hits, holding, opened, paths, place, silent, wait_for

from vault_indexer.config import Manifest
from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.local_session import LocalSession
from vault_indexer.daemon.state import SHOWN_FOR_S
from vault_indexer.daemon.sync import EVERYTHING, VaultSync
from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

pytestmark = pytest.mark.long

LONG = "# Long\n\n" + "\n\n".join(
    f"Paragraph {n} tells about sourdough and rye in some words." for n in range(40)
)


@pytest.fixture
def where(tmp_path: Path) -> Place:
    made = place(tmp_path)
    made.write("Long.md", LONG)
    return made


def manifest_of(where: Place, generation: int) -> Path:
    return where.index_dir / "generations" / f"{generation:04d}" / "manifest.toml"


@pytest.mark.parametrize(
    "change",
    [
        pytest.param("[chunking]\nmax_chunk_chars = 400\nmin_chunk_chars = 100\n", id="max_chunk_chars"),
        pytest.param('[chunking]\nstrategy = "none"\n', id="strategy", marks=pytest.mark.long),
        pytest.param('[embedding]\nprovider = "wordllama"\n', id="embedding", marks=pytest.mark.long),
    ],
)
def test_a_change_that_alters_the_index_rebuilds_it_at_the_next_start(where: Place, change: str) -> None:
    with opened(where) as service:
        before = service.status()
    where.configure(change)
    with opened(where) as service:
        after = service.status()
        assert after.generation == before.generation + 1
        assert any("rebuilt" in notice for notice in service.search(SearchRequest("bread")).notices)
        assert paths(service, "E-417")[0] == "Oven.md"


def test_what_happened_once_is_not_told_for_ever(where: Place) -> None:
    with opened(where):
        pass
    where.configure("[chunking]\nmax_chunk_chars = 400\nmin_chunk_chars = 100\n")
    now = 1000.0
    session = LocalSession(Assembly.of(where.target()), clock=lambda: now)
    session.open(silent, build=True)
    try:
        service = VaultService(session)

        def told() -> list[str]:
            notices = service.search(SearchRequest("bread")).notices
            return [notice for notice in notices if notice.startswith("Index rebuilt: ")]

        now += 5000  # nobody has asked yet, so nobody knows
        first = told()
        assert len(first) >= 1
        now += SHOWN_FOR_S - 1
        assert told() == first
        now += 1
        assert told() == []
        assert service.status().detail == "; ".join(first)
    finally:
        session.close()


def test_an_unrelated_key_rebuilds_nothing(where: Place) -> None:
    with opened(where):
        pass
    where.configure("[search]\nlimit = 3\n[index]\nworkers = 1\n")
    with opened(where) as service:
        assert service.status().generation == 1
        assert len({hit.path for hit in hits(service, "sourdough")}) <= 3


@pytest.mark.parametrize(
    "field",
    [
        "spec_version",
        *(
            pytest.param(field, marks=pytest.mark.long)
            for field in ("embedding_model", "parsers", "chunking_config", "analyzer")
        ),
    ],
)
def test_a_manifest_with_a_field_missing_rebuilds(where: Place, field: str) -> None:
    with opened(where):
        pass
    text = manifest_of(where, 1).read_text()
    kept = Manifest.from_toml(text).model_dump(mode="json")
    del kept[field]

    manifest_of(where, 1).write_text(tomlkit.dumps(kept))
    with opened(where) as service:
        assert service.status().generation == 2


def test_a_manifest_of_an_older_version_rebuilds(where: Place) -> None:
    with opened(where):
        pass
    text = manifest_of(where, 1).read_text()
    manifest_of(where, 1).write_text(text.replace("spec_version = 3", "spec_version = 1"))
    with opened(where) as service:
        assert service.status().generation == 2


def test_a_rebuild_embeds_only_texts_it_has_not_seen(where: Place) -> None:
    with opened(where):
        pass
    where.configure("[chunking]\nmax_chunk_chars = 400\nmin_chunk_chars = 100\n")
    with opened(where) as service:
        again = service.rebuild(silent)
        assert (again.embedded, again.reused > 0) == (0, True)
    where.configure("")
    with opened(where) as service:
        back = service.rebuild(silent)
        assert back.embedded == 0


def test_unchanged_notes_are_not_embedded_again_when_the_chunking_changes(where: Place) -> None:
    with opened(where) as service:
        first = service.rebuild(silent)
        assert first.embedded == 0, "the first build already made these vectors"
    where.configure("[chunking]\nmax_chunk_chars = 400\nmin_chunk_chars = 100\n")
    target = where.target()

    _, report = Assembly.of(target).build_next(silent, recompute_weights=False)
    assert report.reused >= 3, "the short notes are cut as before"
    assert report.embedded > 0, "the long one is not"


def test_the_daemon_rebuilds_when_its_configuration_changes_and_answers_meanwhile(where: Place) -> None:
    with daemon(where) as service:
        assert service.status().generation == 1
        where.configure("[chunking]\nmax_chunk_chars = 400\nmin_chunk_chars = 100\n[index]\nworkers = 1\n")
        wait_for(lambda: service.status().state == "rebuilding")
        assert paths(service, "E-417")[0] == "Oven.md"
        wait_for(lambda: service.status().generation == 2 and service.status().state == "ready")
        assert max(len(hit.content) for hit in hits(service, "sourdough rye")) < 500


def test_a_strategy_that_a_note_chooses_later_is_as_configured_and_counts_from_then_on(where: Place) -> None:
    by_words = "[index]\nworkers = 1\n[chunking.word]\nchunk_size = {}\nchunk_overlap = 0\n".format
    text = "---\nchunking: word\n---\n" + "quince jelly sets slowly " * 10
    where.configure(by_words(10))
    with daemon(where) as service:
        where.configure(by_words(8))
        where.write("Bread.md", "# Bread\n\nSourdough.\n")
        wait_for(lambda: holding(service, "Sourdough"))
        assert service.status().generation == 1, "no note is cut by words yet"

        where.write("Quince.md", text)
        wait_for(lambda: service.status().generation == 2 and service.status().state == "ready")
        assert [len(hit.content.split()) for hit in hits(service, "file:Quince quince")][:3] == [8, 8, 8]
    with opened(where) as service:
        assert service.status().generation == 2


def test_a_note_that_chooses_its_strategy_is_cut_by_the_options_configured(where: Place) -> None:
    where.configure("[chunking.word]\nchunk_size = 5\nchunk_overlap = 0\n")
    with opened(where):
        pass
    where.write("Quince.md", "---\nchunking: word\n---\n" + "quince jelly sets slowly now " * 10)
    with opened(where) as service:
        assert len(hits(service, "file:Quince quince")[0].content.split()) == 5
        assert service.status().generation == 1
        assert "word" in str(service.status().manifest["chunking_config"])
    where.configure("[chunking.word]\nchunk_size = 6\nchunk_overlap = 0\n")
    with opened(where) as service:
        assert service.status().generation == 2
        assert len(hits(service, "file:Quince quince")[0].content.split()) == 6


def test_an_edit_does_not_make_a_manifest_look_right_that_cannot_be_read(where: Place) -> None:
    with opened(where):
        pass
    manifest_of(where, 1).write_text("spec_version = 1\n")
    vault_sync = VaultSync(Assembly.of(where.target()), live=False)
    assert vault_sync.open_current(), "a rebuild is due"
    where.write("Quince.md", "---\nchunking: word\n---\nquince jelly sets slowly now\n")
    vault_sync.sync(EVERYTHING)
    vault_sync.close()
    assert manifest_of(where, 1).read_text() == "spec_version = 1\n"


def test_edits_made_during_a_rebuild_are_in_both_generations(where: Place) -> None:
    with daemon(where) as service:
        where.configure('[chunking]\nstrategy = "none"\n[index]\nworkers = 1\n')
        wait_for(lambda: service.status().state == "rebuilding")
        where.write("Quince.md", "# Quince\n\nMakes a fine jelly.\n")
        wait_for(lambda: "Quince.md" in holding(service, "jelly"))
        wait_for(lambda: service.status().generation == 2 and service.status().state == "ready")
        assert "Quince.md" in holding(service, "jelly")


def test_a_rebuild_asked_for_makes_the_next_generation(where: Place) -> None:
    with daemon(where) as service:
        told: list[int] = []
        report = service.rebuild(lambda progress: told.append(progress.notes))
        assert (report.generation, report.notes, report.skipped) == (2, 4, ())
        assert told and max(told) == 4
        assert service.status().generation == 2
