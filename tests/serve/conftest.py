from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from serve_api import Api, end, serve

if TYPE_CHECKING:
    from mcp_in_process import Tools


@pytest.fixture(scope="session")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    process, found = serve(tmp_path_factory.mktemp("served"))
    yield found
    said = end(process)
    assert "Traceback" not in said, said


@pytest.fixture
def garden(several: tuple[Tools, Tools]) -> Tools:
    """The tools of one vault. `several` is the module's own."""
    return several[0]


@pytest.fixture
def both(several: tuple[Tools, Tools]) -> Tools:
    """The tools of all vaults."""
    return several[1]
