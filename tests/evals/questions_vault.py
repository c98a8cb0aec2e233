"""A vault with links, sentences and headings from which questions can be made."""

from __future__ import annotations

import tempfile
from pathlib import Path

from vault_indexer.bootstrap import resolve_target
from vault_indexer.daemon.assembly import Target

TOPICS = {
    "Compost": "Kitchen scraps and dry leaves slowly become dark crumbly earth",
    "Tomatoes": "Ripe red fruit wants a sunny wall and plenty of water",
    "Telescope": "A curved mirror gathers faint starlight from distant galaxies",
    "Sourdough": "Wild yeast and flour bubble overnight inside a warm jar",
    "Bicycle": "Two wheels and a greasy chain carry riders across hills",
    "Volcano": "Molten rock rises through cracks and cools into basalt columns",
    "Violin": "Four strings over a spruce body sing under horsehair bows",
    "Lighthouse": "A rotating lamp warns sailors about rocks along the coast",
}

LINK_SENTENCE = "Gardeners praise the [[Compost]] for feeding hungry pumpkin beds every autumn."
SECOND_LINK = "See [[Compost|black gold]]."
HEADING = "Turning heaps with forks"


def note(title: str, sentence: str) -> str:
    return f"""---
aliases: [{title} alias name]
---
# {title}

{sentence}. People talk about it often. Some of them write long letters afterwards.

## {title} details in winter months

More is said here about {title.lower()} and its history. It ends with a short remark.
"""


NOTES = {f"Notes/{title}.md": note(title, sentence) for title, sentence in TOPICS.items()} | {
    "Notes/Compost.md": note("Compost", TOPICS["Compost"])
    + f"\n## {HEADING}\n\nAir makes it faster than waiting does. Rain helps as well.\n",
    "Garden.md": f"# Garden\n\n{LINK_SENTENCE} The shed needs paint before rain arrives.\n\n{SECOND_LINK}\n",
    "Templates/Daily.md": "# Daily\n\n## Plans for this bright morning\n\n"
    "Write seven nice words about today's plans.\n",
    "Twice.md": "# Twice\n\n## Shared heading about rivers\n\n"
    "Both notes have this heading. Nothing else is shared here.\n",
    "Again.md": "# Again\n\n## Shared heading about rivers\n\n"
    "The second note has it too. It is about lakes.\n",
    "Code.md": "# Code\n\n```\nseven words of code stand in here\n```\n\n"
    "| many words stand in | this table of words |\n"
    "| --- | --- |\n| six or seven content words here | and there |\n",
    "picture.png": "not a picture",
}


def write_vault(folder: Path) -> Path:
    for path, text in NOTES.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return folder


def target_of(vault: Path, index_dir: Path) -> Target:
    config = Path(tempfile.gettempdir()) / "no-such-config"
    return resolve_target(
        vault,
        index_dir,
        None,
        environ={"XDG_CONFIG_HOME": str(config)},
        options={"embedding.provider": "wordllama", "index.workers": 1},
    )
