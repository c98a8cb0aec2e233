"""A configuration, or a list of exclusions, that changes while the daemon runs."""

import errno
import json
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest
import tomlkit
from loop_by_hand import LoopByHand
from vault_at_work import WORDLLAMA
from waiting import DEADLINE_S

from vault_indexer.config.schema import SCHEMA
from vault_indexer.daemon.config_watch import ConfigFollower, ConfigWatch


@pytest.mark.parametrize("said", ["chunking.strategy", "there is no such file"])
def test_a_change_that_cannot_be_used_is_named_until_it_is_corrected(kept: LoopByHand, said: str) -> None:
    if said == "chunking.strategy":
        kept.where.configure(f"{WORDLLAMA}[chunking]\nstrategy = 5\n")
    else:
        kept.where.config.unlink()
    kept.run(1.0)
    (notice,) = kept.notices
    assert notice.startswith("the changed configuration is not used")
    assert said in notice and str(kept.where.config) in notice
    kept.where.configure(WORDLLAMA)
    kept.run(1.0)
    assert not kept.notices


OBSIDIAN, IGNORE, OWN = ".obsidian/app.json", ".indexerignore", ""
"""What of a vault's own decides what is read; "" is the configuration."""

BIG, CODE = "Big.md", "code.py"
ALL = frozenset({"Bread.md", "Oven.md", "Garden/Tomatoes.md", BIG})
FILTER = json.dumps({"userIgnoreFilters": ["Oven", "Big"]})
JAM, RTF = "Jam.rtf", "{\\rtf1 " + "x" * 1999 + "}"
SMALL = "[files]\nmax_file_bytes = 1024\n"
TOO_LARGE = "too large: 2,007 bytes, the limit (files.max_file_bytes) is {}"


@dataclass(frozen=True)
class Change:
    """A file that decides what is read, before and after it is changed ("" in the place of its name is the
    configuration), with what else there is; the notes that are read then, and the reasons of the others."""

    after: str
    read: frozenset[str]
    file: str = OWN
    before: str = ""
    beside: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)


READ = [
    ("files.include", Change('[files]\ninclude = ["Garden/", "B*"]\n', ALL - {"Oven.md"})),
    ("files.exclude", Change('[files]\nexclude = ["Garden/"]\n', ALL - {"Garden/Tomatoes.md"})),
    ("files.exclude", Change("", ALL, before='[files]\nexclude = ["Garden/"]\n')),
    ("files.max_file_bytes", Change(SMALL, ALL - {BIG}, skipped={BIG: TOO_LARGE.format("1,024")})),
    ("files.max_file_bytes", Change("", ALL, before=SMALL)),
    (
        "files.max_file_bytes",
        Change(
            SMALL.replace("24", "25"), ALL - {BIG}, before=SMALL, skipped={BIG: TOO_LARGE.format("1,025")}
        ),
    ),
    ("files.sources", Change('[files]\nsources = [".py"]\n', ALL | {CODE})),
    ("files.sources", Change("", ALL, before='[files]\nsources = [".py"]\n')),
    (
        "files.use_obsidian_filters",
        Change("[files]\nuse_obsidian_filters = false\n", ALL, beside={OBSIDIAN: FILTER}),
    ),
    (OBSIDIAN, Change(FILTER, ALL - {"Oven.md", BIG}, OBSIDIAN)),
    (OBSIDIAN, Change("{}", ALL, OBSIDIAN, FILTER)),
    (OBSIDIAN, Change(FILTER, ALL - {"Oven.md", BIG}, OBSIDIAN, "{}", {OWN: SMALL})),
    (OBSIDIAN, Change("{}", ALL - {BIG}, OBSIDIAN, FILTER, {OWN: SMALL}, {BIG: TOO_LARGE.format("1,024")})),
    ("documents.kinds", Change("[documents]\nkinds = []\n", ALL, beside={JAM: RTF})),
    ("documents.kinds", Change("", ALL | {JAM}, before="[documents]\nkinds = []\n", beside={JAM: RTF})),
    ("documents.folders", Change('[documents]\nfolders = ["Papers/"]\n', ALL, beside={JAM: RTF})),
    (
        "documents.max_file_bytes",
        Change(
            "[documents]\nmax_file_bytes = 1024\n",
            ALL,
            beside={JAM: RTF},
            skipped={JAM: "too large: 2,007 bytes, the limit (documents.max_file_bytes) is 1,024"},
        ),
    ),
    (IGNORE, Change("O*\n", ALL - {"Oven.md"}, IGNORE)),
    (IGNORE, Change("", ALL, IGNORE, "*\n")),
]


def put(kept: LoopByHand, name: str, text: str) -> None:
    if name == OWN:
        kept.where.configure(WORDLLAMA + text)
    else:
        kept.save(name, text)


@pytest.mark.parametrize(("key", "change"), READ, ids=[f"{n} {key}" for n, (key, _) in enumerate(READ)])
def test_what_decides_what_is_read_counts_at_once(kept: LoopByHand, key: str, change: Change) -> None:
    kept.save(BIG, "Cobalt.\n" + "x" * 1999)
    kept.save(CODE, "value = 1\n")
    for name, text in ({change.file: change.before} | change.beside).items():
        put(kept, name, text)
    kept.run(4.0, tick_s=1.0)
    put(kept, change.file, change.after)
    kept.run(4.0, tick_s=1.0)
    current = kept.vault_sync.current
    assert current is not None
    with current.reader.holder.lease() as snapshot:
        rows = snapshot.catalog.files()
    assert frozenset(row.path for row in rows if row.state == "note") == change.read, key
    assert kept.loop.pending() == 0
    assert {row.path: row.reason for row in rows if row.reason} == change.skipped
    assert kept.vault_sync.verify(repair=False) == ()


