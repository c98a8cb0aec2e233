"""What stands around a request before it is answered: its route, its parameters, and the vault it names."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import pytest
from asgi import exchange

from vault_indexer.errors import UsageError
from vault_indexer.serve.http.guard import Message, Receive, Send
from vault_indexer.serve.http.routes import (
    ParameterCheck,
    allowed_parameters,
    problem_of_query,
    query_pairs,
)
from vault_indexer.serve.http.vault_choice import CHOSEN_VAULT, VaultChoice, vault_url, without_prefix
from vault_indexer.vaults import Vaults


@dataclass
class App:
    """An application that remembers the scopes it gets, and the vault that is chosen then."""

    scopes: list[Message] = field(default_factory=list)
    vaults: list[str] = field(default_factory=list)

    async def __call__(self, scope: Message, _receive: Receive, _send: Send) -> None:
        self.scopes.append(scope)
        self.vaults.append(CHOSEN_VAULT.get())


class TwoVaults:
    """The part of the vaults that a choice asks."""

    def holders(self, *named: str) -> Sequence[str]:
        if named and named[0] not in ("own", "work it"):
            raise UsageError(f"no vault is named {named[0]!r}")
        return ("own", "work it")


def ask(app: object, path: str, query: bytes = b"", kind: str = "http", method: str = "GET") -> str:
    """What is answered instead of the application: status and message; "" where the application is asked."""
    found = asyncio.run(exchange(app, path, method, type=kind, query_string=query))
    status, error, message = found.error if found.sent else (0, "", "")
    return f"{status} {error}: {message}" if status else ""


@pytest.mark.parametrize(
    ("path", "rest"),
    [
        ("/vault/own/v1/status", "/v1/status"),
        ("/vault/own/", "/"),
        ("/vault/own", "/vault/own"),
        ("/vaults/own/x", "/vaults/own/x"),
        ("/v1/status", "/v1/status"),
        ("/x/vault/own/y", "/x/vault/own/y"),
    ],
)
def test_the_name_of_a_vault_is_taken_off_the_path(path: str, rest: str) -> None:
    app = App()
    assert ask(without_prefix(app), path) == ""
    assert app.scopes[0]["path"] == rest
    ask(without_prefix(app), path, kind="websocket")
    assert app.scopes[1]["path"] == path
    assert vault_url("http://127.0.0.1:1", "own") == "http://127.0.0.1:1/vault/own"


@pytest.mark.parametrize(
    ("path", "query", "vault", "rest"),
    [
        ("/v1/x", b"", "", b""),
        ("/v1/x", b"vault=own", "own", b""),
        ("/v1/x", b"q=a%20b&v%61ult=work+it&limit=3", "work it", b"q=a%20b&limit=3"),
        ("/v1/x", b"vaults=own&&q", "", b"vaults=own&&q"),
        ("/vault/own/v1/x", b"q=vault", "own", b"q=vault"),
    ],
)
def test_the_vault_that_a_request_names_is_chosen(path: str, query: bytes, vault: str, rest: bytes) -> None:
    app = App()
    choice = VaultChoice(app, cast("Vaults", TwoVaults()))
    assert ask(without_prefix(choice), path, query) == ""
    assert (app.vaults, app.scopes[0]["query_string"]) == ([vault], rest)


def test_a_vault_that_is_not_kept_or_named_twice_is_refused_save_on_public_paths() -> None:
    app = App()
    choice = without_prefix(VaultChoice(app, cast("Vaults", TwoVaults()), {"/page"}))
    assert ask(choice, "/v1/x", b"vault=no") == "422 request: no vault is named 'no'"
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


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("x=1&y=2", None),
        ("x=&x=", "the parameter 'x' is given 2 times, but must be given once"),
        ("x=1&z=2&z=3", "unknown parameter 'z': /b takes x, y"),
        ("y=1&y=2&y=3&x=1", "the parameter 'y' is given 3 times, but must be given once"),
        (f"{'z' * 61}=1", f"unknown parameter '{'z' * 60}': /b takes x, y"),
    ],
)
def test_a_parameter_that_is_unknown_or_given_twice_is_named(query: str, problem: str | None) -> None:
    assert problem_of_query("/b", query_pairs(query.encode()), ("x", "y")) == problem
    app = App()
    said = ask(ParameterCheck(app, allowed_parameters(DOCUMENT)), "/b", query.encode())
    assert said == (f"422 request: {problem}" if problem else "")
    assert len(app.scopes) == (problem is None)


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


def test_values_of_a_query_are_decoded_and_may_be_empty() -> None:
    assert query_pairs(b"q=a%20b+c&x=&y=%C3%A9&z") == [("q", "a b c"), ("x", ""), ("y", "é"), ("z", "")]
