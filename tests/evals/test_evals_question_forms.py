"""The question that a sentence or a heading answers, and what is none."""

from __future__ import annotations

import re

import pytest

from vault_indexer.evals.generate.english_forms import ENGLISH
from vault_indexer.evals.generate.german_forms import GERMAN
from vault_indexer.evals.generate.question_forms import GAP, SubjectQuestion
from vault_indexer.evals.generate.spanish_forms import SPANISH


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        (f"To use analytics on your site, you need a {GAP}.", "How do I use analytics on my site?"),
        (f"To sync your notes with a phone see {GAP}.", "How do I sync my notes with a phone?"),
        ("If you delete a published note, the backup stays.", "What happens if I delete a published note?"),
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
        (
            f"The maximum size of a file depends on your {GAP}.",
            "What does the maximum size of a file depend on?",
        ),
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
            "File recovery is a plugin that keeps snapshots.",
            "What is file recovery?",
        ),
        (
            "The configuration folder of a vault is the place of all settings.",
            "What is the configuration folder of a vault?",
        ),
        ("The Graph view is the place of all links.", "What is the Graph view?"),
        ("Can I undo the merge of two notes?", "Can I undo the merge of two notes?"),
        ("Note: To share a long list, open it.", "How do I share a long list?"),
        (
            "When you lose your recovery codes, you should call us.",
            "What should I do when I lose my recovery codes?",
        ),
        (
            "If you cannot open your old vault, you can ask us.",
            "What should I do if I cannot open my old vault?",
        ),
        (
            "If the server of Obsidian Sync is down, notes wait.",
            "What happens if the server of Obsidian Sync is down?",
        ),
        (
            "If you'd like to share a folder with friends, click Share.",
            "How do I share a folder with friends?",
        ),
        ("The plugin allows you to fold long lists of tasks.", "How can I fold long lists of tasks?"),
        ("Notes with long names are used to test the search.", "What are notes with long names used for?"),
        ("Long lists of tasks depend on the settings of a vault.", "What do long lists of tasks depend on?"),
        (
            f"The color of a tag can be changed in Obsidian by {GAP}.",
            "How can the color of a tag be changed in Obsidian?",
        ),
        ("You can change your font and yourself using themes.", "How can I change my font and myself?"),
        ("PDF export is a feature that writes pages.", "What is PDF export?"),
        ("A harpsichord is an instrument with strings.", "What is a harpsichord?"),
        ("Core plugins are used by everyone.", "What are core plugins used for?"),
        ("The size of vaults depends on the plan.", "What does the size of vaults depend on?"),
        (
            f"Old notes can then be moved into archives using {GAP}.",
            "How can old notes be moved into archives?",
        ),
        (f"To keep long lists in order, {GAP} helps.", "How do I keep long lists in order?"),
        ("To keep long lists in order, you fold them.", "How do I keep long lists in order?"),
        ("To keep long lists in order: fold them.", "How do I keep long lists in order?"),
        ("In the app, you can fold long lists of tasks.", "How can I fold long lists of tasks?"),
        (
            "Whenever your old vault is missing, please call us.",
            "What should I do when my old vault is missing?",
        ),
        (
            "When your long notes are open, the window shows them.",
            "What happens when my long notes are open?",
        ),
        (f"Choose {GAP} to share a long list.", "How do I share a long list?"),
        ("The Outline plugin lets you quickly fold long lists.", "How can I quickly fold long lists?"),
        ("The Outline plugin helps people to fold long lists.", "How can I fold long lists?"),
        ("You can sort your notes (and tasks) by name.", "How can I sort my notes?"),
        ("Tip: How do old vaults look?", "How do old vaults look?"),
        ("Do spring tides rise in March?", "Do spring tides rise in March?"),
    ],
)
def test_a_sentence_has_the_question_that_it_answers(sentence: str, question: str) -> None:
    assert ENGLISH.as_question(sentence) == question


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
        "In isolation each feature is a small change.",
        "The second argument is the stream of tokens.",
        "The default is the local computer.",
        "If the developer's guess is wrong, an app might not behave as expected.",
        "When called within a session, you get objects of another kind.",
        "When you use the PassThru parameter, this cmdlet returns the item.",
        "When you add strings, arrays, or tables, the elements are joined.",
        "To return modules by specifying a GUID, use the full name.",
        "In this case, you can share the folder with friends.",
        "PowerShell on Linux doesn't allow you to create constrained endpoints.",
        "If you have a question about licenses, visit the forum.",
        "If you add a note, it is read.",
        "If you're new to splatting, read the chapter on hash tables.",
        "If that prevents the fault, nothing else is needed.",
        "To reduce the burden of explicit conversions, the proposal adds a protocol.",
        "To reduce the burden of explicit conversions, we add a protocol.",
        "Version constraints are a delicate balancing act.",
        "An example of partial initialization is the insertion of elements.",
        "Type inference procedures will be updated to apply rules of inference.",
        "Are there better names?",
        "You can move that window to a different monitor.",
        "You can use the operator to carry out many dull tasks of administration.",
        "You can also use the Alias, Variable, and Cmdlet parameters.",
        "You can use hash values to determine if two files are equal.",
        "You can import only CIM-based and Definition (CDXML)-based modules.",
        "You can specify any value from 1 to 65535.",
        "you can turn kitchen scraps into dark earth",
        "You can turn kitchen scraps into dark earth",
        "You can turn \u201ckitchen scraps\u201d into dark earth.",
        "Compost is a good thing for the garden.",
        "Gardening is a way of life for many of them.",
        "The note is a file that holds text.",
        "If you want to do it, click Share.",
        "If you delete your old notes from a vault, this vault changes.",
        "If you delete your old notes from a vault, you can share others.",
        "In that case, you can share a folder with friends.",
        "The plugin never allows you to fold long lists of tasks.",
        "You can glow in the dark of night.",
        "A vault is a folder that holds notes.",
        "Writing notes is a habit that helps.",
        "Salt and pepper are the kind of spices that help.",
        "To keep long lists in order, the program folds them.",
        "To glow long lists in order, you fold them.",
        "As a result, you can fold long lists of tasks.",
        "You can not fold long lists of tasks.",
        "If your notes, tasks, and files are lost, call us.",
        "If not for your notes and tasks, call us.",
        "When Obsidian Sync stops, this note changes.",
        "Choose a folder to the left.",
        "The plugin does not allow you to fold long lists.",
        "You can sort entries displayed when the window opens.",
        "What is the name of the old vault?",
        "How do I open it?",
        "Is it raining in Berlin today?",
        "Do tides rise?",
        "",
    ],
)
def test_a_fragment_is_no_question(fragment: str) -> None:
    assert ENGLISH.as_question(fragment) == ""


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("Install the app on Linux", "How do I install the app on Linux?"),
        ("How to recover a snapshot", "How do I recover a snapshot?"),
        ("Dropping files outside Obsidian", "How do I drop files outside Obsidian?"),
        ("Syncing is not a backup", "Why is syncing not a backup?"),
        ("Creating a chart from a table", "How do I create a chart from a table?"),
        ("Find expired certificates", "How do I find expired certificates?"),
        ("Supported callout types", ""),
        ("Order of size and type", ""),
        ("Filter syntax", ""),
        ("Access to releases in scripts", ""),
        ("Type erasure performance", ""),
        ("Build Plugin and Command Plugin", ""),
        ("Use Singular Parameter Names", ""),
        ("Converting the type is a matter of taste", ""),
        ("Commas and if as separators - conjunction?", ""),
        ("What about standard library containers?", ""),
        ("Setting the value of items in the WSMan: drive", ""),
        ("See also", ""),
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
    assert ENGLISH.heading_as_question(heading, in_guide=True) == question


