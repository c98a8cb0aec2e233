"""`indexer eval`: what it refuses before anything is measured, and how it asks a daemon."""

import io
import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from answering_daemon import AnsweringDaemon, AskedFor, Reply, answering_daemon
from cli_sandbox import make
from command_here import CommandHere
from eval_lab import write_case
from golden_cases import check_golden

from vault_evals.agents import EndpointAgents
from vault_evals.cases import AgentInput, AgentName
from vault_evals.pages import Page, PageSnapshots
from vault_evals.questions import Judgements, judged_folder
from vault_indexer.errors import UsageError
from vault_indexer.serve.api.endpoints import ALL_LINKS, ASK, RELATED, SEARCH
from vault_indexer.serve.client import DaemonClient

PAGE = "https://example.org/bread"
CASE = f"""\
id: knead
agent: search
layer: 2
input: {{query: knead}}
expected:
  expected_citations:
    - {{url: "{PAGE}", quote: "Knead"}}
"""


@pytest.fixture
def here(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandHere:
    return CommandHere(make(tmp_path), capsys, monkeypatch)


@pytest.fixture
def daemon() -> Iterator[AnsweringDaemon]:
    with answering_daemon() as made:
        yield made


QUESTION = AgentInput(query="q", note="N.md", question="why?", by_note=True, use_model=False)


@pytest.mark.parametrize(
    ("agent", "question", "asked"),
    [
        ("search", QUESTION, AskedFor(SEARCH.path, {"q": "q", "by": "note"})),
        ("search", AgentInput(query="q", limit=3), AskedFor(SEARCH.path, {"q": "q", "limit": "3"})),
        ("related", QUESTION, AskedFor(RELATED.path, {"path": "N.md"})),
        ("related", AgentInput(note="N.md", limit=3), AskedFor(RELATED.path, {"path": "N.md", "limit": "3"})),
        ("links", QUESTION, AskedFor(ALL_LINKS.path, {"path": "N.md"})),
        ("ask", QUESTION, AskedFor(ASK.path, {"q": "why?", "model": False})),
        ("ask", AgentInput(question="why?", limit=3), AskedFor(ASK.path, {"q": "why?", "limit": 3})),
    ],
)
def test_an_agent_is_asked_by_its_endpoint(
    daemon: AnsweringDaemon, agent: AgentName, question: AgentInput, asked: AskedFor
) -> None:
    body = {"results": [{"path": "A.md", "title": "A"}], "outgoing": [], "backlinks": [], "sentences": []}
    for endpoint in (SEARCH, RELATED, ALL_LINKS, ASK):
        daemon.reply(endpoint, Reply(200, json.dumps({**body, "passages": [], "kind": "quotes"}).encode()))
    answer = EndpointAgents(DaemonClient(daemon.info())).answer(agent, question)
    assert answer.paths == (("A.md",) if agent in ("search", "related") else ())
    assert daemon.requests == [asked]


@pytest.mark.parametrize(
    ("agent", "said"), [("mine", "the daemon does not"), ("status", "not available here")]
)
def test_another_agent_is_no_question_for_the_daemon(daemon: AnsweringDaemon, agent: str, said: str) -> None:
    with pytest.raises(UsageError, match=f"agent {agent}: {said}"):
        EndpointAgents(DaemonClient(daemon.info())).answer(agent, QUESTION)
    assert daemon.requests == []


def test_what_cannot_be_measured_is_refused(here: CommandHere) -> None:
    (here.sandbox.root / "binary").write_bytes(b"\xff")

    def refusal(arguments: str) -> str:
        ran = here.indexer("eval", *shlex.split(arguments))
        assert (ran.code, ran.out) == (2, "")
        return ran.err.strip()

    check_golden(Path(__file__).parent / "fixtures" / "refused.md", {"": refusal})
    assert not here.sandbox.index_dir.exists()


def test_grades_are_taken_from_qrels_and_given_as_qrels(here: CommandHere) -> None:
    judged = Judgements.load(judged_folder(Path("evals")))
    judged.add("bread")
    judged.save()
    [name] = judged.topics
    qrels = f"{name} 0 Kitchen/Bread.md 0\n{name} 0 Welcome.md 2\n"
    (here.sandbox.root / "in.txt").write_text(qrels)
    for changed in ("2 grades changed\n", "0 grades changed\n"):
        taken = here.indexer("eval", "judge", "--qrels-in", "in.txt")
        assert (taken.code, taken.out, taken.err) == (0, "", changed)
    given = here.indexer("eval", "judge", "--qrels-out", "out.txt")
    assert (given.code, given.out, given.err) == (0, "", "")
    assert (here.sandbox.root / "out.txt").read_text() == qrels
    wrong = here.indexer("eval", "rank", "--variants", "rrf,keyword", "--baseline", "zebra")
    said = "indexer: --baseline zebra: it must be one of --variants, rrf,keyword\n"
    assert (wrong.code, wrong.out, wrong.err) == (2, "", said)
    assert not here.sandbox.index_dir.exists()


def test_pages_are_fetched_with_consent_alone(here: CommandHere) -> None:
    write_case(here.sandbox.root / "evals", "l2/knead", CASE)
    ran = here.run("eval", "snapshot")
    said = "indexer: the cases name 1 page of example.org: add --yes to fetch them\n"
    assert (ran.code, ran.out, ran.err) == (2, "", said)
    assert here.run("eval", "snapshot", "--force").err == said
    for command in ("run", "drift"):
        live = here.indexer("eval", command, "--live")
        assert (live.code, live.err) == (2, said)


def test_a_page_that_was_fetched_is_kept(here: CommandHere) -> None:
    write_case(here.sandbox.root / "evals", "l2/knead", CASE)
    PageSnapshots(here.sandbox.root / "evals" / "snapshots").write(
        Page(PAGE, 200, PAGE, "Knead.", "2026-01-01T00:00:00Z")
    )
    ran = here.run("eval", "snapshot")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.splitlines() == [
        "1 page already fetched; --force fetches again",
        "0 pages, 0 could not be fetched",
    ]
    other = here.run("eval", "snapshot", "--snapshots", "other")
    assert (other.code, other.complains("add --yes")) == (2, True)


class TypedText(io.StringIO):
    """What a person types at a terminal."""

    def isatty(self) -> bool:
        return True


INNER = CASE.replace(PAGE, "http://127.0.0.1:9/bread")


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        ("n\n", 2, "indexer: no page was fetched"),
        ("\n", 2, "indexer: no page was fetched"),
        ("y\n", 1, "1 page, 1 could not be fetched"),
    ],
)
def test_a_person_at_a_terminal_is_asked(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch, typed: str, code: int, said: str
) -> None:
    write_case(here.sandbox.root / "evals", "l2/knead", INNER)
    monkeypatch.setattr("sys.stdin", TypedText(typed))
    ran = here.run("eval", "snapshot")
    assert (ran.code, ran.out.strip()) == (code, "")
    assert ran.err.startswith("the cases name 1 page of 127.0.0.1:9. Fetch them? [y/N]:")
    assert ran.err.rstrip().endswith(said)
    assert ("only public addresses" in ran.err) == (typed == "y\n")


def test_who_agrees_beforehand_is_not_asked(here: CommandHere) -> None:
    two = INNER.replace("expected_citations:\n", "expected_citations:\n    - http://127.0.0.1:8/water\n")
    write_case(here.sandbox.root / "evals", "l2/knead", two)
    PageSnapshots(here.sandbox.root / "evals" / "snapshots").write(
        Page("http://127.0.0.1:8/water", 404, PAGE, "", "2026-01-01T00:00:00Z")
    )
    ran = here.run("eval", "snapshot", "--yes")
    assert (ran.code, ran.out) == (1, "")
    first, fetching, failed, last = ran.err.splitlines()
    assert first == "1 page already fetched; --force fetches again"
    assert fetching == "the cases name 1 page of 127.0.0.1:9: fetching"
    assert failed.startswith("http://127.0.0.1:9/bread: cannot be fetched: ")
    assert last == "1 page, 1 could not be fetched"
    forced = here.run("eval", "snapshot", "--yes", "--force").err.splitlines()
    assert forced[0] == "the cases name 2 pages of 127.0.0.1:8, 127.0.0.1:9: fetching"
    assert forced[-1] == "2 pages, 2 could not be fetched"
