"""Recorded answers: what searches over small vaults find, as text that a person can read.

`UPDATE_GOLDEN=1` writes `fixtures/answers/*.txt`; read the difference before you commit it. Numbers with a
decimal point may differ by `TOLERANCE`, as sums do between processors.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.resources import as_file, files
from pathlib import Path
from shutil import copytree
from typing import Any

from foreign_embedder import ForeignEmbedder
from reliability_lab import assembly_of, opened
from small_vault import write_vault

from vault_indexer.errors import VaultIndexerError
from vault_indexer.model import Explanation, Hit, SearchAnswer, SearchRequest, Why
from vault_indexer.search import IndexReader, Searcher
from vault_indexer.service import VaultService
from vault_indexer.vaults import OpenVault, Vaults

FOLDER = Path(__file__).parent / "fixtures" / "answers"
TOLERANCE = 0.0015
_NEW = "(first use)"
_DECIMAL = re.compile(r"\d*\.\d+")

QUERIES, FILTERS = (
    part.splitlines()
    for part in (FOLDER.parent / "recorded_queries.txt").read_text("utf-8").strip().split("\n\n")
)

ERRORS = ["", "  ", "line:", '"open', "(a", "a OR", "/(/", "[x", "before:never", "tag:", "x" * 5000]

EXPLAINED = {
    "red light for the eyes": ["Sky/Red lamp.md", "Bread/Levain.md", "House/Oven.md"],
    "saturn": ["Sky/Saturn.md", "Sky/Moon.md", "Garden/Slugs.md", "Sky/saturn rings.png"],
    "moon path:House": ["Sky/Moon.md", "House/Miso.md"],
    "path:Sky": ["Sky/Moon.md", "House/Miso.md"],
    "zzz": ["Sky/Moon.md", "Sky/saturn rings.png"],
}

SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "no vectors": {"search.weights.vector": 0},
    "no words": {"search.weights.keyword": 0},
    "no links": {"search.weights.graph": 0},
    "links first": {"search.weights.graph": 3.0},
    "ranks alone": {"search.rerank": 0},
    "four reranked": {"search.rerank": 4},
    "few candidates": {"search.candidates": 3},
    "one chunk a note, no age": {"search.max_chunks_per_note": 1, "search.recency.enabled": False},
}

Ask = Callable[[SearchRequest], SearchAnswer]


@contextmanager
def recorded(folder: Path) -> Iterator[dict[str, list[str]]]:
    """The lines of each golden file, as the search answers now."""
    one, two = _vaults(folder)
    with ExitStack() as stack:
        service = _opened(stack, one, folder / "index-one")
        other = _opened(stack, two, folder / "index-two")
        several = Vaults([OpenVault("one", one, service), OpenVault("two", two, other)])
        apart = Vaults([OpenVault("one", one, service), OpenVault("two", two, _Foreign(other))])
        texts = {
            "one vault": [*_answers(service.search, QUERIES), *_answers(service.search, FILTERS)],
            "forms": [*_forms(service.search), *_typed(service.search), *_answers(service.search, ERRORS)],
            "explain": list(_explained(service)),
            "two vaults": [
                *_answers(several.search, [*QUERIES, *FILTERS]),
                *_typed(several.search),
                *_answers(several.search, ERRORS),
            ],
            "two models": list(_answers(apart.search, [*QUERIES[:20], *FILTERS[-6:]])),
        }
        service.close()
        texts["settings"] = [
            line
            for name, options in SETTINGS.items()
            for line in _with_options(one, folder / "index-one", name, options)
        ]
        yield texts


def differences(name: str, lines: list[str]) -> list[str]:
    """Where the lines are others than those of the golden file; with UPDATE_GOLDEN=1 it is written."""
    file = FOLDER / f"{name.replace(' ', '-')}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        FOLDER.mkdir(exist_ok=True)
        file.write_text("\n".join(lines) + "\n", "utf-8")
    known = file.read_text("utf-8").splitlines()
    if len(known) != len(lines):
        return [f"{file.name}: {len(known)} lines, now {len(lines)}", *sorted(set(known) ^ set(lines))[:20]]
    return [f"- {old}\n+ {new}" for old, new in zip(known, lines, strict=True) if not _is_alike(old, new)]


def _is_alike(old: str, new: str) -> bool:
    numbers = zip(_DECIMAL.findall(old), _DECIMAL.findall(new), strict=False)
    if _DECIMAL.sub("#", old) != _DECIMAL.sub("#", new):
        return False
    return all(abs(float(one) - float(other)) <= TOLERANCE for one, other in numbers)


def _vaults(folder: Path) -> tuple[Path, Path]:
    """The demonstration vault with two pictures and two young notes, and the small vault; all else is old."""
    with as_file(files("vault_indexer") / "demo") as demo:
        one = Path(copytree(demo, folder / "one"))
    for name in ("Sky/saturn rings.png", "House/Picture of the van.png"):
        (one / name).write_bytes(b"")
    old = datetime(2024, 3, 1, tzinfo=UTC)
    for number, file in enumerate(sorted(one.rglob("*.*"))):
        _touch(file, old + timedelta(days=number))
    for days, name in ((3, "Sky/The roof.md"), (20, "Garden/Compost.md")):
        _touch(one / name, datetime.now(UTC) - timedelta(days=days))
    return one, write_vault(folder / "two")


def _touch(file: Path, when: datetime) -> None:
    os.utime(file, (when.timestamp(), when.timestamp()))


def _opened(
    stack: ExitStack, vault: Path, index: Path, options: Mapping[str, Any] | None = None
) -> VaultService:
    return VaultService(stack.enter_context(opened(assembly_of(vault, index, options))))


class _Foreign(VaultService):
    """The service of another one's vault, searched by another model."""

    def __init__(self, other: VaultService) -> None:
        super().__init__(other._session)

    def reader(self) -> IndexReader:
        own = super().reader()
        return replace(own, searcher=Searcher(ForeignEmbedder(), own.searcher.settings))  # type: ignore[arg-type]


