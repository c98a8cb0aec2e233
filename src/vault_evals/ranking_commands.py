"""`indexer eval rank`, `generate`, `tune` and `judge`: measures ranking quality on the user's own vault."""

from __future__ import annotations

import json
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, NoReturn, cast

import typer

from vault_evals.cases import LAYER_FOLDERS
from vault_evals.comparison import RankingReport, as_markdown, compare, source_of
from vault_evals.comparison import as_json as ranking_json
from vault_evals.generate import DEFAULT_PER_KIND, choose_questions, survey_vault
from vault_evals.questions import (
    GRADES,
    Judgements,
    generated_file,
    judged_folder,
    load_questions,
    read_clicks,
    read_qrels,
    read_text,
    write_questions,
)
from vault_evals.ranking import DEFAULT_K, POOL_DEPTH, pool_of, pooled_notes, run_ranking
from vault_evals.tune import Tuning, apply, tune, tuning_variants
from vault_evals.variants import DEFAULT_VARIANTS, own_index, parse_variants
from vault_indexer.cli.connection.in_process import check_limits, target_of
from vault_indexer.cli.output.progress import showing
from vault_indexer.cli.output.terminal import note, print_json
from vault_indexer.cli.parameters import Output, VaultSelection, complete_strategy
from vault_indexer.contract.codec import encode
from vault_indexer.daemon.assembly import Target
from vault_indexer.errors import UsageError
from vault_indexer.model import Progress
from vault_indexer.search import Searcher
from vault_indexer.store import Snapshot
from vault_indexer.system import write_atomically
from vault_indexer.text.control_characters import clean, json_text
from vault_indexer.text.phrases import quantity

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import ProgressJson


# Code shared by the commands of `indexer eval`: the format and the destination of a report.


OutFile = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Write the report to this file instead of the terminal."),
]


class ReportOutput(NamedTuple):
    """The format and the destination of a report."""

    report: Annotated[
        Literal["md", "json"] | None,
        typer.Option("--report", help="The form of the report [md; json with --json]."),
    ] = None
    out: OutFile = None

    def as_json(self, output: Output) -> bool:
        """Whether JSON is requested: by `--report`, else by `--json`."""
        return self.report == "json" or (self.report is None and output.json)


def write_report(text: str, file: Path | None, named: str = "") -> None:
    """Writes to the file, or to standard output if there is none. Raises UsageError if the file cannot be
    written; the message names it after `named`."""
    if file is None:
        sys.stdout.write(text)
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, text.encode(), mode=0o644)
    except OSError as error:
        raise UsageError(f"{named}{file}: cannot be written: {error.strerror or error}") from error


MOST_FAILURES = 125
"""The largest exit status that is a number of failures; a shell uses those above."""

NOTHING_SHOWN = 1
"""The exit status if no question was run, which must not look like a success."""

_ENDED = 143
"""The shell's exit status of a program ended by SIGTERM."""

_READ_EVERY = 1000


Cases = Annotated[
    Path, typer.Option("--cases", metavar="DIR", help="The folder of cases, which contains ranking.")
]


class Questions(NamedTuple):
    """The selected questions, and the number of notes of an answer that count."""

    cases: Cases = Path("evals")
    k: Annotated[
        int, typer.Option("-k", min=1, max=100, help="The number of notes of an answer to evaluate.")
    ] = DEFAULT_K


def rank(  # noqa: PLR0913 - one for each group of options
    selection: VaultSelection,
    output: Output,
    questions: Questions,
    shown: ReportOutput,
    variants: Annotated[
        str,
        typer.Option("--variants", metavar="NAME,…", help="The variants to compare: rrf,recursive+keyword."),
    ] = ",".join(DEFAULT_VARIANTS),
    baseline: Annotated[
        str, typer.Option("--baseline", metavar="NAME", help="The variant to compare with [the first].")
    ] = "",
    min_lift_pct: Annotated[
        float | None,
        typer.Option(
            "--min-lift-pct", help="Fail a variant unless it is significantly better by this percentage."
        ),
    ] = None,
) -> int:
    """Measure how well configurations rank. With --min-lift-pct, the exit status is how many fail, over all
    questions or in a language."""
    asked = load_questions(questions.cases)
    if not asked:
        raise UsageError(f"no questions in {questions.cases}/ranking: run `indexer eval generate` or `judge`")
    chosen = parse_variants(variants.split(","))
    if baseline and baseline not in {one.name for one in chosen}:
        raise UsageError(f"--baseline {baseline}: it must be one of --variants, {variants}")
    with _ending_cleanly(), _progress() as report:
        run = run_ranking(target_of(selection), asked, chosen, k=questions.k, report=report, say=note)
    found = compare(run, baseline, min_lift_pct)
    as_data = shown.as_json(output)
    write_report(ranking_json(found) + "\n" if as_data else as_markdown(found), shown.out)
    if not found.slices:
        note("all questions are stale: nothing was measured")
    return exit_status_of(found)


