"""`open_vault` and `VaultRetriever` on a real index; LlamaIndex is loaded only for the latter."""

from __future__ import annotations

import asyncio
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from indexed_vault import write_notes
from llama_index.core import Document
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore

import vault_indexer
from vault_indexer import AsyncVault, Vault, VaultRetriever, open_vault
from vault_indexer.errors import ConfigError, UnknownNoteError, UsageError, VaultError
from vault_indexer.llamaindex import VaultNodeParser
from vault_indexer.model import Progress

pytestmark = pytest.mark.long

NOTES = {
    "Apple.md": "# Apple\n\nPrune the apple tree in winter.\n\nSee [[Pear]].\n",
    "Pear.md": "# Pear\n\nA pear ripens in the cellar.\n",
    "Sea.md": "# Sea\n\nThe tide comes twice a day.\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("open_vault")
    write_notes(made / "notes", NOTES)
    return made


@pytest.fixture(scope="module")
def vault(folder: Path) -> Iterator[Vault]:
    told: list[Progress] = []
    with open_vault(folder / "notes", folder / "index", report=told.append, index={"workers": 1}) as opened:
        assert told, "a build is reported"
        yield opened


def test_it_tells_links_and_neighbours(vault: Vault) -> None:
    assert [link.resolved for link in vault.links("Apple").outgoing] == ["Pear.md"]
    assert [link.path for link in vault.links("Pear.md").backlinks] == ["Apple.md"]
    assert vault.related("Apple", limit=1)[0].path == "Pear.md"


def test_a_change_is_found_and_a_rebuild_counts(vault: Vault, folder: Path) -> None:
    (folder / "notes" / "New.md").write_text("A zeppelin over the fjord.\n", encoding="utf-8")
    try:
        report = vault.rebuild()
        assert (report.notes, report.skipped) == (4, ())
        assert vault.search("zeppelin").results[0].path == "New.md"
    finally:
        (folder / "notes" / "New.md").unlink()


def test_mistakes_are_told(vault: Vault, folder: Path) -> None:
    with pytest.raises(UsageError, match="empty"):
        vault.search("  ")
    with pytest.raises(UsageError, match="no such note"):
        vault.links("Nowhere")
    with pytest.raises(UsageError, match="offset"):
        vault.search("tree", offset=-1)
    with pytest.raises(VaultError):
        open_vault(folder / "missing")
    with pytest.raises(ConfigError, match=r"search\.limmit.*did you mean search\.limit"):
        open_vault(folder / "notes", search={"limmit": 3})
    with pytest.raises(UsageError, match="option limit: must be a table"):
        open_vault(folder / "notes", limit=3)
    with pytest.raises(UsageError, match=r"option search\.limit: a value of type set"):
        open_vault(folder / "notes", search={"limit": {3}})


def test_options_are_tables_or_dotted_keys(vault: Vault, folder: Path) -> None:
    assert vault.search("tree").results
    dotted: dict[str, Any] = {"search.limit": 1}
    with open_vault(folder / "notes", folder / "other", chunking={"strategy": "none"}, **dotted) as one:
        (hit,) = one.search("apple").results
    assert hit.content == NOTES["Apple.md"].strip()


def test_the_retriever_gives_nodes_with_their_place(vault: Vault) -> None:
    found = VaultRetriever(vault, limit=2).retrieve("prune an apple tree")
    assert len(found) == 2
    best = found[0]
    relevance = vault.search("prune an apple tree").results[0].relevance
    assert best.score == best.node.metadata["relevance"] == relevance
    assert best.node.metadata["verdict"] == "strong"
    wanted = {"chunk_index": 0, "strategy": "header_based", "wikilinks": ["Pear"], "frontmatter": {}}
    assert {key: best.node.metadata[key] for key in wanted} == wanted
    assert best.node.ref_doc_id == best.node.metadata["doc_id"] == "Apple"
    assert best.node.node_id == "Apple_chunk_0"
    place = best.node.metadata
    assert (place["path"], place["header_path"], place["start_line"]) == ("Apple.md", "Apple", 1)
    body = NOTES["Apple.md"][place["start_char"] : place["end_char"]]
    assert best.node.get_content().endswith(body)
    assert len(VaultRetriever(vault, by_note=True).retrieve("tree")) <= len(NOTES) + 1


def test_the_retriever_gives_the_parent_of_children_once(vault: Vault, folder: Path) -> None:
    chunking = {"strategy": "hierarchical", "hierarchical": {"child_size": 8}}
    with open_vault(folder / "notes", folder / "parents", chunking=chunking, index={"workers": 1}) as small:
        found = VaultRetriever(small, expand="parent").retrieve("prune the apple tree, see pear")
        hit = small.search("prune the apple tree", expand="parent").results[0]
    assert hit.passage is not None
    assert hit.passage.id == "Apple_chunk_0"
    children = [one.node for one in found if one.node.metadata.get("parent_id") == "Apple_chunk_0"]
    assert len(children) > 1
    assert {one.parent_node.node_id for one in children if one.parent_node} == {"Apple_chunk_0"}
    (parent,) = [one.node for one in found if one.node.node_id == "Apple_chunk_0"]
    place = parent.metadata
    assert parent.get_content() == NOTES["Apple.md"][place["start_char"] : place["end_char"]]
    assert all(one.get_content() in parent.get_content() for one in children)
    assert not any(one.node.parent_node for one in VaultRetriever(vault).retrieve("tree"))


def test_the_retriever_serves_a_query_engine(vault: Vault) -> None:
    engine = RetrieverQueryEngine.from_args(VaultRetriever(vault, limit=1), llm=MockLLM(max_tokens=5))
    sources: list[NodeWithScore] = engine.query("tide").source_nodes
    assert [source.node.metadata["path"] for source in sources] == ["Sea.md"]


def run(script: str, folder: Path, *arguments: Path) -> str:
    """Standard output of a script that has no configuration."""
    program = folder / "program.py"
    program.write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, program, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={"HOME": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_note_that_a_custom_chunker_cannot_cut_is_skipped_and_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "cut_but_pears.py").write_text(
        "def cut(note):\n    if 'pear ripens' in note.text:\n        raise ValueError('no pears')\n"
        "    yield note.body_start, len(note.text)\n"
    )
    options = {"strategy": "custom", "custom": {"function": "cut_but_pears:cut"}}
    with open_vault(folder / "notes", tmp_path / "index", chunking=options, index={"workers": 1}) as opened:
        (skipped,) = opened.rebuild().skipped
    reason = "chunking.custom.function cut_but_pears:cut: raised ValueError: no pears"
    assert (skipped.path, skipped.reason) == ("Pear.md", reason)


PAGE = Path(__file__).parents[2] / "docs" / "python.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_of_the_page_run(home: Path, example: str, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "Notes").mkdir(exist_ok=True)
    (home / "Notes" / "Bread.md").write_text("---\nstatus: draft\n---\nFeed the sourdough starter.\n")
    (home / "example.py").write_text(example, encoding="utf-8")
    runpy.run_path(str(home / "example.py"))
    assert bool(capsys.readouterr().out) == ("print" in example)


def test_a_note_is_read_as_it_is_now(vault: Vault, folder: Path) -> None:
    sea = folder / "notes" / "Sea.md"
    sea.write_bytes(b"\xef\xbb\xbf# Sea\n\nStill water \xff\n")
    try:
        assert vault.note("Sea").text == "# Sea\n\nStill water \ufffd\n"
    finally:
        sea.write_text(NOTES["Sea.md"], encoding="utf-8")
    with pytest.raises(UnknownNoteError):
        vault.note("Nowhere")


def test_the_methods_of_a_vault_are_coroutines_too(vault: Vault) -> None:
    async def read() -> list[str]:
        both = AsyncVault(vault)
        hits, note = await asyncio.gather(both.search("tide", limit=1), both.note("Apple"))
        return [hits.results[0].path, note.path]

    assert asyncio.run(read()) == ["Sea.md", "Apple.md"]
    public = {name for name in vars(Vault) if not name.startswith("_")}
    assert public == {name for name in vars(AsyncVault) if not name.startswith("_")}


def test_llamaindex_is_not_loaded_until_it_is_used(folder: Path) -> None:
    script = (
        "import sys, vault_indexer\n"
        "assert 'vault_indexer.api' not in sys.modules\n"
        "with vault_indexer.open_vault(*sys.argv[1:], index={'workers': 1}) as vault:\n"
        "    assert vault.search('apple').results\n"
        "print({'llama_index', 'torch'} & {name.partition('.')[0] for name in sys.modules})\n"
        "vault_indexer.VaultRetriever\n"
        "print('llama_index' in sys.modules)\n"
    )
    assert run(script, folder, folder / "notes", folder / "light") == "set()\nTrue\n"


@pytest.mark.parametrize(
    "way", ["a file", *(pytest.param(way, marks=pytest.mark.long) for way in ("-c", "the standard input"))]
)
def test_the_example_of_the_package_runs_as_it_stands(folder: Path, way: str) -> None:
    example = vault_indexer.__doc__ or ""
    lines = [line[4:] for line in example.splitlines() if not line or line.startswith("    ")]
    script = "\n".join(lines).replace("~/Notes", str(folder / "notes"))
    assert "__main__" not in script
    (folder / "program.py").write_text(script, encoding="utf-8")
    command = {"a file": ["program.py"], "-c": ["-c", script], "the standard input": ["-"]}
    done = subprocess.run(
        [sys.executable, *command[way]],
        input=script if way == "the standard input" else "",
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd=folder,
        env={
            "HOME": str(folder),
            "XDG_STATE_HOME": str(folder / "state"),
            "INDEXER_EMBEDDING_PROVIDER": "wordllama",
        },
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Apple.md" in done.stdout


def test_the_package_says_what_it_has() -> None:
    assert set(vault_indexer.__all__) <= set(dir(vault_indexer))
    with pytest.raises(AttributeError, match="no attribute 'open_vaults'"):
        vault_indexer.open_vaults  # noqa: B018 - the access is what is tried


LINKED = (
    "# Pots\n\nThe glaze of [[Ash]] is thin. [Clay](Clay.md) is thick. "
    "Now ![[Kiln.png]] and [[Ash|it]] again.\n"
)
"""One line that is cut in windows: a link is in the one where it starts."""

COPIES = ("Pots.md", "Older pots.md")
LINKS = [(["Ash"], []), ([], ["Clay.md"]), (["Kiln.png", "Ash"], [])]


def test_a_chunk_has_the_links_that_start_in_it_wherever_it_is_read(tmp_path: Path) -> None:
    notes = write_notes(tmp_path / "notes", dict.fromkeys(COPIES, LINKED))
    chunking = {"strategy": "word", "chunk_size": 6, "chunk_overlap": 0}
    names = ("doc_id", "wikilinks", "markdown_links")
    with open_vault(notes, tmp_path / "index", chunking=chunking, index={"workers": 1}) as opened:
        retrieved = VaultRetriever(opened).retrieve("glaze clay kiln thin thick")
        hits = opened.search("glaze clay kiln thin thick").results
    shown = hits[0].doc_id
    for one in retrieved:
        assert sorted((f"{shown}.md", *one.metadata["copies"])) == sorted(COPIES)
    document = Document(text=LINKED, metadata={"path": f"{shown}.md"})
    parser = VaultNodeParser(strategy="word", options={"chunk_size": 6, "chunk_overlap": 0})
    wanted = [(shown, *links) for links in LINKS]
    for nodes in ([one.node for one in retrieved], parser.get_nodes_from_documents([document])):
        by_place = sorted(nodes, key=lambda node: node.metadata["start_char"])
        assert [tuple(node.metadata[name] for name in names) for node in by_place] == wanted
    by_start = sorted(hits, key=lambda hit: hit.start_pos)
    assert [(hit.doc_id, list(hit.wikilinks), list(hit.markdown_links)) for hit in by_start] == wanted
    stored = [hit.chunk.to_json() for hit in by_start if hit.chunk]
    assert [tuple(chunk[name] for name in names) for chunk in stored] == wanted


def test_the_id_of_a_sentence_leads_to_the_sentence(tmp_path: Path) -> None:
    text = "# Apple\n\nPrune it. Ring [[Dr. Voss]] first.\n"
    notes = write_notes(tmp_path / "notes", {"Apple.md": text})
    chunking = {"strategy": "parent_child"}
    with open_vault(notes, tmp_path / "index", chunking=chunking, index={"workers": 1}) as opened:
        (hit,) = opened.search("prune").results
        assert hit.chunk is not None
        assert hit.chunk.extra["paragraph_id"] == "Apple_paragraph_0"
        assert hit.chunk.extra["sentence_ids"] == [f"Apple_sentence_{number}" for number in range(3)]
        found = opened.sentence("Apple_sentence_2")
        assert (found.text, found.start_line) == ("Ring [[Dr. Voss]] first.", 3)
        assert found.text == hit.content[-len(found.text) :]
        with pytest.raises(UsageError, match="it has 3, with the ids Apple_sentence_0 to Apple_sentence_2"):
            opened.sentence("Apple_sentence_9")
