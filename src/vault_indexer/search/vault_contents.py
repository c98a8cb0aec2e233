"""Lists the contents of a vault besides text (tasks, folders, tags and properties) and the figures of its
index: sizes of chunks, unresolved links, bytes on disk."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from vault_indexer.model import (
    JsonValue,
    PropertySummary,
    SizeBucket,
    TaskState,
    UnresolvedTarget,
    VaultHealth,
    VaultOverview,
    VaultTask,
)
from vault_indexer.parse import task_fields
from vault_indexer.store import Snapshot
from vault_indexer.store.catalog import CatalogReader, folder_condition
from vault_indexer.system import size_of
from vault_indexer.text.phrases import iso_time

_DAY = re.compile(r"(?:^|/)\d{4}-\d\d-\d\d(?:[^/]*)$")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*")
_EXAMPLES = 3
_EXAMPLE_CHARS = 40
_RECENT = 5


def list_tasks(
    catalog: CatalogReader, state: TaskState, *, path: str = "", folder: str = "", today: date
) -> list[VaultTask]:
    """The tasks of a vault, of a note or of a folder, in order of the notes. Those of the states "due" and
    "overdue" are open, have a date, and come in its order."""
    conditions, values = ["1"], list[str]()
    if path:
        conditions, values = ["path = ?"], [path]
    elif folder:
        below, values = folder_condition("path", folder)
        conditions = [below]
    if state == "done":
        conditions.append("is_done")
    elif state != "all":
        conditions.append("NOT is_done")
    sql = (
        "SELECT note_id, path, start_pos, end_pos, is_done FROM tasks JOIN notes USING (note_id)"
        f" WHERE {' AND '.join(conditions)} ORDER BY path, start_pos"
    )
    tasks: list[VaultTask] = []
    for note_id, rows in groupby(catalog.rows(sql, values), key=itemgetter(0)):
        text, line, at = catalog.text(note_id), 1, 0
        for _, note, start, end, is_done in rows:
            line, at = line + text.count("\n", at, start), start
            written = " ".join(text[start:end].split())
            due = _first_day(task_fields(text[start:end]).get("due"))
            tasks.append(VaultTask(note, line, written, due, bool(is_done)))
    if state in ("due", "overdue"):
        latest = today.isoformat() if state == "overdue" else "9999-99-99"
        tasks = [task for task in tasks if task.due and task.due < latest]
        tasks.sort(key=lambda task: (task.due, task.path, task.line))
    return tasks


def _first_day(value: JsonValue) -> str:
    days = (_DATE.match(str(single)) for single in (value if isinstance(value, list) else [value]))
    return next((day[0] for day in days if day), "")


def vault_overview(catalog: CatalogReader, today: date) -> VaultOverview:
    """The contents of a vault: its folders, tags and properties, the latest changes, the open tasks."""
    paths = catalog.note_paths()
    recent = catalog.rows(f"SELECT path, mtime_ns FROM notes ORDER BY mtime_ns DESC, path LIMIT {_RECENT}")
    tasks = list_tasks(catalog, "open", today=today)
    return VaultOverview(
        notes=len(paths),
        languages={name or "unknown": count for name, count in catalog.notes_by_language().items()},
        folders=catalog.folders(),
        daily_notes=_daily_folder(paths),
        tags=catalog.tags(),
        properties=_properties(catalog),
        recent=tuple((path, iso_time(mtime_ns)) for path, mtime_ns in recent),
        open_tasks=_most(task.path for task in tasks),
        overdue=sum(bool(task.due) and task.due < today.isoformat() for task in tasks),
    )


def _most(names: Iterable[str]) -> dict[str, int]:
    """The names with their counts, the most frequent first."""
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))


def _daily_folder(paths: Iterable[str]) -> str | None:
    """The folder with the most notes that are named by a day; None if no note is."""
    folders = _most(path.rpartition("/")[0] for path in paths if _DAY.search(path.rpartition(".")[0]))
    return next(iter(folders), None)


def _properties(catalog: CatalogReader) -> tuple[PropertySummary, ...]:
    notes: Counter[str] = Counter()
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    values: dict[str, Counter[str]] = defaultdict(Counter)
    for properties in catalog.properties():
        for name, value in properties.items():
            notes[name] += 1
            kinds[name][_kind_of(value)] += 1
            listed = value if isinstance(value, list) else [value]
            values[name].update(_shown(one) for one in listed if one not in (None, "", {}))
    return tuple(
        PropertySummary(
            name,
            count,
            kinds[name].most_common(1)[0][0],
            tuple(value[:_EXAMPLE_CHARS] for value, _ in values[name].most_common(_EXAMPLES)),
        )
        for name, count in sorted(notes.items(), key=lambda item: (-item[1], item[0]))
    )


def _shown(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _kind_of(value: JsonValue) -> str:
    """The type of a property, by Obsidian's names."""
    match value:
        case bool():
            return "checkbox"
        case int() | float():
            return "number"
        case list():
            return "list"
        case str() if _DATE.fullmatch(value):
            return "date"
        case str() if _MOMENT.fullmatch(value):
            return "date & time"
        case str():
            return "text"
        case None:
            return "empty"
    return "object"


_SIZE_BOUNDS = (100, 250, 500, 1000, 1500, 2000, 3000, 5000)
"""Upper bounds of the buckets of the chunk size histogram, in characters."""


_MOST_WANTED = 20


def vault_health(snapshot: Snapshot, root: Path, unresolved: tuple[UnresolvedTarget, ...]) -> VaultHealth:
    """Returns the statistics of one state of the index in the folder `root`. `unresolved` are the link
    targets without a file, the most frequent first."""
    catalog = snapshot.catalog
    sizes = sorted(row[0] for row in catalog.rows("SELECT end_pos - start_pos FROM chunks"))
    counts = [0] * (len(_SIZE_BOUNDS) + 1)
    for size in sizes:
        counts[bisect_right(_SIZE_BOUNDS, size)] += 1
    strategies = catalog.rows("SELECT strategy, count(*) FROM chunks GROUP BY strategy ORDER BY 2 DESC, 1")
    return VaultHealth(
        notes=catalog.counts().notes,
        chunks=len(sizes),
        smallest=sizes[0] if sizes else 0,
        median=sizes[len(sizes) // 2] if sizes else 0,
        largest=sizes[-1] if sizes else 0,
        histogram=tuple(map(SizeBucket, (*_SIZE_BOUNDS, None), counts)),
        strategies=dict(strategies),
        languages=catalog.notes_by_language(),
        index_bytes=size_of(root),
        orphans=len(snapshot.graph.orphans()),
        wanted=unresolved[:_MOST_WANTED],
        wanted_count=len(unresolved),
    )
