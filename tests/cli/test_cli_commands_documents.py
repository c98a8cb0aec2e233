"""`indexer documents ocr`, in this process. What is printed of documents: test_cli_states_in_words.py."""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest
from command_here import CommandHere

from vault_indexer.vault.ignore import is_installed as is_installed_here


@pytest.mark.parametrize("is_installed", [True, False])
def test_ocr_is_switched_in_the_configuration(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch, is_installed: bool
) -> None:
    for name in ("rapidocr", "onnxruntime"):
        found = ModuleType(name)
        found.__spec__ = ModuleSpec(name, None)
        monkeypatch.setitem(sys.modules, name, found if is_installed else None)
    is_installed_here.cache_clear()
    here.configure("# mine\n[documents]\nkinds = ['pdf'] # only\n")
    ran = here.run("documents", "ocr", "on")
    assert here.config.read_text() == "# mine\n[documents]\nkinds = ['pdf'] # only\nocr = true\n"
    assert ("pip install 'vault-indexer[ocr]'" in ran.err) == (not is_installed)
    assert here.run("documents", "ocr", "off").code == 0
    assert "ocr = false" in here.config.read_text()
    is_installed_here.cache_clear()


def test_what_overrides_the_configuration_is_named(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INDEXER_DOCUMENTS_OCR", "false")
    ran = here.run("documents", "ocr", "on")
    assert (ran.code, ran.complains("documents.ocr is set by")) == (2, True)
