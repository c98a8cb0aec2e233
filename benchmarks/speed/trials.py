"""Engines side by side, each in a process of its own: none has another's threads, caches or memory."""

from __future__ import annotations

import math
import multiprocessing
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from multiprocessing.connection import Connection

from speed.figures import NO_TIMES, Times, clocked, resident_mb
from speed.llamaindex_engine import llamaindex_hybrid
from speed.material import HITS, Material, Open
from speed.our_engines import (
    our_hybrid,
    our_hybrid_cold,
    our_keyword,
    our_keyword_cold,
    our_vector,
    our_words,
    tantivy_words,
    whoosh_words,
)
from speed.questions import Question
from speed.sqlite_engine import engine_name, sqlite_hybrid

HYBRID, KEYWORD, VECTOR = "hybrid", "keyword", "vector"


@dataclass(frozen=True, slots=True)
class Engine:
    """A row of the comparison. `base` names the engine of the same group that its ratio is to.

    `packages` are what it needs beside ours: import name and what to give pip.
    """

    name: str
    group: str
    open: Open
    base: str
    packages: tuple[tuple[str, str], ...] = ()
    is_cold: bool = False
    is_peer: bool = False

    def missing(self) -> str:
        """What has to be installed first ("" for nothing)."""
        absent = [wanted for name, wanted in self.packages if not _is_there(name)]
        return f"not measured: pip install {' '.join(absent)}" if absent else ""


OURS, OUR_WORDS, TANTIVY = "ours", "ours, the words as written", "tantivy, the same words"
_NO_DEPS = "--no-deps llama-index-retrievers-bm25"
"""It asks for PyStemmer below 3 and runs with 3, which our stemming needs."""


def engines() -> tuple[Engine, ...]:
    """All of them, in the order of the table."""
    llamaindex = (
        ("llama_index.vector_stores.faiss", "llama-index-vector-stores-faiss"),
        ("bm25s", "bm25s"),
        ("llama_index.retrievers.bm25", _NO_DEPS),
    )
    return (
        Engine(OURS, HYBRID, our_hybrid, OURS),
        Engine("ours, its caches dropped before each query", HYBRID, our_hybrid_cold, OURS, is_cold=True),
        Engine(engine_name(), HYBRID, sqlite_hybrid, OURS, is_peer=True),
        Engine(
            "LlamaIndex BM25 + FAISS, fusion retriever",
            HYBRID,
            llamaindex_hybrid,
            OURS,
            llamaindex,
            is_peer=True,
        ),
        Engine("ours, as a search asks (analysis, stems, forms)", KEYWORD, our_keyword, OUR_WORDS),
        Engine(
            "ours, as a search asks, caches dropped before each query",
            KEYWORD,
            our_keyword_cold,
            OUR_WORDS,
            is_cold=True,
        ),
        Engine(OUR_WORDS, KEYWORD, our_words, OUR_WORDS),
        Engine(
            "Whoosh's own searcher, the same words and index", KEYWORD, whoosh_words, OUR_WORDS, is_peer=True
        ),
        Engine(TANTIVY, KEYWORD, tantivy_words, OUR_WORDS, (("tantivy", "tantivy"),), is_peer=True),
        Engine("ours, query embedding included", VECTOR, our_vector, "ours, query embedding included"),
    )


@dataclass(frozen=True, slots=True)
class Plan:
    """How long an engine is asked: `rounds` warm passes, fewer if `limit_s` is over before."""

    rounds: int
    limit_s: float


@dataclass(frozen=True, slots=True)
class Trial:
    """What was measured of an engine; `first` is the first pass over the queries in a fresh process.

    `cpu_ms` is the mean of a warm query, over all threads. `found` is what each query found.
    A `note` says why there is nothing, or less.
    """

    engine: str
    first: Times = NO_TIMES
    warm: Times = NO_TIMES
    cpu_ms: float = math.nan
    ready_s: float = 0.0
    memory_mb: float = 0.0
    found: tuple[tuple[int, ...], ...] = ()
    note: str = ""


def measured(engine: Engine, material: Material, asked: Sequence[Question], plan: Plan) -> Trial:
    """One engine's trial; what goes wrong in it is told in its note."""
    note = engine.missing()
    if note:
        return Trial(engine.name, note=note)
    own = replace(material, folder=material.folder / f"engine-{time.monotonic_ns()}")
    own.folder.mkdir(parents=True)
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run, args=(theirs, engine, own, tuple(asked), plan))
    process.start()
    theirs.close()
    try:
        if not ours.poll(2 * plan.limit_s):
            return Trial(engine.name, note=f"given up after {2 * plan.limit_s:.0f} s")
        trial: Trial = ours.recv()
        process.join(30)
    except EOFError:
        process.join(30)
        return Trial(engine.name, note=f"failed (exit status {process.exitcode}); see standard error")
    finally:
        ours.close()
        if process.is_alive():
            process.kill()
            process.join()
    return trial


def _run(pipe: Connection, engine: Engine, material: Material, asked: Sequence[Question], plan: Plan) -> None:
    """In the process of the engine. A mistake ends it, with its traceback on standard error."""
    started = time.monotonic()
    with engine.open(material) as opened:
        ready_s = time.monotonic() - started
        first, warm, found = [], [], []
        for question in asked:
            opened.before()
            ms, keys = clocked(lambda: opened.answer(question))  # noqa: B023 (called at once)
            first.append(ms)
            found.append(tuple(keys[:HITS]))
        done, cpu = 0, time.process_time()
        while done < plan.rounds and time.monotonic() - started < plan.limit_s and not engine.is_cold:
            for question in asked:
                warm.append(clocked(lambda: opened.answer(question))[0])  # noqa: B023
            done += 1
        cpu = time.process_time() - cpu
        note = "" if done == plan.rounds or engine.is_cold else f"{done} of {plan.rounds} warm passes"
        pipe.send(
            Trial(
                engine.name,
                Times.of(first),
                Times.of(warm),
                cpu / len(warm) * 1000 if warm else math.nan,
                ready_s,
                resident_mb(os.getpid()),
                tuple(found),
                note,
            )
        )


def agreement(one: Trial, other: Trial) -> float:
    """The mean share of `other`'s hits that `one` has found too, over the queries where there are any."""
    shares = [
        len(set(ours) & set(theirs)) / len(theirs)
        for ours, theirs in zip(one.found, other.found, strict=True)
        if theirs
    ]
    return sum(shares) / len(shares) if shares else 0.0


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is not there
        return False
