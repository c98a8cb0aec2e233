"""Two levels of evidence: a chunk is ranked by what it says, and by what its whole note says."""

import pytest

from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

FILLER = "The committee met again and put off what it could not settle, as it does each spring.\n\n" * 12

NOTES = {
    # Each half of the question stands in another section of one note; the others hold one half, louder.
    "Beekeeping.md": (
        f"# Beekeeping\n\n## Hives\n\nA hive of pine lasts ten years.\n\n{FILLER}"
        f"## Swarms\n\nA swarm leaves in May.\n\n{FILLER}"
    ),
    "Hives.md": f"# Beauty\n\nHives are a rash: hives on the skin, hives that itch.\n\n{FILLER}",
    "Swarm robots.md": f"# Robots\n\nA swarm of robots, a swarm without a leader, a swarm.\n\n{FILLER}",
    "Callouts.md": (
        f"# Callouts\n\nA box with a title.\n\n{FILLER}"
        f"## Icons of callouts\n\nCallouts have icons; callouts, callouts and callouts.\n\n{FILLER}"
    ),
    **{f"Minutes {n}.md": f"# Minutes {n}\n\n{FILLER}" for n in range(12)},
}


def test_words_that_stand_in_several_sections_of_a_note_count_together(service: VaultService) -> None:
    answer = service.search(SearchRequest("hive swarm", by_note=True))
    best = answer.results[0]
    assert best.path == "Beekeeping.md"
    assert best.why.note is not None
    assert best.why.note.coverage == pytest.approx(1.0)
    others = {hit.path: hit.why.note for hit in answer.results[1:3]}
    assert set(others) == {"Hives.md", "Swarm robots.md"}
    assert all(note is not None and 0.2 < note.coverage < 0.8 for note in others.values())


def test_a_note_that_is_called_what_is_asked_opens_at_its_beginning(service: VaultService) -> None:
    for by_note in (False, True):
        best = service.search(SearchRequest("callouts", by_note=by_note)).results[0]
        assert (best.path, best.chunk_index) == ("Callouts.md", 0)
        assert best.why.title


def test_a_section_of_it_is_found_by_its_own_words(service: VaultService) -> None:
    best = service.search(SearchRequest("icons of callouts")).results[0]
    assert (best.path, best.header_path) == ("Callouts.md", "Callouts > Icons of callouts")


def test_an_answer_says_what_the_whole_note_says(service: VaultService) -> None:
    for hit in service.search(SearchRequest("hive swarm")).results:
        assert hit.why.note is not None
        assert 0.0 <= hit.why.note.coverage <= 1.0
        assert hit.why.note.cosine is not None
        assert -1.0 <= hit.why.note.cosine <= 1.0 + 1e-6
