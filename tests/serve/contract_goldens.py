"""Goldens of the contract with other programs: JSON without what differs from run to run.

`UPDATE_GOLDEN=1` writes the files. Numbers with a fraction may differ by 0.02: processors do not add alike.
"""

import json
import os
import re
from pathlib import Path
from urllib.parse import quote

from vault_indexer.model import JsonValue

GOLDENS = Path(__file__).parent / "fixtures"
_TOLERANCE = 0.02
_VOLATILE: dict[str, JsonValue] = {
    "took_ms": 0.0,
    "seconds": 0.0,
    "modified_time": "<time>",
    "paused_until": "<time>",
    "pid": 1,
    "index_bytes": 0,
    "manifest": {},
    "proof": "<proof>",
    "pending": 0,
    "seq": 0,  # a file that was younger than its scan is looked at again, which is a commit
}
_PORT = re.compile(r"127\.0\.0\.1:\d+")


def stable(value: JsonValue, root: Path) -> JsonValue:
    """The value without times, sizes, ports, and the folder of this run."""
    if isinstance(value, dict):
        return {
            name: _VOLATILE[name] if part and _is_volatile(name, part) else stable(part, root)
            for name, part in value.items()
        }
    if isinstance(value, list):
        return [stable(one, root) for one in value]
    if isinstance(value, str):
        for own in (quote(str(root), safe=""), str(root)):
            value = value.replace(own, "<root>")
        return _PORT.sub("127.0.0.1:<port>", value)
    return value


def _is_volatile(name: str, value: JsonValue) -> bool:
    """Not so a property of that name in a schema."""
    return name in _VOLATILE and isinstance(value, dict) == isinstance(_VOLATILE[name], dict)


def compare(name: str, found: JsonValue) -> None:
    """Compare JSON with a golden file, or write that. The order of keys counts."""
    golden = GOLDENS / f"{name}.json"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    expected = json.loads(golden.read_text(encoding="utf-8"))
    wrong = differences(found, expected)
    assert not wrong, "\n".join(wrong)


def differences(found: JsonValue, expected: JsonValue, at: str = "") -> list[str]:
    """Where a value is not the expected one, one line each."""
    if isinstance(found, dict) and isinstance(expected, dict):
        if list(found) != list(expected):
            return [f"{at}: keys {list(found)} instead of {list(expected)}"]
        return [one for key in found for one in differences(found[key], expected[key], f"{at}.{key}")]
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        pairs = enumerate(zip(found, expected, strict=True))
        return [one for place, (a, b) in pairs for one in differences(a, b, f"{at}[{place}]")]
    if isinstance(found, float) and isinstance(expected, int | float):
        return [] if abs(found - expected) <= _TOLERANCE else [f"{at}: {found} instead of {expected}"]
    return [] if found == expected and type(found) is type(expected) else [f"{at}: {found!r} != {expected!r}"]