@pytest.mark.parametrize(
    ("words", "is_one"),
    [
        (4, True),
        (3, False),
        (18, True),
        (19, False),
    ],
)
def test_a_question_has_four_to_eighteen_words(words: int, is_one: bool) -> None:
    question = f"{' '.join(['Why', *['Sync'] * (words - 1)])}?"
    assert ENGLISH.as_question(question) == (question if is_one else "")


@pytest.mark.parametrize(
    ("text", "is_guide"),
    [
        ("you " + "x" * 996, True),
        ("you " + "x" * 997, False),
        ("you you you " + "we", True),
        ("you you " + "we", False),
        ("1. One\n2) Two\n", True),
        ("1. One\n", False),
        ("1. We\n2. Two\n", False),
        ("nobody", False),
    ],
)
def test_a_guide_speaks_to_its_reader_or_has_steps(text: str, is_guide: bool) -> None:
    assert ENGLISH.is_guide(text) == is_guide


def test_forms_without_words_for_a_reader_know_no_guides_but_by_steps() -> None:
    assert not GERMAN.is_guide("Sie können Notizen teilen.")
    assert GERMAN.is_guide("1. Öffnen.\n2. Teilen.\n")


@pytest.mark.parametrize(
    ("heading", "in_guide", "elsewhere"),
    [
        *(
            (heading, question, question)
            for heading, question in (
                ("Syncing does not work on phones", "Why does syncing not work on phones?"),
                ("Notes aren't backups of vaults", "Why are notes not backups of vaults?"),
                ("Ways to fold a long list", "How do I fold a long list?"),
            )
        ),
        ("Sharing a list with many of your friends", "How do I share a list with many of my friends?", ""),
        ("Editing my long lists", "How do I edit my long lists?", ""),
        ("Fold a Long list", "How do I fold a Long list?", ""),
        *(
            (heading, "", "")
            for heading in (
                *("Runs a list", "Sort notes", "Sort all notes by name: fast", "Manage Notes And Tags"),
                *("Copy files are open", "Glow the dark of night", "Planning new trips abroad"),
                "Fold a Long List",
            )
        ),
    ],
)
def test_a_heading_without_you_needs_a_guide(heading: str, in_guide: str, elsewhere: str) -> None:
    assert ENGLISH.heading_as_question(heading, in_guide=True) == in_guide
    assert ENGLISH.heading_as_question(heading, in_guide=False) == elsewhere


