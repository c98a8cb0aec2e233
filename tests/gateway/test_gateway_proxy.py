"""Headers of a trusted proxy, and of everybody else."""

import os
import select
import socket
import stat
import subprocess
import sys
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path

import pytest
from gateway_lab import ANA, Team, User, gateway, id_of
from identity_provider import identity_provider, rsa_key
from serve_api import Answer, answer_of
from waiting import DEADLINE_S

from vault_gateway.identity import TrustedProxy
from vault_gateway.settings import GatewayProxy
from vault_indexer.errors import DaemonError
from vault_indexer.serve.http.guard import headers_by_name
from vault_indexer.serve.server import bind_unix

TABLES = (
    '[proxy]\nuser_header = "X-Forwarded-User"\ngroups_header = "X-Forwarded-Groups"\naddresses = {}\n'
    f'[[groups]]\nname = "cooks"\nvaults = ["{id_of("kitchen")}"]\n'
)
NOBODY = User("nobody", "", ())
COOK = {"X-Forwarded-User": "eva", "X-Forwarded-Groups": "others, cooks"}


@pytest.mark.parametrize(
    ("client", "is_trusted"),
    [
        ("10.1.2.3", True),
        ("::ffff:10.1.2.3", True),
        ("10.1.3.3", False),
        ("192.0.2.7", True),
        ("2001:db8::1", True),
        ("127.0.0.1", False),
        ("", False),
    ],
)
def test_only_listed_addresses_are_trusted(client: str, *, is_trusted: bool) -> None:
    settings = GatewayProxy(user_header="X-User", addresses=("10.1.2.0/24", "192.0.2.7", "2001:db8::/64"))
    proxy = TrustedProxy(settings, by_socket=False)
    found = proxy.identity((client, 1), {"x-user": ("ana",)})
    assert (found is not None) == is_trusted


@pytest.mark.parametrize(
    ("headers", "name"),
    [
        ([], ""),
        ([(b"X-User", b"ana"), (b"x-user", b"ben")], ""),
        ([(b"X-User", b"ana"), (b"X-Groups", b"a"), (b"X-Groups", b"b")], ""),
        ([(b"X-User", b"")], ""),
        ([(b"X-User", b"a\x7fb")], ""),
        ([(b"X-User", b"a" * 201)], ""),
        ([(b"X_User", b"ana")], ""),
        ([(b"X-User", "Zoë".encode("latin-1"))], ""),
        ([(b"X-User", "\u0085Zoë".encode())], ""),
        *(
            ([(b"X-User", name.encode()), (b"X-Groups", f"a, {name}".encode())], name)
            for name in ("Zoë", "Łukasz", "李雷", "أحمد")
        ),
    ],
)
def test_headers_name_users_and_groups_in_utf_8_and_those_that_may_be_of_the_user_nobody(
    headers: list[tuple[bytes, bytes]], name: str
) -> None:
    proxy = TrustedProxy(GatewayProxy(user_header="X-User", groups_header="X-Groups"), by_socket=True)
    found = proxy.identity(None, headers_by_name(headers))
    assert ((found.name, found.groups) if found else None) == ((name, ("a", name)) if name else None)


def test_a_client_is_no_proxy_whatever_it_says(team: Team) -> None:
    with gateway(team, [ANA], tables=TABLES.format('["10.1.2.3"]')) as one:
        for more in ({}, {"X-Forwarded-For": "10.1.2.3"}, {"Forwarded": "for=10.1.2.3"}):
            assert one.get("/v1/vaults", headers={**COOK, **more}).status == 401
        assert one.search(ANA, "dough").status == 200


def test_a_proxy_names_users_and_groups(team: Team) -> None:
    with gateway(team, [ANA], tables=TABLES.format('["127.0.0.1"]')) as one:
        assert [vault["name"] for vault in one.vaults(NOBODY, COOK)] == ["kitchen"]
        assert one.vaults(NOBODY, {"X-Forwarded-User": "ana"}) == []
        assert one.get("/v1/vaults").status == 401
        assert one.search(ANA, "dough").status == 200


@pytest.mark.long
@pytest.mark.parametrize(
    ("addresses", "said"),
    [('["10.1.2.3"]', "an address has all of its"), ('["127.0.0.1"]', "connections are in use")],
    ids=["a client", "the proxy"],
)
def test_a_client_has_a_share_of_the_connections_and_the_proxy_may_have_all(
    team: Team, addresses: str, said: str
) -> None:
    with identity_provider({"first": rsa_key()}) as provider, ExitStack() as held:
        provider.trickles = True
        with gateway(team, [ANA], tables=provider.toml + TABLES.format(addresses)) as one:
            # They wait for the keys of the provider.
            head = f"GET /v1/vaults HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {provider.token()}\r\n\r\n"
            for _ in range(300):
                client = held.enter_context(socket.socket())
                client.setblocking(False)
                client.connect_ex(("127.0.0.1", one.port))
                select.select([], [client], [], DEADLINE_S)
                client.sendall(head.encode())
            select.select([client], [], [], DEADLINE_S)
    assert said in one.said


class UnixConnection(HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=DEADLINE_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(DEADLINE_S)
        self.sock.connect(str(self._path))


def asked(path: Path, headers: dict[str, str]) -> Answer:
    connection = UnixConnection(path)
    try:
        connection.request("GET", "/v1/vaults", headers={"Host": "search.example.org", **headers})
        return answer_of(connection.getresponse())
    finally:
        connection.close()


def test_a_unix_socket_is_for_the_proxy_alone(team: Team, tmp_path: Path) -> None:
    path, config = tmp_path / "gateway.sock", tmp_path / "gateway.toml"
    config.write_text(
        f'[milvus]\nuri = "{team.uri}"\ncollection_prefix = "{team.prefix}"\n'
        f'[server]\nsocket = "{path}"\nallowed_hosts = ["search.example.org"]\n' + TABLES.format("[]")
    )
    command = [sys.executable, "-m", "vault_indexer.cli", "gateway", "--config", str(config)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert f"unix:{path}" in process.stderr.readline()
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
        assert b'"name":"kitchen"' in asked(path, COOK).body
        assert asked(path, {}).status == 401
        process.terminate()
        assert process.wait(DEADLINE_S) == 0
    assert not path.exists()


@pytest.mark.posix("sockets of files")
def test_a_socket_that_nobody_listens_on_gives_way_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "gateway.sock"
    first = bind_unix(path)
    with pytest.raises(DaemonError, match="in use"):
        bind_unix(path)
    first.close()
    bind_unix(path).close()
    path.unlink()
    path.write_text("a file of somebody")
    with pytest.raises(DaemonError):
        bind_unix(path)
    assert path.read_text() == "a file of somebody"
    assert os.listdir(tmp_path) == ["gateway.sock"]  # noqa: PTH208
