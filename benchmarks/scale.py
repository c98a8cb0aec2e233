"""Growth curves: one vault, a tenth of it, three times and ten times as large, each indexed and measured.

    python benchmarks/scale.py VAULT WORKPLACE [--sizes 0.1 1 3 10]

The vaults are made in WORKPLACE (see `growth/vault.py`), with an index beside each; both are left behind, and
a second run goes on with what it finds: an index that is there is not built again. Ten times the large vault
takes 1.4 GB for the notes and 3 GB for the index. Prints a Markdown table. Build, restart, edits and searches
are measured from outside, on processes of their own.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from growth.measure import Figures, measure
from growth.vault import grow
from speed.figures import shown, table
from speed.material import Material

HEAD = (
    "size",
    "notes",
    "chunks",
    "build, notes/s",
    "peak of the build, MB",
    "restart, s",
    "edit found, s: median / slowest",
    "beside a merge: slowest, s",
    "search p50 / p95, ms",
    "recall@10 of vectors",
    "peak of the daemon, MB",
    "index, MB",
    "load average",
)


def main() -> None:
    options = _options()
    rows = []
    for size in options.sizes:
        ground = _ground(options.vault, options.workplace, size)
        print(f"{time.strftime('%H:%M:%S')} {size}: the vault is there", file=sys.stderr, flush=True)
        figures = measure(size, ground)
        rows.append(_row(figures))
        print(f"{time.strftime('%H:%M:%S')} {' | '.join(rows[-1])}", file=sys.stderr, flush=True)
    print(table(HEAD, rows))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vault", type=Path)
    parser.add_argument("workplace", type=Path, help="a folder outside the repository, which is left behind")
    parser.add_argument("--sizes", nargs="+", default=["0.1", "1", "3", "10"], help="multiples of VAULT")
    options = parser.parse_args()
    if not options.vault.is_dir():
        parser.error(f"{options.vault} is not a folder")
    return options


def _ground(source: Path, workplace: Path, size: str) -> Material:
    """The configuration and states of the user are out of reach."""
    folder = workplace / f"work-{size}"
    folder.mkdir(parents=True, exist_ok=True)
    vault = workplace / f"vault-{size}"
    grow(source, vault, float(size))
    environ = {name: str(folder / name) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME")}
    return Material(vault, workplace / f"index-{size}", folder, environ)


def _row(one: Figures) -> tuple[str, ...]:
    edits = sorted(one.edits_s)
    return (
        f"{one.size} ×",
        f"{one.notes:,}",
        f"{one.chunks:,}",
        _told(one.build_s and one.notes / one.build_s, ".0f"),
        _told(one.build_mb, ",.0f"),
        _told(one.restart_s, ".1f"),
        f"{edits[len(edits) // 2]:.2f} / {edits[-1]:.2f}" if edits else "–",
        _told(max(one.merge_edits_s, default=None), ".2f"),
        f"{shown(one.searches.p50)} / {shown(one.searches.p95)}" if one.searches else "–",
        _told(one.recall, ".4f"),
        _told(one.daemon_mb, ",.0f"),
        f"{one.index_mb:,.0f}",
        f"{one.load:.1f}",
    )


def _told(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


if __name__ == "__main__":
    main()
