"""The collections on the server: their names, fields and indices.

One collection contains the chunks of all vaults whose vectors come from one model; its partition key is the
vault. Another one contains their notes, and two small ones the states of the vaults, and the data of a whole
vault: the token weights of its model, and its statistics. Names:

    <prefix>_chunks_<model>_v3   alias of <prefix>_chunks_<model>_v3_1
    <prefix>_notes_v3, <prefix>_vaults_v3, <prefix>_blobs_v3

All code reads and writes by the alias, so that an operator can build a second physical
collection (with other index parameters, for example) and switch the alias.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field as default
from types import MappingProxyType
from typing import Any, Literal

from vault_gateway.milvus.connection import MilvusConnection
from vault_indexer.errors import BackendError
from vault_indexer.system import record
from vault_indexer.text.terms import VARIANT_MARK, QueryTerm

# Encodes index terms as words that no tokenizer of Milvus changes.
#
# Milvus' BM25 function takes text and splits it on the server. To preserve the index terms (stems, parts of
# compounds, pairs of characters), each is sent as letters a-z and digits only, which no tokenizer splits,
# changes or drops. Milvus Lite has no whitespace tokenizer; this needs none.


MAX_BYTES = 65_535
"""The maximum length of a text in Milvus."""

REPEATS: Mapping[str, int] = MappingProxyType(
    {"title": 2, "aliases": 2, "headers": 1, "tags": 2, "properties": 1, "content": 1, "path": 1}
)
"""The number of repetitions of each field's terms in the text: the boosts of `keywords.FieldWeights` as
integers. In order of importance, because the end of a longer text is cut off."""

_PLAIN = re.compile(r"[a-z0-9]+")


def word_of(term: str) -> str:
    if _PLAIN.fullmatch(term):
        return "a" + term
    rest = term.removeprefix(VARIANT_MARK)
    if rest != term and _PLAIN.fullmatch(rest):
        return "b" + rest
    return "x" + term.encode("utf-8", "surrogatepass").hex()


def document_text(fields: Iterable[tuple[str, Sequence[str]]]) -> str:
    """The terms of a chunk as one text, in which those of important fields are repeated."""
    held = dict(fields)
    words: list[str] = []
    size = 0
    for name, repeats in REPEATS.items():
        for word in map(word_of, held.get(name, ())):
            size += repeats * (len(word) + 1)
            if size > MAX_BYTES:
                return " ".join(words)
            words += [word] * repeats
    return " ".join(words)


def query_text(terms: Sequence[QueryTerm]) -> str:
    """The words of a query as one text: every term of each word, once.

    Features that Milvus cannot express are omitted: weights, the best instead of the sum of a word's terms,
    and prefixes of words.
    """
    return " ".join(dict.fromkeys(map(word_of, _terms(terms))))


def _terms(terms: Sequence[QueryTerm]) -> Iterator[str]:
    for word in terms:
        for one in word.classes:
            yield from one.terms


SCHEMA_VERSION = 3
"""Increased when the fields or their meaning change: all vaults are then published again, as new editions."""

VAULT_BYTES = 256
PATH_BYTES = 8192
TITLE_BYTES = 4096
TAG_BYTES = 1024
MAX_TAGS = 1024
K1 = 1.2
B = 0.5
"""Lower than the 0.75 of the local content field: title, headings and path lengthen every text. nDCG@10 by
words on XQuAD en, XQuAD ru and Obsidian's help: .968, .945, .667 with it; .971, .946, .649 with 0.75; local
index .964, .949, .657."""

FOUND_FIELDS = ("vault", "key", "note_id", "path")
"""The fields that a search requests for each hit: those of `retrieval.FoundChunk` without the score."""

_WEIGHTS = re.compile(r"\+sif-[0-9a-f]{12}(?=/)")
"""The part of a model's name that `providers` adds for token weights."""


def collection_name(prefix: str, model: str) -> str:
    """The alias of the collection for the vectors of one model (`EmbeddingModel.key`).

    Token weights belong to a vault, and do not change the space of the model's vectors: vaults with different
    weights share a collection. `VaultState.model` and `weights` determine how a query's vector is computed.
    """
    model = _WEIGHTS.sub("", model)
    readable = re.sub(r"[^A-Za-z0-9]+", "_", model).strip("_")[:60]
    digest = hashlib.sha256(model.encode()).hexdigest()[:8]
    return f"{prefix}_chunks_{readable}_{digest}_v{SCHEMA_VERSION}"


