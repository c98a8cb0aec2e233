"""Queries that a user of a real vault would type, and the notes that must be among the first three."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from vault_indexer.bootstrap import open_index, resolve_target
from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

VAULT = Path(__file__).parents[3] / "shared" / "data" / "vaults" / "obsidian-help"

pytestmark = [
    pytest.mark.long,
    pytest.mark.data,
    pytest.mark.skipif(not VAULT.is_dir(), reason="needs ../shared/data"),
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultService]:
    index_dir = tmp_path_factory.mktemp("help") / "index"
    target = resolve_target(VAULT, index_dir, None, environ={}, options={})
    with closing(open_index(target, lambda _: None)) as opened:
        yield opened


def test_every_note_is_indexed(service: VaultService) -> None:
    status = service.status()
    assert (status.counts.notes, status.skipped) == (173, ())


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("search operators", "Plugins/Search.md"),
        ("callout boxes", "Editing and formatting/Callouts.md"),
        ("link one note to another", "Linking notes and files/Internal links.md"),
        ("how do I add a keyboard shortcut", "User interface/Hotkeys.md"),
        ("embed another note", "Linking notes and files/Embed files.md"),
    ],
)
def test_the_note_is_among_the_first_three(service: VaultService, query: str, path: str) -> None:
    hits = service.search(SearchRequest(query, limit=20)).results
    assert path in list(dict.fromkeys(hit.path for hit in hits))[:3]
