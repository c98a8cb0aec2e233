"""An exclusion that is added removes what it covers, at once and from every byte of the index."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from reliability_lab import (
    OPTIONS,
    assembly_of,
    assert_equal,
    make_vault,
    opened,
    told_by,
    told_by_a_fresh_build,
    wait_until,
)

from vault_indexer.bootstrap import resolve_target
from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.session import DaemonSession

pytestmark = pytest.mark.slow

# A word of its own in the path, a heading, a tag, a link and the text.
SECRETS = (b"qzxsecret", b"qzxheading", b"qzxtag", b"qzxlink", b"qzxfolder", b"qzxcommon")
NOTE = """---
aliases: [qzxsecret alias]
tags: [qzxtag]
---
# qzxheading

The word is qzxsecret, see [[qzxlink]]. """


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    made = make_vault(tmp_path / "vault", random.Random(12), 15)
    (made / "qzxfolder").mkdir()
    for number in range(6):
        text = NOTE + f"qzxcommon {number} kestrel. " * 40
        (made / "qzxfolder" / f"private {number}.md").write_text(text, encoding="utf-8")
    return made


def traces(index: Path) -> list[str]:
    """Files of the index that hold a secret in clear. Stored texts are compressed: their rows are asked for
    by the export, and freed pages are overwritten, which the clear columns beside them prove."""
    found = []
    for path in sorted(index.rglob("*")):
        if path.is_file():
            data = path.read_bytes().lower()
            found += [f"{path.relative_to(index)}: {secret.decode()}" for secret in SECRETS if secret in data]
    return found


def test_the_search_for_traces_can_find_them(vault: Path, tmp_path: Path) -> None:
    with opened(assembly_of(vault, tmp_path / "index")):
        pass
    assert {line.partition(":")[0].rpartition("/")[2] for line in traces(tmp_path / "index")} >= {
        "catalog.db"
    }


@pytest.mark.parametrize("how", [".indexerignore", "configuration"])
def test_nothing_is_left_after_an_exclusion(how: str, vault: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    with opened(assembly_of(vault, index)) as session:
        (vault / "qzxfolder/private 0.md").write_text(NOTE + "edited", encoding="utf-8")
        session.wait_fresh(0)
        vectors = _vectors(session.status().generation, index)
    options = {"files.exclude": ["qzxfolder/"]} if how == "configuration" else {}
    if how == ".indexerignore":
        (vault / ".indexerignore").write_text("qzxfolder/\n")
    with opened(assembly_of(vault, index, options)) as session:
        assert session.status().counts.notes == 15
        assert traces(index) == []
        assert _vectors(session.status().generation, index) < vectors
        assert session.verify(repair=False) == ()
        found = told_by(session)
    assert traces(index) == []
    if how == ".indexerignore":
        assert_equal(found, told_by_a_fresh_build(vault, tmp_path / "fresh"))


def _vectors(generation: int, index: Path) -> int:
    import sqlite3

    database = sqlite3.connect(
        f"{(index / f'generations/{generation:04d}/catalog.db').as_uri()}?mode=ro", uri=True
    )
    count = database.execute("SELECT count(*) FROM vectors").fetchone()[0]
    database.close()
    return int(count)


@pytest.fixture
def daemon(vault: Path, tmp_path: Path) -> Iterator[DaemonSession]:
    target = resolve_target(vault, tmp_path / "index", None, environ={}, options=OPTIONS)
    session = DaemonSession(Assembly.of(target))
    try:
        wait_until(lambda: session.status().state == "ready" and not session.pending(), 120, "ready")
        yield session
    finally:
        session.close()


def test_the_daemon_forgets_as_soon_as_it_is_told(daemon: DaemonSession, vault: Path, tmp_path: Path) -> None:
    assert daemon.status().counts.notes == 21
    (vault / ".indexerignore").write_text("qzxfolder/\n")
    wait_until(lambda: daemon.status().counts.notes == 15, 30, "the notes are out")
    wait_until(lambda: traces(tmp_path / "index") == [], 30, "no trace is left")
    assert daemon.status().state == "ready"
    (vault / ".indexerignore").unlink()
    wait_until(lambda: daemon.status().counts.notes == 21, 30, "they are back")
