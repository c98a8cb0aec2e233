"""What the tools ask of a vault, and what they make of its answers: a vault of a few lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import pytest
from golden_cases import check_golden, of_parts
from hit_maker import make_hit

from vault_indexer import model
from vault_indexer.errors import IndexUnusableError, UnknownNoteError
from vault_indexer.serve.api.endpoints import ENDPOINTS
from vault_indexer.serve.api.respond import AnswerContext
from vault_indexer.serve.mcp.budget import tokens_of
from vault_indexer.serve.mcp.protocol import OPTIONS, SHORT_HITS_QUERY
from vault_indexer.serve.mcp.tools import answer_of, checked_arguments, in_its_vault
from vault_indexer.serve.mcp.views import tool_views
from vault_indexer.service import VaultService
from vault_indexer.vaults import OpenVault, Vaults

MANY = 205
"""More than the largest limit."""

VIEWS = {one.name: one for one in tool_views(ENDPOINTS, strategies=("word",))}


def hit_of(snippet: str, **fields: Any) -> model.Hit:
    """A hit with this snippet."""
    plain = {"title": "A", "content": "whole", "start_line": 3, "end_line": 4}
    path = fields.pop("path", "Log/a b.md")
    return make_hit(path, snippet=snippet, **{**plain, **fields})


@dataclass
class Service:
    """The part of a service that these tools ask. It remembers the limits that it is asked for, and fails
    with the next of `failures`, if there is one."""

    hits: Sequence[model.Hit] = ()
    likely: int = 0
    answered: model.AskAnswer | None = None
    failures: list[Exception] = field(default_factory=list)
    states: list[str] = field(default_factory=lambda: ["ready"])
    progress: model.Progress | None = None
    near: Sequence[model.RelatedNote] = ()
    limits: list[int | None] = field(default_factory=list)
    vault: str = "/v"
    text: str = "\n\nwhole\n"

    def status(self) -> model.StatusReport:
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        counts = model.IndexCounts(1, 1, 0, 0)
        return model.StatusReport(self.vault, "/i", state, 1, 1, 0, counts, progress=self.progress)

    def asked_vaults(self, is_cancelled: object) -> Service:
        assert is_cancelled
        return self

    def search(self, request: model.SearchRequest) -> model.SearchAnswer:
        self.limits.append(request.limit)
        if self.failures:
            raise self.failures.pop(0)
        return model.SearchAnswer(
            *(request.query, 1.0, model.IndexState(1, 1, 0), tuple(self.hits)),
            corrections=(model.Correction("owns", "owner"),) * ("owns" in request.query),
            likely=self.likely,
        )

    def ask_events(self, _request: object) -> Sequence[object]:
        return [self.answered, self.answered]

    def titles(self, _paths: object) -> dict[str, str]:
        return {}

    def indexed_text(self, _note: str) -> str:
        return self.text

    def path_of(self, note: str) -> str:
        return f"{note}.md"

    def related(self, _note: str, limit: int) -> Sequence[model.RelatedNote]:
        self.limits.append(limit)
        return self.near

    def mentions(self, note: str, limit: int) -> model.MentionsAnswer:
        self.limits.append(limit)
        return model.MentionsAnswer(f"{note}.md", (), (), more=False)

    def orphans(self) -> Sequence[model.Orphan]:
        return [model.Orphan(f"{number}.md", "") for number in range(MANY)]

    def unresolved_links(self) -> Sequence[model.UnresolvedTarget]:
        return [model.UnresolvedTarget(f"{number}", 1, ()) for number in range(MANY)]

    def links(self, note: str) -> model.LinksAnswer:
        links = tuple(model.Backlink(f"{number}.md", 1, "wikilink", "") for number in range(MANY))
        return model.LinksAnswer(f"{note}.md", (), links, (), (), 0, MANY, 0)


def context_of(*services: Service, **options: Any) -> AnswerContext:
    """The context of a call to vaults that are named a, b and so on."""
    held = [
        OpenVault(name, Path("/v"), cast("VaultService", one))
        for name, one in zip("abc", services, strict=False)
    ]
    return AnswerContext(Vaults(held), model.DaemonState(), **options)


def ask(context: AnswerContext, tool: str, **given: object) -> dict[str, Any]:
    """The answer of a tool."""
    view = VIEWS[tool]
    return answer_of(view, context, checked_arguments(view, given))


@pytest.mark.parametrize(
    ("given", "entries"),
    [({"path": "a"}, "backlinks"), ({"view": "unresolved"}, "unresolved"), ({"view": "orphans"}, "orphans")],
)
def test_a_list_of_links_has_pages_up_to_its_end(given: dict[str, object], entries: str) -> None:
    service = Service()
    for offset, count, following in ((0, 100, 100), (100, 100, 200), (200, 5, None), (205, 0, None)):
        found = ask(context_of(service), "links", offset=offset, **given)
        assert (len(found[entries]), found.get("next_offset")) == (count, following)
    assert ask(context_of(service), "links", limit=2, offset=1, **given)["next_offset"] == 3
    assert service.limits == []


@pytest.mark.parametrize(
    ("tool", "given"),
    [("search", {"query": "x"}), ("related", {"path": "a"}), ("links", {"path": "a", "view": "mentions"})],
)
def test_pages_are_of_one_ranking_whatever_their_size(tool: str, given: dict[str, object]) -> None:
    service = Service()
    for limit in (1, 7):
        ask(context_of(service), tool, limit=limit, **given)
    assert service.limits == [200, 200]


def test_a_page_of_a_search_counts_notes_and_its_likely_hits() -> None:
    hits = [make_hit(f"{name}.md", snippet=name) for name in "AABAC"]
    service = Service(hits, likely=3)
    for offset, paths, likely, following in ((0, "AABA", 3, 4), (2, "BA", 1, 4), (4, "C", 0, None)):
        found = ask(context_of(service), "search", query="x", by="chunk", limit=2, offset=offset)
        assert "".join(hit["id"][0] for hit in found["results"]) == paths
        assert (found["likely"], found.get("next_offset")) == (likely, following)


@pytest.mark.parametrize(
    ("near", "why"),
    [
        ((model.Nearness(0.0, 0.3, 0.0), None, ("links to", "linked from"), 0), "links to and linked from"),
        ((model.Nearness(0.2, 0.3, 0.1), 0.456, ("links to",), 0), "links to; similar in meaning (0.46)"),
        ((model.Nearness(0.3, 0.0, 0.2), 0.5, (), 3), "similar in meaning (0.50); both linked with b, c, d"),
        ((model.Nearness(0.0, 0.0, 0.2), None, (), 5), "both linked with b, c, d and 2 more"),
    ],
)
def test_a_related_note_says_why_the_strongest_reason_first(
    near: tuple[model.Nearness, float | None, tuple[str, ...], int], why: str
) -> None:
    nearness, similarity, links, count = near
    shared = tuple("bcdef"[:count])
    note = model.RelatedNote(
        "a.md", "A", 0.5, similarity, links, shared=shared, shared_count=count, why=nearness
    )
    (found,) = ask(context_of(Service(near=[note])), "related", path="x")["results"]
    assert found["why"] == why


@pytest.mark.parametrize("others", [0, 1])
def test_a_call_waits_until_the_index_of_its_vault_that_is_being_built_answers(others: int) -> None:
    service = Service([hit_of("x")], failures=[IndexUnusableError("not yet")], states=["building"])
    several = [Service() for _ in range(others)]
    context = context_of(service, *several, vault="a" if several else "")
    assert len(ask(context, "search", query="x")["results"]) == 1
    assert service.limits == [200, 200]


AGAIN = "; call again in a few seconds (status shows the progress)"
LATE = {"first_notes_s": -1.0}
HALFWAY, READ = model.Progress("notes", 1200, 3400, 0, 1.0), f"not yet; 1,200 of 3,400 notes are read{AGAIN}"


@pytest.mark.parametrize(
    ("options", "states", "progress", "said", "looks"),
    [
        ({}, ["ready"], None, "not yet", 1),
        ({}, ["building", "ready"], None, "not yet", 2),
        ({"is_cancelled": lambda: True}, ["building"], None, f"not yet{AGAIN}", 1),
        (LATE, ["building"], None, f"not yet{AGAIN}", 1),
        (LATE, ["building"], HALFWAY, READ, 1),
        (LATE, ["building"], model.Progress("scan", 0, 0, 0, 1.0), f"not yet{AGAIN}", 1),
    ],
)
def test_a_call_about_an_index_that_is_not_there_says_how_far_it_is(
    options: dict[str, Any], states: list[str], progress: model.Progress | None, said: str, looks: int
) -> None:
    service = Service(failures=[IndexUnusableError("not yet")] * 9, states=states, progress=progress)
    with pytest.raises(IndexUnusableError) as refused:
        ask(context_of(service, **options), "search", query="x")
    assert (str(refused.value), len(service.limits)) == (said, looks)


@pytest.mark.parametrize(
    ("hit", "address", "vault", "own_id"),
    [
        (hit_of("x"), "", "", "Log/a b.md"),
        (hit_of("x"), "", "b", "b/Log/a b.md"),
        (hit_of("x", vault="b"), "", "a", "b/Log/a b.md"),
        (hit_of("x"), "b", "b", "Log/a b.md"),
        (hit_of("x", path="50% a#b?.md"), "", "", "50% a#b?.md"),
    ],
)
def test_a_hit_has_the_id_that_fetch_takes_and_its_url(
    hit: model.Hit, address: str, vault: str, own_id: str
) -> None:
    services = [Service([hit]), Service([hit])] if vault else [Service([hit])]
    (found,) = ask(context_of(*services, vault=vault, address=address), "search", query="x")["results"]
    assert found["id"] == own_id
    assert found["url"] == f"vault://{quote(own_id)}"
    assert (found["title"], found["line"]) == ("A", 3)
    assert "path" not in found


ITEMS = "".join(f"- [ ] item {number} of peas, buns, cats and owls 📅 2026-03-01\n" for number in range(200))


@pytest.mark.parametrize(
    ("given", "least", "most"),
    [({}, 90, 120), ({"max_tokens": 600}, 20, 50), ({"max_tokens": 20_000}, 90, 120)],
)
def test_a_hit_shows_so_many_tokens_of_its_note(given: dict[str, object], least: int, most: int) -> None:
    hits = [hit_of("item", path=f"{number}.md", start_line=1, end_line=200, line=90) for number in range(10)]
    found = ask(context_of(Service(hits, text=ITEMS)), "search", query="x", **given)["results"]
    assert len(found) > 3
    for hit in found:
        assert least <= tokens_of(hit["text"]) <= most
        assert "- [ ] item 89 of peas, buns, cats and owls 📅 2026-03-01" in hit["text"]
        assert hit["line"] == 90


def test_answers_show_what_the_golden_says() -> None:
    def properties(query: str, rank: str) -> str:
        own = {"due": "2026-03-01", "owner": "Ana", "tags": ["due"]}
        hits = [hit_of("x", path=f"{number}.md", frontmatter=own) for number in range(6)]
        results = ask(context_of(Service(hits)), "search", query=query)["results"]
        return str(results[int(rank)].get("properties", {}))

    def passages(kind: Any, verdict: Any, wanted: str) -> str:
        said = (model.AnswerSentence("pea bun", (), "quoted"),) if kind == "quotes" else ()
        read = (hit_of("pea bun"),)
        answered = model.AskAnswer(
            "x?", kind, verdict, said, (), read, (), "", 1.0, model.IndexState(1, 1, 0)
        )
        found = ask(context_of(Service(answered=answered)), "ask", query="x?", passages=wanted == "wanted")
        assert found["kind"] == kind
        return ", ".join(key for one in found["passages"] for key in one if key in ("snippet", "content"))

    check_golden(
        Path(__file__).parent / "fixtures" / "mcp_answers.md",
        {
            "A hit has the properties that the query mentions": of_parts(properties),
            "Passages are whole where they are wanted": of_parts(passages),
        },
    )


def test_over_the_command_a_hit_has_no_url_and_no_title_that_follows_from_its_id() -> None:
    hits = [hit_of("x", title="a b"), hit_of("x", title="Another")]
    OPTIONS.set(frozenset({SHORT_HITS_QUERY}))
    first, second = ask(context_of(Service(hits)), "search", query="x")["results"]
    OPTIONS.set(frozenset())
    assert (first.keys() & {"title", "url"}, second["title"]) == (set(), "Another")


def test_an_id_begins_with_its_vault_where_several_can_be_meant() -> None:
    one, several = context_of(Service()), context_of(Service(), Service())
    assert in_its_vault(one, "b/Note.md") == (one, "b/Note.md")
    chosen = context_of(Service(), Service(), vault="a")
    assert in_its_vault(chosen, "b/Note.md") == (chosen, "b/Note.md")
    own, path = in_its_vault(several, "b/Log/Note.md")
    assert (own.vault, path) == ("b", "Log/Note.md")
    with pytest.raises(UnknownNoteError) as refused:
        in_its_vault(several, "x" * 61 + "/Note.md")
    assert str(refused.value) == f"'{'x' * 60}' does not begin with the name of a vault: a, b"


def test_an_argument_is_the_value_that_is_meant() -> None:
    for tool, given, name, value in (
        ("search", {"query": "x", "by": None}, "by", "note"),
        ("search", {"query": "x", "limit": "7"}, "limit", 7),
        ("get_notes", {"paths": ["a", "b c"]}, "paths", "a\nb c"),
        ("get_notes", {"paths": "a"}, "paths", "a"),
    ):
        assert checked_arguments(VIEWS[tool], given)[name] == value
