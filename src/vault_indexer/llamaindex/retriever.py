"""The index of a vault as a LlamaIndex retriever, and metadata filters as filters of the query language."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

from llama_index.core.callbacks import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters

from vault_indexer.contract.requests import Expand
from vault_indexer.errors import UsageError
from vault_indexer.llamaindex.node_parser import UNSHOWN_KEYS
from vault_indexer.model import Hit, SearchAnswer, SearchRequest, Verdict, doc_id_of
from vault_indexer.search.query import Node, parse_query


class Searchable(Protocol):
    """The result of `open_vault`, or a VaultService."""

    def search(self, query: SearchRequest, /) -> SearchAnswer: ...


class VaultRetriever(BaseRetriever):
    """Hits as nodes: the text is the chunk's content, and the score is the hit's relevance, in [0, 1], which
    can be compared between queries. The nodes are in the order of the ranking.

    `limit` counts notes, `similarity_top_k` nodes; 0 means the configured number of notes. `by_note`: one hit
    per note. `filters` restricts the nodes by `path`, `tags`, `language`, `modified_time` or any property of
    the notes. With `expand`, the text around a hit is a separate node after it, its PARENT, with the same
    score, and is not counted; several children of one parent share it. The metadata contains `relevance`, the
    `verdict` of the answer, and the paths of identical notes as `copies`.

    Raises the errors of the search, and UsageError for a filter that the query language cannot express.
    """

    def __init__(  # noqa: PLR0913 - the options of a search
        self,
        vault: Searchable,
        limit: int = 0,
        *,
        similarity_top_k: int = 0,
        filters: MetadataFilters | None = None,
        by_note: bool = False,
        expand: Expand = "",
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(callback_manager=callback_manager)
        self._vault = vault
        self._limit = limit
        self.similarity_top_k = similarity_top_k
        self._filters = filters
        self._by_note = by_note
        self._expand: Expand = expand

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        request = SearchRequest(
            narrow_query(query_bundle.query_str, self._filters),
            limit=self._limit or self.similarity_top_k,
            by_note=self._by_note,
            expand=self._expand,
        )
        answer = self._vault.search(request)
        hits = [hit for hit in answer.results if hit.kind in ("note", "canvas")]
        hits = hits[: self.similarity_top_k or None]
        return [node for hit in hits for node in _nodes(hit, answer.verdict)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _nodes(hit: Hit, verdict: Verdict) -> Iterator[NodeWithScore]:
    """The node of a hit, followed by that of the text around it, unless an earlier hit had the same."""
    node, passage = _node(hit, verdict), hit.passage
    if passage is None:
        yield node
        return
    whole = TextNode(
        id_=passage.id or f"{hit.path}@{passage.start_pos}-{passage.end_pos}",
        text=passage.text,
        start_char_idx=passage.start_pos,
        end_char_idx=passage.end_pos,
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=doc_id_of(hit.path))},
        metadata={
            "doc_id": doc_id_of(hit.path),
            "kind": passage.kind,
            "path": hit.path,
            "title": hit.title,
            "start_char": passage.start_pos,
            "end_char": passage.end_pos,
            "start_line": passage.start_line,
            "end_line": passage.end_line,
            "copies": list(hit.copies),
            "relevance": hit.relevance,
            "verdict": verdict,
        },
        excluded_embed_metadata_keys=[*UNSHOWN_KEYS],
        excluded_llm_metadata_keys=[*UNSHOWN_KEYS],
    )
    node.node.relationships[NodeRelationship.PARENT] = RelatedNodeInfo(node_id=whole.node_id)
    yield node
    if passage.text:
        yield NodeWithScore(node=whole, score=hit.relevance)


def _node(hit: Hit, verdict: Verdict) -> NodeWithScore:
    extra = hit.chunk.extra if hit.chunk else {}
    preamble = {"preamble": hit.chunk.preamble} if hit.chunk and hit.chunk.preamble else {}
    node = TextNode(
        id_=hit.chunk_id,
        text=hit.content,
        start_char_idx=hit.start_pos,
        end_char_idx=hit.end_pos,
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=hit.doc_id)},
        metadata={
            **extra,
            **preamble,
            "doc_id": hit.doc_id,
            "chunk_index": hit.chunk_index,
            "strategy": hit.strategy,
            "wikilinks": list(hit.wikilinks),
            "markdown_links": list(hit.markdown_links),
            "aliases": list(hit.aliases),
            "frontmatter": dict(hit.frontmatter),
            "path": hit.path,
            "title": hit.title,
            "header_path": hit.header_path,
            "start_char": hit.start_pos,
            "end_char": hit.end_pos,
            "start_line": hit.start_line,
            "end_line": hit.end_line,
            "modified_time": hit.modified_time,
            "tags": list(hit.tags),
            "stale": hit.stale,
            "copies": list(hit.copies),
            "relevance": hit.relevance,
            "verdict": verdict,
        },
        excluded_embed_metadata_keys=[*UNSHOWN_KEYS, *extra],
        excluded_llm_metadata_keys=[*UNSHOWN_KEYS, *extra],
    )
    return NodeWithScore(node=node, score=hit.relevance)


_Value = str | int | float

_COMPARISONS = frozenset({FilterOperator.GT, FilterOperator.GTE, FilterOperator.LT, FilterOperator.LTE})
_TEXTS = frozenset({FilterOperator.TEXT_MATCH, FilterOperator.TEXT_MATCH_INSENSITIVE})
_LISTS = frozenset({FilterOperator.IN, FilterOperator.NIN, FilterOperator.ANY, FilterOperator.ALL})
_NEGATIONS = frozenset({FilterOperator.NE, FilterOperator.NIN})
_BOUNDS = {FilterOperator.GTE: "after", FilterOperator.LT: "before"}
_UNQUOTABLE = re.compile(r'["\[\]\n]')


def narrow_query(query: str, filters: MetadataFilters | None) -> str:
    """Returns the query with the filters added. Raises UsageError for a filter that the query language cannot
    express."""
    if filters is None or not filters.filters:
        return query
    # Without parentheses, the filters would belong to the first alternative of "a OR b" only. Words in
    # parentheses are required, so other queries get none. An unclosed quote in the query is text if no other
    # quote follows, so the filters come first.
    grouped = f"({query})"
    is_choice = _conditions_of(grouped) == _conditions_of(query)
    return f"{_group(filters)} {grouped if is_choice else query}".rstrip()


def _conditions_of(query: str) -> list[Node]:
    return [condition.node for condition in parse_query(query).conditions]


def _group(filters: MetadataFilters) -> str:
    terms = [_group(term) if isinstance(term, MetadataFilters) else _filter(term) for term in filters.filters]
    if filters.condition is FilterCondition.NOT:
        return f"-{_either(terms)}"
    return _either(terms) if filters.condition is FilterCondition.OR else " ".join(terms)


def _filter(term: MetadataFilter) -> str:
    if term.operator is FilterOperator.IS_EMPTY:
        name = _property_name(term)
        return f"([{name}:null] OR -[{name}])"
    if term.operator in _LISTS:
        values: list[_Value] = [*term.value] if isinstance(term.value, list) else []
    else:
        values = [] if term.value is None or isinstance(term.value, list) else [term.value]
    if not values:
        raise _refused(
            term, f"{term.operator.value} needs {'a list' if term.operator in _LISTS else 'a value'}"
        )
    write = _WRITERS.get(term.key, _write_property)
    terms = [write(term, value) for value in values]
    if term.operator is FilterOperator.ALL:
        return " ".join(terms)
    return f"{'-' if term.operator in _NEGATIONS else ''}{_either(terms)}"


def _either(terms: list[str]) -> str:
    return f"({' OR '.join(terms)})"


def _write_path(term: MetadataFilter, value: _Value) -> str:
    _refuse_comparison(term)
    if term.operator is FilterOperator.TEXT_MATCH_INSENSITIVE:
        return f"path:{_expression(term, value)}"
    if term.operator is FilterOperator.TEXT_MATCH:
        return f"path:match-case:{_expression(term, value)}"
    return f"path:match-case:/^{_expression(term, value)[1:-1]}$/"


def _write_operator(operator: str, term: MetadataFilter, value: _Value) -> str:
    _refuse_comparison(term)
    return f"{operator}:{_phrase(term, value)}"


def _write_time(term: MetadataFilter, value: _Value) -> str:
    if term.operator not in _BOUNDS:
        raise _refused(term, "allowed are >= and <")
    return f"{_BOUNDS[term.operator]}:{value}"


def _write_property(term: MetadataFilter, value: _Value) -> str:
    name = _property_name(term)
    if term.operator in _COMPARISONS:
        return f"[{name}:{term.operator.value}{value}]"
    if term.operator in _TEXTS:
        return f"[{name}:{_expression(term, value)}]"
    if isinstance(value, str):
        return f"[{name}:{_phrase(term, value)}]"
    return f"([{name}:>={value}] [{name}:<={value}])"


_WRITERS: dict[str, Callable[[MetadataFilter, _Value], str]] = {
    "path": _write_path,
    "tags": partial(_write_operator, "tag"),
    "language": partial(_write_operator, "lang"),
    "modified_time": _write_time,
}
"""The keys of a node's metadata that are no properties of the note, and can be filtered."""


def _property_name(term: MetadataFilter) -> str:
    if term.key in _WRITERS or not term.key or _UNQUOTABLE.search(term.key):
        raise _refused(term, "is not the name of a property")
    return f'"{term.key}"'


def _phrase(term: MetadataFilter, value: _Value) -> str:
    return '"{}"'.format(_line(term, value).replace("\\", "\\\\").replace('"', '\\"'))


def _expression(term: MetadataFilter, value: _Value) -> str:
    return "/{}/".format(re.escape(_line(term, value)).replace("/", "\\/"))


def _line(term: MetadataFilter, value: _Value) -> str:
    text = str(value)
    if not text.strip() or len(text.splitlines()) > 1:
        raise _refused(term, f"{text!r} is not a text of one line")
    return text


def _refuse_comparison(term: MetadataFilter) -> None:
    if term.operator in _COMPARISONS:
        raise _refused(term, f"{term.operator.value} is for properties and modified_time")


def _refused(term: MetadataFilter, reason: str) -> UsageError:
    return UsageError(f"metadata filter {term.key}: {reason}")
