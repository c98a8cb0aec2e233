"""The address of the server after a restart, and what a page learns of a server before it sends the token."""

from __future__ import annotations

import socket
import stat
from pathlib import Path

import pytest
from serve_api import end, serve

pytestmark = pytest.mark.long


def test_port_and_token_survive_a_restart(tmp_path: Path) -> None:
    process, before = serve(tmp_path)
    end(process)
    assert stat.S_IMODE((before.index_dir / "address.json").stat().st_mode) == 0o600
    process, after = serve(tmp_path)
    end(process)
    assert (after.port, after.token) == (before.port, before.token)


def test_an_occupied_port_is_given_up_together_with_the_token(tmp_path: Path) -> None:
    process, before = serve(tmp_path)
    end(process)
    with socket.create_server(("127.0.0.1", before.port)):
        process, other = serve(tmp_path)
        end(process)
    assert other.port != before.port
    assert other.token != before.token
    process, after = serve(tmp_path)
    end(process)
    assert (after.port, after.token) == (other.port, other.token)


@pytest.mark.parametrize("content", ["", "[]", '{"port": 0, "token": "x"}', '{"port": 9, "token": "short"}'])
def test_a_damaged_file_is_replaced(tmp_path: Path, content: str) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "address.json").write_text(content)
    process, api = serve(tmp_path)
    end(process)
    assert len(api.token) >= 32
    assert api.token in (api.index_dir / "address.json").read_text()
