"""`paragraph` gathers short paragraphs and splits long ones at sentences. `discourse` keeps paragraphs with
the text that they continue, and a conclusion closes a chunk."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from vault_indexer.chunk.cutting.assemble import Draft, DraftChunker, NoteLayout
from vault_indexer.chunk.cutting.blocks import Paragraph, ends_sentence, paragraph_numbers, sentence_pieces
from vault_indexer.chunk.cutting.spans import Ruler, Span
from vault_indexer.config.tables.chunking_options import DiscourseOptions, ParagraphOptions
from vault_indexer.errors import ProviderError
from vault_indexer.model import JsonValue, Note
from vault_indexer.ports import Tokenizer
from vault_indexer.system import record
from vault_indexer.text.scripts import LETTER


class ParagraphChunker(DraftChunker[ParagraphOptions]):
    """A chunk is the fewest paragraphs that are long enough and end a sentence."""

    strategy = "paragraph"

    def drafts(self, layout: NoteLayout) -> list[Draft]:
        splitter = layout.splitter(self._options.max_chars)
        pieces = [
            piece for span in self._gather(layout) for piece in sentence_pieces(splitter, layout.blocks, span)
        ]
        return layout.fit(pieces, self._options.max_chars)

    def _gather(self, layout: NoteLayout) -> Iterator[Span]:
        ruler = layout.ruler
        open_span: Span | None = None
        for paragraph in layout.paragraphs:
            if open_span and self._closes_before(ruler, open_span, paragraph):
                yield open_span
                open_span = None
            open_span = (open_span[0] if open_span else paragraph.start, paragraph.end)
            if self._long_enough(ruler, open_span) and ends_sentence(layout.text, paragraph):
                yield open_span
                open_span = None
        if open_span:
            yield open_span

    def _closes_before(self, ruler: Ruler, open_span: Span, paragraph: Paragraph) -> bool:
        """Whether the chunk ends before the paragraph: a heading closes a chunk that is long enough, and one
        that would become too long is closed in any case."""
        if paragraph.has_heading and self._long_enough(ruler, open_span):
            return True
        return ruler.size(open_span[0], paragraph.end) > self._options.max_chars

    def _long_enough(self, ruler: Ruler, span: Span) -> bool:
        return ruler.size(*span) >= self._options.min_chars


_CONTINUATION = "continuation_marker"
_SHORT = "short_paragraph"
_LEAST_WORDS = 12
"""The minimum number of words of a paragraph whose language is detected separately."""


@dataclass(slots=True)
class _Open:
    """The chunk under construction, its number of consecutive continuations, and why it was joined and
    closed."""

    start: int
    end: int
    merges: int = 0
    merge_reason: str | None = None
    closure_marker: str | None = None

    def take(self, paragraph: Paragraph, reason: str) -> None:
        """Adds a paragraph. A single continuation determines the reason of the whole chunk."""
        self.end = paragraph.end
        self.merge_reason = _CONTINUATION if _CONTINUATION in {self.merge_reason, reason} else reason


class DiscourseChunker(DraftChunker[DiscourseOptions]):
    """Gathers paragraphs up to `max_chars`, depending on their opening words.

    `extra`: `merge_reason` ("continuation_marker", "short_paragraph", or None for a single paragraph),
    `closure_marker` (the words that closed the chunk, or None), `para_ids`, `language_detected`,
    `mixed_language`. A note in a language without markers is split as by `paragraph`, which its chunks report
    in `fallback` and `reason`.
    """

    strategy = "discourse"

    def __init__(self, options: DiscourseOptions, tokenizer: Tokenizer | None = None) -> None:
        """Raises ProviderError for a `markers_dir` that cannot be read."""
        super().__init__(options, tokenizer)
        self._markers = load_markers(options.markers_dir)

    @property
    def longest(self) -> int:
        """The maximum size of a chunk with continuations."""
        return int(self._options.max_chars * (1 + self._options.continuation_overflow))

    def drafts(self, layout: NoteLayout) -> list[Draft]:
        language = self.language(layout.note)
        markers = self._markers.get(language)
        drafts = self._fallback(layout, language) if markers is None else self._drafts(layout, markers)
        return self._described(layout, drafts, language)

    def language(self, note: Note) -> str:
        """The language to use: the option's, the note's own, or the one detected."""
        if self._options.language != "auto":
            return self._options.language
        declared = note.language.lower().replace("_", "-").partition("-")[0]
        return declared or detect(note.text[note.body_start :], self._markers)

    def _fallback(self, layout: NoteLayout, language: str) -> list[Draft]:
        sizes = self._options.model_dump(include={"max_chars", "min_chars", "size_unit"})
        reason = f"no discourse markers for language {language}" if language else "language not recognized"
        paragraph = ParagraphChunker(ParagraphOptions.model_validate(sizes), self._tokenizer)
        why: dict[str, JsonValue] = {"fallback": "paragraph", "reason": reason}
        return [draft.with_extra(why) for draft in paragraph.drafts(layout)]

    def _drafts(self, layout: NoteLayout, markers: Markers) -> list[Draft]:
        splitter, longest = layout.splitter(self._options.max_chars), layout.ruler.room(self.longest)
        drafts: list[Draft] = []
        for gathered in self._gather(layout, markers):
            span = (gathered.start, gathered.end)
            why: dict[str, JsonValue] = {
                "merge_reason": gathered.merge_reason,
                "closure_marker": gathered.closure_marker,
            }
            pieces = sentence_pieces(splitter, layout.blocks, span, longest)
            drafts.extend(draft.with_extra(why) for draft in layout.fit(pieces, self.longest))
        return drafts

    def _gather(self, layout: NoteLayout, markers: Markers) -> Iterator[_Open]:
        current: _Open | None = None
        for paragraph in layout.paragraphs:
            words = layout.text[paragraph.text_start : paragraph.text_start + 200]
            reason = self._reason(layout.ruler, current, paragraph, markers.continues(words))
            if current is not None and reason:
                current.take(paragraph, reason)
            else:
                if current is not None:
                    yield current
                current = _Open(paragraph.start, paragraph.end)
            concludes = markers.conclusion_of(words)
            if concludes and layout.ruler.size(current.start, current.end) >= self._options.min_chars:
                current.closure_marker = concludes
                yield current
                current = None
        if current is not None:
            yield current

    def _reason(self, ruler: Ruler, current: _Open | None, paragraph: Paragraph, continues: bool) -> str:
        """The reason for adding the paragraph to the open chunk, or "" if it begins another. After
        `max_continuation_merges` in a row, a continuation begins another chunk regardless of the sizes."""
        if current is None:
            return ""
        size = ruler.size(current.start, paragraph.end)
        if continues and not paragraph.has_heading:
            current.merges += 1
            within_merges = current.merges <= self._options.max_continuation_merges
            return _CONTINUATION if within_merges and size <= self.longest else ""
        current.merges = 0
        is_long = ruler.size(current.start, current.end) >= self._options.min_chars
        new_subject = paragraph.has_heading and is_long
        return _SHORT if size <= self._options.max_chars and not new_subject else ""

    def _described(self, layout: NoteLayout, drafts: Sequence[Draft], language: str) -> list[Draft]:
        """The drafts with the ids of their paragraphs and information about their languages."""
        texts = [layout.text[paragraph.text_start : paragraph.end] for paragraph in layout.paragraphs]
        languages = [detect(text, self._markers) if text.count(" ") >= _LEAST_WORDS else "" for text in texts]
        described: list[Draft] = []
        for draft in drafts:
            numbers = paragraph_numbers(layout.paragraphs, draft.start, draft.end)
            facts: dict[str, JsonValue] = {
                "para_ids": [f"{layout.note.doc_id}_paragraph_{number}" for number in numbers],
                "language_detected": language,
                "mixed_language": len({languages[number] for number in numbers} - {""}) > 1,
            }
            described.append(draft.with_extra(facts))
        return described


# The words of each language that continue or conclude: the files of `discourse_markers`.

_PACKAGE = "vault_indexer.chunk.cutting.discourse_markers"
_FOLDER_KEY = "chunking.discourse.markers_dir"
_KEYS = ("continuation", "conclusion", "common")
_DETECTED_FROM = 20_000
_WORD = re.compile(rf"{LETTER}+(?:['’]{LETTER}+)*")
_OPENING = re.compile(r"[\s>*_\"'“‘«(\[¡¿-]*")


@record
class Markers:
    """The markers of one language, and its most common words for detection."""

    continuation: re.Pattern[str]
    conclusion: re.Pattern[str]
    common: frozenset[str]

    def continues(self, paragraph: str) -> bool:
        return bool(_opening(self.continuation, paragraph))

    def conclusion_of(self, paragraph: str) -> str:
        """The words at the start of a paragraph that mark it as a conclusion, or ""."""
        return _opening(self.conclusion, paragraph)


def _opening(pattern: re.Pattern[str], paragraph: str) -> str:
    opening = _OPENING.match(paragraph)
    found = pattern.match(paragraph, opening.end() if opening else 0)
    return found[0] if found else ""


def load_markers(folder: str = "") -> Mapping[str, Markers]:
    """The markers of every language with a file, by its code (`en.toml`): built-in files, and those of a
    folder, which add or replace languages. Raises ProviderError for an unreadable file."""
    found = {name: _markers(tomllib.loads(text)) for name, text in _files(files(_PACKAGE))}
    if not folder:
        return found
    try:
        own = list(_files(Path(folder).expanduser()))
    except (OSError, ValueError) as error:
        raise ProviderError(f"{_FOLDER_KEY}: {folder} cannot be read: {error}") from error
    for name, text in own:
        found[name] = _own_markers(f"{folder}/{name}.toml", text)
    return found


def _files(folder: Traversable) -> Iterator[tuple[str, str]]:
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".toml"):
            yield file.name.removesuffix(".toml"), file.read_text(encoding="utf-8")


def _own_markers(file: str, text: str) -> Markers:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ProviderError(f"{_FOLDER_KEY}: {file}: not valid TOML: {error}") from error
    for key in _KEYS:
        phrases = table.get(key)
        if not isinstance(phrases, list) or not all(
            isinstance(phrase, str) and phrase.strip() for phrase in phrases
        ):
            raise ProviderError(f"{_FOLDER_KEY}: {file}: {key} must be a list of words")
    unknown = sorted(table.keys() - set(_KEYS))
    if unknown:
        raise ProviderError(f"{_FOLDER_KEY}: {file}: {unknown[0]} is not known, only {', '.join(_KEYS)}")
    return _markers(table)


def _markers(table: Mapping[str, list[str]]) -> Markers:
    common = frozenset(word.lower() for word in table["common"])
    return Markers(_any_of(table["continuation"]), _any_of(table["conclusion"]), common)


def _any_of(phrases: list[str]) -> re.Pattern[str]:
    longest_first = sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))
    alternatives = "|".join(_with_any_space(phrase) for phrase in longest_first)
    return re.compile(rf"(?:{alternatives})\b" if alternatives else r"(?!)", re.IGNORECASE)


def _with_any_space(phrase: str) -> str:
    """The phrase as a pattern, with any white space between its words and any apostrophe."""
    return re.escape(phrase).replace("\\ ", r"\s+").replace("'", "['’]")


def detect(text: str, markers: Mapping[str, Markers]) -> str:
    """The language whose most common words are most frequent in the text; "" if that is not clear.

    Clear means at least a tenth of the words, and a fifth more than the next language.
    """
    words = Counter(word.lower() for word in _WORD.findall(text[:_DETECTED_FROM]))
    total = sum(words.values())
    ranked = sorted(
        ((sum(words[word] for word in entry.common), language) for language, entry in markers.items()),
        reverse=True,
    )
    if not ranked or ranked[0][0] * 10 < max(total, 1):
        return ""
    clear = len(ranked) == 1 or ranked[0][0] >= 1.2 * ranked[1][0]
    return ranked[0][1] if clear else ""
