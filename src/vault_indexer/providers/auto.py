"""What `embedding.provider = "auto"` stands for: the static model at once, the sentence model when it can.

The sentence model finds more (on seven unseen collections nDCG@5 .747, not .689, for queries in another
language .607, not .181) and takes 35 times as long a text. So a vault that it embeds within seconds has it
from the first build on; a larger one is built with the static model, gets the better vectors while the daemon
is idle, and is built again when all are there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from vault_indexer.ports import EmbeddingModel
from vault_indexer.providers import e5, multilingual
from vault_indexer.providers.choose import languages_of_provider
from vault_indexer.providers.packages import is_installed

AUTO_PROVIDERS = ("wordllama", "multilingual")
"""What `auto` chooses from. The provider `e5` finds more, but takes 20 times as long: only a person can tell
whether that is worth it."""

AT_ONCE_BYTES = 200_000
"""The sentence model embeds so much in two or three seconds of processor time (`benchmarks/embed_speed.py`):
a first build is to answer within seconds, on a busy machine too."""

AT_ONCE_TEXTS = 1_000
"""A build that replaces an index may take ten seconds more: so many chunks."""

ADVISED_FROM = 0.6
"""Share of the notes in languages that only an extra model knows from which a user is told of it."""

_DEFAULT, _BETTER, _E5 = "wordllama", "multilingual", "e5"
_SHOWN_LANGUAGES = 3

Installed = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class IndexedTexts:
    """The texts of an index that a build replaces: the provider of its vectors, how many texts there are, and
    how many have no vector of the better model yet."""

    provider: str
    texts: int
    missing: int

    @property
    def keeps_better(self) -> bool:
        """Whether a build with the better model is quick, or takes nothing from the user that was there."""
        most = self.texts / 2 if self.provider == _BETTER else min(AT_ONCE_TEXTS, self.texts / 2)
        return self.missing <= most


def better_model(installed: Installed = is_installed) -> EmbeddingModel | None:
    """The model that `auto` changes to when it can; None where its package is missing."""
    return multilingual.MULTILINGUAL if installed(multilingual.PACKAGE) else None


def choose_provider(
    text_bytes: int, indexed: IndexedTexts | None = None, *, installed: Installed = is_installed
) -> str:
    """The provider for a build of notes of so many bytes; `indexed` is what it replaces (None: nothing)."""
    if better_model(installed) is None:
        return _DEFAULT
    if text_bytes <= AT_ONCE_BYTES or (indexed is not None and indexed.keeps_better):
        return _BETTER
    return _DEFAULT


def better_model_advice(
    notes: Mapping[str, int], current: str, *, installed: Installed = is_installed
) -> str:
    """What to do so that search by meaning knows the languages of the vault; "" where a model of `auto` does.
    `notes` are counts by language ("" where it is unknown)."""
    if current not in AUTO_PROVIDERS:
        return ""
    known_by_auto = frozenset[str]().union(*map(languages_of_provider, AUTO_PROVIDERS))
    foreign = {one: count for one, count in notes.items() if one and one not in known_by_auto}
    gained = sum(count for one, count in foreign.items() if one in languages_of_provider(_E5))
    if gained < ADVISED_FROM * max(1, sum(count for one, count in notes.items() if one)):
        return ""
    steps = [] if installed(e5.PACKAGE) else [f"run `pip install 'vault-indexer[{_E5}]'`"]
    steps.append(f'set embedding.provider = "{_E5}"')
    return (
        f"most notes are in languages that the embedding model does not know ({_named(foreign)}): "
        f"for better search by meaning {', then '.join(steps)}"
    )


def _named(foreign: Mapping[str, int]) -> str:
    most = sorted(foreign, key=lambda language: (-foreign[language], language))
    return ", ".join(most[:_SHOWN_LANGUAGES]) + (", …" if len(most) > _SHOWN_LANGUAGES else "")
