"""The index rebuilds by itself when what it was built with no longer fits, and only then."""

from pathlib import Path

import pytest
import tomlkit
from vault_at_work import Place, daemon, hits, holding, opened, paths, place, silent, wait_for

from vault_indexer.config import Manifest
from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.sync import EVERYTHING, VaultSync

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


def test_a_manifest_with_a_field_missing_or_of_an_older_version_rebuilds(where: Place) -> None:
    with opened(where):
        pass
    kept = Manifest.from_toml(manifest_of(where, 1).read_text()).model_dump(mode="json")
    without = {name: value for name, value in kept.items() if name != "parsers"}
    for number, changed in enumerate([without, kept | {"spec_version": 1}], 1):
        manifest_of(where, number).write_text(tomlkit.dumps(changed))
        with opened(where) as service:
            assert service.status().generation == number + 1


def test_unchanged_notes_are_not_embedded_again_when_the_chunking_changes(where: Place) -> None:
    with opened(where) as service:
        first = service.rebuild(silent)
        assert first.embedded == 0, "the first build already made these vectors"
    where.configure("[chunking]\nmax_chunk_chars = 400\nmin_chunk_chars = 100\n")
    target = where.target()

    _, report = Assembly.of(target).build_next(silent, recompute_weights=False)
    assert report.reused >= 3, "the short notes are cut as before"
    assert report.embedded > 0, "the long one is not"


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


def test_the_daemon_rebuilds_when_its_configuration_changes_and_answers_and_indexes_meanwhile(
    where: Place,
) -> None:
    with daemon(where) as service:
        assert service.status().generation == 1
        where.configure("[chunking]\nmax_chunk_chars = 400\nmin_chunk_chars = 100\n[index]\nworkers = 1\n")
        wait_for(lambda: service.status().state == "rebuilding")
        assert paths(service, "E-417")[0] == "Oven.md"
        where.write("Quince.md", "# Quince\n\nMakes a fine jelly.\n")
        wait_for(lambda: "Quince.md" in holding(service, "jelly"))
        wait_for(lambda: service.status().generation == 2 and service.status().state == "ready")
        assert "Quince.md" in holding(service, "jelly")
        assert max(len(hit.content) for hit in hits(service, "sourdough rye")) < 500
        told: list[int] = []
        report = service.rebuild(lambda progress: told.append(progress.notes))
        assert (report.generation, report.notes, report.skipped) == (3, 5, ())
        assert told and max(told) == 5
        assert service.status().generation == 3
