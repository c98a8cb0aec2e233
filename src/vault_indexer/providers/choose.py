"""Selects the embedder for a configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from vault_indexer.arrays import Vectors
from vault_indexer.config.settings import EmbeddingSettings
from vault_indexer.errors import ProviderError
from vault_indexer.ports import Embedder, EmbeddingModel
from vault_indexer.providers import llamaindex, multilingual, wordllama
from vault_indexer.providers.remote import is_installed
from vault_indexer.providers.token_weights import TokenWeights
from vault_indexer.providers.wordllama import WordLlamaEmbedder, wordllama_model
from vault_indexer.system import record

UNKNOWN_DIMENSION = 0
"""Stands for a dimension that is known only once the model is loaded."""

OTHER_PROVIDERS: Mapping[str, Callable[[EmbeddingSettings], Embedder]] = MappingProxyType(
    {
        "multilingual": lambda _: multilingual.MultilingualEmbedder(),
        "e5": lambda _: multilingual.E5Embedder(),
        "huggingface": llamaindex.huggingface,
        "minilm": llamaindex.minilm,
        "ollama": llamaindex.ollama,
        "openai": llamaindex.openai,
    }
)
"""All providers except the default: `embedding.provider` and the function that creates its embedder."""

_ONE_MODEL: Mapping[str, EmbeddingModel] = MappingProxyType(
    {model.provider: model for model in (llamaindex.MINILM, multilingual.MULTILINGUAL, multilingual.E5)}
)
"""The other providers with a single model, which ignore `embedding.model`."""

_LANGUAGES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "wordllama": wordllama.LANGUAGES,
        "minilm": llamaindex.MINILM_LANGUAGES,
        "multilingual": multilingual.MULTILINGUAL_LANGUAGES,
        "e5": multilingual.E5_LANGUAGES,
    }
)
_WITHOUT_VAULT = ("auto", "wordllama")
_NOT_FITTED = "+sif"


def embedder_for(settings: EmbeddingSettings, *, weights: TokenWeights | None = None) -> Embedder:
    """The embedder that the settings name, loaded. Raises ProviderError.

    `weights` belong to the generation that is built or read; they are used only for static embeddings with
    `token_weights` on. A remote provider is contacted only if the settings name it. If no vault has resolved
    `auto` yet, it means wordllama.
    """
    if settings.provider in _WITHOUT_VAULT:
        return WordLlamaEmbedder(weights if settings.token_weights != "none" else None)
    return OTHER_PROVIDERS[settings.provider](settings)


def model_for(settings: EmbeddingSettings, *, weights: TokenWeights | None = None) -> EmbeddingModel:
    """The model of `embedder_for`, without loading anything.

    The dimension is UNKNOWN_DIMENSION if it is known only once the model is loaded. If token weights are
    configured but not given, the name ends in "+sif": no index has that name, so none is considered current.
    """
    if settings.provider in _WITHOUT_VAULT:
        if settings.token_weights == "none":
            return wordllama_model()
        model = wordllama_model(weights)
        return model if weights else replace(model, name=model.name + _NOT_FITTED)
    if settings.provider in _ONE_MODEL:
        return _ONE_MODEL[settings.provider]
    name = settings.model
    if settings.provider == "huggingface":
        name = llamaindex.huggingface_name(name)
    return EmbeddingModel(settings.provider, name, UNKNOWN_DIMENSION)


def languages_of(model: EmbeddingModel) -> frozenset[str] | None:
    """The languages (ISO 639-1) of the model; None if unknown, as for a model that the user names."""
    return _LANGUAGES.get(model.provider)


def is_same_model(wanted: EmbeddingModel, built: EmbeddingModel) -> bool:
    """Whether vectors of an index `built` with one model suit a configuration that requires the other."""
    if UNKNOWN_DIMENSION in (wanted.dimension, built.dimension):
        return (wanted.provider, wanted.name) == (built.provider, built.name)
    return wanted == built


# The model for `embedding.provider = "auto"`: first the static model, then the sentence model when possible.
#
# The sentence model finds more (nDCG@5 on seven unseen collections is .747 instead of .689, for queries in
# another language .607 instead of .181) and takes 35 times as long per text. So a vault that it embeds within
# seconds uses it from the first build on. A larger one is built with the static model, gets the better
# vectors while the daemon is idle, and is rebuilt when all of them exist.


AUTO_PROVIDERS = ("wordllama", "multilingual")
"""The providers that `auto` chooses from. The provider `e5` finds more, but takes 20 times as long: only the
user can decide whether that is worth it."""

AT_ONCE_BYTES = 200_000
"""The sentence model embeds this many bytes in two or three seconds of processor time
(`benchmarks/embed_speed.py`): a first build should answer within seconds, even on a busy machine."""

AT_ONCE_TEXTS = 1_000
"""A build that replaces an index may take ten seconds more, which is enough for this many chunks."""

ADVISED_FROM = 0.6
"""The share of notes in languages of an extra model alone from which the user is advised to install it."""

_DEFAULT, _BETTER, _E5 = "wordllama", "multilingual", "e5"
_SHOWN_LANGUAGES = 3

Installed = Callable[[str], bool]


@record
class IndexedTexts:
    """The texts of an index that a build replaces: the provider of its vectors, the number of texts, and the
    number of those that lack a vector of the better model."""

    provider: str
    texts: int
    missing: int

    @property
    def keeps_better(self) -> bool:
        """Whether to build with the better model: few vectors are missing, or most of them exist already."""
        most = self.texts / 2 if self.provider == _BETTER else min(AT_ONCE_TEXTS, self.texts / 2)
        return self.missing <= most


def better_model(installed: Installed = is_installed) -> EmbeddingModel | None:
    """The model that `auto` changes to when possible; None if its package is missing."""
    return multilingual.MULTILINGUAL if installed(multilingual.MULTILINGUAL_PACKAGE) else None


def choose_provider(
    text_bytes: int, indexed: IndexedTexts | None = None, *, installed: Installed = is_installed
) -> str:
    """The provider for a build of notes with `text_bytes` bytes that replaces `indexed` (None: nothing)."""
    if better_model(installed) is None:
        return _DEFAULT
    if text_bytes <= AT_ONCE_BYTES or (indexed is not None and indexed.keeps_better):
        return _BETTER
    return _DEFAULT


def better_model_advice(
    notes: Mapping[str, int], current: str, *, installed: Installed = is_installed
) -> str:
    """How to get semantic search for the languages of the vault; "" if a model of `auto` supports them.
    `notes` contains counts by language ("" if it is unknown)."""
    if current not in AUTO_PROVIDERS:
        return ""
    known_by_auto = frozenset[str]().union(*(_LANGUAGES[one] for one in AUTO_PROVIDERS))
    foreign = {one: count for one, count in notes.items() if one and one not in known_by_auto}
    gained = sum(count for one, count in foreign.items() if one in _LANGUAGES[_E5])
    if gained < ADVISED_FROM * max(1, sum(count for one, count in notes.items() if one)):
        return ""
    steps = [] if installed(multilingual.E5_PACKAGE) else [f"run `pip install 'vault-indexer[{_E5}]'`"]
    steps.append(f'set embedding.provider = "{_E5}"')
    return (
        f"most notes are in languages that the embedding model does not support ({_named(foreign)}): for "
        f"better search by meaning {', then '.join(steps)}"
    )


def _named(foreign: Mapping[str, int]) -> str:
    most = sorted(foreign, key=lambda language: (-foreign[language], language))
    return ", ".join(most[:_SHOWN_LANGUAGES]) + (", …" if len(most) > _SHOWN_LANGUAGES else "")


# An embedder that loads its model on first use.


class LazyEmbedder:
    """An embedder that wraps the one that `load` creates at the first text. If the `model` is given, its name
    is available without loading."""

    def __init__(self, load: Callable[[], Embedder], model: EmbeddingModel | None = None) -> None:
        self._load = load
        self._model = model
        self._loaded: Embedder | None = None

    @property
    def model(self) -> EmbeddingModel:
        """The model; it is loaded if it was not given."""
        return self._model or self._ready().model

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Delegates to the loaded model. Raises ProviderError, also if that is not the given model."""
        return self._ready().embed(texts)

    def embed_query(self, text: str) -> Vectors:
        return self._ready().embed_query(text)

    def _ready(self) -> Embedder:
        if self._loaded is None:
            loaded = self._load()
            if self._model not in (None, loaded.model):
                raise ProviderError(
                    f"the model has changed from {self._model.key} to {loaded.model.key}: run `indexer "
                    "rebuild`"
                )
            self._loaded = loaded
        return self._loaded
