"""What `embedding.provider = "auto"` stands for: a model that knows the languages of the vault."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from vault_indexer.providers import e5, multilingual
from vault_indexer.providers.choose import languages_of_provider
from vault_indexer.providers.packages import is_installed

AUTO_PROVIDERS = ("wordllama", "multilingual")
"""What `auto` chooses from. The provider `e5` finds more, but takes 20 times as long: only a person can tell
whether that is worth it."""

CHOSEN_FROM = 0.5
"""Share of the notes in languages that the multilingual model knows and the English one does not, from which
it is chosen. On XQuAD it puts the right paragraph first for 6 to 20 more of 100 questions in Spanish, Russian
or Chinese, and for 9 fewer in English."""

KEPT_FROM = 0.35
"""The same for an index that was built with it: notes that come and go do not change the model."""

ADVISED_FROM = 0.6
"""The same from which a user is told of a better model. It is more than `CHOSEN_FROM`, so that a build, which
knows a sample of the notes only, follows the advice."""

_DEFAULT, _MULTILINGUAL, _E5 = "wordllama", "multilingual", "e5"
_PACKAGES = {_MULTILINGUAL: multilingual.PACKAGE, _E5: e5.PACKAGE}
_SHOWN_LANGUAGES = 3

Installed = Callable[[str], bool]


def choose_provider(
    notes: Mapping[str, int], *, current: str = "", installed: Installed = is_installed
) -> str:
    """The provider for a vault with so many notes in each language; `current` is that of its index.

    Notes of unknown language ("") do not count. Only an installed package is chosen.
    """
    least = KEPT_FROM if current == _MULTILINGUAL else CHOSEN_FROM
    if _gain(_MULTILINGUAL, notes) >= least and installed(_PACKAGES[_MULTILINGUAL]):
        return _MULTILINGUAL
    return _DEFAULT


def better_model_advice(
    notes: Mapping[str, int], current: str, *, installed: Installed = is_installed
) -> str:
    """What to do so that search by meaning knows the languages of the vault; "" where the model does."""
    if current != _DEFAULT:
        return ""
    better = next((name for name in _PACKAGES if _gain(name, notes) >= ADVISED_FROM), "")
    if not better:
        return ""
    steps = [] if installed(_PACKAGES[better]) else [f"run `pip install 'vault-indexer[{better}]'`"]
    by_itself = better == _MULTILINGUAL
    steps.append("run `indexer rebuild`" if by_itself else f'set embedding.provider = "{better}"')
    return (
        f"most notes are in languages that the embedding model does not know ({_foreign(notes)}): "
        f"for better search by meaning {', then '.join(steps)}"
    )


def _gain(provider: str, notes: Mapping[str, int]) -> float:
    """The share of the notes that this model knows and the default does not."""
    known = sum(count for language, count in notes.items() if language)
    return sum(notes[language] for language in _new_languages(provider, notes)) / max(known, 1)


def _new_languages(provider: str, notes: Mapping[str, int]) -> list[str]:
    known, default = languages_of_provider(provider), languages_of_provider(_DEFAULT)
    return [language for language in notes if language and language not in default and language in known]


def _foreign(notes: Mapping[str, int]) -> str:
    default = languages_of_provider(_DEFAULT)
    foreign = sorted(set(notes) - default - {""}, key=lambda language: (-notes[language], language))
    return ", ".join(foreign[:_SHOWN_LANGUAGES]) + (", …" if len(foreign) > _SHOWN_LANGUAGES else "")
