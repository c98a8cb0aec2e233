"""`indexer documents`: what is read besides notes, and the recognition of text in images."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from vault_indexer.cli.connection.connect import ask
from vault_indexer.cli.output.columns import unread_documents
from vault_indexer.cli.output.terminal import note, out, print_json, text
from vault_indexer.cli.parameters import Output, VaultSelection, one_command
from vault_indexer.cli.vault_folder import config_file_of
from vault_indexer.config import load
from vault_indexer.config.edits import config_text, replace_config, with_values
from vault_indexer.errors import UsageError
from vault_indexer.model import FileKind, kind_of
from vault_indexer.serve.api.endpoints import STATUS
from vault_indexer.text.phrases import quantity
from vault_indexer.vault.ignore import is_installed

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import StatusReportJson

_OCR = {"on": True, "off": False}


def documents(
    selection: VaultSelection,
    output: Output,
    what: Annotated[str, typer.Argument(metavar="ocr", help="The text in images and scans.")] = "",
    value: Annotated[str, typer.Argument(metavar="on|off", help="Recognise it, or do not.")] = "",
) -> None:
    """Count the documents by kind, and name those that are not read; turn OCR on or off.

    `indexer documents ocr on` writes `documents.ocr` to your configuration. The daemon then recognises the
    text in images and in scanned pages of PDFs while it is idle, on one core. Nothing is downloaded or sent.
    """
    if what or value:
        if what != "ocr" or value not in _OCR:
            raise UsageError(
                f"documents {what} {value}".rstrip() + ": must be `documents ocr on` or `ocr off`"
            )
        _switch_ocr(selection, is_on=_OCR[value])
        return
    found = ask(selection, STATUS)
    unread = [one for one in found["skipped"] if kind_of(one["path"]) is FileKind.DOCUMENT]
    if output.json:
        keys = ("documents", "unrecognised_documents", "unread_documents")
        print_json({**{key: found.get(key) for key in keys if key in found}, "skipped": unread})
        return
    _print(found)
    for one in unread:
        out().print(text((f"  {one['path']}", "cyan"), (f": {one['reason']}", "")), soft_wrap=True)


def _print(found: StatusReportJson) -> None:
    counts = found.get("documents", {})
    note(", ".join(f"{count:,} {kind}" for kind, count in counts.items()) or "No documents are read.")
    scans = found.get("unrecognised_documents", 0)
    if scans and not found.get("recognises_text"):
        note(f"{quantity(scans, 'document')} with pages without text: `indexer documents ocr on` reads scans")
    if unread := unread_documents(found):
        note(unread)


def _switch_ocr(selection: VaultSelection, *, is_on: bool) -> None:
    file = config_file_of(selection, os.environ)
    before = config_text(file, "documents.ocr", follow_links=True) or ""
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_config(file, with_values(before, {("documents", "ocr"): is_on}, file))
    loaded = load(None, config_file=selection.config, environ=os.environ, options={})
    if loaded.settings.documents.ocr != is_on:
        raise UsageError(f"documents.ocr is set by {loaded.origins['documents.ocr']}, which overrides {file}")
    note(f"documents.ocr = {'true' if is_on else 'false'} in {file}")
    if is_on and not is_installed("rapidocr", "onnxruntime"):
        note("The extra is missing: pip install 'vault-indexer[ocr]', then restart the daemon.")


app = one_command(documents)
