"""Functions of the user answer cases by name; what they may not do, and what they return."""

import json
import re
from pathlib import Path

import pytest
from eval_lab import FakeService, shown, simple_case, write_case, write_vault
from golden_cases import check_golden

from vault_evals.agents import AgentAnswer, Finding, read_findings
from vault_evals.cases import load_cases
from vault_evals.runner import SuiteOptions, run_suite
from vault_indexer.config.load import load_own
from vault_indexer.errors import ConfigError, UsageError

MODULE = """\
asked = []

def baker(given):
    asked.append(given)
    return [{"source": "Kitchen/Bread.md", "text": given["flour"], "start": 0, "end": 7, "quote": "# Bread"}]

def sourced(given):
    return [{"source": "https://example.org", "text": "rye"}]

def broken(given):
    raise KeyError("the oven is\\ncold")
"""
CASE = """\
id: NAME
agent: baker
layer: LAYER
input: {flour: rye, grams: 500, query: [not, a, text]}
expected: {EXPECTED}
"""


def case(name: str, layer: int, expected: str) -> str:
    return CASE.replace("NAME", name).replace("LAYER", str(layer)).replace("EXPECTED", expected)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "own_bakery.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return "own_bakery"


@pytest.fixture
def service(tmp_path: Path) -> FakeService:
    return FakeService(write_vault(tmp_path / "vault"))


def test_a_function_of_the_user_answers_the_cases_of_its_name(
    service: FakeService, tmp_path: Path, module: str
) -> None:
    cases = tmp_path / "cases"
    write_case(cases, "one", case("one", 1, "must_have_source: Kitchen/Bread.md, must_have_citation: true"))
    write_case(cases, "two", case("two", 2, "expected_citations: [Kitchen/Bread.md]"))
    write_case(cases, "three", case("three", 3, "golden_answer: rye, expected_keywords_any: [wheat]"))
    simple_case(cases, "four")
    options = SuiteOptions(own_agents={"baker": f"{module}:baker", "unused": "no_such_module:f"})
    report = run_suite(service, cases, options=options)
    verdicts = {result.case_id: result.verdict for result in report.results}
    assert verdicts == {"four": "fail", "one": "pass", "two": "pass", "three": "fail"}
    asked = __import__(module).asked
    assert asked[0] == {"flour": "rye", "grams": 500, "query": ["not", "a", "text"]}


def test_an_agent_that_nobody_has_is_an_error_before_any_case(service: FakeService, tmp_path: Path) -> None:
    file = write_case(tmp_path / "cases", "one", case("one", 1, "min_findings: 1"))
    options = SuiteOptions(own_agents=dict.fromkeys(("miller", "cook"), "no_such_module:f"))
    with pytest.raises(UsageError) as error:
        run_suite(service, tmp_path / "cases", options=options)
    known = "search, related, links, ask, cook, miller"
    assert str(error.value) == f"{file}: agent: baker is not one of {known}; evals.agents can define more"


CITES = "must_have_source: https://example.org, must_have_citation: true"


@pytest.mark.parametrize(
    ("text", "function", "reasons"),
    [
        (case("one", 1, "min_findings: 1"), "broken", ("agent baker: KeyError: 'the oven is\\ncold'",)),
        # Without input no function is asked; without keys in it one is.
        (re.sub("input: .*\n", "", case("one", 2, "expected_citations: [Sky.md]")), "broken", ()),
        (re.sub("input: .*", "input: {}", case("one", 1, CITES)), "sourced", ()),
    ],
)
def test_a_function_is_asked_where_there_is_input_and_what_it_raises_is_the_verdict(
    service: FakeService, tmp_path: Path, module: str, text: str, function: str, reasons: tuple[str, ...]
) -> None:
    write_case(tmp_path / "cases", "one", text)
    options = SuiteOptions(own_agents={"baker": f"{module}:{function}"})
    (result,) = run_suite(service, tmp_path / "cases", options=options).results
    assert (result.verdict, result.reasons) == ("error" if reasons else "pass", reasons)


def test_what_a_function_returns_is_read_and_a_refusal_says_what_is_expected() -> None:
    def read(text: str) -> str:
        found = json.loads(text)
        try:
            return shown(read_findings(found))
        except ValueError as refused:
            return f"refused: {refused}"

    check_golden(Path(__file__).parent / "fixtures" / "findings.md", {"": read})


def test_a_function_may_return_our_own_classes_and_an_iterator() -> None:
    answer = AgentAnswer((Finding("A.md", "x"),), "y", declined=True)
    assert read_findings(answer) == answer
    assert read_findings({"findings": [Finding("A.md", "x")], "text": "y", "declined": True}) == answer
    assert read_findings(iter(["A.md"])) == AgentAnswer((Finding("A.md", ""),))


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('search = "m:f"', "must not be one of search, related, links, ask"),
        ('"a b" = "m:f"', "'a b'"),
        (f'"{"a " * 99}" = "m:f"', repr("a " * 30)),
        ('a = ""', "a: "),
    ],
)
def test_names_of_agents_are_checked(tmp_path: Path, table: str, said: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f"[evals.agents]\n{table}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"evals\.agents") as error:
        load_own(file, {})
    assert said in str(error.value)


def test_the_users_configuration_names_agents(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[evals.agents]\nbaker = "own_bakery:baker"\n', encoding="utf-8")
    assert load_own(file, {}).settings.table("evals").agents == {"baker": "own_bakery:baker"}


def test_a_question_of_free_keys_reaches_a_judge_in_words(tmp_path: Path) -> None:
    write_case(tmp_path, "one", case("one", 3, "golden_answer: rye"))
    (one,) = load_cases(tmp_path)
    assert one.question == "flour: rye, grams: 500, query: ['not', 'a', 'text']"
    assert json.loads(json.dumps(one.input.keys))["grams"] == 500
