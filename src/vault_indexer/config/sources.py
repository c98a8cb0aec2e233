"""The places configuration comes from, each turned into a stream of `RawValue` values and problems."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import tomli

from vault_indexer.config.fields import Trust
from vault_indexer.config.schema import (
    ALL_KEYS,
    FORMER,
    SCHEMA,
    TABLES,
    TRUST,
    TUNED,
    VARIABLE_PREFIX,
    nearest,
    pattern_fault,
    vault_may_set,
)
from vault_indexer.config.tables.chunking import normalize_strategy_options, without_overruled
from vault_indexer.config.values import RawValue, format_value, mistake, printable, unknown_key
from vault_indexer.errors import ConfigProblem
from vault_indexer.extensions import package_of
from vault_indexer.system import VAULT_CONFIG_NAME, icloud_placeholder, record, user_config_file, with_home


@record
class IgnoredKey:
    """A key that a source names and that has no effect, and why: one of an earlier version, or one that
    another overrules."""

    key: str
    origin: str
    reason: str = "is no longer a setting"

    def __str__(self) -> str:
        instead = f". {_INSTEAD[self.key]}" if self.key in _INSTEAD else ""
        return f"{self.key} {self.reason}; ignored ({self.origin}){instead}"


_INSTEAD: Mapping[str, str] = MappingProxyType({"search.fusion": "For rrf, write search.rerank = 0"})
"""What to write instead of a former key, where something does what it did."""


Parsed = RawValue | ConfigProblem | IgnoredKey
OptionValue = str | int | float | bool | Path | Sequence[str] | None

MAX_CONFIG_BYTES = 256 * 1024

VAULT_VARIABLE = "INDEXER_VAULT"
CONFIG_VARIABLE = "INDEXER_CONFIG"
TUNING_VARIABLE = "INDEXER_TUNING"
STRATEGY_VARIABLE = "INDEXER_STRATEGY_OPTION"
"""Passes the option `--strategy` to the processes that a command starts."""

STRATEGY_OPTION = "option --strategy"
RESERVED_VARIABLES: frozenset[str] = frozenset(
    {VAULT_VARIABLE, CONFIG_VARIABLE, TUNING_VARIABLE, STRATEGY_VARIABLE}
)
"""Variables that choose the vault, the file and tuning constants or pass an option, and are no keys."""

VARIABLES: Mapping[str, str] = MappingProxyType(
    {"INDEXER_CHUNKER": "chunking.strategy"} | {key.variable: name for name, key in SCHEMA.items()}
)
"""Variable -> key. `INDEXER_INDEX_DIR` is `index.dir` by the rule; later rows win over earlier ones."""

OPTIONS: Mapping[str, str] = MappingProxyType({"index.dir": "--index-dir"})
"""Key -> option, where it is not simply the key's last part."""


@record
class ConfigFile:
    """A file to read: `named` ones (option, variable) must exist, and `trusted` ones may set every key."""

    path: Path
    label: str
    trusted: bool
    named: bool

    @property
    def origin(self) -> str:
        """Its name in messages and `config show`."""
        return f"file {_path_text(self.path)}"


def config_files(
    vault: Path | None, config_file: Path | None, environ: Mapping[str, str]
) -> tuple[ConfigFile, ...]:
    """The files that apply, lowest priority first, whether or not they exist (a watcher needs them all).

    A named file replaces the others. Otherwise the vault's file overrides the user's, key by key.
    """
    if config_file is not None:
        return (ConfigFile(with_home(config_file), "option --config", trusted=True, named=True),)
    if named := environ.get(CONFIG_VARIABLE, ""):
        path = with_home(named)
        return (ConfigFile(path, f"environment {CONFIG_VARIABLE}", trusted=True, named=True),)
    user = ConfigFile(user_config_file(environ), "the user's configuration", trusted=True, named=False)
    if vault is None:
        return (user,)
    own = ConfigFile(vault / VAULT_CONFIG_NAME, "the vault's configuration", trusted=False, named=False)
    return (user, own)


