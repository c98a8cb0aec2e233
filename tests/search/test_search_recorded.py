"""Searches answer as recorded: one vault, two, two models; filters, typing, settings, errors, explain."""

from collections.abc import Iterator

import pytest
from answer_goldens import differences, recorded


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[str]]]:
    with recorded(tmp_path_factory.mktemp("recorded")) as lines:
        yield lines


@pytest.mark.posix("files with line feeds")
@pytest.mark.parametrize("name", ["one vault", "forms", "explain", "settings", "two vaults", "two models"])
def test_answers_are_as_recorded(answers: dict[str, list[str]], name: str) -> None:
    found = differences(name, answers[name])
    assert not found, f"{len(found)} lines differ:\n" + "\n".join(found[:40])


def test_three_hundred_answers_are_recorded(answers: dict[str, list[str]]) -> None:
    assert sum(line.startswith("# ") for lines in answers.values() for line in lines) > 300
