"""What stands around a request before it is answered: its route, its parameters, and the vault it names."""

import asyncio
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from asgi import exchange
from golden_cases import check_golden, of_parts
from starlette.responses import Response

from vault_indexer.errors import UnavailableError
from vault_indexer.serve.api.endpoints import NOTE
from vault_indexer.serve.http.guard import Message, Receive, Send
from vault_indexer.serve.http.routes import (
    EndpointRoute,
    ParameterCheck,
    allowed_parameters,
    problem_of_query,
    query_pairs,
)
from vault_indexer.serve.http.vault_choice import CHOSEN_VAULT, VaultChoice, vault_url, without_prefix
from vault_indexer.vaults import ClosedVault, Vaults


@dataclass
class App:
    """An application that remembers the scopes it gets, and the vault that is chosen then."""

    scopes: list[Message] = field(default_factory=list)
    vaults: list[str] = field(default_factory=list)

    async def __call__(self, scope: Message, _receive: Receive, _send: Send) -> None:
        self.scopes.append(scope)
        self.vaults.append(CHOSEN_VAULT.get())


CLOSED = UnavailableError("it is closed")
VAULTS = Vaults([ClosedVault(name, Path("/v"), CLOSED) for name in ("own", "work it")])


def ask(app: object, path: str, query: bytes = b"", kind: str = "http", method: str = "GET") -> str:
    """What is answered instead of the application: status and message; "" where the application is asked."""
    found = asyncio.run(exchange(app, path, method, type=kind, query_string=query))
    status, error, message = found.error if found.sent else (0, "", "")
    return f"{status} {error}: {message}" if status else ""


def test_requests_are_routed_as_the_golden_says() -> None:
    def without_vault(path: str) -> str:
        app = App()
        assert ask(without_prefix(app), path) == ask(without_prefix(app), path, kind="websocket") == ""
        assert app.scopes[1]["path"] == path
        return str(app.scopes[0]["path"])

    def chosen(path: str, query: str) -> str:
        app = App()
        choice = VaultChoice(app, VAULTS)
        assert ask(without_prefix(choice), path, query.encode()) == ""
        return f"{app.vaults} {app.scopes[0]['query_string'].decode()}"

    def named(query: str) -> str:
        problem = problem_of_query("/b", query_pairs(query.encode()), ("x", "y"))
        app = App()
        said = ask(ParameterCheck(app, allowed_parameters(DOCUMENT)), "/b", query.encode())
        assert said == (f"422 request: {problem}" if problem else "")
        assert len(app.scopes) == (problem is None)
        return said or "asked"

    def tagged(known: str) -> str:
        headers = [(b"if-none-match", known.replace("ETAG", ETAG).encode())] if known else []
        route = EndpointRoute(NOTE, lambda _: Response(BODY))
        found = asyncio.run(exchange(route, "/?path=a", headers=headers))
        assert found.headers["etag"] == ETAG
        return f"{found.status} {found.body.decode()}"

    check_golden(
        Path(__file__).parent / "fixtures" / "routes.md",
        {
            "A body that the client knows by its tag is not sent again": tagged,
            "Values of a query are decoded and may be empty": lambda query: str(query_pairs(query.encode())),
            "The name of a vault is taken off the path": without_vault,
            "The vault that a request names, and the query that is left": of_parts(chosen),
            "A parameter of `/b` that is unknown or given twice is named": named,
        },
    )
    assert vault_url("http://127.0.0.1:1", "own") == "http://127.0.0.1:1/vault/own"


def test_a_vault_that_is_not_kept_or_named_twice_is_refused_save_on_public_paths() -> None:
    app = App()
    choice = without_prefix(VaultChoice(app, VAULTS, {"/page"}))
    unknown = "422 request: no vault 'no' is served here: choose one of own, work it"
    assert ask(choice, "/v1/x", b"vault=no") == unknown
    twice = "422 request: the parameter 'vault' is given 2 times, but must be given once"
    assert ask(choice, "/v1/x", b"vault=own&vault=own") == twice
    assert ask(choice, "/vault/own/v1/x", b"vault=own") == twice
    assert app.vaults == []
    assert ask(choice, "/vault/no/page", b"vault=own") == ""
    assert ask(choice, "/v1/x", b"vault=no", kind="websocket") == ""
    assert app.vaults == ["own", ""]
    assert app.scopes[1]["query_string"] == b"vault=no"


DOCUMENT = {
    "paths": {
        "/a": {
            "get": {"parameters": [{"name": "q", "in": "query"}, {"name": "h", "in": "header"}]},
            "post": {},
        },
        "/b": {"get": {"parameters": [{"name": "x", "in": "query"}, {"name": "y", "in": "query"}]}},
    }
}


def test_a_route_without_parameters_says_so() -> None:
    app = App()
    check = ParameterCheck(app, allowed_parameters(DOCUMENT))
    told = "422 request: unknown parameter 'x': /openapi.json takes no parameters"
    assert ask(check, "/openapi.json", b"x=1") == told
    assert ask(check, "/unknown", b"x=1&x=2") == ""
    assert ask(check, "/openapi.json") == ""
    assert ask(check, "/b", b"z=1", kind="websocket") == ""
    assert ask(check, "/a", b"z=1", method="PUT") == ""
    assert len(app.scopes) == 4


BODY = b"{}"
ETAG = f'"{sha256(BODY).hexdigest()[:32]}"'
