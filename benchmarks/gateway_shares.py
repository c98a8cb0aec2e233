"""Whether one user of a gateway can stop the others.

    python benchmarks/gateway_shares.py [--chunks N] [--seconds S] [--connections N] [--uri URL]
        [--without-shares]

Publishes made-up vaults, starts a gateway with its default shares, and lets a victim search twice a second:
alone for a third of the time, and then beside a greedy user who searches with a `folder` filter over all
vaults on 40 connections without pause. The greedy user is a process of the lowest priority, as it would be on
another machine. Prints statuses and times of both. The victim must get no 5xx, and its p95 must be at most
twice the p95 alone: else the exit status is 1. Without `--uri` the server is Milvus Lite.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import multiprocessing
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPConnection, HTTPException
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlencode

import numpy as np

from milvus_lite_server import lite_server
from vault_gateway.milvus import MilvusConnection, MilvusPublisher, MilvusVaults, VaultState
from vault_gateway.published_note import PublishedNote
from vault_indexer.config.settings import EmbeddingSettings
from vault_indexer.model import chunk_key
from vault_indexer.ports import EmbeddingModel
from vault_indexer.providers import embedder_for
from vault_indexer.store import VaultStatistics
from vault_indexer.store.catalog import NoteTableRows, StoredNote
from vault_indexer.store.keywords import Vocabulary

_VAULTS = 4
_PER_NOTE = 5
_EVERY_S = 0.5
_CHUNK_END = "made-up", "", "", "", "{}", b"1"
"""Of the row of a chunk: its strategy, the texts around it, and that it has a vector."""

_WORDS = ("bread", "dough", "lentil", "saturn", "ring", "dome", "night", "house", "garden", "slug", "tomato")


def note(number: int, dice: random.Random, dimension: int) -> PublishedNote:
    """A made-up note of a few parts."""
    words = [dice.choices(_WORDS, k=60) for _ in range(_PER_NOTE)]
    parts = [" ".join(own) + "\n" for own in words]
    ends = list(itertools.accumulate(map(len, parts)))
    keys = [chunk_key(number, part) for part in range(_PER_NOTE)]
    rows = NoteTableRows(
        path=f"Folder {number % 40}/Deep/Note {number}.md",
        note=(words[0][0], "en", "{}", "[]", "[]", "[]"),
        text=zlib.compress("".join(parts).encode()),
        headings=[],
        blocks=[],
        block_spans=b"",
        tasks=[],
        tags=[],
        links=[],
        chunks=[
            (f"{number}-{part}", part, "", end - len(parts[part]), end, part + 1, part + 1, *_CHUNK_END)
            for part, end in enumerate(ends)
        ],
    )
    vectors = np.random.default_rng(number).standard_normal((_PER_NOTE, dimension))
    packed = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)
    return PublishedNote(
        StoredNote(number, 1, rows, ()),
        {key: {"content": tuple(own)} for key, own in zip(keys, words, strict=True)},
        {key: vector.tobytes() for key, vector in zip(keys, packed, strict=True)},
    )


def statistics_of(vault: str, chunks: int, dimension: int) -> bytes:
    """Of a vault of such notes."""
    background = np.random.default_rng(0).standard_normal((256, dimension)).astype(np.float32)
    vocabulary = Vocabulary.of(dict.fromkeys(_WORDS, chunks))
    known = VaultStatistics(chunks, {"en": chunks // _PER_NOTE}, vocabulary, background / dimension**0.5)
    return known.to_bytes(vault)


def publish(uri: str, chunks: int, model: EmbeddingModel) -> list[str]:
    """The ids of the vaults."""
    vaults = MilvusVaults(MilvusConnection(uri, timeout_s=60), "shares")
    ids = [f"made-up-{number:016x}" for number in range(_VAULTS)]
    now_ms = time.time_ns() // 1_000_000
    for number, vault in enumerate(ids):
        notes = chunks // _VAULTS // _PER_NOTE
        size = notes * _PER_NOTE
        dice = random.Random(number)
        state = VaultState(
            vault, f"Vault {number}", "made-up", "", model.key, "", ("en",), 0, 1, 1, size, notes
        )
        vaults.create()
        digest = vaults.put_blob(statistics_of(vault, size, model.dimension))
        publisher = MilvusPublisher(vaults, vault, model, store_bodies=True)
        made = publisher.replace(
            vaults.state(vault),
            replace(state, statistics=digest),
            (note(one, dice, model.dimension) for one in range(1, notes + 1)),
        )
        vaults.overwrite(replace(made, seen_ms=now_ms))
    return ids


@contextmanager
def gateway(uri: str, ids: list[str], folder: Path, shares: str) -> Iterator[int]:
    """The port of a gateway with two users, whose tokens are their names."""
    config = folder / "gateway.toml"
    users = "".join(
        f'[[users]]\nname = "{name}"\ntoken_sha256 = "{hashlib.sha256(name.encode()).hexdigest()}"\n'
        f"vaults = {json.dumps(rights)}\n"
        for name, rights in (("victim", ids[:1]), ("greedy", ids))
    )
    config.write_text(
        f'[milvus]\nuri = "{uri}"\ncollection_prefix = "shares"\n[server]\nport = 0\n{shares}{users}', "utf-8"
    )
    command = [sys.executable, "-m", "vault_indexer.cli", "gateway", "--config", str(config)]
    log = (folder / "gateway.log").open("w+", encoding="utf-8")
    with log, subprocess.Popen(command, stderr=log, env={**os.environ, "PYTHONUNBUFFERED": "1"}) as process:
        try:
            port = 0
            while not port:
                if process.poll() is not None:
                    sys.exit((folder / "gateway.log").read_text("utf-8"))
                time.sleep(0.1)
                said = (folder / "gateway.log").read_text("utf-8").partition("http://127.0.0.1:")[2]
                port = int(said.partition(",")[0]) if "," in said else 0
            yield port
        finally:
            process.send_signal(signal.SIGTERM)


def ask(port: int, user: str, **parameters: str) -> int:
    """The status of one search; 0 where the connection failed."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        target = f"/v1/search?{urlencode(parameters)}"
        connection.request("GET", target, headers={"Authorization": f"Bearer {user}"})
        response = connection.getresponse()
        response.read()
        return response.status
    except (OSError, HTTPException):
        return 0
    finally:
        connection.close()


