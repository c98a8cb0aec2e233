"""What providers share: where a package keeps its data, API keys, URLs, and errors a person can act on."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from vault_indexer.errors import ProviderError

NO_KEY = "none"
"""Sent where no key is configured: the clients insist on one, local servers ignore it."""

# What the client libraries raise: their own trees (RuntimeError and ValueError stand above many of them)
# and, for an answer that is not what the protocol promises, whatever their parsing trips over.
_ANSWER_ERRORS = (ValueError, TypeError, KeyError, IndexError, AttributeError, RuntimeError, OSError)
_SHOWN_CHARS = 300
_HIDDEN = "…"
_SECRETS = re.compile(
    r"(?<=://)[^/\s@]+(?=@)"
    r"|(?<=Bearer )[^\s,;'\"]+"
    r"|\b(?:sk|pk|rk|gsk|xai|hf)[-_](?=[\w*-]{8})[\w*-]+(?:\.[\w*-]+)*"
    r"|(?<=[?&]key=)[^&\s'\"]+",
    re.IGNORECASE,
)
"""Names and passwords in addresses, and what providers repeat of a key, often shortened by stars."""


def is_installed(package: str) -> bool:
    """Whether the package can be found. It is not imported."""
    return find_spec(package) is not None


def package_folder(package: str, install: str) -> Path:
    """The folder of an installed package. Raises ProviderError that says `install` where it is missing."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ProviderError(f"the Python package {package} is not installed: {install}")
    return Path(next(iter(spec.submodule_search_locations)))


@dataclass(frozen=True, slots=True)
class ProviderInfo:
    """Names the model's provider in errors. `client_errors` is the root of its library's errors, `secret` the
    key, which no error shows."""

    provider: str
    model: str
    url: str
    advice: str
    client_errors: tuple[type[Exception], ...] = ()
    secret: str = field(default=NO_KEY, repr=False)

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Turns every failure of the call within into a ProviderError of one line."""
        failures: tuple[type[Exception], ...] = (*self.client_errors, *_ANSWER_ERRORS)
        try:
            yield
        except failures as error:
            where = f" at {self.url}" if self.url else ""
            cause = _line(error, self.secret)
            text = f"{self.provider} model {self.model!r}{where} failed: {cause}; {self.advice}"
            raise ProviderError(without_secrets(text), is_transient=_is_transient(error)) from error


def without_secrets(text: str, secret: str = NO_KEY) -> str:
    """The text without the key, without anything that looks like one, and without passwords of addresses."""
    if secret != NO_KEY:
        text = text.replace(secret, _HIDDEN)
    return _SECRETS.sub(_HIDDEN, text)


@contextmanager
def extra_needed(extra: str) -> Iterator[None]:
    """Around the import of an optional package: says how to install it where it is missing."""
    try:
        yield
    except ImportError as error:
        missing = error.name or str(error)
        install = f'pip install "vault-indexer[{extra}]"'
        raise ProviderError(f"{missing} is not installed, the provider needs it: {install}") from error


def api_key(variable: str, key: str) -> str:
    """The value of the environment variable that the setting `key` names; NO_KEY if it names none."""
    if not variable:
        return NO_KEY
    value = os.environ.get(variable, "")
    if not value:
        raise ProviderError(f"{key} = {variable!r}: this environment variable is not set")
    return value


def require_setting(value: str, key: str, provider: str) -> str:
    """The value of a setting that a provider cannot do without."""
    if not value:
        raise ProviderError(f"{key} is empty: the provider {provider!r} needs it")
    return value


def _is_transient(error: Exception) -> bool:
    """Whether the server may answer in a moment. A request that timed out has waited long enough."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return status >= 500 or status in _TRY_AGAIN
    name = type(error).__name__
    return "Timeout" not in name and ("Connect" in name or isinstance(error, OSError))


_TRY_AGAIN = frozenset({408, 409, 425, 429})


def _line(error: Exception, secret: str) -> str:
    text = without_secrets(" ".join(str(error).split()), secret) or type(error).__name__
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"
