"""`indexer documents`, in the test's process."""

import json

import pytest
from command_here import CommandHere

from vault_indexer.cli.commands import documents


@pytest.mark.parametrize("is_installed", [True, False])
def test_ocr_is_switched_in_the_configuration(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch, is_installed: bool
) -> None:
    monkeypatch.setattr(documents, "is_installed", lambda *_: is_installed)
    here.configure("# mine\n[documents]\nkinds = ['pdf'] # only\n")
    ran = here.run("documents", "ocr", "on")
    assert here.config.read_text() == "# mine\n[documents]\nkinds = ['pdf'] # only\nocr = true\n"
    assert ("pip install 'vault-indexer[ocr]'" in ran.err) == (not is_installed)
    assert here.run("documents", "ocr", "off").code == 0
    assert "ocr = false" in here.config.read_text()


@pytest.mark.parametrize("words", [["ocr"], ["ocr", "maybe"], ["pdf", "on"]])
def test_other_words_are_refused(here: CommandHere, words: list[str]) -> None:
    ran = here.run("documents", *words)
    assert (ran.code, ran.out) == (2, "")
    assert "`documents ocr on` or `ocr off`" in ran.err
    assert not here.config.exists()


def test_what_overrides_the_configuration_is_named(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INDEXER_DOCUMENTS_OCR", "false")
    ran = here.run("documents", "ocr", "on")
    assert ran.code == 2
    assert "documents.ocr is set by" in ran.err


def test_documents_are_counted_and_the_unread_are_named(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    skipped = [
        {"path": "a.md", "reason": "line 1: no YAML", "is_indexed": True},
        {"path": "b.pdf", "reason": "locked by a password", "is_indexed": False},
    ]
    counts = {
        "documents": {"pdf": 1200, "text": 3},
        "unrecognised_documents": 2,
        "unread_documents": {"image": 4},
    }
    status = {"skipped": skipped, **counts}
    monkeypatch.setattr(documents, "ask", lambda *_: status)
    ran = here.run("documents")
    assert ran.out == "  b.pdf: locked by a password\n"
    assert ran.err.splitlines() == [
        "1,200 pdf, 3 text",
        "2 documents with pages without text: `indexer documents ocr on` reads scans",
        "4 image not read: pip install 'vault-indexer[ocr]'",
    ]
    status["recognises_text"] = True
    assert "text in images of 2 documents still to be recognised" in here.run("documents").err
    assert json.loads(here.run("documents", "--json").out) == {**counts, "skipped": skipped[1:]}
