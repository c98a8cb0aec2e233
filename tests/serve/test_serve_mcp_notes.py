"""What the tools that read notes give of them, and what they refuse: in one vault and in several."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from hashlib import sha256

import pytest
from mcp_in_process import Tools, opened

from vault_indexer.serve.mcp.budget import tokens_of
from vault_indexer.serve.mcp.reading import TEXT_TOKENS
from vault_indexer.vaults import Vaults

LINE = "Flour and water.\n"
STEPS = "".join(f"## Step {number}\n\n{'Knead the dough, and wait. ' * 30}\n\n" for number in range(25))
GARDEN = {
    "Beans.md": LINE * 450,
    "Corn.md": LINE * 450,
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
    room, line = TEXT_TOKENS - 4 * 50, tokens_of(LINE)
    assert room // 4 - line < first <= room // 4
    assert (found[1]["text"], found[1]["total_lines"]) == (GARDEN["Short.md"], 9)
    room -= first + second
    assert room // 2 - line < third <= room // 2
    assert room - third - line < fourth <= room - third
    assert GARDEN["Beans.md"][: found[3]["next_offset"]] == found[3]["text"]


@pytest.mark.parametrize(("paths", "count"), [([" ", ""], 0), ([f"{number}" for number in range(21)], 21)])
def test_a_call_reads_one_to_twenty_notes(garden: Tools, paths: list[str], count: int) -> None:
    assert garden.error("get_notes", paths=paths) == f"paths: {count} are given; allowed are 1 to 20"


def test_twenty_notes_are_read_and_one_that_cannot_be_says_so(garden: Tools) -> None:
    found = garden.answer("get_notes", paths=["Short", *(f"Missing {number}" for number in range(19))])
    assert [one.get("error", "") for one in found["notes"]] == [
        "",
        *(f"no such note in the index: 'Missing {number}'" for number in range(19)),
    ]


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"heading": "Salt"}, "no heading Salt: Short.md has the headings 'Short', 'First', 'Second'"),
        ({"heading": "First", "start_line": 1}, "heading and lines are both given: give one of them"),
        ({"heading": "First", "end_line": 7}, "heading and lines are both given: give one of them"),
        ({"start_line": 10}, "start_line = 10: the note has 9 lines"),
        ({"start_line": 3, "end_line": 2}, "end_line = 2: it is before start_line = 3"),
        ({"offset": 65}, "offset = 65: the part has 65 characters"),
    ],
)
def test_a_part_that_a_note_does_not_have_is_refused(
    garden: Tools, part: dict[str, object], said: str
) -> None:
    assert garden.error("read_note", path="Short", **part) == said


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
    assert "".join(one["text"] for one in pages) == GARDEN["Steps.md"]
    names = [one["heading"] for one in pages[0]["headings"]]
    assert names == ["Steps", *(f"Step {number}" for number in range(25))]
    assert all(one["text"].startswith("## Step ") and "headings" not in one for one in pages[1:])


def test_an_id_is_a_note_or_a_section_of_one(garden: Tools) -> None:
    short = garden.answer("fetch", id="Short.md")
    assert list(short) == ["id", "title", "text", "url", "metadata"]
    assert (short["id"], short["title"], short["text"]) == ("Short.md", "Short", GARDEN["Short.md"])
    assert short["url"].endswith("Short.md")
    assert short["metadata"].keys() == {"path", "modified_time"}
    second = garden.answer("fetch", id="Short#Second")
    assert (second["id"], second["text"]) == ("Short#Second", "## Second\n\nA ripe starter.\n")
    steps = garden.answer("fetch", id="Steps.md")
    assert steps["text"].endswith(
        "\n[…] The note goes on. An id of a section, such as Steps.md#Heading, gives more.\n"
    )
    assert steps["metadata"]["headings"][-1] == "Step 24"


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("Nowhere", "no such note in the index: 'Nowhere'"),
        ("Nowhere# ", "no such note in the index: 'Nowhere#'"),
        ("Nowhere#Salt", "no such note in the index: 'Nowhere'"),
        ("Short#Salt", "no heading Salt: Short.md has the headings 'Short', 'First', 'Second'"),
    ],
)
def test_an_id_of_nothing_is_refused(garden: Tools, wanted: str, said: str) -> None:
    assert garden.error("fetch", id=wanted) == said


def test_an_id_names_its_vault_where_there_are_several(both: Tools) -> None:
    assert both.answer("fetch", id="sky/Short.md")["text"] == SKY["Short.md"]
    steps = both.answer("fetch", id="garden/Steps.md")
    assert (steps["id"], steps["metadata"]["path"]) == ("garden/Steps.md", "Steps.md")
    assert steps["text"].endswith("such as garden/Steps.md#Heading, gives more.\n")
    refusal = "'Short.md' does not begin with the name of a vault: garden, sky"
    assert both.error("fetch", id="Short.md") == refusal
    assert both.error("fetch", id="sky/Steps.md") == "no such note in the index: 'Steps.md'"
    (moon,) = both.answer("search", query="telescope craters", limit=1)["results"]
    assert (moon["id"], moon["url"], moon["vault"]) == ("sky/Moon.md", "vault://sky/Moon.md", "sky")
    (moon,) = both.answer("search", query="telescope craters", limit=1, vault="sky")["results"]
    assert moon["id"] == "sky/Moon.md"


def test_at_the_address_of_one_vault_an_id_is_a_path(both: Tools) -> None:
    assert both.answer("fetch", "sky", id="Short.md")["text"] == SKY["Short.md"]
    steps = both.answer("fetch", "garden", id="Steps.md")
    assert steps["text"].endswith("such as Steps.md#Heading, gives more.\n")
    (moon,) = both.answer("search", "sky", query="telescope craters", limit=1)["results"]
    assert (moon["id"], moon["url"]) == ("Moon.md", "vault://Moon.md")


def test_a_hit_is_short_or_whole(garden: Tools) -> None:
    (short,) = garden.answer("search", query="ripe starter", limit=1)["results"]
    (whole,) = garden.answer("search", query="ripe starter", limit=1, detail="full")["results"]
    assert "A ripe starter." in short["snippet"]
    assert "A ripe starter." in whole["content"]
    assert whole["modified_time"].startswith("20")
    assert set(whole) - set(short) == {"content", "modified_time"}
    assert set(short) - set(whole) == {"snippet"}
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
    ("tool", "given", "said"),
    [
        ("search", {}, "query: is required"),
        ("search", {"q": "pea", "limit": 0}, "limit = 0: "),
        ("search", {"q": "tag:"}, "column 5: tag: needs a value"),
        ("read_note", {"path": None}, "path: is required"),
        ("read_note", {"path": "/etc/passwd"}, "'/etc/passwd' is outside of the vault"),
        ("read_note", {"path": "../../etc/passwd"}, "no such note in the index: '../../etc/passwd'"),
        ("links", {"path": "Nowhere"}, "no such note in the index: 'Nowhere'"),
    ],
)
def test_a_wrong_argument_is_refused_in_one_line(
    garden: Tools, tool: str, given: dict[str, object], said: str
) -> None:
    assert garden.error(tool, **given).startswith(said)
