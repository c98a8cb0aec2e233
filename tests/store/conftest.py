"""The Milvus server of the tests that need one."""

from milvus_server import shared_server

__all__ = ["shared_server"]