def test_a_heading_is_an_order_where_its_note_speaks_to_a_reader() -> None:
    guide = "Open the settings of your phone, then choose Sync."
    steps = "1. Open the settings.\n2. Choose Sync.\n"
    proposal = "We could also rename the type. You may know it from C, but our users do not."
    assert ENGLISH.is_guide(guide) and ENGLISH.is_guide(steps)
    assert not ENGLISH.is_guide(proposal)
    assert not ENGLISH.is_guide(f"{proposal}\n\n```text\nyou you you\n```\n"), "code says nothing of readers"
    order = "Remove underscores from attribute names"
    assert ENGLISH.heading_as_question(order, in_guide=True)
    assert ENGLISH.heading_as_question(order, in_guide=False) == ""
    asked = "How do I sign a script?"
    assert ENGLISH.heading_as_question("How to sign a script", in_guide=False) == asked


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        (f"Para recuperar una nota borrada, abre {GAP}.", "¿Cómo puedo recuperar una nota borrada?"),
        (
            "Si quieres compartir una carpeta con amigos, pulsa Compartir.",
            "¿Cómo puedo compartir una carpeta con amigos?",
        ),
        (
            "Si el servidor de Milvus no responde, la búsqueda sigue.",
            "¿Qué pasa si el servidor de Milvus no responde?",
        ),
        (f"Puedes exportar tus notas a PDF con {GAP}.", "¿Cómo puedo exportar mis notas a PDF?"),
        ("El tamaño de un archivo depende del formato.", "¿De qué depende el tamaño de un archivo?"),
        ("Las etiquetas de color se usan para ordenar tareas.", "¿Para qué se usan las etiquetas de color?"),
        ("Una nota diaria es una página con la fecha de hoy.", "¿Qué es una nota diaria?"),
        (
            "Puedes también guardar tus notas viejas en PDF.",
            "¿Cómo puedo guardar mis notas viejas en PDF?",
        ),
        ("Se puede guardar una nota vieja si quieres.", "¿Cómo puedo guardar una nota vieja?"),
        ("La aplicación te permite guardar notas viejas.", "¿Cómo puedo guardar notas viejas?"),
        ("Los tamaños de archivos dependen del formato.", "¿De qué dependen los tamaños de archivos?"),
        ("Cuando la nota vieja se borra, queda la copia.", ""),
        ("Si esta nota vieja falta, espera.", ""),
        ("Si falta, espera.", ""),
        ("La nota es un archivo.", ""),
        ("Las notas viejas son los archivos de ayer.", ""),
        ("Esto es una prueba.", ""),
        ("Para ello, abre los ajustes.", ""),
        ("Para moverlo a otra carpeta, pulsa Mover.", ""),
        ("Si borras tus notas, la copia queda.", ""),
        ("La lluvia llegó el lunes.", ""),
        ("El resultado es una tabla.", ""),
    ],
)
def test_spanish_has_forms(sentence: str, question: str) -> None:
    assert SPANISH.as_question(sentence) == question


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("Cómo instalar la aplicación en Linux", "¿Cómo puedo instalar la aplicación en Linux?"),
        ("Instalar la aplicación en Linux", "¿Cómo puedo instalar la aplicación en Linux?"),
        ("¿Qué sistemas son compatibles?", "¿Qué sistemas son compatibles?"),
        ("Lugar de trabajo ideal", ""),
        ("Introducción", ""),
    ],
)
def test_spanish_headings_have_forms(heading: str, question: str) -> None:
    assert SPANISH.heading_as_question(heading, in_guide=False) == question


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("Um eine Notiz zu löschen, drücken Sie Entf.", "Wie kann ich eine Notiz löschen?"),
        ("Um eine Datei auszuwählen, klicken Sie darauf.", "Wie kann ich eine Datei auswählen?"),
        ("Sie können Ihre Notizen mit Freunden teilen.", "Wie kann ich meine Notizen mit Freunden teilen?"),
        (
            f"Mit {GAP} kannst du deine Notizen nach PDF exportieren.",
            "Wie kann ich meine Notizen nach PDF exportieren?",
        ),
        (
            "Mit Publish kannst du deine Notizen veröffentlichen.",
            "Wie kann ich meine Notizen veröffentlichen?",
        ),
        (
            "Wenn Sie einen Ordner teilen möchten, klicken Sie auf Teilen.",
            "Wie kann ich einen Ordner teilen?",
        ),
        ("Wenn Sie eine Notiz löschen, bleibt die Kopie.", "Was passiert, wenn ich eine Notiz lösche?"),
        ("Wenn Sie mehrere Bilder sammeln, wird es voll.", "Was passiert, wenn ich mehrere Bilder sammle?"),
        ("Wenn ein Server nicht antwortet, wird gewartet.", "Was passiert, wenn ein Server nicht antwortet?"),
        ("Die Größe einer Datei hängt von ihrem Format ab.", "Wovon hängt die Größe einer Datei ab?"),
        ("Eine tägliche Notiz ist eine Seite mit Datum.", "Was ist eine tägliche Notiz?"),
        ("Falls du Notizen teilen willst, klicke.", "Wie kann ich Notizen teilen?"),
        ("Wenn Sie alte Notizen verändern, passiert viel.", "Was passiert, wenn ich alte Notizen verändere?"),
        (
            "Die App ermöglicht es Ihnen, alte Notizen auszublenden.",
            "Wie kann ich alte Notizen ausblenden?",
        ),
        ("Die App erlaubt es, alte Notizen zu lesen.", "Wie kann ich alte Notizen lesen?"),
        ("Der Sinn von Notizen ist die Ordnung der Dinge.", "Was ist der Sinn von Notizen?"),
        ("Um Ihre Notizen, Bilder zu löschen, drücken Sie Entf.", ""),
        ("Wenn Notizen fehlen, warte.", ""),
        ("Wenn alte Notizen lange fehlen, folgt dies.", ""),
        ("Sie können alte Notizen haben.", ""),
        ("Um sie zu löschen, drücken Sie Entf.", ""),
        ("Das ist eine Probe.", ""),
        ("Am Montag kam der Regen.", ""),
        ("Wenn Sie es verschieben, geht der Link verloren.", ""),
    ],
)
def test_german_has_forms(sentence: str, question: str) -> None:
    assert GERMAN.as_question(sentence) == question


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("Die App unter Linux installieren", "Wie kann ich die App unter Linux installieren?"),
        ("Notizen verschlüsseln", "Wie kann ich Notizen verschlüsseln?"),
        ("Welche Systeme werden unterstützt?", "Welche Systeme werden unterstützt?"),
        ("Was wir haben", ""),
        ("Einleitung", ""),
    ],
)
def test_german_headings_have_forms(heading: str, question: str) -> None:
    assert GERMAN.heading_as_question(heading, in_guide=False) == question


@pytest.mark.parametrize(
    ("subject", "question"),
    [
        ("The red boat", "What is the red boat?"),
        ("Such a boat", ""),
        (f"The {GAP} boat", ""),
        ("Boats", ""),
        ("The boat of the harbour", ""),
    ],
)
def test_a_question_is_asked_about_a_subject_that_says_what_it_is(subject: str, question: str) -> None:
    about = SubjectQuestion(re.compile(r"\b[Ss]uch\b"), re.compile("^The"), most_words=4)
    found = re.match("(?P<subject>.+)", subject)
    assert found is not None
    assert about.asks("What is {subject}?")(found) == question
