"""Conditions in SQL on names that have others below them: folders and tags, divided by "/"."""

from __future__ import annotations


def folder_condition(column: str, folder: str) -> tuple[str, list[str]]:
    """That a column is a path below the folder."""
    return f"{column} >= ? AND {column} < ?", [f"{folder}/", f"{folder}0"]  # "0" follows "/"


def tag_condition(tag: str) -> tuple[str, list[str]]:
    """That the column `tag` is this one, named as tags are stored, or one below it."""
    below, bounds = folder_condition("tag", tag)
    return f"tag = ? OR ({below})", [tag, *bounds]
