"""The address of the server after a restart, and what a page learns of a server before it sends the token."""

import socket
import stat
from pathlib import Path

import pytest
from serve_api import end, serve

pytestmark = pytest.mark.long


def test_port_and_token_survive_a_restart_unless_the_port_is_occupied(tmp_path: Path) -> None:
    process, before = serve(tmp_path)
    end(process)
    assert stat.S_IMODE((before.index_dir / "address.json").stat().st_mode) == 0o600
    process, again = serve(tmp_path)
    end(process)
    assert (again.port, again.token) == (before.port, before.token)
    with socket.create_server(("127.0.0.1", before.port)):
        process, other = serve(tmp_path)
        end(process)
    assert other.port != before.port
    assert other.token != before.token
    assert other.token in (other.index_dir / "address.json").read_text()
