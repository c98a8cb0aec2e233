"""Writes the reference in docs/commands.md and the man page docs/indexer.1 from the commands (`make docs`).

What is above MARK is written by hand and kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vault_indexer.cli.app import ADVANCED, COMMANDS, GROUPS, program_of
from vault_indexer.cli.output.plain_help import EXAMPLES

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"
MANUAL = PAGE.with_name("indexer.1")
MARK = "<!-- below this line: made from the commands by `make docs` -->"
SHARED = frozenset({"--vault", "--index-dir", "--config", "--json", "--help"})
IN_SCRIPTS = re.compile(r"(?m)(?:^\| `(?:-l, --files|--paths|--lines|-0, --null)` \|.*\n)+")
"""The rows that the page has once, in a section written by hand."""


def reference() -> str:
    """The page."""
    head = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    row = "| `--files`, `--paths`, `--lines`, `--null` | See [[#In scripts and editors]]. |\n"
    return f"{head}{MARK}\n\n{IN_SCRIPTS.sub(row, _commands())}\n"


def _commands() -> str:
    return "\n".join(line for group in (*GROUPS, ADVANCED) for line in _group(group))


def _group(group: str) -> Iterator[str]:
    yield f"## {group}\n"
    for row in COMMANDS:
        if row.group == group:
            found = program_of([row.name]).commands[row.name]
            parts = getattr(found, "commands", None)
            if parts is None:
                yield from _command(found, row.name)
                continue
            yield f"### `indexer {row.name}`\n\n{row.help}\n"
            for name, part in parts.items():
                if not part.hidden:
                    yield from _command(part, f"{row.name} {name}", "####")


def _command(command: Any, name: str, heading: str = "###") -> Iterator[str]:
    arguments = [one for one in command.params if one.param_type_name == "argument" and not one.hidden]
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    own = [one for one in options if not SHARED & set(one.opts)]
    yield f"{heading} `{' '.join(['indexer', name, *map(_argument, arguments)])}`\n"
    yield "\n".join(line.strip() for line in (command.help or "").splitlines()).strip() + "\n"
    if (example := EXAMPLES.get(name)) and example != f"indexer {name}":
        yield f"```sh\n{example}\n```\n"
    rows = [(_argument(one), one.help or "") for one in arguments if getattr(one, "help", "")]
    rows += [(_names(one), one.help or "") for one in own]
    if rows:
        yield "| | |\n| --- | --- |"
        yield "\n".join(f"| `{_cell(names)}` | {_cell(text)} |" for names, text in rows) + "\n"


def _argument(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _names(option: Any) -> str:
    names = ", ".join(sorted([*option.opts, *option.secondary_opts], key=lambda name: (len(name) > 2, name)))
    value = option.metavar or _value(option)
    return f"{names} {value}" if value else names


def _value(option: Any) -> str:
    """What stands behind an option: one of its choices, a number, or a text."""
    if option.is_flag:
        return ""
    choices = getattr(option.type, "choices", None)
    if choices:
        return "|".join(str(getattr(one, "value", one)) for one in choices if getattr(one, "value", one))
    name = option.type.name
    return "N" if name.startswith("int") else "X" if name.startswith("float") else "TEXT"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def manual() -> str:
    """The man page in roff: what the reference has below its mark, and what it says of exit statuses."""
    statuses = PAGE.read_text(encoding="utf-8").partition("## Exit status")[2].partition("\n## ")[0]
    lines = [
        '.TH INDEXER 1 "" "vault-indexer" "User Commands"',
        ".SH NAME",
        r"indexer \- search Markdown notes by meaning, word and link",
        ".SH SYNOPSIS",
        r".B indexer COMMAND",
        *_roff(f"\n\n{_commands()}"),
        ".SH EXIT STATUS",
        *_roff(statuses),
    ]
    return "\n".join(lines) + "\n"


def _roff(markdown: str) -> Iterator[str]:
    for line in markdown.splitlines():
        text = _escaped(line.strip("#` ").replace("`", ""))
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if line.startswith("## "):
            yield f".SH {text.upper()}"
        elif line.startswith("##"):
            yield f".SS {text}"
        elif len(cells) == 2 and cells[0].strip("- "):
            name, described = (_escaped(cell.strip("`").replace("\\|", "|")) for cell in cells)
            yield f".TP\n.B {name}\n{described}"
        elif line.startswith("```"):
            yield ".EX" if line == "```sh" else ".EE"
        elif not line:
            yield ".PP"
        elif not cells:
            yield _escaped(line.replace("`", ""))


def _escaped(text: str) -> str:
    r"""The text as roff shows it: `\` and `-` are themselves, and a line begins no request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text


if __name__ == "__main__":
    MANUAL.write_text(manual(), encoding="utf-8")
    PAGE.write_text(reference(), encoding="utf-8")
