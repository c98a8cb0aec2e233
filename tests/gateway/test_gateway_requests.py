"""Each request has an id and, where the owner wants it, a line in the audit log."""

import json
from pathlib import Path
from typing import Any

import pytest
from gateway_lab import ANA, BEN, OPS, Gateway, Team, gateway, id_of
from waiting import wait_until

from vault_gateway.requests import AuditLog, RequestRecord
from vault_gateway.settings import GatewayAudit


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_a_request_has_an_id_of_its_own_or_that_of_the_proxy(shared_gateway: Gateway) -> None:
    first, second = (shared_gateway.search(BEN, "dough").headers["x-request-id"] for _ in range(2))
    assert first != second
    assert len(first) == 32
    given = shared_gateway.get("/v1/vaults", BEN, headers={"X-Request-Id": "trace-1:a/b.c=+"})
    assert given.headers["x-request-id"] == "trace-1:a/b.c=+"
    for wrong in ("", "a b", 'a"b', "x" * 129, "é"):
        found = shared_gateway.get("/v1/vaults", BEN, headers={"X-Request-Id": wrong})
        assert len(found.headers["x-request-id"]) == 32
        assert found.status == 200
    refused = shared_gateway.get("/v1/vaults", headers={"X-Request-Id": "mine"})
    assert (refused.status, refused.headers["x-request-id"]) == (401, "mine")


def test_the_audit_log_has_a_line_for_each_request(team: Team, tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    with gateway(team, [ANA, BEN, OPS], tables=f'[audit]\nfile = "{file}"\n') as one:
        one.get("/healthz")
        one.get("/readyz")
        one.get("/v1/search?q=dough", ANA, headers={"X-Request-Id": "first"})
        one.search(BEN, "secretword")
        one.search(BEN, "dough", vault="kitchen")
        one.search(ANA, "dough", vault="observatory")
        one.get("/v1/vaults", ANA)
        one.get("/v1/search?q=x", headers={"Authorization": "Bearer wrong-token"})
        one.get("/metrics", ANA)
        one.get("/v1/nothing", ANA)
        wait_until(lambda: len(lines(file)) == 8, "the last line is written after its answer")
        assert file.stat().st_mode & 0o077 == 0
        moved = file.rename(tmp_path / "audit.1")
        one.get("/v1/vaults", BEN)
    kitchen = id_of("kitchen")
    found = [
        (line["user"], line["kind"], line["vaults"], line["status"], line["reason"]) for line in lines(moved)
    ]
    assert found == [
        ("ana", "search", [kitchen], 200, ""),
        ("ben", "search", ["*"], 200, ""),
        ("ben", "search", [kitchen], 200, ""),
        ("ana", "search", [], 404, "unknown_vault"),
        ("ana", "vaults", [], 200, ""),
        (None, "search", [], 401, "token"),
        ("ana", "metrics", [], 403, "rights"),
        ("ana", "other", [], 404, "request"),
    ]
    first = lines(moved)[0]
    assert set(first) == {*("time", "request_id", "user", "by", "vaults", "kind", "status", "reason", "ms")}
    assert (first["request_id"], first["by"]) == ("first", "token")
    assert 0 < first["ms"] < 60_000
    assert first["time"].endswith("Z")
    text = moved.read_text()
    assert all(secret not in text for secret in ("secretword", ANA.token, BEN.token, "wrong-token"))
    assert [line["user"] for line in lines(file)] == ["ben"]
    assert "secretword" not in one.said


def test_a_line_of_an_agent_has_its_tool_its_query_and_why_it_was_refused(team: Team, tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    calls: list[tuple[str, dict[str, object], tuple[object, ...]]] = [
        ("search", {"q": "dough"}, ("search", ["*"], "", "dough")),
        ("search", {"q": "a links-to:b"}, ("search", ["*"], "query", "a links-to:b")),
        ("search", {"q": "dough", "vault": "none"}, ("search", [], "unknown_vault", "dough")),
        ("search", {}, ("search", [], "request", None)),
        ("ask", {"q": "How long do lentils boil?"}, ("ask", ["*"], "", "How long do lentils boil?")),
        ("note", {"path": "none.md"}, ("note", ["*"], "unknown_note", None)),
        ("vaults", {}, ("vaults", [], "", None)),
        ("remove", {}, ("", [], "request", None)),
    ]
    with gateway(team, [BEN], tables=f'[audit]\nfile = "{file}"\nqueries = true\n') as one:
        for name, arguments, _ in calls:
            assert one.rpc(BEN, "tools/call", name=name, arguments=arguments).status == 200
        one.post("/v1/ask", BEN, {"q": "lentils"})
        wait_until(lambda: len(lines(file)) == len(calls) + 1, "the last line is written after its answer")
    *of_agents, asked = lines(file)
    assert [(line["tool"], line["vaults"], line["reason"], line.get("query")) for line in of_agents] == [
        expected for *_, expected in calls
    ]
    assert {(line["kind"], line["status"]) for line in of_agents} == {("mcp", 200)}
    assert (asked["kind"], asked["query"], "tool" in asked) == ("ask", "lentils", False)


def test_there_is_no_log_of_requests_unless_one_is_configured(shared_gateway: Gateway) -> None:
    assert shared_gateway.search(BEN, "secretword").status == 200
    assert shared_gateway.get("/v1/nothing", BEN).status == 404
    assert shared_gateway.config.with_suffix(".out").read_text("utf-8") == ""


@pytest.mark.posix("a file that is open is removed")
def test_a_line_that_cannot_be_written_is_counted(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    lost: list[int] = []
    log = AuditLog.of(GatewayAudit(file=str(folder / "audit")), lambda: lost.append(1))
    log.write(RequestRecord("1", "search", status=200))
    (folder / "audit").unlink()
    folder.rmdir()
    log.write(RequestRecord("2", "search", status=200))
    log.close()
    assert lost == [1]


def test_a_line_holds_no_line_break(tmp_path: Path) -> None:
    log = AuditLog.of(GatewayAudit(file=str(tmp_path / "audit"), queries=True), lambda: None)
    log.write(RequestRecord("1", "search", query='a\n{"user": "eve"}\u2028\udc80', status=200))
    log.close()
    (line,) = (tmp_path / "audit").read_bytes().splitlines()
    assert json.loads(line)["query"].startswith("a\n")
