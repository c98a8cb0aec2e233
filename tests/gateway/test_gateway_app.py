"""The routes of a gateway, with answers that are made up: no server of Milvus is needed."""

import asyncio
import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from vault_gateway.app import GatewayParts, make_gateway_app
from vault_gateway.readiness import Drain
from vault_gateway.settings import GatewayUser
from vault_gateway.wire import GatewayAnswer, GatewayHit
from vault_indexer.model import Why

HIT = GatewayHit(
    path="a.md",
    title="A",
    header_path="H",
    chunk_id="c",
    chunk_index=0,
    start_pos=0,
    end_pos=3,
    start_line=1,
    end_line=1,
    score=0.123456,
    snippet="snip",
    marks=((0, 2),),
    content="body",
    modified_time="2026",
    tags=(),
    stale=False,
    why=Why(None, None, None, recency=1.0),
    vault="v",
    keeper="k",
    published_at="2026",
)

USER = GatewayUser(name="u", token_sha256="0" * 64, metrics=True)


def parts() -> GatewayParts:
    limits = {"allowed_origins": (), "max_concurrent": 8, "timeout_s": 5, "allowed_hosts": ()}
    limits |= {"user_concurrent": 4, "user_rate": 100.0, "user_burst": 100}
    made = {
        "settings": SimpleNamespace(server=SimpleNamespace(**limits)),
        "users": SimpleNamespace(hold=True, by_token=lambda _: USER, of=lambda _: USER),
        "published": SimpleNamespace(
            of=lambda *_: {}, look=list, unmatched_rights=lambda: 2, models=lambda: 1
        ),
        "search": SimpleNamespace(search=lambda _, order: GatewayAnswer(order.query, 1.234, (HIT,), ())),
        "metrics": SimpleNamespace(
            watch=lambda app: app,
            exposition=lambda: (b"figures", "text/plain"),
            count_share_refused=lambda: None,
            count_refused=lambda _: None,
        ),
        "oidc": None,
        "proxy": None,
        "audit": None,
    }
    return cast("GatewayParts", SimpleNamespace(**made))


def ask(target: str) -> tuple[int, bytes]:
    path, _, query = target.partition("?")
    sent: list[Any] = []
    scope: Any = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "scheme": "http"}
    scope |= {"query_string": query.encode(), "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1)}
    scope |= {"headers": [(b"host", b"127.0.0.1:80"), (b"authorization", b"Bearer t")], "root_path": ""}

    received = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> Any:
        return next(received, None) or await asyncio.Event().wait()  # the client stays

    async def send(message: Any) -> None:
        sent.append(message)

    app = make_gateway_app(parts(), 80, Drain(1.0), lambda: False)
    asyncio.run(cast("Any", app(scope, receive, send)))
    return sent[0]["status"], b"".join(one.get("body", b"") for one in sent)


@pytest.mark.parametrize(
    ("target", "status", "part"),
    [
        ("/healthz", 200, b'{"ok":true}'),
        ("/readyz", 200, b'"warnings":["rights that match no published vault: 2"]'),
        ("/v1/vaults", 200, b'{"vaults":[]}'),
        ("/v1/search?q=x", 200, b'"score":0.1235'),
        ("/v1/search?q=x&fields=path", 200, b'"results":[{"path":"a.md"}]'),
        ("/v1/search?q=x&fields=colour", 422, b"a hit has no key 'colour'"),
        ("/v1/search?q=x&limit=999", 422, b"less than or equal to 200"),
        ("/v1/search", 422, b"q: is required"),
        ("/metrics", 200, b"figures"),
        ("/nothing", 404, b"Not Found"),
    ],
)
def test_a_route_answers(target: str, status: int, part: bytes) -> None:
    found, body = ask(target)
    assert found == status, body
    assert part in body


def test_the_document_describes_the_routes() -> None:
    document = json.loads(ask("/openapi.json")[1])
    assert list(document["paths"]) == [
        *("/v1/search", "/v1/vaults", "/v1/note", "/v1/related", "/v1/ask", "/healthz", "/readyz"),
        "/metrics",
    ]
    assert document["paths"]["/healthz"]["get"]["security"] == []
