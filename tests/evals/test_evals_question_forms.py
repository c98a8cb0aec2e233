"""The question that a sentence or a heading answers, and what is none."""

from __future__ import annotations

import pytest

from vault_indexer.evals.generate.question_forms import GAP, as_question, heading_as_question


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        (f"To use analytics on your site, you need a {GAP}.", "How do I use analytics on my site?"),
        (f"To sync your notes with a phone see {GAP}.", "How do I sync my notes with a phone?"),
        ("If you delete a note, the backup stays.", "What happens if I delete a note?"),
        (
            "If you have lost your recovery codes, contact the support.",
            "What should I do if I have lost my recovery codes?",
        ),
        ("If you want to share a folder with friends, click Share.", "How do I share a folder with friends?"),
        (
            "You can change how a link is displayed by customizing its link text:",
            "How can I change how a link is displayed?",
        ),
        (f"However, you can migrate your notes using the {GAP}.", "How can I migrate my notes?"),
        (f"Date comparisons can be done using {GAP}.", "How can date comparisons be done?"),
        (f"The maximum file size depends on your {GAP}.", "What does the maximum file size depend on?"),
        (
            f"{GAP} lets you create presentations from your notes.",
            "What lets me create presentations from my notes?",
        ),
        ("Obsidian Sync is used to keep vaults in step.", "What is Obsidian Sync used for?"),
        (
            "Select the plus button in the corner to create a new tab group.",
            "How do I create a new tab group?",
        ),
        (
            "File recovery is a complete backup.",
            "What is file recovery?",
        ),
        ("The configuration folder is the place of all settings.", "What is the configuration folder?"),
        ("Can I undo the merge of two notes?", "Can I undo the merge of two notes?"),
    ],
)
def test_a_sentence_has_the_question_that_it_answers(sentence: str, question: str) -> None:
    assert as_question(sentence) == question


@pytest.mark.parametrize(
    "fragment",
    [
        "Obsidian uses.",
        f"Panes (like Backlinks or {GAP}): show notes.",
        f"Be sure to review Media files and {GAP} first.",
        f"is not refundable because {GAP} can be transferred to another account.",
        f"The Publish core plugin is {GAP}.",
        "This can be moved to another account.",
        "You can share it with others.",
        "If so, contact us.",
        f"To {GAP} a note, click it.",
        "Broken links can occur naturally over time.",
        "Rain on Monday, wind from the west on Tuesday.",
        "You can use",
        "If you are interested in diving deeper, read the book.",
        "When composing the description, write short sentences.",
        "To see the code, open the folder.",
        "One of my most popular posts is the one on tides.",
        "",
    ],
)
def test_a_fragment_is_no_question(fragment: str) -> None:
    assert as_question(fragment) == ""


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("Install the app on Linux", "How do I install the app on Linux?"),
        ("How to recover a snapshot", "How do I recover a snapshot?"),
        ("Dropping files outside the window", "How does dropping files outside the window work?"),
        ("Syncing is not a backup", "Why is syncing not a backup?"),
        ("Supported callout types", ""),
        ("What operating systems are supported?", "What operating systems are supported?"),
        ("Background: What is a rising tide?", "What is a rising tide?"),
        ("Supported formats are open", ""),
        ("Previous logo", ""),
        ("Overview", ""),
        ("Publishing", ""),
        ("Horizontal rule", ""),
    ],
)
def test_a_heading_has_the_question_that_its_section_answers(heading: str, question: str) -> None:
    assert heading_as_question(heading) == question
