"""What the tools that read notes give of them, and what they refuse: in one vault and in several."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from hashlib import sha256

import pytest
from mcp_in_process import Tools, opened

from vault_indexer.serve.mcp.budget import PAGE_TOKENS, tokens_of
from vault_indexer.vaults import Vaults

LINE = "Flour and water.\n"
STEPS = "".join(f"## Step {number}\n\n{'Knead the dough, and wait. ' * 30}\n\n" for number in range(60))
GARDEN = {
    "Beans.md": LINE * 900,
    "Corn.md": LINE * 900,
    "Short.md": "# Short\n\n## First\n\nSalt. [[Nowhere]]\n\n## Second\n\nA ripe starter.\n",
    "Steps.md": f"# Steps\n\n{STEPS}",
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


@pytest.fixture
def garden(several: tuple[Tools, Tools]) -> Tools:
    return several[0]


@pytest.fixture
def both(several: tuple[Tools, Tools]) -> Tools:
    return several[1]


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


@pytest.mark.parametrize(
    ("part", "text", "lines"),
    [
        ({"heading": "## First"}, "## First\n\nSalt. [[Nowhere]]\n\n", (3, 6)),
        ({"heading": "Short#Second"}, "## Second\n\nA ripe starter.\n", (7, 9)),
        ({"heading": "First", "offset": 10}, "Salt. [[Nowhere]]\n\n", (5, 6)),
        ({"heading": " "}, GARDEN["Short.md"], (1, 9)),
        ({"start_line": 9}, "A ripe starter.\n", (9, 9)),
        ({"start_line": 5, "end_line": 5}, "Salt. [[Nowhere]]\n", (5, 5)),
        ({"end_line": 9}, GARDEN["Short.md"], (1, 9)),
        ({"end_line": 99}, GARDEN["Short.md"], (1, 9)),
    ],
)
def test_a_note_is_read_by_heading_by_lines_or_from_an_offset(
    garden: Tools, part: dict[str, object], text: str, lines: tuple[int, int]
) -> None:
    found = garden.answer("read_note", path="Short", **part)
    assert (found["text"], (found["start_line"], found["end_line"])) == (text, lines)
    assert found["total_lines"] == 9
    assert "next_offset" not in found
    assert "headings" not in found


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


def test_an_id_names_its_vault_where_there_are_several(both: Tools) -> None:
    assert both.answer("fetch", id="sky/Short.md")["text"] == SKY["Short.md"]
    steps = both.answer("fetch", id="garden/Steps.md")
    assert (steps["id"], steps["metadata"]["path"]) == ("garden/Steps.md", "Steps.md")
    assert steps["text"].endswith("such as garden/Steps.md#Heading, gives more.\n")
    refusal = "'Short.md' does not begin with the name of a vault: garden, sky"
    assert both.error("fetch", id="Short.md") == refusal
    assert both.error("fetch", id="sky/Steps.md") == "no such note in the index: 'Steps.md'"
    for named in ({}, {"vault": "sky"}):
        (moon,) = both.answer("search", query="telescope craters", limit=1, **named)["results"]
        assert (moon["id"], moon["url"]) == ("sky/Moon.md", "vault://sky/Moon.md")


def test_at_the_address_of_one_vault_an_id_is_a_path(both: Tools) -> None:
    assert both.answer("fetch", "sky", id="Short.md")["text"] == SKY["Short.md"]
    steps = both.answer("fetch", "garden", id="Steps.md")
    assert steps["text"].endswith("such as Steps.md#Heading, gives more.\n")
    (moon,) = both.answer("search", "sky", query="telescope craters", limit=1)["results"]
    assert (moon["id"], moon["url"]) == ("Moon.md", "vault://Moon.md")


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


def test_an_answer_holds_the_whole_passages_where_they_are_wanted(garden: Tools) -> None:
    question = "What do peas do?"
    answered = garden.answer("ask", query=question)
    assert (answered["kind"], answered["passages"]) == ("quotes", [])
    (citation, *_) = answered["sentences"][0]["citations"]
    quote = GARDEN[citation["path"]][citation["start_pos"] : citation["end_pos"]]
    assert citation["sha256"] == sha256(quote.encode()).hexdigest()
    read = garden.answer("ask", query=question, passages=True)["passages"]
    assert read[0]["content"] in GARDEN[read[0]["path"]]
    assert all("snippet" not in one for one in read)


def test_notes_are_listed_in_pages_of_the_size_that_is_asked_for(garden: Tools) -> None:
    first = garden.answer("list_notes", limit=4)
    second = garden.answer("list_notes", limit=4, offset=first["next_offset"])
    paths = [one["path"] for one in (*first["notes"], *second["notes"])]
    assert (first["next_offset"], paths) == (4, sorted(GARDEN))
    assert first["count"] == second["count"] == 6
    assert "next_offset" not in second
    tagged = garden.answer("list_notes", folder="Plots", tag="green")
    assert [one["path"] for one in tagged["notes"]] == ["Plots/Peas.md", "Plots/Rye.md"]


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (["Plots/*"], ["Plots/Peas.md", "Plots/Rye.md"]),
        (["**/P*s", "Short"], ["Plots/Peas.md", "Short"]),
        (["Plots/???.md"], ["Plots/Rye.md"]),
    ],
)
def test_patterns_name_notes(garden: Tools, paths: list[str], found: list[str]) -> None:
    notes = garden.answer("get_notes", paths=paths)["notes"]
    assert [one["path"].removesuffix(".md") for one in notes] == [one.removesuffix(".md") for one in found]
    assert all(one["text"] == GARDEN[one["path"]] for one in notes)


BOTH = "heading and lines are both given"
HEADINGS = "no heading Salt: Short.md has the headings 'Short', 'First', 'Second'"


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("search", {}, "query: is required"),
        ("search", {"q": "pea", "limit": 0}, "limit = 0: "),
        ("search", {"q": "pea", "size": 3}, "unknown key 'size'"),
        ("search", {"q": "tag:"}, "column 5: tag: needs a value"),
        ("read_note", {"path": None}, "path: is required"),
        ("read_note", {"path": "/etc/passwd"}, "'/etc/passwd' is outside the vault"),
        ("read_note", {"path": "../../etc/passwd"}, "no such note in the index: '../../etc/passwd'"),
        ("read_note", {"path": "Beens and more"}, "no such note in the index: 'Beens and more'"),
        ("read_note", {"path": "Shirk"}, "no such note in the index: 'Shirk'. Nearest: 'Short.md'"),
        ("read_note", {"path": "Short", "heading": "Salt"}, HEADINGS),
        (
            "read_note",
            {"path": "Short", "heading": "First", "start_line": 1},
            BOTH,
        ),
        (
            "read_note",
            {"path": "Short", "heading": "First", "end_line": 7},
            BOTH,
        ),
        ("read_note", {"path": "Short", "start_line": 10}, "start_line = 10: the note has 9 lines"),
        (
            "read_note",
            {"path": "Short", "start_line": 3, "end_line": 2},
            "end_line = 2: it is before start_line",
        ),
        ("read_note", {"path": "Short", "offset": 65}, "offset = 65: the part has 65 characters"),
        ("fetch", {"id": "Pear"}, "no such note in the index: 'Pear'; did you mean Plots/Peas.md?"),
        ("fetch", {"id": "Nowhere# "}, "no such note in the index: 'Nowhere#'"),
        ("fetch", {"id": "Nowhere#Salt"}, "no such note in the index: 'Nowhere'"),
        ("fetch", {"id": "Short#Salt"}, HEADINGS),
        ("links", {"path": "Nowhere"}, "no such note in the index: 'Nowhere'"),
        ("list_notes", {"folder": "Beds"}, "no note of the index is in a folder 'Beds'. Nearest: 'Plots'"),
        ("list_notes", {"tag": "grass"}, "no note of the index has the tag 'grass'. Nearest: 'green'"),
        ("get_notes", {"paths": ["Logs/*"]}, "no note matches the pattern 'Logs/*'"),
        ("get_notes", {"paths": [" ", ""]}, "paths: 0 are given; allowed are 1 to 20"),
        (
            "get_notes",
            {"paths": [f"{number}" for number in range(21)]},
            "paths: 21 are given; allowed are 1 to 20",
        ),
        ("tasks", {"stat": "open"}, "unknown key 'stat' (tasks has state, path, folder, limit, offset)"),
    ],
)
def test_an_error_names_what_there_is(garden: Tools, tool: str, given: dict[str, object], said: str) -> None:
    assert garden.error(tool, **given).startswith(said)


def test_twenty_notes_are_read_and_one_that_cannot_be_says_so(garden: Tools) -> None:
    found = garden.answer("get_notes", paths=["Short", *(f"Missing {number}" for number in range(19))])
    errors = [one.get("error", "") for one in found["notes"]]
    assert errors == ["", *(f"no such note in the index: 'Missing {number}'" for number in range(19))]


HOUSE = {
    "Projects/Alpha.md": (
        "---\ndue: 2026-03-01\ncost: 3\nlead: [Ana, Bo]\n---\n# Alpha\n\n## Steps\n\n"
        "- [ ] Order glass 📅 2020-02-10\n- [x] Measure the frame\n- [ ] Call [[Ben]]\n\n"
        "## Budget\n\nThe frame costs 450 crowns this spring.\n"
    ),
    "Ben.md": "---\ncost: 2.5\n---\n# Ben\n\n- [ ] Repair the roof [due:: 2999-01-01]\n",
    "Log/2026-01-05.md": "# Day\n\nRain. #log/wet See [[Alpha]] and [[Nowhere]].\n",
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tools]:
    with opened(tmp_path_factory.mktemp("house") / "house", HOUSE) as service:
        yield Tools(Vaults.of(service))


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, [("Ben.md", 6), ("Projects/Alpha.md", 10), ("Projects/Alpha.md", 12)]),
        ({"state": "done"}, [("Projects/Alpha.md", 11)]),
        ({"state": "overdue"}, [("Projects/Alpha.md", 10)]),
        ({"state": "due"}, [("Projects/Alpha.md", 10), ("Ben.md", 6)]),
        ({"state": "all", "path": "Alpha"}, [("Projects/Alpha.md", line) for line in (10, 11, 12)]),
        ({"folder": "Projects", "limit": 1, "offset": 1}, [("Projects/Alpha.md", 12)]),
    ],
)
def test_tasks_are_listed_by_state_note_and_folder(
    house: Tools, given: dict[str, object], found: list[tuple[str, int]]
) -> None:
    notes = house.answer("tasks", **given)["notes"]
    assert [(note["path"], task["line"]) for note in notes for task in note["tasks"]] == found
    for note in notes:
        for task in note["tasks"]:
            assert HOUSE[note["path"]].split("\n")[task["line"] - 1] == task["text"]


def test_an_overview_says_what_the_vault_contains(house: Tools) -> None:
    found = house.answer("vault_overview")
    assert (found["notes"], found["daily_notes"]) == (3, "Log")
    assert found["folders"] == {"Log": 1, "Projects": 1}
    assert found["tags"] == {"log/wet": 1}
    assert found["open_tasks"] == {"Projects/Alpha.md": 2, "Ben.md": 1}
    assert found["overdue"] == 1
    assert len(found["recent"]) == 3
    properties = {one["name"]: (one["type"], one["notes"], one["examples"]) for one in found["properties"]}
    assert properties["due"] == ("date", 2, ["2999-01-01", "2026-03-01", "2020-02-10"])
    assert properties["cost"] == ("number", 2, ["2.5", "3"])
    assert properties["lead"] == ("list", 1, ["Ana", "Bo"])


@pytest.mark.parametrize(
    ("given", "line", "heading"),
    [
        ({"path": "Alpha", "heading": "Steps"}, 12, "Alpha > Steps"),
        ({"path": "Alpha", "heading": "Steps", "at": "start"}, 8, "Alpha > Steps"),
        ({"path": "Alpha"}, 16, None),
        ({"path": "Alpha", "at": "start"}, 5, None),
        ({"path": "Log/2026-01-05", "at": "start"}, 0, None),
    ],
)
def test_new_text_belongs_behind_a_line(
    house: Tools, given: dict[str, object], line: int, heading: str | None
) -> None:
    found = house.answer("insertion_point", **given)
    text = HOUSE[found["path"]]
    assert (found["line"], found.get("heading")) == (line, heading)
    assert found["after"] == (text.split("\n")[line - 1] if line else "")
    assert found["sha256"] == sha256(text.encode()).hexdigest()


def test_a_draft_is_checked_before_it_is_written(house: Tools) -> None:
    draft = (
        "The frame costs 450 crowns. [[Alpha#Budget]]\n\nThe frame costs 470 crowns [[Alpha#Budget]].\n\n"
        "See [[Nowhere]], [[#Plan]] and [[Alpha#Plan]].\n\n# Plan\n\n"
        "The frame costs 450 crowns this spring.\n"
    )
    found = house.answer("check_draft", text=draft, path="New.md")
    below = house.answer(
        "check_draft", text="## Cost\nFrames cost 90 crowns [[Alpha#Budget]].", path="New.md"
    )
    assert [one["line"] for one in below["citations"]] == [2], "a heading needs no blank line below it"
    assert [(one["line"], one["link"]) for one in found["problems"]] == [(5, "Nowhere"), (5, "Alpha#Plan")]
    verdicts = [(one["line"], one["cites"], one["verdict"]) for one in found["citations"]]
    assert verdicts == [
        (1, "Projects/Alpha.md#Budget", "supported"),
        (3, "Projects/Alpha.md#Budget", "unsupported"),
    ]
    assert found["citations"][1]["nearest"]["line"] == 16
    assert (9, "Projects/Alpha.md") in [(one["line"], one["path"]) for one in found["same"]]


@pytest.mark.parametrize(("direction", "lists"), [("in", (1, 0)), ("out", (0, 1)), ("both", (1, 1))])
def test_links_have_a_direction(house: Tools, direction: str, lists: tuple[int, int]) -> None:
    found = house.answer("links", path="Alpha", direction=direction)
    assert (len(found["backlinks"]), len(found["outgoing"])) == lists


def test_a_related_note_says_why(house: Tools) -> None:
    found = {one["path"]: one["why"] for one in house.answer("related", path="Alpha")["results"]}
    assert "links to" in found["Ben.md"]
    assert "linked from" in found["Log/2026-01-05.md"]


def test_a_citation_has_the_date_of_its_note_and_no_second_copy_of_the_sentence(house: Tools) -> None:
    (sentence, *_) = house.answer("ask", query="How much does the frame cost?")["sentences"]
    (citation,) = sentence["citations"]
    assert citation["date"].startswith("20")
    assert citation.get("quote") != sentence["text"]
