"""A question and its answer, whose sentences point at spans of notes. The fields are the keys of the JSON."""

from __future__ import annotations

from typing import Annotated, Literal

from vault_indexer.contract.marks import OMIT_EMPTY, Digits
from vault_indexer.model.answers import ErrorReport, Hit, IndexState, Verdict
from vault_indexer.system import record

AnswerKind = Literal["quotes", "written", "passages", "declined"]
"""What an answer consists of: sentences quoted from notes; sentences of a language model that
passed a check; passages to read, where the vault is only weakly about the question; a refusal, where no note
is or no sentence holds enough of the question: the passages are the nearest ones then."""

SentenceVerdict = Literal["quoted", "supported", "unchecked", "dropped"]
"""A sentence of a note as it stands there; one of a model whose words are all in what it cites; one
with words that are not; one that failed the check."""


@record
class Citation:
    """A span of a note that a sentence rests on.

    `id` names the span within one index: path, heading or block, and position. Positions are characters of
    the file decoded as UTF-8, lines are 1-based and inclusive. `quote` is the text of the span as written in
    the note, `sha256` the hexadecimal hash of its UTF-8. `block` is the block identifier without `^`, "" if
    the span has none. `uri` is that of a hit. `vault` is the name of the note's vault if several were asked;
    then `id` begins with it. `sentence_ids` are the sentences that overlap the span: `/v1/sentences` returns
    each. `property` is the name of the frontmatter property if the span is one. `part` is the page, slide or
    sheet of a document, such as "page 3"; its positions are those of the extracted text.
    """

    id: str
    path: str
    title: str
    header_path: str
    block: str
    start_pos: int
    end_pos: int
    start_line: int
    end_line: int
    quote: str
    sha256: str
    uri: str
    sentence_ids: tuple[str, ...] = ()
    property: Annotated[str, OMIT_EMPTY] = ""
    part: Annotated[str, OMIT_EMPTY] = ""
    vault: Annotated[str, OMIT_EMPTY] = ""


@record
class AnswerSentence:
    """A sentence of an answer and what it rests on. `reason` says why it was dropped, else it is "".
    `unchecked` are the words of a sentence of that verdict which what it cites does not hold."""

    text: str
    citations: tuple[Citation, ...]
    verdict: SentenceVerdict
    reason: str = ""
    unchecked: tuple[str, ...] = ()


@record
class AskAnswer:
    """The answer to a question.

    `verdict` states whether the vault is about the question, like that of a search. `sentences` are the
    answer, in order; `dropped` are sentences of the model that failed the check. `passages` are the hits that
    were read, best first. `missing_words` are words of the question that no note contains. `model` is the
    language model that wrote the sentences, "" for none. `prompt` is the text that the model would be sent,
    if the request asks for it.
    """

    question: str
    kind: AnswerKind
    verdict: Verdict
    sentences: tuple[AnswerSentence, ...]
    dropped: tuple[AnswerSentence, ...]
    passages: tuple[Hit, ...]
    missing_words: tuple[str, ...]
    model: str
    took_ms: Annotated[float, Digits(2)]
    index: IndexState
    notices: tuple[str, ...] = ()
    prompt: str = ""


@record
class AskLine:
    """A line of the stream of `POST /v1/ask`: `data` is an `AskAnswer` of a `passages` or `answer`, an
    `AnswerSentence` of a `sentence`, an `ErrorReport` of an `error`."""

    event: Literal["passages", "sentence", "answer", "error"]
    data: AskAnswer | AnswerSentence | ErrorReport
