"""Whether the machine runs on its battery, by the files of Linux."""

import sys
from pathlib import Path

import pytest

from vault_indexer.system import is_on_battery

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the files of Linux")


@pytest.mark.parametrize(
    ("supplies", "expected"),
    [
        ({}, False),
        ({"AC": None}, False),
        ({"BAT0": "Charging\n"}, False),
        ({"BAT0": "Full\n", "BAT1": "Discharging\n"}, True),
    ],
)
def test_a_battery_that_discharges(tmp_path: Path, supplies: dict[str, str | None], expected: bool) -> None:
    for name, status in supplies.items():
        (tmp_path / name).mkdir()
        if status is not None:
            (tmp_path / name / "status").write_text(status, "ascii")
    assert is_on_battery(tmp_path) is expected


def test_a_machine_without_power_supplies(tmp_path: Path) -> None:
    assert not is_on_battery(tmp_path / "missing")


def test_a_supply_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "BAT0" / "status").mkdir(parents=True)
    assert not is_on_battery(tmp_path)
    (tmp_path / "BAT1").mkdir()
    (tmp_path / "BAT1" / "status").write_bytes(b"Discharging\xff\n")
    assert not is_on_battery(tmp_path)
    (tmp_path / "BAT1" / "status").write_bytes(b" Discharging \n")
    assert is_on_battery(tmp_path)
