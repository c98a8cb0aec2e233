"""One daemon keeps two vaults. What goes wrong with one of several is in `test_daemon_several.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
from several_vaults import furnish, kept
from waiting import wait_until

from vault_indexer.daemon.discovery import START_FILE

pytestmark = pytest.mark.long


def test_both_vaults_are_searched_unless_one_is_named(tmp_path: Path) -> None:
    house = furnish(tmp_path)
    house.configure("garden", "work")
    with kept(house):
        for name in ("garden", "work"):
            house.wait_for(name, "ready")
        assert {("garden", "Tomatoes.md"), ("work", "Budget.md")} <= set(house.hits("tomatoes"))
        assert house.hits("tomatoes", "&vault=work")[0] == ("", "Budget.md")
        assert {vault for vault, _ in house.hits("tomatoes -vault:work")} == {"garden"}
        assert house.ask("/v1/events").status == 422
        assert house.ask("/v1/search?q=tomatoes&vault=work&vault=garden").status == 422
        house.configure("work")
        wait_until(lambda: not (house.index_dir("garden") / START_FILE).exists(), "it is kept no longer")
    assert (house.index_dir("work") / START_FILE).exists(), "the next daemon keeps it, too"
