"""Whoosh's own searcher and tantivy, asked for the same index terms as our keyword index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from vault_indexer.store.keywords.schema import INDEX_NAME, KEY_COLUMN, FieldWeights, KeywordDocument

ByWords = Callable[[Sequence[str]], list[int]]
"""Index terms in, keys of documents out, best first."""

_TANTIVY_HEAP = 256_000_000
_TANTIVY_THREADS = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """Any of the words in any of the fields, weighted as ours, the best `limit`."""

    fields: Sequence[str]
    limit: int
    weights: FieldWeights = field(default_factory=FieldWeights)


def whoosh_searcher(folder: Path, asked: Asked) -> ByWords:
    """Whoosh's own BM25F over an index of ours, or one with the same schema."""
    from whoosh import index, query, scoring

    weights = asked.weights
    opened = index.open_dir(str(folder), indexname=INDEX_NAME)
    fields_b = {f"{name}_B": weights.of(name).b for name in asked.fields}
    searcher = opened.searcher(weighting=scoring.BM25F(K1=weights.k1, **fields_b))
    keys = searcher.reader().column_reader(KEY_COLUMN)

    def answer(words: Sequence[str]) -> list[int]:
        terms = [query.Term(name, word, weights.of(name).boost) for word in words for name in asked.fields]
        found = searcher.search(query.Or(terms), limit=asked.limit)
        return [int(keys[number]) for _, number in found.top_n]

    return answer


def tantivy_searcher(folder: Path, documents: Iterable[KeywordDocument], asked: Asked) -> ByWords:
    """Indexes the documents with two threads, then answers by tantivy's BM25."""
    import tantivy

    schema = tantivy.SchemaBuilder()
    for name in asked.fields:
        schema.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    schema.add_integer_field(KEY_COLUMN, fast=True)
    built = schema.build()
    index = tantivy.Index(built, str(folder))
    writer = index.writer(_TANTIVY_HEAP, _TANTIVY_THREADS)
    for one in documents:
        document = tantivy.Document()
        for name in asked.fields:
            document.add_text(name, " ".join(getattr(one, name)))
        document.add_integer(KEY_COLUMN, one.key)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def answer(words: Sequence[str]) -> list[int]:
        terms = [
            (
                tantivy.Occur.Should,
                tantivy.Query.boost_query(
                    tantivy.Query.term_query(built, name, word, "freq"), asked.weights.of(name).boost
                ),
            )
            for word in words
            for name in asked.fields
        ]
        found = searcher.search(tantivy.Query.boolean_query(terms), asked.limit, count=False)
        return cast("list[int]", searcher.fast_field_values(KEY_COLUMN, [at for _, at in found.hits]))

    return answer
