"""Health and figures, and that nothing of a user is among them."""

import platform
import time
from importlib.metadata import version

from gateway_lab import ANA, BEN, OPS, Gateway, id_of
from prometheus_client.parser import text_string_to_metric_families
from serve_api import Answer


def samples(answer: Answer) -> dict[tuple[str, tuple[str, ...]], float]:
    assert answer.status == 200
    return {
        (sample.name, tuple(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
    }


def test_health_needs_no_token(shared_gateway: Gateway) -> None:
    assert shared_gateway.get("/healthz").json == {"ok": True}
    assert shared_gateway.get("/readyz").json == {"ok": True, "warnings": []}


def test_probes_name_any_host_and_prometheus_does_with_its_token(shared_gateway: Gateway) -> None:
    away = "10.1.2.3:7610"
    for path in ("/healthz", "/readyz"):
        assert shared_gateway.get(path, host=away).status == 200
        for host in (away, f"127.0.0.1:{shared_gateway.port}"):
            found = shared_gateway.head(path, host)
            assert (found.status, found.body) == (200, b"")
    assert shared_gateway.get("/metrics", OPS, host=away).status == 200
    assert shared_gateway.get("/metrics", host=away).status == 421
    assert shared_gateway.get("/v1/vaults", OPS, host=away).status == 421


def test_only_some_users_read_the_figures(shared_gateway: Gateway) -> None:
    assert shared_gateway.get("/metrics", ANA).kind == "rights"
    assert shared_gateway.get("/metrics", OPS).headers["content-type"].startswith("text/plain")


def test_requests_and_calls_are_counted(shared_gateway: Gateway) -> None:
    name = "vault_indexer_gateway"
    before = samples(shared_gateway.get("/metrics", OPS))
    shared_gateway.search(BEN, "unusualword")
    shared_gateway.get("/v1/unusualroute", BEN)
    shared_gateway.get("/v1/search?q=x")
    answer = shared_gateway.get("/metrics", OPS)
    after = samples(answer)

    def more(figure: str, labels: tuple[str, ...]) -> float:
        return after[figure, labels] - before.get((figure, labels), 0)

    assert more(f"{name}_requests_total", ("/v1/search", "200")) == 1
    assert more(f"{name}_requests_total", ("/v1/search", "401")) == 1
    assert more(f"{name}_requests_total", ("other", "404")) == 1
    assert more(f"{name}_milvus_seconds_count", ("search",)) == 1
    assert after[f"{name}_ready", ()] == 1
    assert more(f"{name}_refusals_total", ("token",)) == 1
    for secret in ("unusual", BEN.token, ANA.token, "ben"):
        assert secret not in answer.body.decode()


def test_figures_say_what_runs_what_is_published_and_who_has_rights(shared_gateway: Gateway) -> None:
    name = "vault_indexer_gateway"
    found = samples(shared_gateway.get("/metrics", OPS))
    assert found[f"{name}_build_info", (platform.python_version(), version("vault-indexer"))] == 1
    for vault in (id_of("kitchen"), id_of("observatory")):
        published = found[f"{name}_published_timestamp_seconds", (vault,)]
        assert 0 < published <= found[f"{name}_seen_timestamp_seconds", (vault,)] <= time.time()
    assert found[f"{name}_rights_holders", ()] == 2  # ana and ben; ops has none
    assert found[f"{name}_rights_vaults", ()] == 1  # "*" names none
