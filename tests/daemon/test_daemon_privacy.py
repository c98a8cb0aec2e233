"""A whole build and search, workers and all, talk to nobody outside this machine."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from vault_at_work import Place, place

RECORDER = """
import os, sys
EVENTS = {"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"}
def record(event, args):
    if event in EVENTS:
        with open(os.environ["RECORD"], "a") as file:
            file.write(f"{event} {args!r}\\n")
with open(os.environ["RECORD"], "a") as file:
    file.write("process\\n")
sys.addaudithook(record)
"""
LOCAL = re.compile(r"127\.0\.0\.1|'localhost'|'::1'|AF_UNIX|'/[^']*'")


@pytest.fixture
def where(tmp_path: Path) -> Place:
    return place(tmp_path)


def commands(where: Place) -> list[list[str]]:
    common = ["--vault", str(where.vault), "--index-dir", str(where.index_dir), "--config", str(where.config)]
    run = [sys.executable, "-m", "vault_indexer.cli"]
    return [[*run, "rebuild", *common], [*run, "search", "fan error", *common]]


@pytest.mark.long
def test_no_python_code_of_any_process_opens_a_connection(where: Place, tmp_path: Path) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(RECORDER)
    record = tmp_path / "record"
    environ = {**os.environ, "PYTHONPATH": str(hooks), "RECORD": str(record)}
    for command in commands(where):
        done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
    told = record.read_text().splitlines()
    assert told.count("process") >= 3, "the workers are watched too"
    assert [line for line in told if line != "process" and not LOCAL.search(line)] == []


@pytest.mark.long
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_no_native_code_opens_a_connection_either(where: Place, tmp_path: Path) -> None:
    record = tmp_path / "calls"
    trace = ["strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg,bind", "-o", str(record)]
    for command in commands(where):
        done = subprocess.run([*trace, *command], capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        outward = re.compile(r'AF_INET6?,.*(sin_addr=inet_addr\("(?!127\.)|inet_pton\(AF_INET6, "(?!::1"))')
        assert [line for line in record.read_text().splitlines() if outward.search(line)] == []
