"""`/metrics` of a daemon: behind the token, parsed by Prometheus' own parser."""

from __future__ import annotations

import pytest
from serve_api import Api

from vault_indexer.config import vault_name_of

parser = pytest.importorskip("prometheus_client.parser")


def figures(api: Api) -> dict[tuple[str, ...], float]:
    answer = api.ask("/metrics")
    assert answer.status == 200
    families = parser.text_string_to_metric_families(answer.body.decode())
    return {
        (one.name, *(value for _, value in sorted(one.labels.items()))): one.value
        for family in families
        for one in family.samples
    }


def test_the_index_and_the_searches_are_counted(api: Api) -> None:
    figures(api)  # counting begins
    before = figures(api)
    api.ask("/v1/search?q=saturn")
    api.ask("/v1/nowhere-at-all")
    api.ask("/v1/search?q=saturn", headers={"Authorization": ""})
    after = figures(api)
    name = vault_name_of(api.vault)
    assert after["vault_indexer_notes", name] == 2
    assert after["vault_indexer_chunks", name] >= 2
    assert after["vault_indexer_index_seq", name] >= 1
    assert after["vault_indexer_unpublished", name] == 0
    assert after["vault_indexer_state", "ready", name] == 1
    searched = "vault_indexer_request_seconds_count", "/v1/search"
    assert after[searched] - before.get(searched, 0) == 2
    assert after["vault_indexer_requests_total", "other", "404"] >= 1
    assert not any("nowhere" in part or "saturn" in part for key in after for part in key)