def from_file(file: ConfigFile, user_file: Path) -> Iterator[Parsed] | None:
    """The values and problems of a file; None if it does not exist and does not have to."""
    try:
        if not stat.S_ISREG(file.path.stat().st_mode):
            return iter([_unusable(file, "is not a file")])
        with file.path.open("rb") as stream:
            # One byte more than the limit shows that the file is too large, even if it is still growing.
            content = stream.read(MAX_CONFIG_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        # What stands for a file in iCloud before macOS 14. The file may exclude notes from the index.
        if os.path.lexists(icloud_placeholder(file.path.as_posix())):
            return iter([_unusable(file, "is not downloaded")])
        # A file need not exist, but a link to a missing one is a mistake.
        if file.named or file.path.is_symlink():
            return iter([_unusable(file, "there is no such file")])
        return None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "invalid path"
        return iter([_unusable(file, f"cannot be read: {reason}")])
    if len(content) > MAX_CONFIG_BYTES:
        return iter([_unusable(file, f"is larger than {MAX_CONFIG_BYTES} bytes")])
    return _from_bytes(content, file, user_file)


def from_environment(environ: Mapping[str, str]) -> Iterator[Parsed]:
    """The values and problems of the INDEXER_* variables; an empty one counts as not set."""
    variables = {name: value for name, value in environ.items() if name.startswith(VARIABLE_PREFIX) and value}
    for variable, key in VARIABLES.items():
        if variable in variables:
            yield RawValue(key, variables[variable], f"environment {variable}", is_text=True)
    for variable, key in FORMER.items():
        if variable in variables:
            yield IgnoredKey(key, f"environment {variable}")
    if STRATEGY_VARIABLE in variables:
        yield RawValue("chunking.strategy", variables[STRATEGY_VARIABLE], STRATEGY_OPTION, is_text=True)
    if TUNING_VARIABLE in variables:
        yield from _tuned(variables[TUNING_VARIABLE])


def _tuned(text: str) -> Iterator[Parsed]:
    """Tuning constants as TOML: for tests and measurements that start a process."""
    origin = f"environment {TUNING_VARIABLE}"
    try:
        tables = tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        yield ConfigProblem(TUNING_VARIABLE, "", f"is not valid TOML: {error}", origin)
        return
    for table, values in tables.items():
        for name, value in values.items() if isinstance(values, dict) else ():
            key = f"{table}.{name}"
            is_known = key in TUNED
            yield (
                RawValue(key, value, origin) if is_known else ConfigProblem(key, "", unknown_key(""), origin)
            )


def unknown_variables(environ: Mapping[str, str], key_variables: frozenset[str]) -> tuple[str, ...]:
    """A warning for each INDEXER_* variable that sets nothing. It is not a configuration error: any program
    on the machine may have set it.

    `key_variables` are those that any `api_key_env` names: they contain an API key, whatever their name.
    """
    ignored = RESERVED_VARIABLES | key_variables | VARIABLES.keys() | FORMER.keys()
    stray = (name for name, value in environ.items() if name.startswith(VARIABLE_PREFIX) and value)
    warnings = []
    for variable in sorted(set(stray) - ignored):
        near = nearest(variable, [*VARIABLES, *RESERVED_VARIABLES])
        hint = f"; did you mean {near}?" if near else ""
        warnings.append(f"the variable {printable(variable)} is unknown and ignored{hint}")
    return tuple(warnings)


def from_options(options: Mapping[str, OptionValue]) -> Iterator[Parsed]:
    """The values and problems of the command line; None means that the option was not used."""
    for key, value in options.items():
        if value is None:
            continue
        option = OPTIONS.get(key) or "--" + printable(key.rpartition(".")[2]).replace("_", "-")
        origin = f"option {option}"
        name = key.removeprefix("chunking.")
        left_out = without_overruled({"strategy": options.get("chunking.strategy"), name: value})[1]
        if key != name and name in left_out:
            yield IgnoredKey(key, origin, left_out[name])
            continue
        if key not in ALL_KEYS:
            yield ConfigProblem(printable(key), "", unknown_key(nearest(key, SCHEMA)), origin)
            continue
        plain = str(value) if isinstance(value, Path) else value
        yield RawValue(key, plain, origin, is_text=isinstance(plain, str))


def _from_bytes(content: bytes, file: ConfigFile, user_file: Path) -> Iterator[Parsed]:
    try:
        table = tomli.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        yield ConfigProblem(f"line {line}", "", f"is not UTF-8 text (byte {error.start})", file.origin)
    except tomli.TOMLDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        yield ConfigProblem(where, "", f"is not valid TOML: {toml_fault(error.msg)}", file.origin)
    except RecursionError:
        yield ConfigProblem("TOML", "", "is nested too deeply", file.origin)
    except ValueError as error:  # numbers with thousands of digits, dates that no calendar has
        yield ConfigProblem("TOML", "", f"contains a value that cannot be read: {error}", file.origin)
    else:
        chunking = table.get("chunking")
        if isinstance(chunking, dict):
            table["chunking"], left_out = without_overruled(normalize_strategy_options(chunking))
            for name, reason in left_out.items():
                yield IgnoredKey(f"chunking.{name}", file.origin, reason)
            for name, reason in _overruled_in_rules(chunking.get("rules")):
                yield IgnoredKey(f"chunking.rules.{name}", file.origin, reason)
        for parsed in _flat(table, "", file):
            is_checked = isinstance(parsed, RawValue) and not file.trusted
            yield _check_trust(parsed, user_file) if is_checked else parsed  # type: ignore[arg-type]


def toml_fault(message: str) -> str:
    """The parser's message, without a Python tuple as the name of a table."""
    if not (twice := re.search(r"Cannot declare \((.*)\) twice", message)):
        return message
    table = ".".join(re.findall(r"'([^']*)'", twice[1]))
    return message.replace(twice[0], f"the table [{table}] appears twice")


def _overruled_in_rules(rules: object) -> Iterator[tuple[str, str]]:
    for rule in rules if isinstance(rules, list) else ():
        if isinstance(rule, dict):
            yield from without_overruled(normalize_strategy_options(rule))[1].items()


def _flat(table: Mapping[str, object], prefix: str, file: ConfigFile) -> Iterator[Parsed]:
    for name, value in table.items():
        key = prefix + name
        base = file.path.parent.absolute()
        raw = RawValue(key, value, file.origin, base, of_vault=not file.trusted)
        if key in FORMER.values() and "." not in name:
            yield IgnoredKey(key, file.origin)
        elif "." in name or (key not in SCHEMA and key not in TABLES):
            package = package_of(table=key)
            reason = f"needs the package {package}, which is not installed"
            yield IgnoredKey(f"[{key}]", file.origin, reason) if package else _unknown(key, value, file)
        elif key in SCHEMA:
            yield raw
        elif isinstance(value, dict):
            yield from _flat(value, f"{key}.", file)
        else:
            yield mistake(raw, f"a table: write [{key}] on one line and its keys below it")


def _unknown(key: str, value: object, file: ConfigFile) -> ConfigProblem:
    if key in SCHEMA:  # one name in quotes, where a table and a name are meant
        return ConfigProblem(f'"{key}"', "", f"unknown key; did you mean {key} without quotes?", file.origin)
    near = nearest(key, TABLES if isinstance(value, dict) else SCHEMA)
    text = "" if isinstance(value, dict) else format_value(key, value)
    return ConfigProblem(printable(key), text, unknown_key(near), file.origin)


def _check_trust(raw: RawValue, user_file: Path) -> Parsed:
    if vault_may_set(raw.key, raw.value):
        return raw
    own = f"set it in your own configuration, {_path_text(user_file)}"
    reason = "a file inside a vault cannot set this"
    if TRUST.get(raw.key) is Trust.NARROW:
        reason = "a file inside a vault can only turn this on"
    elif TRUST.get(raw.key) is Trust.PATTERN:
        patterns = raw.value if isinstance(raw.value, list) else [raw.value]
        faults = filter(None, map(pattern_fault, patterns))
        reason = (
            "a file inside a vault can only set expressions that take linear time: "
            f"{next(faults, 'not a text')}"
        )
    return mistake(raw, f"{reason}, because vaults are shared; {own}")


def _unusable(file: ConfigFile, reason: str) -> ConfigProblem:
    return ConfigProblem(_path_text(file.path), "", reason, file.label)


def _path_text(path: Path) -> str:
    return printable(str(path), limit=4096)
