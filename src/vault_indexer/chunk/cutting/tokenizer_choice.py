"""Tokenizers and user functions that settings name, and tokenizers that a program passes."""

from __future__ import annotations

import hashlib
import json
import os
import pkgutil
import re
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from functools import lru_cache, partial
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast

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
"""The encodings whose file name differs from their own name."""

_loading = threading.Lock()


def tokenizer_for(key: str, name: str) -> Tokenizer:
    """The tokenizer that the setting `key` names.

    Raises UsageError for an invalid name and ProviderError for a tokenizer that cannot be loaded.
    `module:function` imports code: callers must not pass a name from a note or a vault.
    """
    if name.startswith(_TIKTOKEN):
        return tokenizer_from(_tiktoken(key, name.removeprefix(_TIKTOKEN)))
    if name.endswith(".json"):
        return tokenizer_from(_from_file(key, Path(name).expanduser()))
    module, colon, function = name.partition(":")
    if not (colon and module and function):
        raise UsageError(f"{key} = {name!r}: must be a tokenizer.json, tiktoken:NAME or module:function")
    tokenizer = import_function(key, name, "")
    return _FunctionTokenizer(cast("Callable[[str], Offsets]", tokenizer))


def tokenizer_from(given: object) -> Tokenizer:
    """The tokenizer that a program passes: one of ours, an encoding of tiktoken, a tokenizer of tokenizers,
    or a function that counts the tokens of a text or lists them.

    Raises UsageError for anything else.
    """
    if isinstance(given, Tokenizer):
        return given
    if hasattr(given, "decode_with_offsets"):
        return _FunctionTokenizer(partial(_tiktoken_offsets, cast("tiktoken.Encoding", given)))
    if hasattr(given, "token_to_id"):
        encode = cast("tokenizers.Tokenizer", given).encode
        return _FunctionTokenizer(lambda text: encode(text, add_special_tokens=False).offsets)
    if callable(given):
        return _FunctionTokenizer(partial(_counted_offsets, lru_cache(_COUNTED_WORDS)(given)))
    raise UsageError(
        f"tokenizer = {type(given).__name__}: must have offsets(text), be an encoding of tiktoken or a "
        "tokenizer of tokenizers, or be a function that counts the tokens of a text"
    )


_COUNTED_WORDS = 65_536
"""Counts of words that are remembered."""

_WORD_AND_SPACE = re.compile(r"\s*\S+|\s+")


def _counted_offsets(count: Callable[[str], object], text: str) -> Iterator[tuple[int, int]]:
    """Estimated positions of tokens, from their number in each word: they divide the word evenly. The
    encodings of language models split a text at white space first, so the sum is right."""
    for word in _WORD_AND_SPACE.finditer(text):
        counted = count(word[0])
        tokens = counted if isinstance(counted, int) else len(cast("Sized", counted))
        for number in range(tokens):
            start, end = (len(word[0]) * border // tokens for border in (number, number + 1))
            yield word.start() + start, word.start() + end


class _FunctionTokenizer:
    def __init__(self, function: Callable[[str], Iterable[tuple[int, int]]]) -> None:
        self._function = function

    def offsets(self, text: str) -> Offsets:
        return list(self._function(text))


def _from_file(key: str, path: Path) -> tokenizers.Tokenizer:
    import tokenizers

    try:
        written = path.read_text(encoding="utf-8")
        table = json.loads(written)
    except (OSError, ValueError, RecursionError) as error:
        raise ProviderError(f"{key}: {path} cannot be read: {error}") from error
    # The library raises a bare Exception for an invalid model, so the model is checked here.
    model = table.get("model") if isinstance(table, dict) else None
    if not (isinstance(model, dict) and model.get("vocab")):
        raise ProviderError(f"{key}: {path} is not a tokenizer file: it has no model.vocab")
    tokenizer = tokenizers.Tokenizer.from_str(written)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _tiktoken_offsets(encoding: tiktoken.Encoding, text: str) -> Iterator[tuple[int, int]]:
    _, starts = encoding.decode_with_offsets(encoding.encode_ordinary(text))
    return zip(starts, [*starts[1:], len(text)], strict=False)


def _tiktoken(key: str, name: str) -> tiktoken.Encoding:
    """An encoding from tiktoken's cache, or from the files that come with llama-index-core. The library would
    download a missing one, which is never allowed here."""
    try:
        import tiktoken
    except ImportError as error:
        raise ProviderError(f"{key}: the package tiktoken is not installed") from error
    if name not in tiktoken.list_encoding_names():
        known = ", ".join(tiktoken.list_encoding_names())
        raise UsageError(f"{key} = {_TIKTOKEN}{name!r}: must be one of {known}")
    urls = [_TIKTOKEN_HOST + file for file in _TIKTOKEN_FILES.get(name, (f"encodings/{name}.tiktoken",))]
    keys = {url: hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest() for url in urls}
    for folder in _tiktoken_folders():
        if all((folder / key).is_file() for key in keys.values()):
            with _loading, _environment("TIKTOKEN_CACHE_DIR", str(folder)):
                return tiktoken.get_encoding(name)
    missing = " and ".join(f"{url} (as {key})" for url, key in keys.items())
    raise ProviderError(
        f"{key}: {_TIKTOKEN}{name} needs a file in tiktoken's cache (TIKTOKEN_CACHE_DIR), "
        f"and vault-indexer downloads nothing: {missing}; or name a tokenizer.json"
    )


def _tiktoken_folders() -> Iterator[Path]:
    """The possible folders of encoding files: the cache, then an installed package that includes some."""
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


# User functions: `module:function`, or an entry point of an installed package.


def import_function(key: str, name: str, group: str) -> Callable[..., object]:
    """The function that the setting `key` names; `group` is the group of possible entry points.

    Its module is imported: callers must not pass a name from a note or a vault. Raises UsageError for an
    invalid name, and ProviderError for one that cannot be imported or is not a function.
    """
    module, colon, function = name.partition(":")
    if colon and not (module and function):
        raise UsageError(f"{key} = {name!r}: must be module:function or an entry point")
    entries = () if colon else entry_points(group=group, name=name)
    if not colon and not entries:
        known = ", ".join(sorted(entry_points(group=group).names)) or "none is installed"
        raise UsageError(f"{key} = {name!r}: no entry point of the group {group}: {known}")
    try:
        found: object = pkgutil.resolve_name(name) if colon else next(iter(entries)).load()
    except (ImportError, AttributeError, ValueError, SyntaxError) as error:
        raise ProviderError(f"{key}: {name} cannot be imported: {error}") from error
    if not callable(found):
        raise ProviderError(f"{key}: {name} is not a function")
    imported: Callable[..., object] = found
    return imported
