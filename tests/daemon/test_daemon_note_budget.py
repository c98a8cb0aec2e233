"""The budget of a note, from the configuration to the status. `test_daemon_set_aside.py` has what follows."""

from pathlib import Path

import pytest
from vault_at_work import opened, place

WORDS = " ".join(f"w{number}" for number in range(240_000))  # no word comes twice: that takes long


@pytest.mark.long
def test_a_note_over_the_budget_of_the_configuration_is_set_aside(tmp_path: Path) -> None:
    where = place(tmp_path, {"Tame.md": "# Tame\n\nFlour.\n", "Hostile.md": f"# Hostile\n\n{WORDS}\n"})
    where.tune("[index]\nmax_note_seconds = 0.2\n")
    with opened(where, processes=True) as service:
        (skipped,) = service.status().skipped
        assert skipped.path == "Hostile.md"
        assert skipped.reason.endswith("took over 0.2 s of processor time")
        assert service.status().counts.notes == 1