def table_name(prefix: str, kind: Literal["vaults", "notes", "blobs"]) -> str:
    """The collection for the states of vaults, their notes, or token weights and statistics."""
    return f"{prefix}_{kind}_v{SCHEMA_VERSION}"


@record
class CollectionLayout:
    """The parameters for creating a collection of chunks; an existing one is not changed."""

    shards: int = 1
    partitions: int = 0
    index_type: str = "AUTOINDEX"
    index_params: Mapping[str, int | float | str] = default(default_factory=dict)


def create_chunks(connection: MilvusConnection, name: str, dimension: int, layout: CollectionLayout) -> None:
    """Creates the collection of chunks for the alias `name`, unless it exists. Another daemon may create it
    at the same time."""
    if connection.call("has_collection", name):
        return
    physical = f"{name}_1"
    spread = {"num_shards": layout.shards}
    if layout.partitions:
        spread["num_partitions"] = layout.partitions
    _create(connection, physical, *_chunk_fields(dimension, layout), **spread)
    _tolerate_other(connection, lambda: connection.call("create_alias", physical, name), name)
    connection.load(name)


def create_table(connection: MilvusConnection, name: str, fields: dict[str, int]) -> None:
    """Creates a collection of rows without vectors, unless it exists. `fields` are texts with their maximum
    length in bytes, or numbers (0); the first is the key. Milvus requires a vector, so each row has a short
    one that is never searched."""
    if connection.call("has_collection", name):
        return
    from pymilvus import DataType, MilvusClient

    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    for number, (field, length) in enumerate(fields.items()):
        kind = (
            {"datatype": DataType.VARCHAR, "max_length": length} if length else {"datatype": DataType.INT64}
        )
        schema.add_field(field, is_primary=not number, **kind)
    schema.add_field("nothing", DataType.FLOAT_VECTOR, dim=2)
    index = MilvusClient.prepare_index_params()
    index.add_index(field_name="nothing", index_type="FLAT", metric_type="IP")
    _create(connection, name, schema, index)
    connection.load(name)


NOTHING = [1.0, 0.0]
"""The vector of a row without a meaningful one."""


def _create(connection: MilvusConnection, name: str, schema: Any, index: Any, **spread: int) -> None:
    def create() -> None:
        connection.call(
            "create_collection",
            name,
            schema=schema,
            index_params=index,
            consistency_level=connection.consistency_level,
            **spread,
        )

    _tolerate_other(connection, create, name)


def _tolerate_other(connection: MilvusConnection, make: Callable[[], object], name: str) -> None:
    """Runs `make`; a failure is ignored if another process has created the same object meanwhile."""
    try:
        make()
    except BackendError:
        if not connection.call("has_collection", name):
            raise


def _chunk_fields(dimension: int, layout: CollectionLayout) -> tuple[Any, Any]:
    from pymilvus import DataType, Function, FunctionType, MilvusClient

    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)

    def text(name: str, length: int, **options: Any) -> None:
        schema.add_field(name, DataType.VARCHAR, max_length=length, **options)

    text("pk", VAULT_BYTES + 64, is_primary=True)
    text("vault", VAULT_BYTES, is_partition_key=True)
    text("edition", VAULT_BYTES + 32)
    for name in ("key", "note_id"):
        schema.add_field(name, DataType.INT64)
    text("path", PATH_BYTES)
    text("kind", 32)
    tags = {"element_type": DataType.VARCHAR, "max_capacity": MAX_TAGS, "max_length": TAG_BYTES}
    schema.add_field("tags", DataType.ARRAY, **tags)
    text("terms", MAX_BYTES, enable_analyzer=True, analyzer_params={"tokenizer": "standard"})
    schema.add_field("words", DataType.SPARSE_FLOAT_VECTOR)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
    schema.add_field("has_vector", DataType.BOOL)
    schema.add_function(
        Function(
            name="bm25",
            function_type=FunctionType.BM25,
            input_field_names=["terms"],
            output_field_names=["words"],
        )
    )
    index = MilvusClient.prepare_index_params()
    index.add_index(field_name="path", index_type="INVERTED")
    index.add_index(
        field_name="vector", index_type=layout.index_type, metric_type="IP", params=dict(layout.index_params)
    )
    index.add_index(
        field_name="words",
        index_type="SPARSE_INVERTED_INDEX",
        metric_type="BM25",
        params={"bm25_k1": K1, "bm25_b": B},
    )
    return schema, index
