"""A small vault whose links are of every kind that an answer tells apart."""

NOTES = {
    "Index.md": (
        "---\nup: '[[Bread]]'\n---\n# Index\n\nStart with [[Bread]], then [[Bread#Kneading|knead]].\n\n"
        "Not there: [[Bread#Frying]], [[Nowhere]], [[nowhere|again]], ![[Lost.png]].\n\n"
        "One of two: [[Twin]]. A block: [[Bread#^rest]]. A picture: ![[Loaf.png]].\n\n"
        "And [the web way](kitchen/Bread.md#kneading-well).\n"
    ),
    "kitchen/Bread.md": (
        "---\naliases: [Sourdough, Ölbrot]\n---\n# Bread\n\n" + "Flour and water. " * 20 + "\n\n"
        "## Kneading\n\n" + "Fold it over. " * 20 + "\n\nRest. ^rest\n\n"
        "## Kneading, well\n\n" + "Until smooth. " * 20 + "\n\nSee [[#Kneading]] and [[Oven]].\n"
    ),
    "kitchen/Oven.md": "# Oven\n\nHot. ![[Loaf.png]]\n",
    "a/Twin.md": "# Twin\n\nLinks [[Index]].\n",
    "b/Twin.md": "# Twin\n\nNothing.\n",
    "Alone.md": "# Alone\n\nNobody links here, and [[Nowhere]] is no place to go.\n",
    "Diary.md": (
        "---\ntitle: Diary\nsubject: Bread\n---\n# Diary\n\n"
        "Baked bread today. A SOURDOUGH, with olbrot from the neighbour; breadcrumbs do not count.\n\n"
        "Not these: `bread`, [bread](https://example.org), https://example.org/bread, #bread, "
        "[[Bread|my bread]], $bread$, <i title='bread'>x</i>.\n\n"
        "```\nbread in code\n```\n\n    indented bread\n\n"
        "> Bread in a quote\n\n| bread | in a table |\n| --- | --- |\n| x | y |\n\n"
        "## About bread\n\nThe night\nsky over the bread: it was dark.\n"
    ),
    "Night sky.md": "# Night sky\n\nStars, and [[Oven]] heat.\n",
    "検索.md": "# 検索\n\nabout search\n",
    "Japanese.md": "# Japanese\n\n日本語の全文検索について。\n",
}
PICTURE = "Loaf.png"
