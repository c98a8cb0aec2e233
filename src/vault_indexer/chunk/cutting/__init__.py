"""Code shared by the strategies: blocks, sections, sizes, and the conversion of spans to chunks."""

from __future__ import annotations

from vault_indexer.chunk.cutting.assemble import (
    TOKEN_COUNT,
    Draft,
    DraftChunker,
    Window,
    assemble,
    fit,
    fit_spans,
    pack,
    slide,
    trim_drafts,
    windows,
)
from vault_indexer.chunk.cutting.blocks import BlockSplitter, blocks_of, within
from vault_indexer.chunk.cutting.grammars import Code, CodeReader, no_parser_reason
from vault_indexer.chunk.cutting.markers import Markers, detect, load_markers
from vault_indexer.chunk.cutting.sections import Joiner, Outline, Unit, headings_within, units_of
from vault_indexer.chunk.cutting.sizes import Characters, Marks, Ruler, Tokens, ruler_for, token_ruler
from vault_indexer.chunk.cutting.spans import NoteSentences, Span, sentence_spans, tile, trim, word_start
from vault_indexer.chunk.cutting.splitting import (
    Paragraph,
    Splitter,
    best_division,
    ends_sentence,
    paragraph_numbers,
    paragraphs_of,
    paragraphs_of_blocks,
    sentence_pieces,
)
from vault_indexer.chunk.cutting.tokenizer_choice import import_function, tokenizer_for, tokenizer_from

__all__ = [
    "TOKEN_COUNT",
    "BlockSplitter",
    "Characters",
    "Code",
    "CodeReader",
    "Draft",
    "DraftChunker",
    "Joiner",
    "Markers",
    "Marks",
    "NoteSentences",
    "Outline",
    "Paragraph",
    "Ruler",
    "Span",
    "Splitter",
    "Tokens",
    "Unit",
    "Window",
    "assemble",
    "best_division",
    "blocks_of",
    "detect",
    "ends_sentence",
    "fit",
    "fit_spans",
    "headings_within",
    "import_function",
    "load_markers",
    "no_parser_reason",
    "pack",
    "paragraph_numbers",
    "paragraphs_of",
    "paragraphs_of_blocks",
    "ruler_for",
    "sentence_pieces",
    "sentence_spans",
    "slide",
    "tile",
    "token_ruler",
    "tokenizer_for",
    "tokenizer_from",
    "trim",
    "trim_drafts",
    "units_of",
    "windows",
    "within",
    "word_start",
]
