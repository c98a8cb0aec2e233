"""Source files in a vault: indexed if asked, with the headings of their language."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from golden_cases import check_golden
from indexed_vault import indexed_vault, write_notes

from vault_indexer.config.sources import OptionValue
from vault_indexer.errors import ConfigError
from vault_indexer.index.reading import source_note
from vault_indexer.model import AskRequest, SearchRequest
from vault_indexer.service import VaultService

PYTHON = (Path(__file__).parent / "fixtures" / "hive.py.txt").read_text("utf-8")
NOTES = {
    "Bees.md": "# Bees\n\nSee [[hive.py]] for how they are counted.\n",
    "hive.py": PYTHON,
    "other.rs": "fn swarm() -> u32 { 7 }\n",
}
RULE: OptionValue = [{"paths": ["*.py"], "strategy": "code", "max_chunk_size": 120, "min_chunk_size": 0}]  # type: ignore[list-item]  # a list of tables


@contextmanager
def opened(folder: Path, **options: OptionValue) -> Iterator[VaultService]:
    vault = write_notes(folder / "vault", NOTES)
    with indexed_vault(vault, folder / "index", options=options) as (service, _):
        yield service


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultService]:
    options: dict[str, OptionValue] = {"files.sources": [".py"], "chunking.rules": RULE}
    with opened(tmp_path_factory.mktemp("sources"), **options) as found:
        yield found


def test_only_the_suffixes_that_are_asked_for_are_indexed(service: VaultService) -> None:
    assert service.note_paths() == ["Bees.md", "hive.py"]
    assert not service.verify()


def test_without_the_setting_a_source_file_is_an_attachment(tmp_path: Path) -> None:
    with opened(tmp_path) as plain:
        assert plain.note_paths() == ["Bees.md"]
        assert {hit.kind for hit in plain.search(SearchRequest("file:hive")).results} == {"attachment"}


def test_headings_are_those_of_the_golden() -> None:
    def headings(code: str) -> str:
        found = source_note("src/tool.py", code.encode()).headings
        return "\n".join(f"{one.level} {one.line} {code[one.start : one.end]!r} {one.text}" for one in found)

    check_golden(Path(__file__).parent / "fixtures" / "source_files.md", {"": headings})


def test_a_source_file_is_a_note_of_its_code() -> None:
    note = source_note("src/hive.py", PYTHON.encode())
    assert note.title == "hive.py"
    assert [section.header_path for section in note.sections][-2:] == [("Beekeeper", "smoke"), ("hive.py",)]
    assert (list(note.links), list(note.tags)) == ([], [])
    (whole,) = source_note("a/tool.py", b"import os\n").elements
    assert (whole.start, whole.end, whole.language) == (0, 9, "python")


def test_a_hit_says_block_language_and_lines(service: VaultService) -> None:
    hit = next(
        one for one in service.search(SearchRequest("smoke calms a hive")).results if one.path == "hive.py"
    )
    assert hit.header_path == "Beekeeper > smoke"
    assert hit.chunk is not None
    assert {name: hit.chunk.extra[name] for name in ("language", "block_type", "block_name")} == {
        "language": "python",
        "block_type": "function",
        "block_name": "Beekeeper.smoke",
    }
    assert (hit.start_line, hit.end_line) == (13, 15)
    assert (hit.title, hit.kind) == ("hive.py", "note")


def test_code_is_shown_as_it_stands(service: VaultService) -> None:
    hit = next(one for one in service.search(SearchRequest("counts bees")).results if one.path == "hive.py")
    assert "# Counts the *bees* of a hive." in hit.snippet
    view = service.view("hive.py")
    assert [(block["t"], block["lang"], block["text"]) for block in view.blocks] == [
        ("pre", "python", PYTHON)
    ]


def test_a_link_to_a_source_file_and_its_outline(service: VaultService) -> None:
    assert [one.resolved for one in service.links("Bees").outgoing] == ["hive.py"]
    assert [one.text for one in service.outline("hive.py").headings][:1] == ["count_bees"]


def test_a_question_is_answered_from_code(service: VaultService) -> None:
    answer = service.ask(AskRequest("what does the function count_bees return", use_model=False))
    quotes = [citation.quote for one in answer.sentences for citation in one.citations]
    assert all(PYTHON.find(quote) >= 0 or quote in NOTES["Bees.md"] for quote in quotes)


def test_the_default_strategy_cuts_a_source_file_at_its_definitions(service: VaultService) -> None:
    found = service.chunks("hive.py", "header_based").chunks
    assert "".join(chunk.body for chunk in found).replace("\n", "") == PYTHON.replace("\n", "")


def test_a_suffix_that_is_no_language_is_refused(tmp_path: Path) -> None:
    wrong = pytest.raises(ConfigError, match=r"files\.sources.*\.py")
    with wrong, opened(tmp_path, **{"files.sources": [".txt"]}):
        pass


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_a_source_file_without_code_has_no_part(text: str) -> None:
    note = source_note("empty.py", text.encode())
    assert (note.headings, note.elements, note.text) == ((), (), text)
