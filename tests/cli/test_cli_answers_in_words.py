"""What a person, a script and an editor read of answers: `ask`, `search`, `related`, `links`, `explain`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import networkx
import pytest
from answering_daemon import AnsweringDaemon
from command_here import CommandHere
from golden_commands import Case, case, compare_cases
from hit_maker import NO_REASON, make_hit
from shown_text import STYLES

from vault_indexer.model import (
    AnswerSentence,
    AskAnswer,
    Backlink,
    Citation,
    Explanation,
    GraphEdge,
    GraphNode,
    GraphReason,
    Hit,
    IndexState,
    KeywordReason,
    LinkPlace,
    LinksAnswer,
    Mention,
    MentionsAnswer,
    NoteGraph,
    Orphan,
    Orphans,
    OutgoingLink,
    Passage,
    RelatedAnswer,
    RelatedNote,
    SearchAnswer,
    UnresolvedLinks,
    UnresolvedTarget,
    VectorReason,
    Why,
)
from vault_indexer.serve.api.endpoints import ALL_LINKS, ASK, EXPLAIN, GRAPH, RELATED, SEARCH

STATE = IndexState(1, 1, 0)
WORDS = KeywordReason(1, 4.0, {"saturn": 3.0}, {"body": 4.0})
MEANT = replace(NO_REASON, vector=VectorReason(1, 0.5))
SNIPPET = "The rings of Saturn."
HIT = make_hit(
    "Sky/Night sky.md",
    title="Night sky",
    line=3,
    snippet=SNIPPET,
    marks=((13, 19),),
    why=replace(NO_REASON, keyword=WORDS),
)

CITATION = Citation("i", "Sky/Night sky.md", "Night sky", "", "rings", 0, 9, 3, 4, "q", "s", "u")
OF_PAGE = replace(CITATION, path="a.pdf", part="page 2")
QUOTED = AnswerSentence("The rings\n  are ice.", (CITATION,), "quoted")
UNCHECKED = replace(
    QUOTED,
    text="Rings are ice.",
    verdict="unchecked",
    unchecked=("ice", "rock"),
    citations=(replace(CITATION, block=""),),
)
DROPPED = AnswerSentence("Saturn is flat.", (), "dropped", "no note says so")


def answered(kind: str, *sentences: AnswerSentence, **fields: Any) -> AskAnswer:
    answer = AskAnswer("q", kind, "strong", sentences, (), (), (), "small", 1.0, STATE)  # type: ignore[arg-type]
    return replace(answer, **fields)


QUOTES_WITH_LINES = (
    ("Rings are\nice.", "Rings are\nice."),
    ("Rings:\n\n- ice\n- dust\n", "Rings:\nice\ndust"),
    ("```py\nif ice:\n    melt()\n```", "if ice:\n    melt()"),
    ("| a | b |", "ring: ice; moon: rock"),
)
ASK_CASES = (
    case(
        "A written answer, and what of it was checked",
        ASK,
        answered("written", QUOTED, UNCHECKED, dropped=(DROPPED,), notices=("one. Two.",)),
        "ask What 'are rings?' --no-model -n 4 --fresh",
    ),
    case(
        "Lists and code that are quoted keep their lines",
        ASK,
        answered(
            "quotes",
            *(
                replace(QUOTED, text=words, citations=(replace(CITATION, quote=source),))
                for source, words in QUOTES_WITH_LINES
            ),
        ),
        "ask x",
    ),
    case(
        "A page of a document",
        ASK,
        answered("quotes", replace(QUOTED, citations=(OF_PAGE, replace(OF_PAGE, start_line=9)))),
        "ask x",
    ),
    case("Quotes", ASK, answered("quotes", QUOTED, missing_words=("moon",)), "ask x", "ask x --json"),
    case("Declined", ASK, answered("declined", missing_words=("a", "b")), "ask x"),
    case(
        "Declined with the closest", ASK, answered("declined", missing_words=("a",), passages=(HIT,)), "ask x"
    ),
    case("Passages alone", ASK, answered("passages", missing_words=("a", "b"), passages=(HIT,)), "ask x"),
    case("The prompt", ASK, answered("quotes", QUOTED, prompt="One\n\nTwo [b]"), "ask x --show-prompt"),
    case("No prompt", ASK, answered("declined"), "ask x --show-prompt"),
)


def found(*hits: Hit, **fields: Any) -> SearchAnswer:
    answer = SearchAnswer("saturn", 1.0, STATE, hits, verdict="strong", likely=len(hits))
    return replace(answer, **fields)


def why(**reasons: Any) -> Why:
    return replace(NO_REASON, **reasons)


LINKED = GraphReason(1, 0.2, ())
EVIDENCE: Mapping[str, Why] = {
    "title and words": why(keyword=WORDS, title=0.5),
    "title": why(title=0.5),
    "title, words cover nothing": why(keyword=replace(WORDS, coverage=0.0), title=0.5),
    "words of the title and path": why(keyword=replace(WORDS, fields={"title": 0.8, "path": 3.2})),
    "words of the body": why(keyword=replace(WORDS, fields={"title": 0.7, "body": 3.3})),
    "words of no field": why(keyword=replace(WORDS, fields={})),
    "words, tenth in meaning": why(keyword=WORDS, vector=VectorReason(10, 0.5)),
    "words, eleventh in meaning": why(keyword=WORDS, vector=VectorReason(11, 0.5)),
    "eleventh in meaning": why(vector=VectorReason(11, 0.5)),
    "links": why(graph=LINKED),
    "weak links": why(graph=replace(LINKED, score=0.1)),
    "words and weak links": why(keyword=WORDS, graph=replace(LINKED, score=0.1)),
    "eleventh in meaning and links": why(vector=VectorReason(11, 0.5), graph=LINKED),
}
PICTURE = replace(HIT, path="rings.png", kind="attachment", snippet="", why=NO_REASON, copies=("b.png",))
FOUR_NOTES = tuple(replace(HIT, path=f"{path}.md", why=MEANT) for path in "AABCDA")
ONE_NOTE = (*FOUR_NOTES, HIT)
LISTS = ("search saturn --places", "search saturn --paths", "search saturn --json")
NEAREST = tuple(f"{one} --nearest" for one in LISTS)
PASSAGE = Passage("section", 0, 9, 1, 3, "# Sky\n\nSaturnian rings and a sat,\nSATURN and satu.  ")
ORDERED = (
    replace(HIT, line=1200, snippet="Later.", marks=(), why=MEANT, stale=True),
    replace(HIT, path="B.md", line=1, snippet="Other. \x1b ", marks=()),
    HIT,
)
MARKED = replace(HIT, snippet="\u202ethe\u202c rings of Saturn", marks=((6, 11), (15, 21)))
LONG = f"{'Once upon a time ' * 8}Saturn rose. {'And so on ' * 9}"
OPTIONS = "--limit 3 --by note --fresh --as-you-type --no-correct --expand window --min-relevance 0.5"
SEARCH_CASES = (
    case(
        "The evidence of a note",
        SEARCH,
        found(*(replace(HIT, path=f"{name}.md", why=reason) for name, reason in EVIDENCE.items())),
        "search saturn",
    ),
    case(
        "A file without text, a note that has changed, and copies",
        SEARCH,
        found(PICTURE, replace(HIT, stale=True, copies=("A.md", "B.md"))),
        "search rings",
        "search rings --places",
    ),
    case("All are likely", SEARCH, found(*FOUR_NOTES, likely=6), *LISTS),
    case("All are likely, and a word is missing", SEARCH, found(*FOUR_NOTES, missing_words=("x",)), *LISTS),
    case("The first is likely", SEARCH, found(*FOUR_NOTES, likely=1), *LISTS),
    case("Two are likely", SEARCH, found(*FOUR_NOTES[1:], likely=2), *LISTS),
    case("Only the first of seven", SEARCH, found(*ONE_NOTE, likely=1), *LISTS, *NEAREST),
    case("None is likely", SEARCH, found(*FOUR_NOTES, verdict="none", likely=0), *LISTS, *NEAREST),
    case(
        "None is likely, and words are missing",
        SEARCH,
        found(HIT, verdict="none", missing_words=("x", "y"), likely=0),
        *LISTS,
    ),
    case("Nothing", SEARCH, found(verdict="none"), *LISTS),
    case("Nothing, and a word is missing", SEARCH, found(verdict="none", missing_words=("x",)), *LISTS),
    case("Notices", SEARCH, found(HIT, notices=("one is late", "", "Two\x1b[2J")), "search x"),
    case(
        "Places in the order of their note, with the evidence of all",
        SEARCH,
        found(*ORDERED),
        "search x",
        "60| search x",
        "60| search x --places",
    ),
    case("Marks where characters are taken out", SEARCH, found(MARKED), "80| search x --places"),
    case("What the options ask for", SEARCH, found(HIT), f"search a b {OPTIONS}", "search a"),
    case(
        "The text around a hit, with forms of the words set off",
        SEARCH,
        found(replace(HIT, passage=PASSAGE), replace(HIT, line=9, passage=replace(PASSAGE, text=""))),
        "search saturn --expand section",
        "80| search saturn --expand section",
    ),
    case(
        "The text around a hit without words",
        SEARCH,
        found(replace(HIT, passage=PASSAGE, marks=(), why=NO_REASON)),
        "80| search saturn --expand section",
    ),
    case(
        "A long snippet is cut around its word",
        SEARCH,
        found(replace(HIT, snippet=LONG, marks=((136, 142),)), replace(HIT, snippet=LONG, marks=())),
        "60| search saturn",
    ),
    case(
        "Paths for editors are quoted, and are no options",
        SEARCH,
        found(*(replace(HIT, path=one, snippet=" x\t y ") for one in ('"q".md', "a\nb\x01.md", "b\\s.md"))),
        "search x --lines",
        "search x --paths --null",
        "search x --lines --by note",
    ),
)

GRAPH_REASON = GraphReason(3, 0.5, ("a/A.md", "B.md", "C.md", "D.md"))
ALL_WORDS = KeywordReason(1, 4.0, {"rings": 1.0, "saturn": 3.0, "saturno": 2.0}, synonyms={"ring": "band"})
FULL = Explanation(
    query="Rings of Saturn",
    path="Sky.md",
    rank=1200,
    candidates=3400,
    shown=True,
    why=Why(VectorReason(2, 0.456), ALL_WORDS, GRAPH_REASON, 1.25, title=1, filters=("tag:a", "-tag:b")),
    reasons=("It is long.",),
)
BARE = replace(FULL, why=Why(VectorReason(1, 0.5), None, replace(GRAPH_REASON, via=()), 1.0), reasons=())
THREE = replace(BARE, rank=None, why=why(graph=replace(GRAPH_REASON, via=("A.md", "B.md", "C.md"))))
TWO_COLUMNS = Why(VectorReason(1, 0.5), WORDS, replace(GRAPH_REASON, via=("a/A.md", "Bee.md")), 1.0)
WHY = "search x --explain Sky"
EXPLAIN_CASES = (
    case("All evidence", EXPLAIN, FULL, WHY),
    case("Not in the answer", EXPLAIN, replace(BARE, shown=False), WHY),
    case("Without a rank", EXPLAIN, THREE, WHY),
    case("Without a rank, and not in the answer", EXPLAIN, replace(THREE, shown=False), WHY),
    case(
        "In two columns where both have room",
        EXPLAIN,
        replace(BARE, rank=1, candidates=2, why=TWO_COLUMNS),
        f"59| {WHY}",
        f"58| {WHY}",
    ),
)

NEAR = RelatedNote("B.md", "Bee", 0.987, 0.654, ("links here",), header_path="Bee > Wings", shared_count=2)
RELATED_CASES = (
    case(
        "Related notes with their reasons",
        RELATED,
        RelatedAnswer("A.md", (NEAR, RelatedNote("C.md", "Sea", 0.5, None, (), shared_count=1))),
        "related A -n 3",
        "related A --lines",
        "related A --json",
    ),
    case("None", RELATED, RelatedAnswer("A.md", ()), "related A", "related A --json", "related A --paths"),
)

LINK = OutgoingLink("wikilink", "Bread", "Rise", None, 4, "Kitchen/Bread.md")
GONE = replace(LINK, line=8, target="Gone", resolved=None)
LINKS = LinksAnswer(
    path="A.md",
    outgoing=(
        LINK,
        replace(LINK, kind="embed", subpath="", line=5, target_line=7),
        replace(LINK, line=6, problem="no such heading"),
        replace(LINK, line=7, ambiguous=True, candidate_count=3, target_line=1),
        GONE,
    ),
    backlinks=(
        Backlink("B.md", 2, "wikilink", "", snippet="see A"),
        Backlink("C.md", 3, "wikilink", "^x", snippet="or A", problem="no such block"),
    ),
    unresolved=(GONE,),
    diagnostics=(),
    outgoing_count=1005,
    backlink_count=2,
    unresolved_count=1,
    more=True,
)
PLACES = tuple(LinkPlace("A.md", line, "wikilink") for line in range(1, 6))
BROKEN = UnresolvedLinks(
    1008, 2, True, (UnresolvedTarget("Gone", 1005, PLACES), UnresolvedTarget("Lost", 3, PLACES[:3]))
)
MENTION = Mention("B.md", "Bee", 5, 0, 9, "Bread", "a loaf of Bread.", ((10, 15),))
MENTIONED = MentionsAnswer("A.md", ("Bread", "Loaf"), (MENTION,), True)
GRAPH_OF_A = NoteGraph(
    ("A.md",),
    (
        GraphNode("A.md", 'The "A"', "note", 0, 2),
        GraphNode("B&C.md", "B < C", "note", 1, 1),
        GraphNode("D.md", "D", "note", 2, 0),
        GraphNode('e\x01"f".md', "<E\x1f>", "note", 1, 1),
    ),
    (
        GraphEdge("A.md", "B&C.md", "link", 2),
        GraphEdge("A.md", "D.md", "related", 0.5),
        GraphEdge('e\x01"f".md', "A.md", "link", 1),
        GraphEdge("A.md", 'e\x01"f".md', "related", 0.5),
    ),
    True,
)
LINK_CASES = (
    case(
        "Links and backlinks",
        ALL_LINKS,
        LINKS,
        *(f"links A {one}" for one in ("-n 5", "--lines", "--files -0")),
    ),
    case("Broken links", ALL_LINKS, BROKEN, "links --broken", "links --broken --paths"),
    case("Orphans", ALL_LINKS, Orphans((Orphan("A.md", "Ay"),), 1200, False), "links --orphans"),
    case("Mentions", ALL_LINKS, MENTIONED, "links A --mentions", "80| links A --mentions"),
    case("All mentions", ALL_LINKS, replace(MENTIONED, more=False), "links A --mentions"),
    case(
        "No mentions",
        ALL_LINKS,
        replace(MENTIONED, mentions=(), more=False),
        "links A --mentions",
        "links A --mentions --json",
    ),
    case(
        "The files around a note",
        GRAPH,
        GRAPH_OF_A,
        "links A --depth 2 -n 4",
        "links A --links-only",
        "links A --depth 1 --json",
        "links A --dot",
        "links A --graphml",
    ),
    case("All files around a note", GRAPH, replace(GRAPH_OF_A, more=False), "links A --depth 1"),
    Case(
        "What does not go together",
        (),
        (
            *(
                f"links A {one}"
                for one in ("--files --json", "--broken", "--orphans", "--mentions --orphans")
            ),
            *(f"links A {one}" for one in ("--depth 1 --mentions", "--dot --json", "--dot --graphml")),
            *("links", "links --mentions", "links --graphml"),
        ),
    ),
)


@pytest.mark.posix("paths with slashes")
@pytest.mark.parametrize(
    ("name", "cases"),
    [
        ("ask", ASK_CASES),
        ("search", SEARCH_CASES),
        ("explain", EXPLAIN_CASES),
        ("related", RELATED_CASES),
        ("links", LINK_CASES),
    ],
)
def test_what_is_printed_of_an_answer(
    name: str, cases: Sequence[Case], here: CommandHere, daemon: AnsweringDaemon
) -> None:
    compare_cases(name, cases, here, daemon)


def test_graphml_is_what_other_programs_read(here: CommandHere, daemon: AnsweringDaemon) -> None:
    daemon.answer(GRAPH, GRAPH_OF_A)
    graph = networkx.parse_graphml(here.indexer("links", "A", "--graphml").out)
    assert graph.nodes["B&C.md"]["title"] == "B < C"
    assert ("A.md", "B&C.md", {"kind": "link", "weight": 2.0}) in graph.edges(data=True)


def test_a_hit_is_one_line_however_narrow_the_terminal(here: CommandHere, daemon: AnsweringDaemon) -> None:
    daemon.answer(SEARCH, found(replace(HIT, path="A.md", snippet=f"The rings of Saturn {'and ' * 50}")))
    for options, lines in ((), 2), (("--places",), 1):
        shown = STYLES.sub("", here.terminal("search", "x", *options, columns=20).out)
        assert len(shown.splitlines()) == lines


def test_a_path_that_begins_with_a_dash_is_no_option(here: CommandHere, daemon: AnsweringDaemon) -> None:
    daemon.answer(SEARCH, found(replace(HIT, path="-n.md")))
    daemon.announce(here.sandbox.index_dir, here.sandbox.root)
    place = ("--vault", ".", "--index-dir", str(here.sandbox.index_dir))
    assert here.run("search", "x", *place, "--paths").out == "./-n.md:3\n"