def _with_options(vault: Path, index: Path, name: str, options: Mapping[str, Any]) -> Iterator[str]:
    with ExitStack() as stack:
        service = _opened(stack, vault, index, options)
        for line in _answers(service.search, QUERIES[:24:3]):
            yield line.replace("# ", f"# {name}: ", 1) if line.startswith("# ") else line


def _forms(ask: Ask) -> Iterator[str]:
    for query in QUERIES[:12]:
        yield from _answers(ask, [query], by_note=True)
        yield from _answers(ask, [query], limit=2, by_field=False)
    for query in QUERIES[12:24]:
        yield from _answers(ask, [query], correct=False, limit=3)
        yield from _answers(ask, [query], min_relevance=0.5)
        yield from _answers(ask, [query], limit=20, by_note=True)
    for query in QUERIES[24:30]:
        yield from _answers(ask, [query], expand="section", limit=2)
        yield from _answers(ask, [query], expand="window", limit=2, stale=False)
    yield from _answers(ask, FILTERS[:12], by_note=True)


def _typed(ask: Ask) -> Iterator[str]:
    begun = [query[: 2 + 3 * (number % 4)] for number, query in enumerate(QUERIES[:24])]
    yield from _answers(ask, [*dict.fromkeys(begun), "line:", '"', "tag:#ga", " "], as_you_type=True, limit=3)


def _answers(ask: Ask, queries: Iterable[str], **options: Any) -> Iterator[str]:
    form = "".join(f" {name}={value}" for name, value in options.items())
    for query in queries:
        yield f"# {query[:60]}{form}"
        try:
            answer = ask(SearchRequest(query, **{"limit": 4, **options}))
        except VaultIndexerError as error:
            yield f"{type(error).__name__}: {str(error)[:200]}"
        else:
            yield from _lines_of(answer)
        yield ""


def _lines_of(answer: SearchAnswer) -> Iterator[str]:
    yield f"{answer.verdict}, {len(answer.results)} hits"
    for hit in answer.results:
        yield _hit(hit)
        yield f"  {_why(hit.why)}"
    yield from (f"notice: {notice}" for notice in answer.notices if _NEW not in notice)
    yield from (f"correction: {one.written} {one.searched}" for one in answer.corrections)
    if answer.missing_words:
        yield f"missing: {', '.join(answer.missing_words)}"


def _hit(hit: Hit) -> str:
    place = f"{hit.vault}:{hit.path}" if hit.vault else hit.path
    span = f"{hit.line} of {hit.start_line}-{hit.end_line}"
    passage = f" {hit.passage.kind} {hit.passage.start_line}-{hit.passage.end_line}" if hit.passage else ""
    marks = " ".join(hit.snippet[start:end] for start, end in hit.marks)
    snippet = " ".join(hit.snippet.split())[:60]
    return f"{hit.score:.4f} {hit.relevance:.3f} {place} {span} {hit.kind}{passage} | {snippet} | {marks}"


def _why(why: Why) -> str:
    parts = []
    if why.vector:
        parts.append(f"vector {why.vector.rank} {why.vector.score:.3f}")
    if why.keyword:
        words = " ".join(f"{word} {score:.2f}" for word, score in why.keyword.terms.items())
        fields = " ".join(f"{name} {score:.2f}" for name, score in why.keyword.fields.items())
        coverage = "" if why.keyword.coverage is None else f" coverage {why.keyword.coverage:.3f}"
        parts.append(f"keyword {why.keyword.rank} {why.keyword.score:.3f} ({words}) ({fields}){coverage}")
    if why.graph:
        parts.append(f"graph {why.graph.rank} {why.graph.score:.3f} {', '.join(why.graph.via)}")
    if why.note:
        cosine = "" if why.note.cosine is None else f"{why.note.cosine:.3f} "
        parts.append(f"note {cosine}{why.note.coverage:.3f}")
    evidence = "" if why.evidence is None else f" evidence {why.evidence:.4f}"
    parts.append(f"fused {why.fused_rank} {why.fused:.4f}{evidence} x {why.recency:.2f} + {why.title:.4f}")
    return "; ".join([*parts, *why.filters])


def _explained(service: VaultService) -> Iterator[str]:
    for query, paths in EXPLAINED.items():
        for path in paths:
            for limit in (0, 1):
                yield f"# {path} for {query} limit={limit}"
                yield from _explanation(service.explain(path, SearchRequest(query, limit=limit)))
                yield ""


def _explanation(found: Explanation) -> Iterator[str]:
    relevance = "" if found.relevance is None else f", relevance {found.relevance:.3f}"
    yield f"rank {found.rank} of {found.candidates}, shown {found.shown}{relevance}"
    if found.why is not None:
        yield f"  {_why(found.why)}"
    yield from found.reasons
