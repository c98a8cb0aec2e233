from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from answering_daemon import AnsweringDaemon, answering_daemon
from cli_sandbox import Sandbox, make
from command_here import CommandHere
from waiting import PROCESS_S


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    """A vault without an index."""
    return make(tmp_path)


@pytest.fixture
def here(
    sandbox: Sandbox, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> CommandHere:
    """The command in this process, on a vault without an index."""
    return CommandHere(sandbox, capsys, monkeypatch)


@pytest.fixture
def daemon(sandbox: Sandbox) -> Iterator[AnsweringDaemon]:
    """A daemon of the sandbox's vault that answers as a test says."""
    with answering_daemon() as made:
        made.announce(sandbox.index_dir, sandbox.vault)
        yield made


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """A vault with an index, built once for all commands that only read."""
    made = make(tmp_path_factory.mktemp("indexed"))
    ran = made.indexer("rebuild")
    assert ran.code == 0, ran.err
    return made


@pytest.fixture
def copied(built: Sandbox, tmp_path: Path) -> Sandbox:
    """A vault with an index, of which a test may change both."""
    return copy_of(built, tmp_path)


@pytest.fixture
def copied_here(
    copied: Sandbox, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> CommandHere:
    """The command in this process, on a vault with an index."""
    return CommandHere(copied, capsys, monkeypatch)


@pytest.fixture(scope="session")
def served(built: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A vault with a daemon in the background, for all commands that only read."""
    made = copy_of(built, tmp_path_factory.mktemp("served"))
    started = made.indexer("start", "--wait", str(PROCESS_S))
    assert started.code == 0, started.err
    yield made
    assert made.indexer("stop").code == 0


@pytest.fixture(scope="session", params=["served", pytest.param("built", marks=pytest.mark.long)])
def reader(request: pytest.FixtureRequest, built: Sandbox) -> Sandbox:
    """A vault whose commands answer through a daemon, which is cheap, or in their own process."""
    made: Sandbox = request.getfixturevalue(request.param)
    return made


def copy_of(built: Sandbox, root: Path) -> Sandbox:
    """A copy of a vault and of its index, to be changed."""
    made = Sandbox(root)
    shutil.copytree(built.vault, made.vault)
    shutil.copytree(built.index_dir, made.index_dir)
    return made
