"""How far to trust a model's vectors: by what it knows of the query's language, and by what words find."""

from __future__ import annotations

from collections.abc import Sequence

from vault_indexer.ports import EmbeddingModel
from vault_indexer.providers import languages_of
from vault_indexer.text.language import detect_query

FOREIGN = 0.45
"""What the vectors of an English model count in other languages. On XQuAD in Spanish, Chinese and Russian
they put the right paragraph first for 57 to 67 of 100 questions, words for 92 to 95; counted in full they
drag the fusion below the words, at about 0.45 it is level or ahead."""

LACKING = 8.0
"""How much more the vectors count where no chunk holds a word of the query. This and the third power were the
best of 60 choices on the tuning halves of ten sets (two models): nDCG@10 there .867 to .872, on the halves
kept aside .880 to .886, most of it where notes and question use other words."""

AMONG_LANGUAGES = 0.5
"""By how much LACKING is less for a model of many languages where hardly a note is in the query's language,
but some are: its vectors bring notes of other languages on the same matter forward. Of questions to a vault
with notes in twelve languages, nDCG@10 is .802 without it on the tuning half; with 2, 3, 4, 5 and 6 for
LACKING it was .831, .828, .824, .819 and .817."""


def language_of(text: str, languages: Sequence[str]) -> str:
    """The query's language: one of the vault's (most frequent first), unless it is clearly another one; where
    the query does not tell, the vault's main one; "" in a vault of unknown language."""
    return detect_query(text, languages) or (languages[0] if languages else "")


def language_weight(model: EmbeddingModel, language: str) -> float:
    """A factor for the vector ranking's weight: less than 1 where the model does not know the language. A
    model whose languages are unknown counts in full."""
    known = languages_of(model)
    return 1.0 if known is None or not language or language in known else FOREIGN


def lacking_weight(model: EmbeddingModel, share: float) -> float:
    """How much more the vectors count where no chunk holds a word of the query, if so large a share of the
    notes is in its language. Where none is, words find nothing, and the vectors of such a model all."""
    known = languages_of(model)
    if known is None or len(known) < 2 or not share:
        return LACKING
    return LACKING * (1.0 - AMONG_LANGUAGES * (1.0 - share))


def vector_weight(held: float, lacking: float = LACKING) -> float:
    """The factor for the vector ranking's weight, if the best chunk by words holds this share of the query,
    each word at its weight: 1 where it holds all, 1 + `lacking` where it holds none."""
    return 1.0 + lacking * (1.0 - held) ** 3
