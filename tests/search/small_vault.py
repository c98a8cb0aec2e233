"""A small vault in four scripts with all that a query can ask for."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from vault_indexer.model import SearchAnswer

Ask = Callable[..., SearchAnswer]
"""Asks the small vault's service; keyword arguments are those of a SearchRequest."""

NOTES = {
    "Garden/Compost.md": """---
tags: [area/garden, soil]
rating: 4
date: 2024-03-05
status: draft
aliases: [Humus]
---
# Compost

Kitchen scraps and dry leaves rot to black earth. Turn the heap every month.

## Materials

- [ ] buy a fork for the heap
- [x] collect leaves in October
- [ ] ask the neighbour
  about horse manure

Never add cooked food. See [[Tomatoes]].

## Worms

Worms like cardboard.
""",
    "Garden/Tomatoes.md": """---
tags: [area/garden]
rating: 2
date: 2024-05-20
status: [published, evergreen]
due: null
---
# Tomatoes

Water tomatoes in the morning. The heap feeds them: [[Compost]].

```
- [ ] not a task
```

To be, or not to be, is not a question for tomatoes.
""",
    "Sky/Telescope.md": """---
tags: area
rating: "10"
---
# Telescope

The telescope receives light from far galaxies. A mirror of 200 mm gathers it. #sky

Collimation takes ten minutes with a laser.
""",
    "Sky/Roof.md": "# The roof\n\nGood place for the telescope. Bring a blanket.\n\n"
    "> [!note] Moon\n> Full on Monday.\n",
    "es/Cocina.md": "---\nlang: es\n---\n# Cocina\n\nEl café y el jamón se guardan en la despensa. "
    "Los niños desayunan pan con aceite; la canción suena en la radio.\n",
    "es/Jardín.md": "# Jardín\n\nLas plantas necesitan agua cuando hace calor, y por la noche también.\n",
    "ja/検索.md": "# 検索\n\nこのノートは全文検索について説明します。"
    "日本語の文章を検索するにはどうすればよいですか。\n",
    "zh/茶.md": "# 茶\n\n绿茶应该用八十度的水冲泡。茶叶要放在干燥的地方，不要放在冰箱里。\n",
    "ru/Книги.md": "# Книги\n\nНовые книги стоят на верхней полке. "
    "Читаю каждую книгу два раза, ёлка и йод.\n",
    "ru/Погода.md": "# Погода\n\nСегодня на улице идёт дождь, а завтра будет солнце. "
    "Возьмите с собой зонт и не забудьте про сапоги.\n",
    "Daily notes/2024-03-05.md": "# 2024-03-05\n\nCalled about the horse manure. The neighbor was kind.\n",
}

MODIFIED = {
    "Garden/Compost.md": datetime(2024, 3, 5, 12, tzinfo=UTC),
    "Garden/Tomatoes.md": datetime(2024, 5, 20, 12, tzinfo=UTC),
}
OTHERWISE = datetime(2023, 1, 1, 12, tzinfo=UTC)


def write_vault(folder: Path) -> Path:
    """The notes as files, with the times above."""
    for name, text in NOTES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        when = MODIFIED.get(name, OTHERWISE).timestamp()
        os.utime(file, (when, when))
    return folder
