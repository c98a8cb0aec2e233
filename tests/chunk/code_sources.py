"""Small sources, and how their functions and classes begin."""

from pathlib import Path

FIXTURES = Path(__file__).parent / "fixtures"
PYTHON = (FIXTURES / "hello.py.txt").read_text("utf-8")
SOURCES: dict[str, tuple[str, list[str]]] = {
    "python": (PYTHON, ["# Says hello", "class Greeter"]),
    "typescript": (
        (FIXTURES / "enum.ts.txt").read_text("utf-8"),
        ["interface A", "export function", "enum E"],
    ),
    "rust": ((FIXTURES / "struct.rs.txt").read_text("utf-8"), ["/// Doc", "struct S", "impl S"]),
    "cpp": ((FIXTURES / "class.cpp.txt").read_text("utf-8"), ["template", "class C"]),
}
