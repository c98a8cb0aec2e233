"""Size budgets: a module fits in one sitting, a function on one screen."""

from __future__ import annotations

from statistics import median

from python_source import PACKAGE, Module, function_lines, module, modules

MODULE_MAX, MODULE_MEDIAN = 400, 150
FUNCTION_MAX, FUNCTION_MEDIAN = 50, 12


def long_modules(parts: list[Module]) -> list[str]:
    return [f"{part.path}: {part.lines} lines" for part in parts if part.lines > MODULE_MAX]


def long_functions(parts: list[Module]) -> list[str]:
    return [
        part.at(function, f"{function.name} has {function_lines(function)} lines")
        for part in parts
        for function in part.functions()
        if function_lines(function) > FUNCTION_MAX
    ]


def test_no_module_is_over_budget() -> None:
    assert long_modules(modules(PACKAGE)) == []


def test_no_function_is_over_budget() -> None:
    assert long_functions(modules(PACKAGE)) == []


def test_the_typical_module_is_short() -> None:
    sizes = [part.lines for part in modules(PACKAGE) if part.lines]
    assert median(sizes) <= MODULE_MEDIAN


def test_the_typical_function_is_short() -> None:
    sizes = [function_lines(function) for part in modules(PACKAGE) for function in part.functions()]
    assert median(sizes) <= FUNCTION_MEDIAN


def test_the_budgets_are_measured() -> None:
    body = "def long():\n" + "    x = 1\n" * FUNCTION_MAX
    assert long_functions([module(body)]) == ["room/part.py:1: long has 51 lines"]
    assert long_functions([module(body.replace("    x = 1\n", "", 1))]) == []
    assert long_modules([module("x = 1\n" * (MODULE_MAX + 1))]) == ["room/part.py: 401 lines"]
    assert long_modules([module("x = 1\n" * MODULE_MAX)]) == []
