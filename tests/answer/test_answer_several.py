"""A question to several vaults: one answer, whose citations name their vaults."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from asked_vault import ScriptedLlm, citing, says
from foreign_embedder import ForeignEmbedder

from vault_indexer.answer import Answerer
from vault_indexer.api import Vault, open_all_vaults
from vault_indexer.bootstrap import open_index, resolve_target
from vault_indexer.config import Settings
from vault_indexer.errors import (
    IndexUnusableError,
    QueryCancelledError,
    QueryError,
    UnknownNoteError,
    UsageError,
    VaultError,
)
from vault_indexer.model import AskAnswer, AskRequest, SearchRequest
from vault_indexer.search import ReadyVaults, Searcher
from vault_indexer.vaults import ClosedVault, OpenVault, Vaults

NOTES = {
    "coast": {
        "Lighthouse.md": "# Lighthouse\n\nThe lighthouse was built in 1887 by Helen Marsh. ^built\n",
        "Boats.md": "# Boats\n\nThe ferry leaves the harbour at noon.\n",
        "Shared.md": "# Shared\n\nThe archive holds the drawings of the lighthouse.\n",
        **{f"Log {day}.md": f"# Log {day}\n\nOn day {day} the sea was calm.\n" for day in range(8)},
    },
    "family": {
        "Helen.md": "# Helen Marsh\n\nHelen Marsh was born in Trondheim in 1851.\n",
        "Shared.md": "# Shared\n\nThe archive holds the drawings of the lighthouse.\n",
        **{f"Recipe {n}.md": f"# Recipe {n}\n\nStir batter {n} with milk.\n" for n in range(8)},
    },
}
LIGHTHOUSE = "When was the lighthouse built?"
HELEN = "Where was Helen Marsh born?"


@pytest.fixture(scope="module")
def vaults(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vaults]:
    root = tmp_path_factory.mktemp("several")
    with ExitStack() as stack:
        holders = []
        for name, notes in NOTES.items():
            folder = root / name
            folder.mkdir()
            for path, text in notes.items():
                (folder / path).write_bytes(text.encode())
            options: dict[str, int | str] = {"index.workers": 1, "embedding.provider": "wordllama"}
            target = resolve_target(folder, root / f"index-{name}", None, environ={}, options=options)
            service = open_index(target, lambda _: None)
            stack.callback(service.close)
            holders.append(OpenVault(name, folder, service))
        yield Vaults(holders)


@pytest.mark.parametrize(
    ("question", "vault", "quote"),
    [
        (LIGHTHOUSE, "coast", "The lighthouse was built in 1887 by Helen Marsh."),
        (HELEN, "family", "Helen Marsh was born in Trondheim in 1851."),
    ],
)
def test_each_quote_names_its_vault(vaults: Vaults, question: str, vault: str, quote: str) -> None:
    answer = vaults.ask(AskRequest(question))
    (citation,) = answer.sentences[0].citations
    assert (answer.kind, citation.vault, answer.sentences[0].text) == ("quotes", vault, quote)
    assert citation.id.startswith(f"{vault}:{citation.path}#")
    text = (vaults.named(vault).path / citation.path).read_text("utf-8")
    assert text[citation.start_pos : citation.end_pos] == citation.quote
    assert {hit.vault for hit in answer.passages} == {"coast", "family"}
    alone = vaults.ask(AskRequest(question), vault)
    assert alone.sentences[0].text == quote
    assert alone.sentences[0].citations[0].vault == ""


def test_notes_of_one_path_are_two_notes(vaults: Vaults) -> None:
    answer = vaults.ask(AskRequest("What does the archive hold?", limit=20))
    places = [(hit.vault, hit.path) for hit in answer.passages]
    assert {("coast", "Shared.md"), ("family", "Shared.md")} <= set(places)
    assert len(answer.sentences) == 1  # the second says the same


def test_the_verdict_decides_for_all_of_them(vaults: Vaults) -> None:
    answer = vaults.ask(AskRequest("Which quarterback won the Superbowl against Denver?"))
    assert (answer.kind, answer.sentences) == ("declined", ())
    assert {"quarterback", "Superbowl", "Denver"} <= set(answer.missing_words)
    known = vaults.ask(AskRequest("Was Helen Marsh born on a ferry?"))
    assert known.missing_words == ()  # each word is known to one of the vaults


def test_wrong_questions_are_refused(vaults: Vaults) -> None:
    with pytest.raises(QueryError):
        vaults.ask(AskRequest("bread before:soon"))
    assert vaults.ask(AskRequest(f"{LIGHTHOUSE} vault:nowhere")).kind == "declined"
    with pytest.raises(UsageError, match="no vault 'nowhere'"):
        vaults.ask(AskRequest(LIGHTHOUSE), "nowhere")


def test_a_vault_that_cannot_be_asked_is_left_out_and_named(vaults: Vaults) -> None:
    locked = ClosedVault("away", Path("/away"), VaultError("the disk is gone"))
    some = Vaults((*vaults.holders(), locked))
    some.report_problem("the table is wrong")
    said = ("the vault away is not searched: the disk is gone", "the table is wrong")
    answer = some.search(SearchRequest("lighthouse", fresh=True))
    assert {hit.vault for hit in answer.results} == {"coast", "family"}
    assert answer.notices[:2] == said
    assert some.ask(AskRequest(LIGHTHOUSE, fresh=True)).notices[:2] == said
    alone = some.search(SearchRequest("lighthouse"), "coast")
    assert {hit.vault for hit in alone.results} == {""}
    assert not {*said} & {*alone.notices}


def test_a_question_to_vaults_of_which_none_can_be_asked_says_why() -> None:
    gone = [ClosedVault(name, Path(name), VaultError(f"{name} is gone")) for name in "ba"]
    with pytest.raises(IndexUnusableError) as raised:
        Vaults(gone).search(SearchRequest("x"))
    assert (
        str(raised.value) == "the vault a is not searched: a is gone; the vault b is not searched: b is gone"
    )
    with pytest.raises(IndexUnusableError, match="there are no vaults"):
        Vaults(()).ask(AskRequest("x"))


def test_a_cancelled_question_does_not_wait_for_changes(vaults: Vaults) -> None:
    with pytest.raises(QueryCancelledError, match="the search was cancelled"):
        vaults.search(SearchRequest("lighthouse", fresh=True), is_cancelled=lambda: True)


@pytest.fixture
def configured(vaults: Vaults, tmp_path: Path) -> Path:
    """A configuration of the two vaults and of one whose folder is gone."""
    lines = [
        f"{one.name} = {{ path = '{one.path}', index_dir = '{one.service().status().index_dir}' }}"
        for one in vaults.holders()
    ]
    config = tmp_path / "config.toml"
    config.write_text(
        "\n".join(('embedding.provider = "wordllama"', "[vaults]", *lines, f"gone = '{tmp_path / 'no'}'", ""))
    )
    return config


def test_all_vaults_of_a_configuration_are_opened_together(configured: Path, tmp_path: Path) -> None:
    with open_all_vaults(str(configured)) as group:
        assert group.names == ("coast", "family", "gone")
        answer = group.search("lighthouse", limit=2)
        assert len(answer.results) == 2
        assert {hit.vault for hit in answer.results} <= {"coast", "family"}
        missing = "the folder of the vault gone is missing"
        assert any(one.startswith(f"the vault gone is not searched: {missing}") for one in answer.notices)
        assert group.search(SearchRequest("lighthouse", 1), vault="coast").results[0].vault == ""
        quoted = group.ask(LIGHTHOUSE, limit=3, use_model=False)
        assert (quoted.kind, quoted.sentences[0].citations[0].vault) == ("quotes", "coast")
        assert len(quoted.passages) <= 3
        with pytest.raises(VaultError, match=missing):
            group.ask(LIGHTHOUSE, vault="gone")
    with pytest.raises(IndexUnusableError):
        group.search("lighthouse")
    empty = tmp_path / "empty.toml"
    empty.touch()
    with pytest.raises(UsageError, match="there are no vaults"):
        open_all_vaults(empty)


def test_an_opened_vault_lists_what_its_index_knows(vaults: Vaults) -> None:
    vault = Vault(vaults.service("coast"))
    hit = vault.ask(LIGHTHOUSE).sentences[0].citations[0]
    assert [vault.sentence(one).text for one in hit.sentence_ids] == [hit.quote]
    assert vault.notes(order="recent", limit=2).count == 11
    assert [one.path for one in vault.notes(folder="", limit=1, offset=1).notes] == ["Lighthouse.md"]
    assert len(vault.orphans()) == 11
    assert [one.path for one in vault.orphans(1)] == ["Boats.md"]
    assert vault.unresolved_links(1) == ()
    for wrong in (0, -1):
        with pytest.raises(UsageError, match=f"limit {wrong}: must be 1 or more"):
            vault.orphans(wrong)
        with pytest.raises(UsageError, match=f"limit {wrong}: must be 1 or more"):
            vault.unresolved_links(wrong)
    assert vault.links("Boats").path == "Boats.md"
    assert vault.mentions("Boats", limit=1).mentions == ()
    assert [one.path for one in vault.graph("Boats", related=False).nodes] == ["Boats.md"]
    assert len(vault.related("Lighthouse", 1)) == 1
    assert vault.search("lighthouse", limit=1).results[0].path == "Lighthouse.md"


def test_what_is_out_of_bounds_is_refused(vaults: Vaults) -> None:
    coast = vaults.service("coast")
    for seconds in (0, -1, 604_801):
        with pytest.raises(UsageError, match=f"a pause of {seconds:g} s: must be more than 0"):
            coast.pause(seconds)
    with pytest.raises(UnknownNoteError, match=r"no such picture in the index: 'Boats\.md'"):
        coast.picture("Boats.md")


def _ready(vaults: Vaults) -> ReadyVaults:
    ready = [one.service().ready_vault(one.name) for one in vaults.holders()]
    return ReadyVaults(ready, Settings().search, lambda: False)


def _asked(ready: ReadyVaults, question: str, model: ScriptedLlm | None = None) -> AskAnswer:
    settings = Settings.model_validate({"llm": {"provider": "openai" if model else "none"}})
    answerer = Answerer(settings, None, lambda _: model or ScriptedLlm())
    *_, last = answerer.answer_from(ready, AskRequest(question), lambda: False)
    assert isinstance(last, AskAnswer)
    return last


def test_a_model_reads_passages_of_all_and_is_checked(vaults: Vaults) -> None:
    right = ScriptedLlm(reply=citing("Trondheim", "Helen Marsh was born in Trondheim."))
    answer = _asked(_ready(vaults), HELEN, right)
    assert (answer.kind, answer.sentences[0].verdict) == ("written", "supported")
    assert answer.sentences[0].citations[0].vault == "family"
    assert '"vault": "family"' in right.prompts[0]
    wrong = ScriptedLlm(reply=citing("Trondheim", "Helen Marsh was born in Bergen."))
    refused = _asked(_ready(vaults), HELEN, wrong)
    assert refused.kind == "quotes"
    assert refused.dropped[0].text == "Helen Marsh was born in Bergen."
    silent = ScriptedLlm([says()])
    assert _asked(_ready(vaults), "Which quarterback won the Superbowl?", silent).kind == "declined"
    assert silent.prompts == []  # nothing answers: no model is asked


def test_passages_of_different_models_are_those_that_say_most(vaults: Vaults) -> None:
    ready = _ready(vaults)
    first, second = ready.vaults
    searcher = Searcher(ForeignEmbedder(), Settings().search)  # type: ignore[arg-type]
    other = replace(second, reader=replace(second.reader, searcher=searcher))
    answer = _asked(replace(ready, vaults=[first, other]), LIGHTHOUSE)
    assert any("order across them is less certain" in notice for notice in answer.notices)
    assert answer.sentences[0].citations[0].vault == "coast"
    assert answer.passages[0].vault == "coast"
    assert answer.passages[0].relevance == max(hit.relevance for hit in answer.passages)
