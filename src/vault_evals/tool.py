"""`run_eval`: a tool for agents that runs golden cases of the vault."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from vault_evals.cases import LAYERS, Layer
from vault_evals.citations import vault_file_check
from vault_evals.results import json_report
from vault_evals.runner import SuiteOptions, run_suite
from vault_evals.tables import EvalsSettings
from vault_indexer.contract.parameters import Parameter, Value
from vault_indexer.daemon.assembly import Target
from vault_indexer.errors import UsageError
from vault_indexer.model import JsonValue
from vault_indexer.serve.api.endpoints import STATUS, Endpoint
from vault_indexer.serve.mcp.protocol import PATH
from vault_indexer.serve.mcp.views import LONG_TIMEOUT_S, OFFSET, ExtensionTool, ToolView
from vault_indexer.service import VaultService
from vault_indexer.system import record
from vault_indexer.vault import resolve_in_vault

_LAYERS = re.compile(r"[123](,[123])*")


@record
class EvalReport:
    """The report of an evaluation; `results` has an entry for each case."""

    layers_run: tuple[int, ...]
    summary: Mapping[str, JsonValue]
    results: tuple[Mapping[str, JsonValue], ...]


RUN_EVAL = ToolView(
    endpoint=Endpoint(
        name="run_eval",
        method="POST",
        path=PATH,
        help="Run golden cases of the vault, layers 1 and 2 by default.",
        own_parameters=(
            Parameter(name="cases_root", holds="note", default="evals", help=""),
            Parameter(name="snapshots_root", holds="note", default="", help=""),
            Parameter(name="layers", default="1,2", help=""),
            Parameter(name="live", kind=bool, default=False, help=""),
            Parameter(name="agent", default="", max_chars=128, help=""),
            OFFSET,
        ),
        answer="vault_evals.tool:EvalReport",
        answer_help="The report.",
    ),
    row=STATUS,
    lists=("results",),
    listed="layers",
    listed_values=(1, 2, 3),
    timeout_s=LONG_TIMEOUT_S,
)


@record
class EvalRequest:
    """The golden cases that an agent requests to run. Both folders are in the vault; without `snapshots`, it
    is the folder of the cases. `agent` "" means the cases of all agents."""

    cases: Path
    snapshots: Path | None
    layers: tuple[int, ...]
    live: bool
    agent: str


def run_eval(target: Target, service: VaultService, arguments: Mapping[str, Value]) -> dict[str, JsonValue]:
    """The report for an agent. Only files of the vault are read, and no user functions are called. Raises
    VaultIndexerError."""
    request = eval_request(service.vault, arguments)
    settings = target.config.settings
    evals: EvalsSettings = settings.table("evals")
    options = SuiteOptions(
        files=settings.files,
        agents=[request.agent] if request.agent else (),
        own_agents=evals.agents,
        asks_own_agents=False,
        live=request.live,
        snapshots=request.snapshots,
        may_read=vault_file_check(service.vault, settings.files),
    )
    layers: list[Layer] = [layer for layer in LAYERS if layer in request.layers]
    report = run_suite(service, request.cases, layers=layers, options=options)
    return shown_report(json.loads(json_report(report)))


def eval_request(vault: Path, arguments: Mapping[str, Value]) -> EvalRequest:
    layers = str(arguments["layers"]).replace(" ", "")
    if not _LAYERS.fullmatch(layers):
        raise UsageError(f"layers = {layers[:40]!r}: give 1, 2 and 3, separated by commas")
    return EvalRequest(
        _folder(vault, arguments, "cases_root"),
        _folder(vault, arguments, "snapshots_root") if arguments["snapshots_root"] else None,
        tuple(sorted({int(layer) for layer in layers.split(",")})),
        live=bool(arguments["live"]),
        agent=str(arguments["agent"]),
    )


def shown_report(report: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: report[name] for name in ("layers_run", "summary", "results")}


def _folder(vault: Path, arguments: Mapping[str, Value], name: str) -> Path:
    """The folder of the vault that an argument names. Raises VaultIndexerError for any other folder."""
    given = str(arguments[name])
    folder = resolve_in_vault(vault, given.strip().rstrip("/"))
    if not folder.is_dir():
        raise UsageError(f"{name} = {given[:200]!r}: no such folder in the vault")
    return folder


TOOLS = (ExtensionTool(RUN_EVAL, run_eval),)
