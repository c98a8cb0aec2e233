"""One Milvus server for all tests that do not end it; each test has collections of its own."""

from collections.abc import Iterator

import pytest
from milvus_server import MilvusServer, milvus_server

REASON = 'the extra "milvus" is not installed: pip install "vault-indexer[milvus]"'


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusServer]:
    pytest.importorskip("pymilvus", reason=REASON)
    pytest.importorskip("milvus_lite", reason=REASON)
    with milvus_server(tmp_path_factory.mktemp("milvus") / "data") as server:
        yield server
