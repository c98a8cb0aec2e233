"""A Milvus server as platform teams run it: an authority of their own, mutual TLS, a database, an index."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from milvus_server import MilvusServer
from tls_proxy import Authority, tls_proxy

from vault_gateway.milvus import CollectionLayout, MilvusConnection
from vault_gateway.milvus.connection import client_options
from vault_gateway.milvus.schema import create_chunks
from vault_gateway.tables import MilvusAccess, MilvusSettings
from vault_indexer.errors import BackendError

pymilvus = pytest.importorskip("pymilvus")


@pytest.mark.parametrize("is_mutual", [False, True])
def test_a_server_with_certificates_of_an_own_authority(
    shared_server: MilvusServer, tmp_path: Path, *, is_mutual: bool
) -> None:
    ours, theirs = Authority(tmp_path, "ours"), Authority(tmp_path, "theirs")
    server, client = ours.certificate("server"), ours.certificate("client")
    mine = {"cert_file": str(client.file), "key_file": str(client.key)} if is_mutual else {}
    with tls_proxy(shared_server.port, server, ours.file if is_mutual else None) as port:

        def connection(**keys: str) -> MilvusConnection:
            settings = MilvusSettings(uri=f"https://127.0.0.1:{port}", timeout_s=5, **keys)  # type: ignore[arg-type]
            return MilvusConnection.from_settings(settings, {})

        good = connection(ca_file=str(ours.file), **mine)
        assert isinstance(good.call("list_collections"), list)
        good.close()
        named = connection(ca_file=str(ours.file), server_name="milvus.example.org", **mine)
        assert isinstance(named.call("list_collections"), list)
        named.close()
        for wrong in (
            {**mine},
            {**mine, "ca_file": str(theirs.file)},
            {**mine, "ca_file": str(ours.file), "server_name": "elsewhere.example.org"},
            *([{"ca_file": str(ours.file)}] if is_mutual else []),
        ):
            refused = connection(**wrong)
            with pytest.raises(BackendError):
                refused.call("list_collections")
            refused.close()
    missing = connection(ca_file=str(tmp_path / "nowhere.pem"), **mine)
    with pytest.raises(BackendError, match="a certificate for Milvus cannot be read"):
        missing.call("list_collections")


def test_a_collection_is_made_as_the_settings_say(
    shared_server: MilvusServer, prefixes: Iterator[str]
) -> None:
    name = next(prefixes)
    connection = MilvusConnection(shared_server.uri)
    layout = CollectionLayout(index_type="HNSW", index_params={"M": 16, "efConstruction": 200})
    create_chunks(connection, name, 8, layout)
    found = connection.call("describe_index", f"{name}_1", "vector")
    assert found["index_type"] == "HNSW"
    connection.close()


class Client:
    """What the server is asked for, where Milvus Lite has no such thing."""

    def __init__(self) -> None:
        self.calls: dict[str, dict[str, Any]] = {}

    def __getattr__(self, operation: str) -> Any:
        def call(*_: object, **named: Any) -> bool:
            self.calls[operation] = named
            return False

        return call


def test_replicas_shards_partitions_and_the_index_reach_the_server() -> None:
    client = Client()

    class Connection(MilvusConnection):
        def _connect(self) -> Any:
            return client

    connection = Connection("http://127.0.0.1:1", access=MilvusAccess(replicas=3))
    create_chunks(connection, "c", 8, CollectionLayout(2, 64, "IVF_FLAT", {"nlist": 128}))
    made = client.calls["create_collection"]
    assert (made["num_shards"], made["num_partitions"]) == (2, 64)
    (vector,) = [one for one in made["index_params"] if one.field_name == "vector"]
    assert (vector.index_type, vector.get_index_configs()["nlist"]) == ("IVF_FLAT", 128)
    assert client.calls["load_collection"]["replica_number"] == 3


def test_the_database_and_the_certificates_reach_the_client() -> None:
    mutual = MilvusAccess(db_name="team", ca_file="ca", cert_file="cert", key_file="key", server_name="name")
    assert client_options(mutual) == {
        "db_name": "team",
        "server_name": "name",
        "ca_pem_path": "ca",
        "client_pem_path": "cert",
        "client_key_path": "key",
    }
    assert client_options(MilvusAccess(ca_file="ca")) == {"server_pem_path": "ca"}
    assert client_options(MilvusAccess()) == {}
