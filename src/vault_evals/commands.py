"""`indexer eval`: run golden cases, show how their citations drift, keep snapshots of pages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple, cast

import typer

from vault_evals.agents import Agents, EndpointAgents, EvalService
from vault_evals.cases import LAYERS, Layer, load_cases
from vault_evals.drift import DriftReport, accept_drift, drift_issue, drift_json, drift_markdown, find_drift
from vault_evals.meaning import judge_for
from vault_evals.pages import Fetcher, PageSnapshots, cited_urls, fetch_page, hosts_of
from vault_evals.ranking_commands import (
    OutFile,
    ReportOutput,
    generate,
    has_cases,
    judge,
    rank,
    ranking_of_run,
    ranking_text,
    tune_command,
    write_report,
)
from vault_evals.results import Baseline, json_report, markdown_report, summary_line
from vault_evals.runner import SNAPSHOTS, SuiteOptions, run_suite
from vault_evals.tables import EvalsSettings
from vault_indexer.cli.connection.connect import Connection
from vault_indexer.cli.connection.in_process import open_service, target_of
from vault_indexer.cli.output.progress import CaseProgress
from vault_indexer.cli.output.terminal import note
from vault_indexer.cli.parameters import Output, VaultSelection, flatten_parameters
from vault_indexer.errors import UnavailableError, UsageError
from vault_indexer.serve.api.endpoints import STATUS
from vault_indexer.text.control_characters import clean
from vault_indexer.text.phrases import quantity

Live = Annotated[
    bool, typer.Option("--live", help="Check citations against the files and the web as they are now.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Fetch from the hosts in the cases without asking.")]


class CaseFolders(NamedTuple):
    """The folders of cases and of the pages that they cite."""

    cases: Annotated[
        Path,
        typer.Option("--cases", metavar="DIR", help="The folder of cases, which contains l1, l2 and l3."),
    ] = Path("evals")
    snapshots: Annotated[
        Path | None,
        typer.Option("--snapshots", metavar="DIR", help="The folder of snapshots [snapshots in --cases]."),
    ] = None


class JudgeChoice(NamedTuple):
    """The language model of the judge, and its address."""

    judge: Annotated[
        Literal["none", "ollama", "anthropic", "openai"],
        typer.Option(
            "--judge",
            help="The judge of answers that the cosine does not decide; the answers are sent to it.",
        ),
    ] = "none"
    judge_model: Annotated[
        str, typer.Option("--judge-model", metavar="NAME", help="Another model of the judge's provider.")
    ] = ""
    judge_url: Annotated[
        str, typer.Option("--judge-url", metavar="URL", help="Another address of the judge's provider.")
    ] = ""
    judge_key_env: Annotated[
        str,
        typer.Option(
            "--judge-key-env", metavar="NAME", help="The environment variable with the judge's key."
        ),
    ] = ""


def run(  # noqa: PLR0913 - one for each group of options
    selection: VaultSelection,
    output: Output,
    folders: CaseFolders,
    judge: JudgeChoice,
    shown: ReportOutput,
    layer: Annotated[
        str, typer.Option("--layer", metavar="N,N", help="Run these layers only: 1, 2 or 3.")
    ] = "1,2,3",
    live: Live = False,
    yes: Yes = False,
    filter_agent: Annotated[
        list[str] | None,
        typer.Option("--filter-agent", metavar="NAME", help="Run only cases of this agent; may be repeated."),
    ] = None,
    skip_missing: Annotated[
        bool, typer.Option("--skip-missing-snapshots", help="Skip cases that cite a page without a snapshot.")
    ] = False,
    baseline: Annotated[
        Path | None, typer.Option("--baseline", metavar="FILE", help="A JSON report to compare with.")
    ] = None,
) -> int:
    """Run golden cases. The exit status is 1 if one failed or could not be decided."""
    layers = _layers(layer)
    fetch = _fetcher(cited_urls(load_cases(folders.cases)), yes=yes) if live else None
    settings = target_of(selection).config.settings
    evals: EvalsSettings = settings.table("evals")
    options = SuiteOptions(
        files=settings.files,
        agents=filter_agent or (),
        own_agents=evals.agents,
        skip_missing_snapshots=skip_missing,
        live=live,
        fetch=fetch,
        snapshots=folders.snapshots,
        judge=judge_for(
            judge.judge, model=judge.judge_model, url=judge.judge_url, api_key_env=judge.judge_key_env
        ),
        baseline=Baseline.read(baseline) if baseline else None,
    )
    as_json = shown.as_json(output)
    ranks = layers == LAYERS and not filter_agent
    if ranks and not has_cases(folders.cases):
        only_ranking = ranking_of_run(selection, folders.cases)
        if only_ranking is not None:
            write_report(ranking_text(only_ranking, as_json=as_json), shown.out, "--out ")
            return 0
    with _service(selection) as (service, agents), CaseProgress() as progress:
        report = run_suite(
            service, folders.cases, layers=layers, options=options, agents=agents, report=progress.show
        )
    # Only now, because a mistake in a case must not be reported after minutes of ranking.
    ranking = ranking_of_run(selection, folders.cases) if ranks else None
    text = json_report(report) if as_json else markdown_report(report)
    write_report(
        text if ranking is None else ranking_text(ranking, text, as_json=as_json), shown.out, "--out "
    )
    note(summary_line(report.summary))
    if report.summary.nothing_ran:
        note("no case was run: this shows nothing")
    return report.exit_status


def drift(  # noqa: PLR0913 - one for each option
    selection: VaultSelection,
    output: Output,
    folders: CaseFolders,
    report: Annotated[
        Literal["md", "json", "issue"] | None,
        typer.Option("--report", help="The form of the report [md; json with --json]."),
    ] = None,
    out: OutFile = None,
    live: Live = False,
    yes: Yes = False,
    accept: Annotated[
        bool, typer.Option("--accept", help="Write the current values into the case files.")
    ] = False,
) -> int:
    """List the citations that have moved or changed; the exit status is 1 if there are any."""
    target = target_of(selection)
    fetch = _fetcher(cited_urls(load_cases(folders.cases)), yes=yes) if live else None
    options = SuiteOptions(
        files=target.config.settings.files, live=live, fetch=fetch, snapshots=folders.snapshots
    )
    with open_service(target) as service, CaseProgress() as progress:
        found = find_drift(service, folders.cases, options=options, report=progress.show)
    form = report or ("json" if output.json else "md")
    write_report(_DRIFT_REPORTS[form](found), out, "--out ")
    left = accept_drift(found.drifts) if accept else found.drifts
    if accept:
        note(f"{quantity(len(found.drifts) - len(left), 'citation')} refreshed, {len(left)} left")
    return 1 if left or found.errors else 0


def snapshot(
    selection: VaultSelection,
    output: Output,
    folders: CaseFolders,
    yes: Yes = False,
    force: Annotated[
        bool, typer.Option("--force", help="Fetch pages again even if they have a snapshot.")
    ] = False,
) -> int:
    """Fetch the pages that cases cite, those without a snapshot, and keep them for runs without a network."""
    del selection, output  # it needs no vault and prints no data
    cited = cited_urls(load_cases(folders.cases))
    kept = PageSnapshots(folders.snapshots or folders.cases / SNAPSHOTS)
    urls = [url for url in cited if force or not kept.has(url)]
    if len(urls) < len(cited):
        note(f"{quantity(len(cited) - len(urls), 'page')} already fetched; --force fetches again")
    fetch, failed = _fetcher(urls, yes=yes), 0
    for url in urls:
        try:
            page = fetch(url)
        except UnavailableError as error:
            failed += 1
            note(str(error))
            continue
        note(
            f"{url}: {'gone' if page.is_gone else quantity(len(page.text), 'character')}, {kept.write(page)}"
        )
    note(f"{quantity(len(urls), 'page')}, {failed} could not be fetched")
    return 1 if failed else 0


def _fetcher(urls: Sequence[str], *, yes: bool) -> Fetcher:
    """The fetcher of these pages, after the user has agreed to their hosts. Raises UsageError otherwise."""
    if not urls:
        return fetch_page
    hosts = ", ".join(hosts_of(urls))
    asks = f"the cases name {quantity(len(urls), 'page')} of {hosts}"
    if yes:
        note(f"{asks}: fetching")
    elif not sys.stdin.isatty():
        raise UsageError(f"{asks}: add --yes to fetch them")
    elif not typer.confirm(clean(f"{asks}. Fetch them?"), err=True):
        raise UsageError("no page was fetched")
    return fetch_page


@contextmanager
def _service(selection: VaultSelection) -> Iterator[tuple[EvalService, Agents | None]]:
    """The index, and the agents: the daemon if one runs (the index is then opened read-only), else the
    index."""
    connection = Connection(selection)
    if connection.index_dir is None:
        connection.ask(STATUS)  # detects a daemon that does not listen before the first case
    with open_service(target_of(selection)) as service:
        yield service, EndpointAgents(connection) if connection.index_dir is None else None


_DRIFT_REPORTS: Mapping[str, Callable[[DriftReport], str]] = MappingProxyType(
    {"md": drift_markdown, "json": drift_json, "issue": drift_issue}
)


def _layers(text: str) -> tuple[Layer, ...]:
    names = [part.strip() for part in text.split(",")]
    odd = [name for name in names if name not in {str(layer) for layer in LAYERS}]
    if odd:
        raise UsageError(f"--layer {text}: {odd[0]!r} is not a layer; give 1, 2 and 3, separated by commas")
    return tuple(cast("Layer", int(name)) for name in names)


app = typer.Typer(no_args_is_help=True)
app.command("run")(flatten_parameters(run))
app.command("drift")(flatten_parameters(drift))
app.command("snapshot")(flatten_parameters(snapshot))
app.command("rank")(flatten_parameters(rank))
app.command("generate")(flatten_parameters(generate))
app.command("tune")(flatten_parameters(tune_command))
app.command("judge")(flatten_parameters(judge))
