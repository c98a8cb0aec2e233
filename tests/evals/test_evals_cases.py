"""Golden cases are read from folders of layers; one that is not valid names its file and key."""

from pathlib import Path

import pytest
from eval_lab import simple_case, write_case

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


def good(old: str, new: str = "") -> str:
    """The case of a search with this part replaced."""
    assert old in GOOD
    return GOOD.replace(old, new)


PATHS = "expected_paths: [Bread.md]"
QUERY = "query: rye bread"


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (good("id: rye", "id: rye bread"), ["id: "]),
        (good("id: rye\n"), ["id: Field required"]),
        (good("layer: 1", "layer: '1'").replace("id: rye", "id: a/b"), ["id: "]),
        (good("agent: search", "agent: find"), ["agent: "]),
        (good("layer: 1", "layer: 4"), ["layer: "]),
        (good("layer: 1", "layer: 3"), ["expected.golden_answer: ", "expected.expected_paths: "]),
        (good(QUERY, "limit: 1"), ["input.query: is missing"]),
        (good(QUERY, "query: a, question: b, note: c"), ["input.note: ", "input.question: "]),
        (good(QUERY, "query: a, limit: '3'"), ["input.limit: "]),
        (good(QUERY, "query: a, limit: 201"), ["input.limit: "]),
        (good(QUERY, "query: a, limit: -1"), ["input.limit: "]),
        (good(QUERY, "query: a, by_note: 1"), ["input.by_note: "]),
        (good("agent: search", "agent: baker").replace("input: {query: rye bread}\n", ""), ["input: "]),
        (
            good("expected_paths", "expected_path"),
            ["expected.expected_path: unknown key; did you mean expected_paths?"],
        ),
        (good(PATHS, "min_findings: 0"), ["expected.min_findings: "]),
        (good(PATHS, "min_findings: '3'"), ["expected.min_findings: "]),
        (good(PATHS, "must_have_citation: false"), ["expected.must_have_citation"]),
        (good(PATHS, "expected_paths: []"), ["expected: contains no check"]),
        (good(PATHS), ["expected: contains no check"]),
        (good(PATHS, "expected_in_top_k: 3"), ["expected.expected_in_top_k: "]),
        (good("[Bread.md]", "[Bread.md], expected_empty: true"), ["expected.expected_empty: "]),
        (good("[Bread.md]", "Bread.md"), ["expected.expected_paths: "]),
        (
            OF_LINKS.replace(PATHS, "expected_paths: [A], expected_in_top_k: 1"),
            ["expected.expected_paths: ", "expected.expected_in_top_k: "],
        ),
        (OF_LINKS.replace(PATHS, "must_have_citation: true"), ["expected.must_have_citation: "]),
        (OF_LINKS.replace("layer: 1", "layer: 3").replace(PATHS, "golden_answer: a"), ["agent: links "]),
        (
            good(PATHS, "support_phrases: [a]")
            .replace("layer: 1", "layer: 2")
            .replace("input: {query: rye bread}\n", ""),
            ["input.query: is missing"],
        ),
        (GOOD + "metadata: {language: [de]}\n", ["metadata.language: "]),
        (GOOD + "metadata: {vault: 1, language: 2}\n", ["metadata.vault: ", "metadata.language: "]),
        (GOOD + "id: again\n", ["id: this key is given twice"]),
        (good("[Bread.md]", "[A], expected_paths: [B]"), ["expected_paths: this key is given twice"]),
        (GOOD + "surplus: 1\n", ["surplus: unknown key"]),
        (GOOD + "x: &a 1\n", ["x: "]),
        (GOOD + "x: *a\n", ["no anchor `&a` before `*a`"]),
        (GOOD + "x: {a: [{b: 1,\n  b: 2}]}\n", ["b: this key is given twice"]),
        ("id: [\n", ["not valid YAML"]),
        ("- a\n", ["not a list of properties"]),
        (CITED.replace("path: Bread.md, ", ""), ["expected_citations.0.path: "]),
        (CITED.replace("quote: Knead it", "quote: '  '"), ["expected_citations.0.quote: "]),
        (CITED.replace("quote: Knead it", "heading: A"), ["expected_citations.0.quote: "]),
        (CITED.replace("quote:", "start: 3, quote:"), ["expected_citations.0.start: "]),
        (CITED.replace("quote:", "end: 7, quote:"), ["expected_citations.0.start: "]),
        (CITED.replace("quote:", "start: 3, end: 9, quote:"), ["expected_citations.0.end: 9 - 3 is 6"]),
        (CITED.replace("quote:", f"sha256: {'0' * 64}, quote:"), ["expected_citations.0.sha256: "]),
        (CITED.replace("quote:", "start: 3, end: 10, sha256: x, quote:"), ["expected_citations.0.sha256: "]),
        (CITED.replace("path: Bread.md", "url: 'ftp://example.org'"), ["expected_citations.0.url: "]),
        (CITED.replace("quote:", "url: 'http://example.org', quote:"), ["expected_citations.0.path: "]),
        (CITED.replace("path: Bread.md", "url: 'https://a.b', block: x"), ["url: "]),
        (CITED.replace("path: Bread.md", "url: 'https://a.b', heading: ''"), ["url: "]),
        (CITED.replace("path: Bread.md", "url: 'https://a.b', start: 0, end: 8"), ["url: "]),
        (CITED.replace("agent: search", "agent: links\ninput: {note: A}"), ["agent: links"]),
        (CITED.replace("    - {path: Bread.md, quote: Knead it}", "    []"), ["expected: contains no check"]),
    ],
)
def test_each_mistake_is_a_line_with_the_file_and_the_key(tmp_path: Path, text: str, keys: list[str]) -> None:
    file = write_case(tmp_path, "bad", text)
    with pytest.raises(UsageError) as error:
        load_cases(tmp_path, own_agents=("baker",) if "baker" in text else ())
    lines = str(error.value).splitlines()
    assert [line for line in lines if not line.startswith(str(file))] == []
    assert [[key for key in keys if key in line] for line in lines] == [[key] for key in keys]


