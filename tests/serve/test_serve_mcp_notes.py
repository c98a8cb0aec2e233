"""What the tools that read notes give of them, and what they refuse: in one vault and in several."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from golden_cases import check_golden, of_parts
from mcp_clients import structured
from mcp_in_process import Tools, opened, texts

from vault_indexer.serve.mcp.budget import PAGE_TOKENS, tokens_of
from vault_indexer.vaults import Vaults

LINE = "Flour and water.\n"
STEPS = "".join(f"## Step {number}\n\n{'Knead the dough, and wait. ' * 30}\n\n" for number in range(60))
GARDEN = {
    "Beans.md": LINE * 900,
    "Corn.md": LINE * 900,
    "Short.md": "# Short\n\n## First\n\nSalt. [[Nowhere]]\n\n## Second\n\nA ripe starter.\n",
    "Steps.md": f"# Steps\n\n{STEPS}",
    "Beds.canvas": '{"nodes":[{"id":"1","type":"text","text":"Two beds","x":0,"y":0,"width":1,"height":1}]}',
    "Plots/Peas.md": "Peas climb. #green\n",
    "Plots/Rye.md": "Rye stands, and peas do not. #green\n",
}
SKY = {"Moon.md": "# Moon\n\nThe telescope shows its craters.\n", "Short.md": "Another one.\n"}


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Tools, Tools]]:
    """The tools of one vault, and those of this one and another."""
    root = tmp_path_factory.mktemp("notes")
    with ExitStack() as held:
        garden = held.enter_context(opened(root / "garden", GARDEN))
        sky = held.enter_context(opened(root / "sky", SKY))
        one = Vaults.of(garden)
        yield Tools(one), Tools(Vaults([*one.holders(), *Vaults.of(sky).holders()]))


def test_a_note_leaves_what_it_does_not_need_to_those_behind_it(garden: Tools) -> None:
    paths = ["Beans", "Short", "Beans", "Corn.md", "Beans.md"]
    found = garden.answer("get_notes", paths=[*paths, " "])["notes"]
    assert [one["path"] for one in found] == ["Beans.md", "Short.md", "Corn.md", "Beans.md"]
    first, second, third, fourth = (tokens_of(one["text"]) for one in found)
    room, line = PAGE_TOKENS - 4 * 50, tokens_of(LINE)
    assert room // 4 - line < first <= room // 4
    assert (found[1]["text"], found[1]["total_lines"]) == (GARDEN["Short.md"], 9)
    room -= first + second
    assert room // 2 - line < third <= room // 2
    assert room - third - line < fourth <= room - third
    assert GARDEN["Beans.md"][: found[3]["next_offset"]] == found[3]["text"]


@pytest.mark.parametrize("max_tokens", [200, 400, 1000])
def test_notes_without_room_are_on_the_next_page(garden: Tools, max_tokens: int) -> None:
    paths, pages, offset = ["Beans", "Plots/*", "Corn.md"], list[Any](), 0
    while offset or not pages:
        pages.append(garden.answer("get_notes", paths=paths, max_tokens=max_tokens, offset=offset))
        offset = pages[-1].get("next_offset", 0)
        shown = sum(tokens_of(one["text"]) for one in pages[-1]["notes"])
        assert 0 < shown <= max_tokens
        assert all(one["text"] for one in pages[-1]["notes"])
    read = [one["path"] for page in pages for one in page["notes"]]
    assert read == ["Beans.md", "Plots/Peas.md", "Plots/Rye.md", "Corn.md"]
    assert [page.get("left_out", 0) for page in pages][-1] == 0


def test_the_first_page_of_a_long_note_names_its_headings_and_the_others_do_not(garden: Tools) -> None:
    pages = [garden.answer("read_note", path="Steps")]
    while "next_offset" in pages[-1]:
        pages.append(garden.answer("read_note", path="Steps", offset=pages[-1]["next_offset"]))
    assert len(pages) > 2
    whole = garden.answer("read_note", path="Steps", max_tokens=20_000)
    assert (whole["text"], "next_offset" in whole) == (GARDEN["Steps.md"], False)
    assert "".join(one["text"] for one in pages) == GARDEN["Steps.md"]
    names = [one["heading"] for one in pages[0]["headings"]]
    assert names == ["Steps", *(f"Step {number}" for number in range(60))]
    assert all(one["text"].startswith("## Step ") and "headings" not in one for one in pages[1:])


def test_an_id_is_a_note_or_a_section_of_one(garden: Tools) -> None:
    short = garden.answer("fetch", id="Short.md")
    assert list(short) == ["id", "title", "text", "url", "metadata"]
    assert (short["id"], short["title"], short["text"]) == ("Short.md", "Short", GARDEN["Short.md"])
    assert short["url"] == "vault://Short.md"
    assert short["metadata"].keys() == {"path", "modified_time"}
    second = garden.answer("fetch", id="Short#Second")
    assert (second["id"], second["text"]) == ("Short#Second", "## Second\n\nA ripe starter.\n")
    steps = garden.answer("fetch", id="Steps.md")
    assert steps["text"].endswith(
        "\n[…] The note goes on. An id of a section, such as Steps.md#Heading, gives more.\n"
    )
    assert steps["metadata"]["headings"][-1] == "Step 59"


def test_a_hit_is_short_or_whole(garden: Tools) -> None:
    (short,) = garden.answer("search", query="ripe starter", limit=1)["results"]
    (whole,) = garden.answer("search", query="ripe starter", limit=1, detail="full")["results"]
    assert (short["id"], short["line"]) == ("Short.md", 9)
    assert "A ripe starter." in short["text"]
    assert "A ripe starter." in whole["text"]
    assert whole["modified_time"].startswith("20")
    assert set(whole) - set(short) <= {"relevance", "modified_time", "heading"}
    (parent,) = garden.answer("search", query="ripe starter", limit=1, expand="parent")["results"]
    assert parent["passage"]["kind"] == "parent"
    assert parent["passage"]["text"].startswith("# Short")


def test_notes_are_listed_in_pages_of_the_size_that_is_asked_for(garden: Tools) -> None:
    first = garden.answer("list_notes", limit=4)
    second = garden.answer("list_notes", limit=4, offset=first["next_offset"])
    paths = [one["path"] for one in (*first["notes"], *second["notes"])]
    assert (first["next_offset"], paths) == (4, sorted(GARDEN))
    assert first["count"] == second["count"] == 7
    assert "next_offset" not in second
    tagged = garden.answer("list_notes", folder="Plots", tag="green")
    assert [one["path"] for one in tagged["notes"]] == ["Plots/Peas.md", "Plots/Rye.md"]


HOUSE = {
    "Projects/Alpha.md": (
        "---\ndue: 2026-03-01\ncost: 3\nlead: [Ana, Bo]\n---\n# Alpha\n\n## Steps\n\n"
        "- [ ] Order glass 📅 2020-02-10\n- [x] Measure the frame\n- [ ] Call [[Ben]]\n\n"
        "## Budget\n\nThe frame costs 450 crowns this spring.\n"
    ),
    "Ben.md": "---\ncost: 2.5\n---\n# Ben\n\n- [ ] Repair the roof [due:: 2999-01-01]\n",
    "Log/2026-01-05.md": "# Day\n\nRain. #log/wet See [[Alpha]], [[Ben#Roof]] and [[Nowhere]].\n",
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tools]:
    with opened(tmp_path_factory.mktemp("house") / "house", HOUSE) as service:
        yield Tools(Vaults.of(service))


def fetched(both: Tools, address: str, own_id: str) -> str:
    """What an id is, and how its text ends."""
    result = both.call("fetch", address, id=own_id)
    if result.is_error:
        return "".join(texts(result))
    found = structured(result)
    end = found["text"].rstrip("\n").rpartition("\n")[2]
    return f"{found['id']} at {found['url']}, {found['metadata']['path']}: {end}"


def checked_draft(house: Tools, text: str) -> str:
    found = house.answer("check_draft", text=text, path="New.md")
    shown = [f"line {one['line']}: no {one['link']}" for one in found["problems"]]
    for one in found["citations"]:
        near = f", nearest in line {one['nearest']['line']}" if one["verdict"] == "unsupported" else ""
        shown.append(f"line {one['line']}: {one['cites']}, {one['verdict']}{near}")
    return "\n".join(shown + [f"line {one['line']}: in {one['path']}, too" for one in found["same"]])


@pytest.mark.posix("paths with slashes")
def test_tools_answer_and_refuse_as_the_golden_says(garden: Tools, both: Tools, house: Tools) -> None:
    def part(given: str) -> str:
        found = garden.answer("read_note", path="Short", **json.loads(given))
        assert (found["total_lines"], found.keys() & {"next_offset", "headings"}) == (9, set())
        return f"{found['start_line']} to {found['end_line']}: {found['text']!r}"

    def notes(paths: str) -> str:
        found = garden.answer("get_notes", paths=json.loads(paths))["notes"]
        assert all("error" in one or one["text"] == GARDEN[one["path"]] for one in found)
        return ", ".join(one.get("error", one["path"]) for one in found)

    def links(direction: str) -> str:
        found = house.answer("links", path="Alpha", direction=direction)
        return f"{len(found['backlinks'])} in, {len(found['outgoing'])} out"

    def tasks(given: str) -> str:
        found = [
            (one, task)
            for one in house.answer("tasks", **json.loads(given))["notes"]
            for task in one["tasks"]
        ]
        for note, task in found:
            assert HOUSE[note["path"]].split("\n")[task["line"] - 1] == task["text"]
        due = [f" due {task['due']}," if "due" in task else "" for _, task in found]
        return " ".join(
            f"{one['path']}:{task['line']}{day}" for (one, task), day in zip(found, due, strict=True)
        )

    def behind(given: str) -> str:
        found = house.answer("insertion_point", **json.loads(given))
        text, line = HOUSE[found["path"]], found["line"]
        assert found["after"] == (text.split("\n")[line - 1] if line else "")
        assert found["sha256"] == sha256(text.encode()).hexdigest()
        return f"line {line}, {found.get('heading', 'no heading')}"

    def overview(key: str) -> str:
        return json.dumps(house.answer("vault_overview")[key])

    check_golden(
        Path(__file__).parent / "fixtures" / "mcp_notes.md",
        {
            "An id names its vault where there are several": of_parts(partial(fetched, both)),
            "A draft is checked before it is written": partial(checked_draft, house),
            "An overview says what the vault contains": overview,
            "An error names what there is": of_parts(
                lambda tool, given: garden.error(tool, **json.loads(given))
            ),
            "A note is read by heading, by lines or from an offset": part,
            "Paths and patterns name notes": notes,
            "Links have a direction": links,
            "Tasks are listed by state, note and folder": tasks,
            "New text belongs behind a line": behind,
        },
    )


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("read_note", {"path": "Ben"}),
        ("fetch", {"id": "Ben.md"}),
        ("insertion_point", {"path": "Ben"}),
        ("get_notes", {"paths": ["Ben"]}),
    ],
)
def test_a_note_that_was_just_deleted_is_named(house: Tools, tool: str, given: dict[str, Any]) -> None:
    file = Path(house.answer("status")["vault"]) / "Ben.md"
    file.rename(file.with_suffix(".gone"))
    try:
        said = (
            house.answer(tool, **given)["notes"][0]["error"]
            if "paths" in given
            else house.error(tool, **given)
        )
    finally:
        file.with_suffix(".gone").rename(file)
    assert said == "Ben.md was moved or deleted after it was indexed: search again in a few seconds"


def test_a_place_in_a_section_is_refused_while_the_file_is_newer_than_the_index(house: Tools) -> None:
    file = Path(house.answer("status")["vault"]) / "Ben.md"
    file.write_text(HOUSE["Ben.md"] + "- [ ] Paint it\n", "utf-8", newline="")
    try:
        assert house.answer("insertion_point", path="Ben")["after"] == "- [ ] Paint it"
        refused = house.error("insertion_point", path="Ben", heading="Ben")
    finally:
        file.write_text(HOUSE["Ben.md"], "utf-8", newline="")
    assert refused == "Ben.md has changed since it was indexed: call again in a few seconds"


def test_the_lines_of_a_canvas_are_those_of_its_hits(garden: Tools) -> None:
    hit = garden.answer("search", query="two beds", limit=1)["results"][0]
    found = garden.answer("read_note", path=hit["id"], start_line=hit["line"], end_line=hit["line"])
    assert (found["path"], found["text"].strip()) == ("Beds.canvas", "Two beds")


def test_a_link_names_its_part_and_the_problem_with_it(house: Tools) -> None:
    found = house.answer("links", path="2026-01-05")["outgoing"]
    assert [one["target"] for one in found] == ["Alpha", "Ben#Roof", "Nowhere"]
    assert [one.get("problem") for one in found] == [None, "no heading Roof", None]


def test_a_citation_has_the_date_of_its_note_and_no_second_copy_of_the_sentence(house: Tools) -> None:
    (sentence, *_) = house.answer("ask", query="How much does the frame cost?")["sentences"]
    (citation,) = sentence["citations"]
    assert citation["date"].startswith("20")
    quote = HOUSE[citation["path"]][citation["start_pos"] : citation["end_pos"]]
    assert citation["sha256"] == sha256(quote.encode()).hexdigest()
    assert citation.get("quote") != sentence["text"]
