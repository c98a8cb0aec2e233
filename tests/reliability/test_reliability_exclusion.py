"""An exclusion that is added removes what it covers, at once and from every byte of the index."""

import random
import sqlite3
from pathlib import Path

import pytest
from reliability_lab import assembly_of, assert_equal, make_vault, opened, told_by, told_by_a_fresh_build

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


@pytest.mark.parametrize("how", [".indexerignore", "configuration"])
def test_nothing_is_left_after_an_exclusion(how: str, vault: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    with opened(assembly_of(vault, index)) as session:
        (vault / "qzxfolder/private 0.md").write_text(NOTE + "edited", encoding="utf-8")
        session.wait_fresh(0)
        assert any("catalog.db: " in trace for trace in traces(index)), "what is looked for can be found"
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
    database = sqlite3.connect(
        f"{(index / f'generations/{generation:04d}/catalog.db').as_uri()}?mode=ro", uri=True
    )
    count = database.execute("SELECT count(*) FROM vectors").fetchone()[0]
    database.close()
    return int(count)
