"""`indexer inspect` in this process: what a person reads, and what it says of notes that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from answering_daemon import AnsweringDaemon
from cli_sandbox import Sandbox
from command_here import CommandHere
from sessions import compare_session, sessions

from vault_indexer.chunk import STRATEGIES
from vault_indexer.cli.output.columns import path_style

INSPECT = Path(__file__).parent / "fixtures" / "sessions" / "inspect.md"


@pytest.mark.posix("paths with slashes")
@pytest.mark.parametrize("heading", sessions(INSPECT))
def test_notes_and_the_configuration_are_shown(
    here: CommandHere, heading: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare_session(INSPECT, heading, here, AnsweringDaemon("http://none"), monkeypatch)


OTHERS = {"llm", "agentic", "custom"}
"""They need a language model or code of the user's own."""

READY = tuple(name for name in STRATEGIES if name not in OTHERS)

SENTENCES = (
    "Flour, water and salt make a dough. The dough rests overnight. A baker folds it at dawn.",
    "Saturn has rings of ice. A telescope shows them on a clear night. Its moons are small points of light.",
    "However, rain changes the plan. The garden drinks it. Beans climb the poles, and snails follow.",
    "A tax form asks for the year. The office closes at noon. Bring the receipts of the whole year.",
)
NOTE = "# Four themes\n\n" + "".join(
    f"## Part {number}\n\n{' '.join(SENTENCES[number % 4 :] + SENTENCES[: number % 4])}\n\n"
    f"- one item\n- another\n\n```python\ndef f{number}(a):\n    return a\n```\n\n"
    for number in range(12)
)

Chunks = list[tuple[object, ...]]


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """An index of one note in a folder per strategy, each folder cut by the strategy of its name."""
    made = Sandbox(tmp_path_factory.mktemp("cut"))
    rules = "".join(f'[[chunking.rules]]\npaths = ["{name}/**"]\nstrategy = "{name}"\n' for name in READY)
    made.write(".indexer.toml", rules)
    for name in READY:
        made.write(f"{name}/Note.md", NOTE)
    ran = made.indexer("rebuild")
    assert ran.code == 0, ran.err
    return made


@pytest.fixture(scope="module")
def stored(cut: Sandbox) -> dict[str, Chunks]:
    """The chunks that the build stored, by strategy."""
    notes = [line for line in cut.indexer("export").out.splitlines() if "note" in json.loads(line)]
    return {json.loads(line)["note"].partition("/")[0]: chunks_of(line) for line in notes}


def chunks_of(line: str) -> Chunks:
    keys = ("chunk_id", "start_pos", "end_pos", "strategy", "overlap")
    return [tuple(chunk[key] for key in keys) for chunk in json.loads(line)["chunks"]]


@pytest.mark.long
@pytest.mark.parametrize("strategy", READY)
def test_inspect_by_a_strategy_gives_the_chunks_that_a_build_stores(
    strategy: str,
    cut: Sandbox,
    stored: dict[str, Chunks],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = CommandHere(cut, capsys, monkeypatch)
    ran = here.indexer("inspect", f"{strategy}/Note.md", "--strategy", strategy, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert chunks_of(ran.out) == stored[strategy]
    assert {chunk[3] for chunk in stored[strategy]} == {strategy}


def test_inspect_needs_no_index_and_keeps_the_contract(here: CommandHere) -> None:
    ran, sandbox = here.indexer("inspect", "Bread", "Welcome", "--json"), here.sandbox
    assert ran.code == 0, ran.err
    bread, welcome = (json.loads(line) for line in ran.out.splitlines())
    assert set(bread) >= {
        *("path", "title", "language", "frontmatter", "aliases", "tags", "headings", "links", "blocks"),
        "chunks",
    }
    assert bread["aliases"] == ["Sourdough"]
    assert bread["headings"][1] == {"level": 2, "text": "Kneading", "line": 9}
    assert bread["blocks"] == [{"id": "rest", "line": 11}]
    text = (sandbox.vault / "Kitchen/Bread.md").read_text()
    for chunk in bread["chunks"]:
        assert text[chunk["start_pos"] : chunk["end_pos"]] in chunk["content"]
        assert chunk["overlap"] == ""
    assert [(link["target"], link["resolved"]) for link in welcome["links"]] == [
        ("Bread", "Kitchen/Bread.md"),
        ("Night sky", "Sky/Night sky.md"),
        ("Nowhere", None),
    ]
    assert not sandbox.index_dir.exists()


def test_inspect_follows_links_as_the_index_of_a_site_does(here: CommandHere) -> None:
    posts = here.sandbox.vault / "_posts"
    posts.mkdir()
    (here.sandbox.vault / "_config.yml").write_text("permalink: /blog/:title\n")
    (posts / "2024-05-06-rye.md").write_text("---\npermalink: /bread/of/rye/\n---\n[w](/blog/wheat)\n")
    (posts / "2024-05-07-wheat.md").write_text("[r](/bread/of/rye)\n")
    found = here.run(
        "inspect", "--json", "--vault", "vault", "_posts/2024-05-06-rye.md", "_posts/2024-05-07-wheat.md"
    )
    assert found.code == 0, found.err
    links = [json.loads(line)["links"][0]["resolved"] for line in found.out.splitlines()]
    assert links == ["_posts/2024-05-07-wheat.md", "_posts/2024-05-06-rye.md"]


@pytest.mark.posix("paths with slashes")
def test_a_path_opens_in_obsidian_where_the_vault_is_one_of_obsidian(tmp_path: Path) -> None:
    assert path_style(tmp_path, "a b.md") == f"cyan link {(tmp_path / 'a b.md').as_uri()}"
    (tmp_path / ".obsidian").mkdir()
    assert path_style(tmp_path, "a b.md").startswith("cyan link obsidian://open?path=%2F")
    assert path_style(tmp_path, "a b.md").endswith("%2Fa%20b.md")