def exit_status_of(report: RankingReport) -> int:
    """The number of variants that fail, capped to an exit status. A report without questions is not a
    success."""
    return min(len(report.failures), MOST_FAILURES) if report.slices else NOTHING_SHOWN


def generate(
    selection: VaultSelection,
    output: Output,
    cases: Cases = Path("evals"),
    per_kind: Annotated[
        int,
        typer.Option("--per-kind", min=1, max=10_000, help="The maximum number of questions of each kind."),
    ] = DEFAULT_PER_KIND,
) -> None:
    """Generate questions from headings and link texts of the vault. A search does not see the text of its
    question."""
    target = target_of(selection)

    def say(done: int, total: int) -> None:
        if total and (done % _READ_EVERY == 0 or done == total):
            note(f"reading: {done:,}/{quantity(total, 'note')}")

    made = choose_questions(survey_vault(target, say), per_kind)
    file = generated_file(cases)
    write_questions(file, made)
    counts = Counter((one.kind, one.part) for one in made)
    if output.json:
        by_part = [{"kind": kind, "part": part, "questions": size} for (kind, part), size in counts.items()]
        print_json({"file": str(file), "questions": len(made), "parts": by_part})
        return
    for (kind, part), size in sorted(counts.items()):
        sys.stdout.write(f"{kind}, {part}: {size}\n")
    note(f"wrote {quantity(len(made), 'question')} to {file}")


def tune_command(
    selection: VaultSelection,
    output: Output,
    questions: Questions,
    source: Annotated[
        Literal["generated", "judged", "clicked"], typer.Option("--from", help="The questions to tune on.")
    ] = "generated",
    strategies: Annotated[
        str,
        typer.Option(
            "--strategies",
            metavar="NAME,…",
            autocompletion=complete_strategy,
            help="Also try these chunking strategies.",
        ),
    ] = "",
    write: Annotated[
        bool, typer.Option("--apply", help="Write the choice into the vault's .indexer.toml.")
    ] = False,
) -> None:
    """Choose weights, fusion and strategy on one half of the questions, and show the other half."""
    target = target_of(selection)
    asked = [one for one in load_questions(questions.cases) if source_of(one) == source]
    if not asked:
        raise UsageError(f"no {source} questions in {questions.cases}/ranking")
    variants = tuning_variants([name for name in strategies.split(",") if name])
    with _ending_cleanly(), _progress() as report:
        found = tune(target, asked, variants, k=questions.k, report=report, say=note)
    if output.json:
        print_json(_tuning_json(found))
    else:
        sys.stdout.write(_tuning_text(found))
    if not write:
        note(
            "nothing was written: --apply writes the choice" if found.values else "there is nothing to write"
        )
        return
    if not found.values:
        note("nothing was written: the active settings are the best")
    elif not found.is_better:
        note("nothing was written: it is not significantly better on the held-out questions")
    else:
        note(f"wrote {apply(target.vault, found.values)}")


def judge(  # noqa: PLR0913 - the options of a session
    selection: VaultSelection,
    queries: Annotated[list[str] | None, typer.Argument(metavar="QUERY…", help="Questions to judge.")] = None,
    cases: Cases = Path("evals"),
    query_file: Annotated[
        Path | None, typer.Option("--queries", metavar="FILE", help="A file with one question per line.")
    ] = None,
    clicks: Annotated[
        Path | None, typer.Option("--clicks", metavar="FILE", help="Judge the queries in a file of clicks.")
    ] = None,
    qrels_in: Annotated[
        Path | None, typer.Option("--qrels-in", metavar="FILE", help="Read grades from TREC qrels.")
    ] = None,
    qrels_out: Annotated[
        Path | None, typer.Option("--qrels-out", metavar="FILE", help="Write the grades as TREC qrels.")
    ] = None,
    depth: Annotated[
        int, typer.Option("--depth", min=1, max=100, help="The number of notes of each ranking to judge.")
    ] = POOL_DEPTH,
) -> None:
    """Grade notes for questions: 0 does not help, 1 helps, 2 answers. Run it again to continue."""
    target = target_of(selection)
    judgements = Judgements.load(judged_folder(cases))
    for text in _texts(queries or [], query_file, clicks):
        judgements.add(text)
    if qrels_in is not None:
        if not qrels_in.is_file():
            raise UsageError(f"--qrels-in {qrels_in}: there is no such file")
        note(f"{quantity(judgements.take(read_qrels(qrels_in)), 'grade')} changed")
    if qrels_out is not None:
        write_report(judgements.qrels(), qrels_out)
    if qrels_in is not None or qrels_out is not None:
        return
    if not judgements.topics:
        raise UsageError("no questions: give some as arguments, or by --queries or --clicks")
    judgements.save()
    with _progress() as report, own_index(target, report) as reader, reader.holder.lease() as snapshot:
        is_done = _ask_for_grades(target, judgements, reader.searcher, snapshot, depth)
    graded = sum(map(len, judgements.grades.values()))
    note(
        f"{quantity(graded, 'grade')} in {judgements.folder}"
        + ("" if is_done else "; run it again to continue")
    )


