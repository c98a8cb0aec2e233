"""Two hundred searches a second, asked of a daemon over HTTP, do not stop it from indexing."""

import logging
import random
import shutil
from pathlib import Path

import pytest
from reliability_lab import FULL, make_vault, sized
from search_load import serving, under_load

pytestmark = pytest.mark.slow

REAL = Path(__file__).parents[3] / "shared" / "data" / "vaults" / "obsidian-help"
LOG = logging.getLogger(__name__)


@pytest.mark.parametrize(
    "kind",
    [
        "made",
        pytest.param(
            "real", marks=[pytest.mark.data, pytest.mark.skipif(not REAL.is_dir(), reason="no data")]
        ),
    ],
)
@pytest.mark.parametrize("clients", [4, 16] if FULL else [16])
def test_every_edit_is_found_under_two_hundred_searches_a_second(
    kind: str, clients: int, tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    if kind == "real":
        shutil.copytree(REAL, vault)
    else:
        make_vault(vault, random.Random(3), 150)
    with serving(vault, tmp_path / "index") as daemon:
        load = under_load(daemon, vault, clients=clients, rate=200, seconds=sized(6, 20))
    LOG.info("%s vault, %d clients: %s", kind, clients, load)
    assert load.refused == []
    assert len(load.took_s) > 20, "the searches were no load"
    assert len(load.fresh_s) >= 2
