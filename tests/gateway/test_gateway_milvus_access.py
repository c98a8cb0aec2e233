"""Who may read what: a scope holds against vault names and filters of somebody who means harm."""

import re
import zlib
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from milvus_server import MilvusServer, free_port

from vault_gateway.milvus import (
    MilvusConnection,
    MilvusPublisher,
    MilvusRetriever,
    MilvusVaults,
    TokenMissingError,
    VaultState,
    collection_name,
)
from vault_gateway.milvus.retrieval import Selection, VaultScope, selection_parts, text_literal
from vault_gateway.milvus.schema import document_text, query_text, table_name, word_of
from vault_gateway.published_note import PublishedNote
from vault_gateway.tables import MilvusSettings
from vault_indexer.errors import BackendError, UsageError
from vault_indexer.model import chunk_key
from vault_indexer.ports import EmbeddingModel
from vault_indexer.store.catalog import NoteTableRows, StoredNote
from vault_indexer.text.terms import VARIANT_MARK, QueryTerm, TermClass

MODEL = EmbeddingModel("test", "four", 4)
UP = np.array([1, 0, 0, 0], np.float32)

INJECTIONS = [
    *('mine" or vault != "', "mine' or '1' == '1", 'mine"] or true or vault in ["', "mine\\"),
    *('mine\\" or true or vault == \\"', "{vault}", "{theirs} or true", "mine\n or true", "%", "_%", ""),
    *("theirs@1", "their's", "true", "vault", "土星\u202e"),
]


def note(note_id: int, title: str) -> PublishedNote:
    text = f"the secret of {title}"
    key = chunk_key(note_id, 0)
    rows = NoteTableRows(
        path=f"Folder/{title}.md",
        note=(title, "en", "{}", "[]", '["all/of"]', "[]"),
        text=zlib.compress(text.encode()),
        headings=[],
        blocks=[],
        block_spans=b"",
        tasks=[],
        tags=["all/of"],
        links=[],
        chunks=[("c", 0, "", 0, len(text), 1, 1, "whole", "", "", "", "{}", b"1")],
    )
    vector = UP.astype(np.float16).tobytes()
    return PublishedNote(
        StoredNote(note_id, 1, rows, ()), {key: {"content": ("secret", title)}}, {key: vector}
    )


def state(vault: str, chunks: int) -> VaultState:
    return VaultState(vault, vault, "keeper", "", MODEL.key, "", ("en",), 0, 1, 1, chunks)


@pytest.fixture(scope="module")
def vaults(shared_server: MilvusServer, prefixes: Iterator[str]) -> Iterator[MilvusVaults]:
    """Two vaults, and one for each name that looks like a condition."""
    made = MilvusVaults(MilvusConnection(shared_server.uri), next(prefixes))
    for vault in ("mine", "theirs", *(name for name in INJECTIONS if name)):
        publisher = MilvusPublisher(made, vault, MODEL, store_bodies=True)
        publisher.replace(None, state(vault, 1), [note(7, "note")])
    yield made
    made.connection.close()


@pytest.fixture(scope="module")
def retriever(vaults: MilvusVaults) -> MilvusRetriever:
    collection = collection_name(vaults.prefix, MODEL.key)
    return MilvusRetriever(vaults.connection, collection, vaults.all().values())


def seen(retriever: MilvusRetriever, scope: VaultScope, selection: Selection) -> set[str]:
    """The vaults of all hits of all kinds of question."""
    terms = [QueryTerm.plain("secret")]
    hits = [*retriever.nearest(scope, UP, selection), *retriever.best(scope, terms, selection)]
    return {hit.vault for hit in hits}


def test_each_scope_sees_its_own_vaults(retriever: MilvusRetriever) -> None:
    assert seen(retriever, VaultScope.of(["mine"]), Selection()) == {"mine"}
    assert seen(retriever, VaultScope.of(["mine", "theirs"]), Selection()) == {"mine", "theirs"}
    assert seen(retriever, VaultScope.of([]), Selection()) == set()


@pytest.mark.parametrize("name", INJECTIONS)
def test_the_name_of_a_vault_is_never_a_condition(retriever: MilvusRetriever, name: str) -> None:
    assert seen(retriever, VaultScope.of([name]), Selection()) == ({name} if name else set())


