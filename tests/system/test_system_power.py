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
        ({"BAT0": b"Charging\n"}, False),
        ({"BAT0": b"Full\n", "BAT1": b" Discharging \n"}, True),
        ({"BAT0": b"", "BAT1": b"Discharging\n"}, True),  # the first cannot be read: it is a folder
        ({"BAT0": b"Discharging\xff\n"}, False),
    ],
)
def test_a_battery_that_discharges(tmp_path: Path, supplies: dict[str, bytes | None], expected: bool) -> None:
    for name, status in supplies.items():
        (tmp_path / name).mkdir()
        if status:
            (tmp_path / name / "status").write_bytes(status)
        elif status is not None:
            (tmp_path / name / "status").mkdir()
    assert is_on_battery(tmp_path) is expected
    assert not is_on_battery(tmp_path / "missing")
