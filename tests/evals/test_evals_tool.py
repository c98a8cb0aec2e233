"""The tool `run_eval`: what an agent may ask for, and what it gets."""

import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from golden_cases import check_golden
from mcp.client.client import Client
from mcp_clients import structured
from mcp_types import CallToolResult
from waiting import DEADLINE_S

from vault_evals.tool import RUN_EVAL, EvalRequest, eval_request, shown_report
from vault_indexer.errors import UsageError, VaultIndexerError
from vault_indexer.model import DaemonState, IndexCounts, JsonValue, StatusReport
from vault_indexer.serve.api.respond import AgentActions, AnswerContext
from vault_indexer.serve.mcp.server import make_tools, server_with
from vault_indexer.serve.mcp.tools import checked_arguments, input_schema
from vault_indexer.service import VaultService
from vault_indexer.vaults import Vaults

EvalRunner = Callable[[EvalRequest], Mapping[str, JsonValue]]


class FolderService:
    """The part of the service that `run_eval` asks."""

    def __init__(self, vault: Path) -> None:
        self.vault = vault
        self._status = StatusReport(str(vault), "", "", 1, 1, 0, IndexCounts(0, 0, 0, 0))

    def status(self) -> StatusReport:
        return self._status


def run_eval(
    vault: Path, runner: EvalRunner, given: Mapping[str, object], timeout_s: float = DEADLINE_S
) -> CallToolResult:
    """The answer of the tool, where `runner` runs the cases."""
    service = cast("VaultService", FolderService(vault))
    actions = AgentActions(
        tools={"run_eval": lambda arguments: shown_report(runner(eval_request(vault, arguments)))}
    )
    context = AnswerContext(Vaults.of(service), DaemonState(), actions_of=lambda _: actions)

    async def run() -> CallToolResult:
        tools = make_tools(context, [replace(RUN_EVAL, timeout_s=timeout_s)], timeout_s)
        async with Client(server_with(tools, context, timeout_s)) as client:
            return await client.call_tool("run_eval", dict(given))

    return anyio.run(run)


def test_an_evaluation_runs_in_a_folder_of_the_vault_and_its_report_comes_in_pages(tmp_path: Path) -> None:
    (tmp_path / "cases").mkdir()
    asked: list[object] = []

    def runner(request: EvalRequest) -> Mapping[str, JsonValue]:
        asked.append(request)
        results: list[JsonValue] = [
            {"case_id": f"{n}", "verdict": "pass", "reasons": ["x " * 200]} for n in range(60)
        ]
        return {
            "started_at": "now",
            "layers_run": list(request.layers),
            "summary": {"pass": 60},
            "results": results,
        }

    first = structured(run_eval(tmp_path, runner, {"cases_root": "cases", "layers": [2, 1]}))
    assert asked == [EvalRequest(tmp_path / "cases", None, (1, 2), live=False, agent="")]
    assert (first["summary"], first["layers_run"], "started_at" in first) == ({"pass": 60}, [1, 2], False)
    following = {"cases_root": "cases", "layers": "2, 1", "offset": first["next_offset"]}
    second = structured(run_eval(tmp_path, runner, following))
    assert second["results"][0]["case_id"] == str(len(first["results"]))
    assert asked[0] == asked[1]


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"cases_root": "../cases"}, "not a path in the vault"),
        ({"cases_root": "cases", "layers": [True]}, "give 1, 2 and 3"),
        ({"cases_root": "cases", "layers": [3]}, "the judge is not set"),
        ({"cases_root": "cases", "layers": [2]}, "internal error: see the daemon's log"),
    ],
)
def test_an_evaluation_that_cannot_run_says_why_in_one_line(
    tmp_path: Path, given_: dict[str, object], said: str
) -> None:
    (tmp_path / "cases").mkdir()

    def runner(request: EvalRequest) -> Mapping[str, JsonValue]:
        if request.layers == (3,):
            raise UsageError("the judge is\nnot set")
        raise KeyError("secret")

    result = run_eval(tmp_path, runner, given_)
    assert result.is_error
    assert result.content[0].type == "text"
    assert said in result.content[0].text
    assert "\n" not in result.content[0].text
    assert "secret" not in result.content[0].text


def test_an_answer_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "cases").mkdir()
    ended = threading.Event()

    def runner(request: EvalRequest) -> Mapping[str, JsonValue]:
        ended.wait(DEADLINE_S)
        return {}

    try:
        result: Any = run_eval(tmp_path, runner, {"cases_root": "cases"}, 0.05)
        assert result.content[0].text == "no answer within 0.05 seconds"
    finally:
        ended.set()


@pytest.mark.posix("symbolic links")
def test_layers_and_folders_that_there_are_not_are_named(tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "a.md").write_text("")
    (tmp_path / "out").symlink_to("/etc")

    def refusal(given: str) -> str:
        arguments = json.loads(re.sub(r"(\w)\{(\d+)\}", lambda found: found[1] * int(found[2]), given))
        with pytest.raises(VaultIndexerError) as refused:
            eval_request(tmp_path, checked_arguments(RUN_EVAL, arguments))
        return str(refused.value)

    check_golden(Path(__file__).parent / "fixtures" / "tool.md", {"": refusal})


def test_an_agent_chooses_folders_layers_agent_and_the_files_as_they_are_now(tmp_path: Path) -> None:
    properties = cast("dict[str, dict[str, Any]]", input_schema(RUN_EVAL)["properties"])
    assert properties["layers"] == {"type": "array", "items": {"enum": [1, 2, 3]}}
    for name in ("evals", "pages"):
        (tmp_path / name).mkdir()
    given = {"cases_root": " evals/ ", "snapshots_root": "pages", "layers": [3, 1], "live": True}
    assert [
        eval_request(tmp_path, checked_arguments(RUN_EVAL, arguments))
        for arguments in ({}, {"layers": None}, {**given, "agent": "ask"})
    ] == [
        EvalRequest(tmp_path / "evals", None, (1, 2), live=False, agent=""),
        EvalRequest(tmp_path / "evals", None, (1, 2), live=False, agent=""),
        EvalRequest(tmp_path / "evals", tmp_path / "pages", (1, 3), live=True, agent="ask"),
    ]
