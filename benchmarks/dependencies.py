"""What each direct dependency costs: megabytes on disk and processor time of its import.

    python benchmarks/dependencies.py [--no-imports]

Prints a Markdown table for the environment that runs it, the largest first. `MB` counts the files of the
distribution alone. `MB with its own` adds every distribution that no other direct dependency needs: what
the environment would lose with this one. `import` is the processor time (user and system) that a new
process needs for the module that vault-indexer imports, less that of an empty process: the best of three.
A module that two dependencies import counts for both.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = "vault-indexer"
ROUNDS = 3

MODULES: Mapping[str, str] = {
    "faiss-cpu": "faiss",
    "google-re2": "re2",
    "llama-index-core": "llama_index.core.base.embeddings.base",
    "pystemmer": "Stemmer",
    "pyyaml": "yaml",
    "tomli-w": "tomli_w",
    "tree-sitter": "tree_sitter",
    "tree-sitter-markdown": "tree_sitter_markdown",
    "watchdog": "watchdog.observers",
    "whoosh-reloaded": "whoosh.index",
    "wordllama": "",
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


def requirements(name: str, extras: Iterable[str] = ("",)) -> set[str]:
    """The installed distributions that this one requires here, without those of its extras."""
    found = set()
    for text in distribution(name).requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras):
            found.add(canonical(requirement.name))
    return {one for one in found if is_installed(one)}


def is_installed(name: str) -> bool:
    """Whether the distribution is in this environment."""
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def closure(names: Iterable[str]) -> set[str]:
    """The distributions with everything that they require."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(requirements(name))
    return found


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
    direct = requirements(PROJECT)
    empty = processor_ms("pass") if imports else 0.0
    found = []
    for name in direct:
        own = closure([name]) - closure(direct - {name})
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
    everything = closure(requirements(PROJECT))
    total = sum(map(size, everything)) / 1e6
    print(f"\n{len(everything)} packages, {total:.0f} MB.")


if __name__ == "__main__":
    main()
