"""`git checkout` between two commits that differ in thousands of notes, under a running daemon."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from endurance.ground import Figure, Running, daemon, figure, notes_of
from endurance.processes import processor_s
from speed.material import Material
from vault_indexer.serve.api.endpoints import VERIFY

TARGET_S = 30.0
_LIMIT_S = 600.0
_EVERY_S = 1.0
_BEFORE, _AFTER = "before", "after"
_SEED = 6


@dataclass(frozen=True, slots=True)
class Sample:
    """What `status` said, so many seconds after the end of the checkout."""

    at: float
    state: str
    pending: int


def checkout(ground: Material, notes: int) -> list[Figure]:
    """Switch to a commit in which `notes` notes are others, and back."""
    prepare(ground.vault, notes)
    figures = []
    with daemon(ground) as running:
        for branch in (_AFTER, _BEFORE):
            figures += _switch(ground.vault, running, branch, notes)
    return figures


def prepare(vault: Path, notes: int) -> None:
    """A repository with two branches; the first is checked out. Of the notes that differ, 1 in 20 has come,
    1 in 20 has gone, 1 in 20 has another name, and the rest have another text."""
    if not (vault / ".git").exists():
        _git(vault, "init", "--quiet", "--initial-branch", _BEFORE)
        _git(vault, "config", "gc.auto", "0")
        _commit(vault)
    else:
        _git(vault, "checkout", "--quiet", "--force", _BEFORE)
    _git(vault, "checkout", "--quiet", "-B", _AFTER)
    chosen = random.Random(_SEED).sample(found := notes_of(vault), min(notes, len(found)))
    for number, note in enumerate(chosen):
        _change(note, number)
    _commit(vault)
    _git(vault, "checkout", "--quiet", _BEFORE)


def _change(note: Path, number: int) -> None:
    match number % 20:
        case 0:
            note.with_name(f"{note.stem} come {number}.md").write_bytes(note.read_bytes() + _edit(number))
        case 1:
            note.unlink()
        case 2:
            note.rename(note.with_name(f"{note.stem} moved {number}.md"))
        case 3:
            note.write_bytes(_edit(number) + note.read_bytes())
        case _:
            note.write_bytes(note.read_bytes() + _edit(number))


def _edit(number: int) -> bytes:
    return f"\n\nEdited on the other branch, as change {number}.\n".encode()


def _switch(vault: Path, running: Running, branch: str, notes: int) -> list[Figure]:
    began = time.perf_counter()
    _git(vault, "checkout", "--quiet", branch)
    ended = time.perf_counter()
    spent = processor_s(running.pid)
    samples = list(_until_right(running, ended))
    right = samples[-1].at
    spent = processor_s(running.pid) - spent
    most = max(sample.pending for sample in samples)
    shown = _thinned(samples, 12)
    return [
        figure(
            f"checkout of {notes:,} notes ({branch}; git itself took {ended - began:.1f} s)",
            f"all right after {right:.1f} s ({spent:.0f} s of processor time with the check)",
            f"{TARGET_S:.0f} s",
        ),
        figure("`status` meanwhile", f"at most {most} pending: {shown}", "counting down"),
    ]


def _until_right(running: Running, since: float) -> Sequence[Sample]:
    """A sample a second, until `status` says that all is in and `verify` agrees."""
    samples: list[Sample] = []
    while time.perf_counter() - since < _LIMIT_S:
        looked = time.perf_counter()
        state, pending, _ = running.side.state()
        sample = Sample(looked - since, state, pending)
        samples.append(sample)
        if state == "ready" and not pending:
            problems = running.client.ask(VERIFY)["problems"]
            if not problems:
                return samples
            first = problems[0]["detail"]
            figure(f"ready after {sample.at:.1f} s, yet", f"verify finds {len(problems)} problems: {first}")
        time.sleep(max(0.0, looked + _EVERY_S - time.perf_counter()))
    raise SystemExit(f"not right within {_LIMIT_S:.0f} s: {samples[-1]}")


def _thinned(samples: Sequence[Sample], most: int) -> str:
    step = max(1, -(-len(samples) // most))
    kept = [*samples[:-1:step], samples[-1]]
    return ", ".join(f"{sample.at:.0f} s {sample.pending}" for sample in kept)


def _commit(vault: Path) -> None:
    _git(vault, "add", "--all")
    who = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost", "-c", "commit.gpgsign=false")
    _git(vault, *who, "commit", "--quiet", "--message", "the vault")


def _git(vault: Path, *arguments: str) -> None:
    """At a lower priority than the daemon, as whoever makes the changes is not what is measured."""
    subprocess.run(["nice", "-n", "5", "git", "-C", str(vault), *arguments], check=True)
