"""Evaluation: golden cases in three layers, their citations and drift, and the report of a run.

`run_suite` is the entry: it asks an index what the cases say and compares the answers with what they expect.
"""

from vault_indexer.evals.agents import (
    AgentAnswer,
    Agents,
    CitedSpan,
    EvalService,
    Finding,
    ServiceAgents,
    read_answer,
)
from vault_indexer.evals.cases import (
    LAYER_FOLDERS,
    LAYERS,
    AgentInput,
    AgentName,
    CitationsExpected,
    ExpectedCitation,
    GoldenCase,
    Layer,
    MeaningExpected,
    StructureExpected,
    load_cases,
)
from vault_indexer.evals.citations import Located, locate
from vault_indexer.evals.drift import (
    Drift,
    DriftReport,
    accept_drift,
    drift_issue,
    drift_json,
    drift_markdown,
    find_drift,
)
from vault_indexer.evals.judges import JUDGES, Judge, Judgement, judge_for
from vault_indexer.evals.links_snapshot import (
    Fetcher,
    LivePages,
    Page,
    PageSnapshots,
    cited_urls,
    fetch_page,
    hosts_of,
)
from vault_indexer.evals.notes import vault_file_check
from vault_indexer.evals.report import json_report, markdown_report, summary_line
from vault_indexer.evals.results import Baseline, LayerResult, SuiteReport
from vault_indexer.evals.runner import SNAPSHOTS, SuiteOptions, run_suite, select_cases

__all__ = [
    "JUDGES",
    "LAYERS",
    "LAYER_FOLDERS",
    "SNAPSHOTS",
    "AgentAnswer",
    "AgentInput",
    "AgentName",
    "Agents",
    "Baseline",
    "CitationsExpected",
    "CitedSpan",
    "Drift",
    "DriftReport",
    "EvalService",
    "ExpectedCitation",
    "Fetcher",
    "Finding",
    "GoldenCase",
    "Judge",
    "Judgement",
    "Layer",
    "LayerResult",
    "LivePages",
    "Located",
    "MeaningExpected",
    "Page",
    "PageSnapshots",
    "ServiceAgents",
    "StructureExpected",
    "SuiteOptions",
    "SuiteReport",
    "accept_drift",
    "cited_urls",
    "drift_issue",
    "drift_json",
    "drift_markdown",
    "fetch_page",
    "find_drift",
    "hosts_of",
    "json_report",
    "judge_for",
    "load_cases",
    "locate",
    "markdown_report",
    "read_answer",
    "run_suite",
    "select_cases",
    "summary_line",
    "vault_file_check",
]