WORKERS = {"index.workers": 2, "index.nice": 3, "index.max_memory_mb": 4096}
"""What the processes that read notes have to keep to."""


def test_the_processes_that_read_keep_to_changed_limits(kept: LoopByHand) -> None:
    made = len(kept.specs)
    lines = (f"{key.removeprefix('index.')} = {value!r}" for key, value in WORKERS.items())
    text = "\n".join(["[index]", *lines, "[embedding]", 'provider = "wordllama"'])
    kept.where.configure(text)
    kept.save("New.md", "Cerium.\n")
    kept.run(2.0)
    assert kept.holding("Cerium") == {"New.md"}
    documents = WORKERS | {"index.nice": 8}
    for spec in (*kept.specs[made:], kept.reading):
        found = {f"index.{name}": value for name, value in spec.settings.index.model_dump().items()}
        assert found.items() >= WORKERS.items() or found.items() >= documents.items()
    assert kept.reading.settings.index.nice == 3
    assert not kept.notices


UNFOLLOWED: dict[str, object] = {
    "embedding.url": "http://127.0.0.1:9",
    "embedding.api_key_env": "KEY",
    "embedding.batch_size": 5,
    "watch.mode": "poll",
    "watch.debounce_s": 0.7,
    "server.port": 9,
    "server.allowed_origins": ["http://localhost:9"],
    "server.token_env": "TOKEN",
    "index.dir": "elsewhere",
    "llm.cache_dir": "elsewhere",
}


def test_a_key_that_is_not_followed_is_named_until_it_is_as_before(kept: LoopByHand) -> None:
    for key, value in UNFOLLOWED.items():
        table, name = key.split(".")
        tables: dict[str, dict[str, object]] = {
            "index": {"workers": 1},
            "embedding": {"provider": "wordllama"},
        }
        tables.setdefault(table, {})[name] = value
        kept.where.configure(tomlkit.dumps(tables))
        kept.run(0.5)
        said = "restart the daemon (indexer stop, indexer start): it does not follow "
        expected = () if key == "index.dir" else (said + key,)
        assert kept.notices == expected, "the folder of this index is an option, which wins"
        kept.where.configure(WORDLLAMA)
        kept.run(0.5)
        assert not kept.notices, key


ELSEWHERE = {
    "search": "the searcher of each state",
    "ask": "the answerer of each question",
    "page": "the settings of each request",
    "evals": "the settings of each request",
    "llm": "the answerer, and the processes that read",
    "milvus": "the thread that publishes",
    "chunking": "the manifest: the index is rebuilt",
    "links": "the manifest: the index is rebuilt",
    "vaults": "the supervisor of all vaults",
    "vault": "the supervisor of all vaults",
}
FOLLOWED = {
    *("index.backend", "embedding.provider", "embedding.model"),
    *("embedding.max_upgrade_hours", "embedding.upgrade_on_battery", "documents.ocr"),
}


def test_of_each_key_it_is_decided_whether_the_daemon_follows_it() -> None:
    decided = {key for key, _ in READ if "." in key and "/" not in key[:1]} - {OBSIDIAN, IGNORE}
    decided |= {*WORKERS, *UNFOLLOWED, *FOLLOWED}
    by_key = {key for key in SCHEMA if key.partition(".")[0] not in ELSEWHERE}
    assert by_key == {key for key in decided if key.partition(".")[0] not in ELSEWHERE}
    assert {name for name, key in SCHEMA.items() if not key.is_followed} == {*UNFOLLOWED}


@pytest.mark.posix("symbolic links")
def test_a_file_of_the_configuration_changes_appears_and_disappears(tmp_path: Path) -> None:
    first, second = tmp_path / "a.toml", tmp_path / "b.toml"
    first.write_text("1")
    watch = ConfigWatch(iter([first, second]))
    assert (watch.has_changed(), watch.disappeared) == (False, ())
    os.utime(first, ns=(1, 1))
    assert [watch.has_changed(), watch.has_changed()] == [True, False]
    second.write_text("2")
    assert [watch.has_changed(), watch.has_changed()] == [True, False]
    first.unlink()
    assert (watch.has_changed(), watch.disappeared) == (True, (first,))
    assert (watch.has_changed(), watch.disappeared) == (False, ())
    first.symlink_to(first)
    with pytest.raises(OSError) as raised:
        first.stat()
    assert raised.value.errno == errno.ELOOP
    assert (watch.has_changed(), watch.disappeared) == (True, ())


class Looks:
    """A configuration of which a look finds that it changed, or not, in this order, and then never again."""

    def __init__(self, *changes: bool) -> None:
        self._changes = list(changes)
        self.number = 0
        self.over = threading.Event()

    def has_changed(self) -> bool:
        self.number += 1
        if not self._changes:
            self.over.set()
            return False
        return self._changes.pop(0)


@pytest.mark.parametrize(
    ("changes", "read_at"),
    [
        ("..", []),
        ("c.", [2]),
        ("cc.", [3]),
        ("cccc", [5]),
        ("ccccc", [5]),
        ("c..c.", [2, 5]),
        ("c.c.", [2, 4]),
    ],
)
def test_a_configuration_is_read_when_it_rests_or_after_some_looks(changes: str, read_at: list[int]) -> None:
    """At each look it has changed (c), or not."""
    looks, read = Looks(*(change == "c" for change in changes)), list[int]()
    follower = ConfigFollower(cast("ConfigWatch", looks), lambda: read.append(looks.number), "test", 0.001)
    follower.start()
    (thread,) = [one for one in threading.enumerate() if one.name == "test"]
    assert thread.daemon, "a process does not wait for it"
    assert looks.over.wait(DEADLINE_S)
    follower.stop()
    assert read == read_at