@pytest.mark.parametrize("text", INJECTIONS)
@pytest.mark.parametrize("field", ["folders", "paths", "tags", "kinds"])
def test_a_filter_never_widens_the_scope(retriever: MilvusRetriever, field: str, text: str) -> None:
    selection = Selection(**{field: (text, '"] or true or vault in ["theirs')})  # type: ignore[arg-type]
    assert seen(retriever, VaultScope.of(["mine"]), selection) == set()


def test_the_words_of_a_query_are_no_condition(retriever: MilvusRetriever) -> None:
    hostile = [QueryTerm("x", (TermClass('secret" or true'), TermClass("secret' or 1==1")))]
    assert retriever.best(VaultScope.of(["mine"]), hostile, Selection()) == []


@pytest.mark.parametrize("text", ["a\0b", "half a pair \ud83d"])
def test_text_that_no_server_can_hold_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="a filter contains"):
        selection_parts(Selection(paths=(text,)))


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_a_quoted_text_is_read_as_one_literal_with_that_value(text: str) -> None:
    parsing = pytest.importorskip("milvus_lite.search.filter")
    found = parsing.parse_expr(f"title == {text_literal(text)}")
    assert (type(found.left).__name__, type(found.right).__name__) == ("FieldRef", "StringLit")
    assert found.right.value == text


@given(st.sets(st.text(min_size=1), max_size=20))
@example({f"{VARIANT_MARK}rust", "rust"})
def test_every_term_is_a_word_of_its_own_for_any_tokenizer(terms: set[str]) -> None:
    words = {word_of(term) for term in terms}
    assert len(words) == len(terms)
    assert all(re.fullmatch("[a-z0-9]+", word) for word in words)


@given(st.lists(st.text(min_size=1, max_size=9), max_size=9))
def test_a_query_sends_the_words_that_a_document_holds(terms: list[str]) -> None:
    held = document_text([("content", terms)]).split()
    asked = query_text([QueryTerm.plain(term) for term in terms]).split()
    assert set(asked) == set(held)


def test_a_very_long_chunk_keeps_its_title_and_begins_with_its_text() -> None:
    text = document_text([("content", ["word"] * 100_000), ("title", ["name"])])
    assert len(text) <= 65_535
    assert text.split()[:3] == ["aname", "aname", "aword"]


def test_the_token_is_in_no_error_and_its_variable_has_to_be_set() -> None:
    pytest.importorskip("pymilvus")
    uri = f"http://127.0.0.1:{free_port()}"
    settings = MilvusSettings(uri=uri, token_env="TEAM_TOKEN", timeout_s=0.5)
    connection = MilvusConnection.from_settings(settings, {"TEAM_TOKEN": "hush-hush"})
    with pytest.raises(BackendError, match=re.escape(f"Milvus at {uri}: ")) as caught:
        MilvusVaults(connection, "any").all()
    assert "hush-hush" not in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(TokenMissingError, match=r"milvus.token_env = 'TEAM_TOKEN': .* is not set"):
        MilvusConnection.from_settings(settings, {})


def test_bytes_come_back_as_they_were_and_damaged_ones_not(vaults: MilvusVaults) -> None:
    data = np.random.default_rng(1).bytes(128_000)
    digest = vaults.put_blob(data)
    assert vaults.blob(digest) == data
    vaults.connection.call("delete", table_name(vaults.prefix, "blobs"), filter=f'part == "{digest}:0001"')
    assert vaults.blob(digest) is None
    assert vaults.put_blob(data) == digest
    assert vaults.blob(digest) == data
    assert vaults.blob('x" or true') is None


def test_notes_come_back_whole_or_not_at_all(vaults: MilvusVaults) -> None:
    mine = vaults.state("mine")
    assert mine is not None
    large = np.random.default_rng(2).bytes(128_000)
    vaults.put_notes(mine, [(8, large), (9, b"small")])
    assert vaults.notes(mine, [8, 9, 10]) == {8: large, 9: b"small"}
    assert vaults.note_ids(mine) == {7, 8, 9}
    assert vaults.count_notes(mine) == 3
    part = f"{mine.edition}:8:0001"
    vaults.connection.call("delete", table_name(vaults.prefix, "notes"), filter=f'part == "{part}"')
    assert vaults.notes(mine, [8, 9]) == {9: b"small"}
    vaults.delete_notes(mine, [8, 9])
    assert vaults.note_ids(mine) == {7}
    theirs = vaults.state("theirs")
    assert theirs is not None
    assert vaults.note_ids(theirs) == {7}
