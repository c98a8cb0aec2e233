"""Code shared by providers: data folders of packages, API keys, URLs, and actionable errors."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from importlib.util import find_spec
from pathlib import Path

from vault_indexer.errors import ProviderError
from vault_indexer.system import record

NO_KEY = "none"
"""Sent if no key is configured: the clients require one, local servers ignore it."""

# Errors of the client libraries: their own hierarchies (RuntimeError and ValueError are base classes of many)
# and, for an answer that violates the protocol, any error of their parsing.
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
"""Names and passwords in addresses, and keys that providers repeat, often shortened by asterisks."""


def is_installed(package: str) -> bool:
    """Whether the package can be found. It is not imported."""
    return find_spec(package) is not None


def package_folder(package: str, install: str) -> Path:
    """The folder of an installed package. Raises ProviderError with the hint `install` if it is missing."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ProviderError(f"the Python package {package} is not installed: {install}")
    return Path(next(iter(spec.submodule_search_locations)))


@record
class ProviderInfo:
    """Names the model's provider in errors. `client_errors` is the base class of its library's errors,
    `secret` the key, which never appears in an error."""

    provider: str
    model: str
    url: str
    advice: str
    client_errors: tuple[type[Exception], ...] = ()
    secret: str = field(default=NO_KEY, repr=False)

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Converts every failure in the block to a ProviderError of one line."""
        failures: tuple[type[Exception], ...] = (*self.client_errors, *_ANSWER_ERRORS)
        try:
            yield
        except failures as error:
            where = f" at {self.url}" if self.url else ""
            cause = _line(error, self.secret)
            text = f"{self.provider} model {self.model!r}{where} failed: {cause}; {self.advice}"
            raise ProviderError(without_secrets(text), is_transient=_is_transient(error)) from error


def without_secrets(text: str, secret: str = NO_KEY) -> str:
    """The text without the key, without anything that resembles one, and without passwords in addresses."""
    if secret != NO_KEY:
        text = text.replace(secret, _HIDDEN)
    return _SECRETS.sub(_HIDDEN, text)


@contextmanager
def extra_needed(extra: str) -> Iterator[None]:
    """Wraps the import of an optional package; the error explains how to install a missing one."""
    try:
        yield
    except ImportError as error:
        missing = error.name or str(error)
        install = f'pip install "vault-indexer[{extra}]"'
        raise ProviderError(f"{missing} is not installed, but the provider requires it: {install}") from error


def api_key(variable: str, key: str) -> str:
    """The value of the environment variable that the setting `key` names; NO_KEY if it names none."""
    if not variable:
        return NO_KEY
    value = os.environ.get(variable, "")
    if not value:
        raise ProviderError(f"{key} = {variable!r}: this environment variable is not set")
    return value


def require_setting(value: str, key: str, provider: str) -> str:
    if not value:
        raise ProviderError(f"{key} is empty, but the provider {provider!r} requires it")
    return value


def _is_transient(error: Exception) -> bool:
    """Whether the server may answer soon. A request that timed out has already waited long enough."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return status >= 500 or status in _TRY_AGAIN
    name = type(error).__name__
    return "Timeout" not in name and ("Connect" in name or isinstance(error, OSError))


_TRY_AGAIN = frozenset({408, 409, 425, 429})


def _line(error: Exception, secret: str) -> str:
    text = without_secrets(" ".join(str(error).split()), secret) or type(error).__name__
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"
