"""The tokenizer that `chunking.token.tokenizer` names."""

from __future__ import annotations

import hashlib
import json
import os
import pkgutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from vault_indexer.errors import ProviderError, UsageError
from vault_indexer.ports import Tokenizer

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

Offsets = list[tuple[int, int]]
_TIKTOKEN = "tiktoken:"  # a prefix of the option
_TIKTOKEN_HOST = "https://openaipublic.blob.core.windows.net/"
_TIKTOKEN_FILES = {
    "gpt2": ("gpt-2/encodings/main/vocab.bpe", "gpt-2/encodings/main/encoder.json"),
    "p50k_edit": ("encodings/p50k_base.tiktoken",),
    "o200k_harmony": ("encodings/o200k_base.tiktoken",),
}
"""Of the encodings whose file has another name than theirs."""

_loading = threading.Lock()


def tokenizer_for(name: str, models_own: Tokenizer | None) -> Tokenizer:
    """The named tokenizer: "" is the embedding model's own.

    Raises UsageError for a name that means nothing and ProviderError for one that cannot be loaded.
    `module:function` imports code: callers must not pass a name that a note or a vault chose.
    """
    if not name:
        if models_own is None:
            raise UsageError(
                "chunking.token.tokenizer is empty, and the embedding model has no tokenizer: "
                "set it to a tokenizer.json, tiktoken:NAME or module:function"
            )
        return models_own
    if name.startswith(_TIKTOKEN):
        return _TiktokenTokenizer(_tiktoken(name.removeprefix(_TIKTOKEN)))
    if name.endswith(".json"):
        return _FileTokenizer(_from_file(Path(name).expanduser()))
    module, colon, function = name.partition(":")
    if not (colon and module and function):
        raise UsageError(
            f"chunking.token.tokenizer = {name!r}: must be a tokenizer.json, tiktoken:NAME or module:function"
        )
    return _FunctionTokenizer(_function(name))


class _FileTokenizer:
    def __init__(self, tokenizer: tokenizers.Tokenizer) -> None:
        self._tokenizer = tokenizer

    def offsets(self, text: str) -> Offsets:
        return list(self._tokenizer.encode(text, add_special_tokens=False).offsets)


class _TiktokenTokenizer:
    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self._encoding = encoding

    def offsets(self, text: str) -> Offsets:
        _, starts = self._encoding.decode_with_offsets(self._encoding.encode_ordinary(text))
        return list(zip(starts, [*starts[1:], len(text)], strict=False))


class _FunctionTokenizer:
    def __init__(self, function: Callable[[str], Offsets]) -> None:
        self._function = function

    def offsets(self, text: str) -> Offsets:
        return list(self._function(text))


def _from_file(path: Path) -> tokenizers.Tokenizer:
    import tokenizers

    try:
        written = path.read_text(encoding="utf-8")
        table = json.loads(written)
    except (OSError, ValueError, RecursionError) as error:
        raise ProviderError(f"chunking.token.tokenizer: {path} cannot be read: {error}") from error
    # The library answers anything else with a bare Exception, so what makes a tokenizer is looked at here.
    model = table.get("model") if isinstance(table, dict) else None
    if not (isinstance(model, dict) and model.get("vocab")):
        raise ProviderError(
            f"chunking.token.tokenizer: {path} is not a tokenizer file: it has no model.vocab"
        )
    tokenizer = tokenizers.Tokenizer.from_str(written)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _tiktoken(name: str) -> tiktoken.Encoding:
    """An encoding from tiktoken's cache, or from the files that come with llama-index-core. The library would
    download a missing one: we never do.
    """
    try:
        import tiktoken
    except ImportError as error:
        raise ProviderError("chunking.token.tokenizer: the package tiktoken is not installed") from error
    if name not in tiktoken.list_encoding_names():
        known = ", ".join(tiktoken.list_encoding_names())
        raise UsageError(f"chunking.token.tokenizer = {_TIKTOKEN}{name!r}: must be one of {known}")
    urls = [_TIKTOKEN_HOST + file for file in _TIKTOKEN_FILES.get(name, (f"encodings/{name}.tiktoken",))]
    keys = {url: hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest() for url in urls}
    for folder in _tiktoken_folders():
        if all((folder / key).is_file() for key in keys.values()):
            with _loading, _environment("TIKTOKEN_CACHE_DIR", str(folder)):
                return tiktoken.get_encoding(name)
    missing = " and ".join(f"{url} (as {key})" for url, key in keys.items())
    raise ProviderError(
        f"chunking.token.tokenizer: {_TIKTOKEN}{name} needs a file in tiktoken's cache (TIKTOKEN_CACHE_DIR), "
        f"and vault-indexer downloads nothing: {missing}; or name a tokenizer.json"
    )


def _tiktoken_folders() -> Iterator[Path]:
    """Where files of encodings may be: the cache, then an installed package that brings some."""
    named = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    yield Path(named) if named else Path(tempfile.gettempdir()) / "data-gym-cache"
    package = find_spec("llama_index")
    for folder in (package and package.submodule_search_locations) or ():
        yield Path(folder, "core", "_static", "tiktoken_cache")


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _function(name: str) -> Callable[[str], Offsets]:
    try:
        found = pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ProviderError(f"chunking.token.tokenizer: {name} cannot be imported: {error}") from error
    if not callable(found):
        raise ProviderError(f"chunking.token.tokenizer: {name} is not a function")
    tokenizer: Callable[[str], Offsets] = found
    return tokenizer
