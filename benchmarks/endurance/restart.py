"""A restart with nothing changed, and one after an edit that no daemon saw."""

from __future__ import annotations

from endurance.ground import Figure, daemon, figure, notes_of
from speed.material import Material
from vault_indexer.serve.api.endpoints import SEARCH

TARGET_S = 3.0


def restart(ground: Material) -> list[Figure]:
    """Each is a process of its own, from its start until `status` says ready with nothing pending."""
    with daemon(ground) as running:
        seq = running.side.state()[2]
    with daemon(ground) as running:
        written = running.side.state()[2] - seq
        nothing = figure(
            "restart, nothing changed", f"{running.started_s:.1f} s, {written} commits", f"{TARGET_S:.0f} s"
        )
    note = notes_of(ground.vault)[0]
    text, word = note.read_bytes(), "unheardofword"
    try:
        note.write_bytes(text + f"\n\n{word}\n".encode())
        with daemon(ground) as running:
            found = running.client.ask(SEARCH, q=word)["results"]
            path = note.relative_to(ground.vault).as_posix()
            held = any(hit["path"] == path and word in hit["content"] for hit in found)
            told = f"{running.started_s:.1f} s, the edit is {'' if held else 'not '}found"
            edited = figure("restart after an edit", told, "found")
    finally:
        note.write_bytes(text)
    return [nothing, edited]
