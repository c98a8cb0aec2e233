"""The daemon's first index of a vault that takes longer than anybody wants to wait."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from held_build import FIRST, LATER, NOTES, Gates, date_notes, held_assembly
from vault_at_work import Place, fresh_export, place, silent, stop, wait_for
from waiting import DEADLINE_S

from vault_indexer.daemon.session import DaemonSession
from vault_indexer.errors import IndexUnusableError
from vault_indexer.model import AskRequest, DaemonState, SearchRequest
from vault_indexer.serve.api.endpoints import ENDPOINTS
from vault_indexer.serve.api.respond import AnswerContext
from vault_indexer.serve.mcp.tools import answer_of, checked_arguments
from vault_indexer.serve.mcp.views import tool_views
from vault_indexer.service import VaultService
from vault_indexer.vaults import OpenVault, Vaults

pytestmark = pytest.mark.long

UNANSWERED = "Who won the chess championship in Reykjavik?"


@contextmanager
def held_daemon(where: Place, gates: Gates) -> Iterator[VaultService]:
    service = VaultService(DaemonSession(held_assembly(where.target(), gates)))
    try:
        yield service
    finally:
        gates.remove()
        stop(service)


def test_a_first_build_is_a_state_of_every_answer_and_ends_by_itself(tmp_path: Path) -> None:
    where, gates = place(tmp_path, NOTES), Gates(tmp_path / "gates")
    date_notes(where.vault)
    gates.close(FIRST, LATER)
    with held_daemon(where, gates) as service:
        wait_for(lambda: service.status().state == "building")
        with pytest.raises(IndexUnusableError, match="not ready yet"):
            service.search(SearchRequest("dough"))
        gates.open(FIRST)
        wait_for(lambda: service.status().counts.notes)

        status = service.status()
        assert status.state == "indexing"
        assert status.detail == ""
        assert status.progress is not None
        assert (status.progress.notes, status.progress.total) == (1, 6)
        notice = "the index is being built: 1 of 6 notes can be searched"
        answer = service.search(SearchRequest("[nothing:here]"))
        assert (answer.notices[-1], answer.verdict) == (notice, "weak")
        asked = service.ask(AskRequest(UNANSWERED))
        assert (asked.kind, asked.verdict, asked.notices) == ("passages", "weak", (notice,))

        gates.open(LATER)
        wait_for(lambda: service.status().state == "ready" and not service.status().pending)
        assert service.status().progress is None
        answer = service.search(SearchRequest("[nothing:here]"))
        assert (len(answer.notices), answer.verdict) == (1, "none")
        assert service.ask(AskRequest(UNANSWERED)).kind == "declined"
        assert service.search(SearchRequest("dough")).results[0].path == LATER
        assert service.verify() == ()
        assert list(service.export()) == fresh_export(where)


def test_a_part_that_an_ended_daemon_left_is_told_as_before(tmp_path: Path) -> None:
    where, gates = place(tmp_path, NOTES), Gates(tmp_path / "gates")
    date_notes(where.vault)
    assembly = held_assembly(where.target(), gates)
    assembly.index_dir.prepare()
    part, _ = assembly.build_next(silent, recompute_weights=True, newest_only=True)
    assembly.index_dir.publish(part)
    gates.close(LATER)
    with held_daemon(where, gates) as service:
        wait_for(service.ready_vault().missing)
        assert "1 of 6 notes can be searched" in service.search(SearchRequest("dough")).notices[0]
        gates.open(LATER)
        wait_for(lambda: not service.ready_vault().missing())
        assert service.status().counts.notes == len(NOTES)


def test_an_agents_call_waits_for_the_first_notes_or_says_how_far_they_are(tmp_path: Path) -> None:
    where, gates = place(tmp_path, NOTES), Gates(tmp_path / "gates")
    date_notes(where.vault)
    gates.close(FIRST, LATER)
    (search,) = (view for view in tool_views(ENDPOINTS) if view.name == "search")
    with held_daemon(where, gates) as service:
        vaults = Vaults([OpenVault("", where.vault, service)], service.settings)
        context = AnswerContext(vaults, DaemonState())
        wait_for(lambda: service.status().state == "building")
        given = checked_arguments(search, {"query": "ferry"})
        cancelled = replace(context, is_cancelled=lambda: True)
        for ended in (cancelled, replace(context, first_notes_s=0.01)):
            with pytest.raises(IndexUnusableError, match=r"not ready yet.*; call again in a few seconds"):
                answer_of(search, ended, given)
        with ThreadPoolExecutor(1) as thread:
            waiting = thread.submit(answer_of, search, context, given)
            gates.open(FIRST)
            found = waiting.result(DEADLINE_S)
        assert found["results"]
        assert found["notices"] == ["the index is being built: 1 of 6 notes can be searched"]
