"""Golden cases are read from folders of layers; one that is not valid names its file and key."""

from functools import partial
from pathlib import Path

import pytest
from eval_lab import simple_case, write_case
from golden_cases import check_golden, of_parts

from vault_evals.cases import CitationsExpected, StructureExpected, load_cases
from vault_indexer.errors import UsageError

GOOD = """\
id: rye
agent: search
layer: 1
input: {query: rye bread}
expected: {expected_paths: [Bread.md]}
"""
CITED = """\
id: rye
agent: search
layer: 2
expected:
  expected_citations:
    - {path: Bread.md, quote: Knead it}
"""


def test_cases_are_read_from_folders_of_layers_at_any_depth(tmp_path: Path) -> None:
    simple_case(tmp_path, "one")
    simple_case(tmp_path / "demo", "two")
    write_case(tmp_path, "demo/L2/deep/three", CITED)
    write_case(tmp_path, "snapshots/l1/other", "no: case")
    write_case(tmp_path, "ranking/l1/other", "no: case")
    (tmp_path / "README.md").write_text("# Cases")
    cases = load_cases(tmp_path)
    assert [(case.id, case.layer) for case in cases] == [("rye", 2), ("two", 1), ("one", 1)]
    assert isinstance(cases[0].expected, CitationsExpected)
    assert isinstance(cases[1].expected, StructureExpected)
    assert cases[1].expected.expected_paths == ("Sky.md",)
    assert [case.id for case in load_cases(tmp_path / "l1")] == ["one"], "the folder of one layer"


OF_LINKS = GOOD.replace("agent: search", "agent: links").replace("query: rye bread", "note: A.md")


def test_a_case_is_read_or_each_mistake_is_a_line_with_the_file_and_the_key(tmp_path: Path) -> None:
    def read(base: str, *changes: str) -> str:
        for old, new in zip(changes[::2], changes[1::2], strict=True):
            assert old in base
            base = base.replace(old, new)
        file = write_case(tmp_path, "case", base)
        try:
            (case,) = load_cases(tmp_path, own_agents=("baker",))
        except UsageError as error:
            lines = str(error).splitlines()
            assert all(line.startswith(str(file)) for line in lines)
            return " / ".join(line.removeprefix(f"{file}").removeprefix(": ") for line in lines)
        return f"{case.id} of layer {case.layer}"

    check_golden(
        Path(__file__).parent / "fixtures" / "cases.md",
        {
            "Layer 1": of_parts(partial(read, GOOD)),
            "Layer 1 of links": of_parts(partial(read, OF_LINKS)),
            "Layer 2": of_parts(partial(read, CITED)),
            "Other files": read,
        },
    )
    write_case(tmp_path, "case", GOOD.replace("search", "baker"))
    assert load_cases(tmp_path)[0].agent == "baker", "it is not said which agents there are"


def refusal(folder: Path) -> str:
    with pytest.raises(UsageError) as error:
        load_cases(folder)
    return str(error.value)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"l1/bad": b"id: \xff"}, ["{0}/l1/bad.yaml: cannot be read: "]),
        (
            {"l1/a": GOOD.replace("1", "9").encode(), "l1/b": GOOD.replace("search", "9").encode()},
            ["{0}/l1/a.yaml: layer:", "{0}/l1/b.yaml: agent:"],
        ),
        ({"l1/l3/case": GOOD.encode()}, ["{0}/l1/l3/case.yaml: ", "l1, l2 or l3"]),
        ({"l3/case": GOOD.encode()}, ["{0}/l3/case.yaml: layer: 1, but the file lies in the folder l3"]),
        (
            {"l1/a": GOOD.encode(), "l1/b": GOOD.encode()},
            ["{0}/l1/b.yaml: id: rye is the id of {0}/l1/a.yaml, too"],
        ),
        ({"bad": (GOOD + "x: *a\n").encode()}, ["{0}/bad.yaml:6: "]),
        ({"bad": b"id: [\n"}, ["{0}/bad.yaml:2: not valid YAML"]),
        ({}, ["no cases in {0}"]),
    ],
)
def test_files_that_cannot_be_cases_are_named_all_at_once(
    tmp_path: Path, files: dict[str, bytes], said: list[str]
) -> None:
    for name, content in files.items():
        write_case(tmp_path, name, "").write_bytes(content)
    refused = refusal(tmp_path).replace("\\", "/")
    assert [part for part in said if part.format(tmp_path.as_posix()) not in refused] == []
    assert "no folder of cases" in refusal(tmp_path / "missing")


def test_what_other_suites_write_is_understood(tmp_path: Path) -> None:
    (tmp_path / "any" / "depth").mkdir(parents=True)
    (tmp_path / "any" / "depth" / "one.yaml").write_text(
        "id: one\nagent: search\nlayer: l1\ninput: {query: rye, language: de, persona: baker}\n"
        "expected: {must_have_source: Rye.md}\n",
        encoding="utf-8",
    )
    (tmp_path / "two.yml").write_text(
        "id: two\nagent: ask\nlayer: L2\ninput: {question: 'Which flour?'}\n"
        "expected:\n  expected_citations: [Rye.md, 'https://example.org/rye']\n",
        encoding="utf-8",
    )
    one, two = load_cases(tmp_path)
    assert (one.layer, one.language, one.input.query) == (1, "de", "rye")
    assert one.expected.must_have_source == ("Rye.md",)  # type: ignore[union-attr]  # layer 1
    cited = two.expected.expected_citations  # type: ignore[union-attr]  # layer 2
    assert [(citation.path, citation.url) for citation in cited] == [
        ("Rye.md", ""),
        ("", "https://example.org/rye"),
    ]


def test_files_that_are_no_cases_are_passed_over(tmp_path: Path) -> None:
    write_case(tmp_path, "good", GOOD)
    write_case(tmp_path, ".hidden/bad", "no: case")
    write_case(tmp_path, ".bad", "no: case")
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "notes.md").write_text("no: case")
    (tmp_path / "OTHER.YML").write_bytes(GOOD.replace("id: rye", "id: other").encode("utf-8-sig"))
    assert [case.id for case in load_cases(tmp_path)] == ["other", "rye"]


def test_a_file_that_may_not_be_read_is_an_error(tmp_path: Path) -> None:
    file = write_case(tmp_path, "good", GOOD)
    with pytest.raises(UsageError) as error:
        load_cases(tmp_path, may_read=lambda one: one != file)
    assert str(error.value) == f"{file}: is outside the vault, excluded, or too large"


def test_what_a_case_says_of_itself_counts_over_its_input(tmp_path: Path) -> None:
    text = GOOD.replace("query: rye bread", "query: rye, language: de, persona: x")
    write_case(tmp_path, "one", text + "metadata: {language: en, vault: home}\n")
    (case,) = load_cases(tmp_path)
    assert (case.language, case.vault, case.question) == ("en", "home", "rye")
    assert case.input.keys == {"query": "rye", "language": "de", "persona": "x"}
    assert (case.asks, case.input.is_empty) == (True, False)
    write_case(tmp_path, "one", CITED)
    (silent,) = load_cases(tmp_path)
    assert (silent.asks, silent.input.is_empty, silent.language, silent.vault) == (False, True, "", "")