def refusal(folder: Path) -> str:
    with pytest.raises(UsageError) as error:
        load_cases(folder)
    return str(error.value)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"l1/bad": b"id: \xff"}, ["{0}/l1/bad.yaml: cannot be read: "]),
        (
            {"l1/a": good("layer: 1", "layer: 9").encode(), "l1/b": good("search", "9").encode()},
            ["{0}/l1/a.yaml: layer:", "{0}/l1/b.yaml: agent:"],
        ),
        ({"l1/l3/case": GOOD.encode()}, ["{0}/l1/l3/case.yaml: ", "l1, l2 or l3"]),
        (
            {"l3/case": GOOD.encode()},
            ["{0}/l3/case.yaml: layer: 1, but the file lies in the folder l3"],
        ),
        (
            {"l1/a": GOOD.encode(), "l1/b": GOOD.encode()},
            ["{0}/l1/b.yaml: id: rye is the id of {0}/l1/a.yaml, too"],
        ),
        ({"bad": (GOOD + "x: *a\n").encode()}, ["{0}/bad.yaml:6: "]),
        ({}, ["no cases in {0}"]),
    ],
)
def test_files_that_cannot_be_cases_are_named_all_at_once(
    tmp_path: Path, files: dict[str, bytes], said: list[str]
) -> None:
    for name, content in files.items():
        write_case(tmp_path, name, "").write_bytes(content)
    refused = refusal(tmp_path)
    assert [part for part in said if part.format(tmp_path) not in refused] == []
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


@pytest.mark.parametrize(
    "text",
    [
        OF_LINKS.replace("expected_paths: [Bread.md]", "must_have_source: [A.md]"),
        GOOD.replace("expected_paths: [Bread.md]", "must_have_citation: true, expected_paths: [A]"),
        GOOD.replace("expected_paths: [Bread.md]", "expected_empty: true"),
        GOOD.replace("expected_paths: [Bread.md]", "expected_paths: [A], expected_in_top_k: 200"),
        GOOD.replace("agent: search", "agent: baker"),
        CITED.replace("agent: search", "agent: links"),
        CITED.replace("quote:", "start: 3, end: 11, quote:"),
        CITED.replace("path: Bread.md, quote: Knead it", "url: 'https://a.b/c'"),
        CITED.replace(", quote: Knead it", ""),
        GOOD.replace("layer: 1", "layer: '1'"),
        GOOD.replace("layer: 1", "layer: L1"),
    ],
)
def test_what_goes_together_is_a_case(tmp_path: Path, text: str) -> None:
    write_case(tmp_path, "good", text)
    (case,) = load_cases(tmp_path)
    assert case.id == "rye"
    assert case.layer == (1 if "layer: 2" not in text else 2)


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


def test_agents_of_the_user_are_known_by_name(tmp_path: Path) -> None:
    file = write_case(tmp_path, "good", GOOD.replace("agent: search", "agent: baker"))
    assert load_cases(tmp_path, own_agents=("baker",))[0].agent == "baker"
    with pytest.raises(UsageError) as error:
        load_cases(tmp_path, own_agents=("miller", "cook"))
    known = "search, related, links, ask, cook, miller"
    assert str(error.value) == f"{file}: agent: baker is not one of {known}; evals.agents can define more"


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
