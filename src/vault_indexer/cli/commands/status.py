"""`indexer status`."""

from __future__ import annotations

from vault_indexer.cli.commands.pause import until
from vault_indexer.cli.parameters import Output, Place, one_command
from vault_indexer.cli.reach import ask
from vault_indexer.cli.terminal import out, print_json, text
from vault_indexer.serve.endpoints import STATUS
from vault_indexer.serve.shapes import StatusJson
from vault_indexer.text.counts import quantity

_NAMED = 10


def status(place: Place, output: Output) -> None:
    """Show what the index holds and what the daemon does."""
    found = ask(place, STATUS)
    if output.json:
        print_json(found)
        return
    console = out()
    for name, value, style in _rows(found):
        console.print(text((f"{name:<10}", "dim"), (value, style)))
    for file in found["skipped"][:_NAMED]:
        console.print(text((" " * 10, ""), (file["path"], ""), (f"  {file['reason']}", "dim")))


def _rows(found: StatusJson) -> list[tuple[str, str, str]]:
    daemon = found["daemon"]
    running = f"process {daemon['pid']} at {daemon['url']}" if daemon["running"] else "not running"
    pending = f", {quantity(found['pending'], 'change')} pending" if found["pending"] else ""
    model = found["manifest"].get("embedding_model")
    name = "/".join(str(model[key]) for key in ("provider", "name")) if isinstance(model, dict) else ""
    owed = found["vectors_owed"]
    rows = [
        ("vault", found["vault"], "bold"),
        ("index", found["index_dir"], ""),
        ("daemon", running, "green" if daemon["running"] else ""),
        ("state", found["state"] + pending, "green" if found["state"] == "ready" else "yellow"),
        ("", found["detail"], "yellow"),
        ("paused", until(found) if found["paused"] else "", "yellow"),
        ("holds", f"{quantity(found['notes'], 'note')}, {quantity(found['chunks'], 'chunk')}", ""),
        ("", f"{quantity(owed, 'chunk')} without a vector yet" if owed else "", "yellow"),
        ("links", f"{found['links']:,}, {found['unresolved']:,} unresolved", ""),
        ("built", f"generation {found['generation']}, change {found['seq']:,}", ""),
        ("model", name, ""),
        ("watching", found["watching"], ""),
        ("skipped", f"{len(found['skipped']):,}" if found["skipped"] else "", "yellow"),
    ]
    if found["progress"]:
        progress = found["progress"]
        doing = f"{progress['stage']} {progress['notes']:,}/{quantity(progress['total'], 'note')}"
        rows.insert(4, ("", doing, "yellow"))
    return [row for row in rows if row[1]]


app = one_command(status)
