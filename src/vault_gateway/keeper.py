"""The daemon's answer to a gateway that requests the text of hits: `/v1/bodies`."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from vault_indexer.contract.marks import MAX_LIMIT, MAX_QUERY_BYTES, Says
from vault_indexer.errors import UsageError
from vault_indexer.serve.api.endpoints import Endpoint
from vault_indexer.serve.api.respond import AnswerContext, ExtensionRoute
from vault_indexer.system import record

_LARGEST_KEY = (1 << 63) - 1
_KEY_DIGITS = len(str(_LARGEST_KEY))


class BodiesRequest(NamedTuple):
    """The bodies of chunks by their keys."""

    keys: Annotated[
        str, Says(help=f"Chunk keys, separated by commas; at most {MAX_LIMIT}.", max_chars=MAX_QUERY_BYTES)
    ]


@record
class ChunkBody:
    """The body of a chunk, and its position in the note."""

    key: int
    path: str
    start_pos: int
    end_pos: int
    body: str


@record
class Bodies:
    """The bodies of the requested chunks that are in the index."""

    bodies: tuple[ChunkBody, ...]


def _bodies(context: AnswerContext, request: BodiesRequest) -> Bodies:
    written = request.keys.split(",")
    if len(written) > MAX_LIMIT or not all(key.isascii() and key.isdecimal() for key in written):
        raise UsageError(f"keys: 1 to {MAX_LIMIT} whole numbers, separated by commas")
    possible = (int(key) for key in written if len(key) <= _KEY_DIGITS)
    found = context.service.chunk_rows(key for key in possible if key <= _LARGEST_KEY)
    return Bodies(
        tuple(
            ChunkBody(row.key, path, row.chunk.start_pos, row.chunk.end_pos, row.chunk.body)
            for row, path in found
        )
    )


BODIES: Endpoint[Any] = Endpoint(
    name="bodies",
    path="/v1/bodies",
    help="The bodies of chunks by their keys, for a gateway.",
    request=BodiesRequest,
    answer="vault_gateway.keeper:Bodies",
    answer_help="The bodies; keys that are not in the index are left out.",
)

ROUTES = (ExtensionRoute(BODIES, _bodies),)
