"""Two users with different rights ask one gateway over two published vaults."""

from pathlib import Path
from typing import Any

from gateway_lab import ANA, BEN, Gateway, Team, gateway, notices, results
from golden_cases import check_golden, of_parts


def test_each_user_finds_what_they_may_read(shared_gateway: Gateway) -> None:
    assert shared_gateway.paths(ANA, "rings of Saturn") == ["Soups/Lentils.md", "Bread.md"]
    assert shared_gateway.paths(BEN, "rings of Saturn")[0] == "Sky/Saturn.md"
    found = results(shared_gateway.search(BEN, "dough"))
    assert {hit["vault"] for hit in found} == {"kitchen", "observatory"}


def test_a_hit_has_the_keys_of_a_daemon(shared_gateway: Gateway) -> None:
    hit = results(shared_gateway.search(BEN, "rings of Saturn"))[0]
    assert (hit["vault"], hit["keeper"]) == ("observatory", "keeper")
    assert (hit["title"], hit["header_path"], hit["kind"]) == ("Saturn", "Saturn", "note")
    assert hit["score"] == 1.0
    assert "rings of Saturn" in str(hit["snippet"])
    marks = hit["marks"]
    assert isinstance(marks, list)
    assert [str(hit["snippet"])[start:end] for start, end in marks] == ["rings", "Saturn"]
    assert str(hit["content"]).endswith("ice and rock.")
    assert hit["line"] == 6


def test_only_the_wanted_keys_are_sent(shared_gateway: Gateway) -> None:
    found = shared_gateway.search(BEN, "Saturn", fields="path, score", limit=1)
    assert [set(hit) for hit in results(found)] == [{"path", "score"}]
    assert shared_gateway.search(BEN, "Saturn", fields="path,secret").status == 422


def test_conditions_are_those_of_a_daemon(shared_gateway: Gateway) -> None:
    def found(query: str, *more: str) -> str:
        parameters = dict(one.split("=") for one in more)
        return ", ".join(sorted(set(shared_gateway.paths(BEN, query, **parameters))))

    check_golden(Path(__file__).parent / "fixtures" / "search.md", {"": of_parts(found)})


def test_what_a_gateway_cannot_decide_is_refused_by_name(shared_gateway: Gateway) -> None:
    found = shared_gateway.search(BEN, "dough links-to:Bread")
    assert found.status == 422
    assert "links-to:Bread (only the daemon has the links)" in found.body.decode()
    assert shared_gateway.search(BEN, "dough vault:kitchen").status == 422
    assert shared_gateway.search(BEN, "tag:food").status == 422
    assert shared_gateway.search(BEN, "dough path:/(/").status == 422


def test_a_filter_over_too_many_chunks_is_refused_until_one_vault_is_named(team: Team) -> None:
    """The kitchen has two chunks, the observatory thirteen."""
    with gateway(team, [BEN], "max_filtered_chunks = 3") as one:
        for found in (one.search(BEN, "dough", folder="Sky"), one.search(BEN, "dough tag:food")):
            assert (found.status, found.kind) == (422, "usage")
            said = "in 15 parts of notes is too slow, the maximum is 3: choose one vault with vault="
            assert said in found.body.decode()
        assert one.search(BEN, "dough", vault="observatory", folder="Sky").status == 422
        assert one.paths(BEN, "dough", vault="kitchen", folder="Soups") == ["Soups/Lentils.md"]
        assert one.paths(BEN, "dough tag:food", vault="kitchen") == ["Bread.md"]
        assert one.search(BEN, "dough").status == 200


def test_an_answer_says_what_it_is_worth_and_what_was_corrected(shared_gateway: Gateway) -> None:
    found = shared_gateway.search(BEN, "the rings of Saturn are ice")
    assert found.json["verdict"] == "strong"
    hit = results(found)[0]
    assert (hit["path"], hit["tags"]) == ("Sky/Saturn.md", ["planet"])
    assert float(str(hit["relevance"])) > 0.99
    assert hit["uri"] == "obsidian://open?vault=observatory&file=Sky%2FSaturn.md"
    assert hit["chunk_id"]
    assert {"vector", "keyword", "note"} <= set(hit["why"])  # type: ignore[call-overload]
    nothing = shared_gateway.search(BEN, "xyzzy qwfpgj")
    assert (nothing.json["verdict"], nothing.json["missing_words"]) == ("none", ["xyzzy", "qwfpgj"])
    spelt = shared_gateway.search(BEN, "the dome is opne at night", vault="observatory")
    assert spelt.json["corrections"] == [{"from": "opne", "to": "open"}]
    assert results(spelt)[0]["path"] == "Sky/Long.md"


def test_hits_are_limited_by_note_and_number(shared_gateway: Gateway) -> None:
    long = "Sky/Long.md"
    assert shared_gateway.paths(BEN, "dome night", folder="Sky").count(long) == 3
    assert shared_gateway.paths(BEN, "dome night", folder="Sky", by="note").count(long) == 1
    assert shared_gateway.paths(BEN, "dome night path:long", by="note") == [long]
    assert shared_gateway.paths(BEN, "dome night", limit=1) == [long] * 3  # one note, with its three places
    assert notices(shared_gateway.search(BEN, "dome")) == ""


def test_the_document_describes_the_routes(shared_gateway: Gateway) -> None:
    paths: Any = shared_gateway.get("/openapi.json", BEN).json["paths"]
    assert list(paths) == [
        *("/v1/search", "/v1/vaults", "/v1/note", "/v1/related", "/v1/ask", "/healthz", "/readyz"),
        "/metrics",
    ]
    assert paths["/healthz"]["get"]["security"] == []
