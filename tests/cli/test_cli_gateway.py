"""`indexer gateway` as far as it needs no server."""

from __future__ import annotations

import hashlib
import json

from cli_sandbox import Sandbox


def test_a_token_fits_its_digest(sandbox: Sandbox) -> None:
    made = json.loads(sandbox.run("gateway", "token", "--json").out)
    assert hashlib.sha256(made["token"].encode()).hexdigest() == made["token_sha256"]
    assert len(made["token"]) >= 40


def test_without_a_configuration_it_says_what_is_missing(sandbox: Sandbox) -> None:
    ran = sandbox.run("gateway")
    assert ran.code == 2
    assert "--config FILE is missing" in ran.err
