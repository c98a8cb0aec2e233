"""Ctrl-C is Ctrl-C, also where a library makes an error of its own of it."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import BaseModel, PlainSerializer
from typer.testing import CliRunner

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


def test_another_error_stays_one() -> None:
    def command(selection: VaultSelection) -> None:
        raise RuntimeError("unforeseen") from ValueError("its cause")

    found = CliRunner().invoke(one_command(command), [])
    assert isinstance(found.exception, RuntimeError)