def victim(port: int, seconds: float) -> tuple[Counter[int], float]:
    """Statuses, and the p95 in seconds, of two searches a second."""
    statuses: Counter[int] = Counter()
    times = []
    until = time.monotonic() + seconds
    number = 0
    while (began := time.monotonic()) < until:
        statuses[ask(port, "victim", q=f"{_WORDS[number % len(_WORDS)]} and the house")] += 1
        times.append(time.monotonic() - began)
        number += 1
        time.sleep(max(0.0, _EVERY_S - times[-1]))
    return statuses, statistics.quantiles(times, n=20)[-1]


def greedy(port: int, connections: int, seconds: float, said: Connection) -> None:
    """Searches on so many connections; sends how often each status was answered."""
    os.nice(19)
    statuses: Counter[int] = Counter()
    until = time.monotonic() + seconds

    def search() -> None:
        while time.monotonic() < until:
            statuses[ask(port, "greedy", q="saturn ring", folder="Folder 7", limit="200")] += 1

    threads = [threading.Thread(target=search) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said.send(dict(statuses))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--connections", type=int, default=40)
    parser.add_argument("--uri", default="")
    parser.add_argument("--without-shares", action="store_true", help="as if there were no limits of a user")
    given = parser.parse_args()
    shares = ""
    if given.without_shares:
        shares = "user_concurrent = 1000\nuser_rate = 10000.0\nuser_burst = 10000\n"
    model = embedder_for(EmbeddingSettings(provider="wordllama", token_weights="none")).model
    with lite_server(given.uri) as server, tempfile.TemporaryDirectory() as folder:
        ids = publish(server.uri, given.chunks, model)
        with gateway(server.uri, ids, Path(folder), shares) as port:
            while ask(port, "victim", q="first") != 200:
                time.sleep(0.2)
            alone, alone_s = victim(port, given.seconds / 3)
            heard, said = multiprocessing.Pipe()
            values = (port, given.connections, given.seconds + 1, said)
            process = multiprocessing.get_context("spawn").Process(target=greedy, args=values)
            process.start()
            time.sleep(1)
            beside, beside_s = victim(port, given.seconds)
            others = heard.recv()
            process.join()
    print(f"{given.chunks:,} chunks in {_VAULTS} vaults, {given.connections} greedy connections\n")
    print("| | statuses | p95, ms |\n| --- | --- | ---: |")
    print(f"| victim alone | {dict(alone)} | {1000 * alone_s:.0f} |")
    print(f"| victim beside | {dict(beside)} | {1000 * beside_s:.0f} |")
    print(f"| greedy user | {others} | |")
    if set(beside) != {200} or beside_s > 2 * alone_s:
        sys.exit("the greedy user held up the victim")


if __name__ == "__main__":
    main()