def _ask_for_grades(
    target: Target, judgements: Judgements, searcher: Searcher, snapshot: Snapshot, depth: int
) -> bool:
    """Asks the user on the terminal for one grade after another. Returns False if the user ends that before
    everything is graded."""
    for name, text in list(judgements.topics.items()):
        pool = pool_of(searcher, snapshot, target.config.settings, text, depth)
        left = judgements.left(name, pool)
        for number, pooled in enumerate(pooled_notes(searcher, snapshot, text, left), start=1):
            sys.stdout.write(f"\n{clean(text)}   ({number} of {len(left)})\n  {clean(pooled.path)}\n")
            for line in pooled.excerpt.splitlines():
                sys.stdout.write(f"    {clean(line)}\n")
            answer = _grade_from_person()
            if answer is None:
                return False
            if answer in GRADES:
                judgements.grade(name, pooled.path, answer)
    return True


_SKIP = -1


def _grade_from_person() -> int | None:
    """A grade, `_SKIP`, or None to end."""
    meanings = ", ".join(f"{grade} {meaning}" for grade, meaning in GRADES.items())
    for _ in range(100):
        sys.stdout.write(f"  {meanings}; s skip, q quit: ")
        sys.stdout.flush()
        line = sys.stdin.readline()
        answer = line.strip().lower()
        if not line or answer in ("q", "quit"):
            return None
        if answer in ("s", "skip"):
            return _SKIP
        if answer.isdecimal() and int(answer) in GRADES:
            return int(answer)
    return None


def _texts(queries: Sequence[str], query_file: Path | None, clicks: Path | None) -> Iterator[str]:
    yield from (text for text in queries if text.strip())
    if query_file is not None:
        lines = read_text(query_file, "--queries ").splitlines()
        yield from (line.strip() for line in lines if line.strip())
    if clicks is not None:
        yield from (one.text for one in read_clicks(clicks))


def _tuning_text(found: Tuning) -> str:
    lines = [f"Chosen on tune: {found.chosen.name}", ""]
    lines += [f"    {key} = {value}" for key, value in found.values.items()] or ["    (the active settings)"]
    title = f"On aside, {found.source} questions"
    return "\n".join((*lines, "", title, "", as_markdown(found.aside)))


def _tuning_json(found: Tuning) -> dict[str, object]:
    return {
        "source": found.source,
        "chosen": found.chosen.name,
        "values": dict(found.values),
        "is_better": found.is_better,
        "tune": {
            row.variant: row.ndcg.mean for one in found.tune.slices if one.name == "all" for row in one.rows
        },
        "aside": asdict(found.aside),
    }


@contextmanager
def _progress() -> Iterator[Callable[[Progress], None]]:
    """A progress display for the indices of the block, which are built and opened in this process. Raises
    UnavailableError if the limits of the process do not allow that."""
    check_limits()
    with showing() as show:
        yield lambda progress: show(cast("ProgressJson", encode(progress)))


@contextmanager
def _ending_cleanly() -> Iterator[None]:
    """Makes SIGTERM end the block like Ctrl-C, so that temporary folders are removed."""
    before = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(_ENDED)


def has_cases(folder: Path) -> bool:
    """Whether the folder has a layer of golden cases, and not only questions."""
    return any(path.name in LAYER_FOLDERS and path.is_dir() for path in folder.rglob("*"))


def ranking_text(report: RankingReport, suite: str = "", *, as_json: bool) -> str:
    """The report of a ranking, after that of a suite of cases; in JSON as its key `ranking`."""
    if not as_json:
        return "\n".join(filter(None, (suite, as_markdown(report))))
    data = json.loads(suite) if suite else {}
    return json_text({**data, "ranking": asdict(report)}, indent=2) + "\n"


def ranking_of_run(selection: VaultSelection, cases: Path) -> RankingReport | None:
    """The ranking report over all questions of a folder of cases; None if it contains none."""
    asked = load_questions(cases)
    if not asked:
        return None
    with _ending_cleanly(), _progress() as report:
        run = run_ranking(
            target_of(selection), asked, parse_variants(DEFAULT_VARIANTS), report=report, say=note
        )
    return compare(run)
