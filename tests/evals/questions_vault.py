"""A vault with links, sentences and headings from which questions can be made."""

import tempfile
from pathlib import Path

from eval_lab import write_vault as write_notes

from vault_indexer.bootstrap import resolve_target
from vault_indexer.daemon.assembly import Target

TOPICS = {
    "Compost": "You can turn kitchen scraps and dry leaves slowly into dark crumbly earth",
    "Tomatoes": "To grow ripe red fruit on a sunny wall, you need plenty of water",
    "Telescope": "A curved mirror is used to gather faint starlight from distant galaxies",
    "Sourdough": "If you keep wild yeast and flour overnight inside a warm jar, the dough is alive",
    "Bicycle": "You can carry heavy loads across steep hills on two wheels and a greasy chain",
    "Volcano": "Hot rock can be turned into basalt columns by cooling in narrow cracks",
    "Violin": "Four strings over a spruce body depend on horsehair bows and resin",
    "Lighthouse": "When Breton sailors see a rotating lamp, rocks lie along the coast nearby",
}

LINK_SENTENCE = "You can feed hungry pumpkin beds every autumn by spreading [[Compost]] on them."
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
    return write_notes(folder, NOTES)


def target_of(vault: Path, index_dir: Path) -> Target:
    config = Path(tempfile.gettempdir()) / "no-such-config"
    return resolve_target(
        vault,
        index_dir,
        None,
        environ={"XDG_CONFIG_HOME": str(config)},
        options={"embedding.provider": "wordllama", "index.workers": 1},
    )
