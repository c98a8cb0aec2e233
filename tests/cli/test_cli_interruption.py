"""How a command ends that cannot go on. Ctrl-C is Ctrl-C, also where a library makes another error of it."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated, cast

import pytest
from pydantic import BaseModel, PlainSerializer
from typer.testing import CliRunner

from vault_evals.questions import Question, generated_file, write_questions
from vault_evals.ranking_commands import ranking_of_run
from vault_indexer.cli.parameters import VaultSelection, one_command

ENDINGS: dict[str, BaseException] = {"ctrl-c": KeyboardInterrupt(), "sigterm": SystemExit(143)}


def ends(name: str) -> str:
    raise ENDINGS[name]


class Interrupted(BaseModel):
    """pydantic calls a function for it, and then the signal comes."""

    ending: Annotated[str, PlainSerializer(ends)]


@pytest.mark.parametrize(("ending", "status"), [("ctrl-c", 130), ("sigterm", 143)])
def test_a_signal_within_pydantic_ends_the_command_as_it_does_elsewhere(ending: str, status: int) -> None:
    def command(selection: VaultSelection) -> None:
        Interrupted(ending=ending).model_dump()

    found = CliRunner().invoke(one_command(command), [])
    assert found.exit_code == status


class EndedSelection:
    """The process gets SIGTERM as soon as somebody wants to know which vault is meant."""

    def __getattr__(self, name: str) -> object:
        signal.raise_signal(signal.SIGTERM)
        raise AssertionError(f"{name} is read in spite of the signal")


def test_sigterm_ends_a_ranking_with_its_status_and_means_afterwards_what_it_meant(tmp_path: Path) -> None:
    write_questions(generated_file(tmp_path), [Question("q", "bread", {})])
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with pytest.raises(SystemExit) as ended:
            ranking_of_run(cast("VaultSelection", EndedSelection()), tmp_path)
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
    assert ended.value.code == 143
