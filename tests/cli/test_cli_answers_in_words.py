"""What a person, a script and an editor read of answers: `ask`, `search`, `related`, `links`, `explain`."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from answering_daemon import AnsweringDaemon, AskedFor
from command_here import CommandHere
from hit_maker import NO_REASON, make_hit

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
    Verdict,
    Why,
)
from vault_indexer.serve.api.endpoints import ALL_LINKS, ASK, EXPLAIN, GRAPH, RELATED, SEARCH

MARK = "\x1b[1;33m"
END = "\x1b[0m"

WORDS = KeywordReason(1, 4.0, {"saturn": 3.0}, {"body": 4.0})
HIT = make_hit(
    "Sky/Night sky.md",
    title="Night sky",
    end_pos=9,
    end_line=3,
    line=3,
    snippet="The rings of Saturn.",
    marks=((13, 19),),
    why=replace(NO_REASON, keyword=WORDS),
)
STATE = IndexState(1, 1, 0)


def found(*hits: Hit) -> SearchAnswer:
    return SearchAnswer("saturn", 1.0, STATE, hits, verdict="strong", likely=len(hits))


CITATION = Citation("i", "Sky/Night sky.md", "Night sky", "", "rings", 0, 9, 3, 4, "q", "s", "u")
QUOTED = AnswerSentence("The rings\n  are ice.", (CITATION,), "quoted")
SUPPORTED = replace(
    QUOTED, text="Rings are ice.", verdict="supported", citations=(replace(CITATION, block=""),)
)
UNCHECKED = replace(SUPPORTED, verdict="unchecked", unchecked=("ice", "rock"))


def answered(kind: str, *sentences: AnswerSentence) -> AskAnswer:
    return AskAnswer("q", kind, "strong", sentences, (), (), (), "small", 1.0, STATE)  # type: ignore[arg-type]


def test_a_written_answer_says_what_was_checked(here: CommandHere, daemon: AnsweringDaemon) -> None:
    dropped = AnswerSentence("Saturn is flat.", (), "dropped", "no note says so")
    answer = replace(answered("written", QUOTED, UNCHECKED), dropped=(dropped,), notices=("one. Two.",))
    daemon.answer(ASK, answer)
    ran = here.indexer("ask", "What", "are rings?", "--no-model", "-n", "4", "--fresh")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "Written by small, checked against your notes:",
        '  "The rings are ice."',
        "      Sky/Night sky.md:3  ^rings",
        "  Rings are ice.",
        "      unchecked words: ice, rock",
        "      Sky/Night sky.md:3",
    ]
    assert ran.err.splitlines() == [
        "dropped 1 sentence of the model that your notes do not support:",
        "  Saturn is flat. (no note says so)",
        "One. Two.",
    ]
    asked = {"q": "What are rings?", "limit": 4, "model": False, "fresh": True}
    assert daemon.requests == [AskedFor(ASK.path, asked)]


@pytest.mark.parametrize(
    ("source", "words", "lines"),
    [
        ("Rings are\nice.", "Rings are\nice.", ['  "Rings are ice."']),
        ("Rings:\n\n- ice\n- dust\n", "Rings:\nice\ndust", ['  "Rings:', "   ice", '   dust"']),
        ("```py\nif ice:\n    melt()\n```", "if ice:\n    melt()", ['  "if ice:', '       melt()"']),
        ("| a | b |", "ring: ice; moon: rock", ['  "ring: ice; moon: rock"']),
    ],
)
def test_quoted_lists_and_code_have_their_lines(
    here: CommandHere, daemon: AnsweringDaemon, source: str, words: str, lines: list[str]
) -> None:
    quoted = replace(QUOTED, text=words, citations=(replace(CITATION, quote=source),))
    daemon.answer(ASK, answered("quotes", quoted))
    assert here.indexer("ask", "x").out.splitlines()[1:-1] == lines


def test_quotes_are_said_to_be_quotes(here: CommandHere, daemon: AnsweringDaemon) -> None:
    daemon.answer(ASK, replace(answered("quotes", QUOTED), missing_words=("moon",)))
    ran = here.indexer("ask", "x")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "From your notes, word for word:")
    assert ran.err == 'No note has the word "moon".\n'
    assert here.indexer("ask", "x", "--json").data["kind"] == "quotes"


@pytest.mark.parametrize(
    ("kind", "passages", "status", "said"),
    [
        ("declined", (), 1, "No note answers this. No note has the words"),
        ("declined", (HIT,), 1, "No note answers this. No note has the words"),
        ("passages", (HIT,), 0, "No sentence clearly answers this. No note has the words"),
    ],
)
def test_without_an_answer_the_closest_notes_are_listed(
    here: CommandHere,
    daemon: AnsweringDaemon,
    kind: str,
    passages: tuple[Hit, ...],
    status: int,
    said: str,
) -> None:
    daemon.answer(ASK, replace(answered(kind), passages=passages, missing_words=("a", "b")))
    ran = here.indexer("ask", "x")
    assert (ran.code, ran.err) == (status, f'{said} "a", "b".{" Closest:" if passages else ""}\n')
    lines = ["Sky/Night sky.md  words", "   3  The rings of Saturn."]
    assert ran.out.splitlines() == (lines if passages else [])


def test_the_prompt_is_shown_line_by_line(here: CommandHere, daemon: AnsweringDaemon) -> None:
    daemon.answer(ASK, replace(answered("quotes", QUOTED), prompt="One\n\nTwo [b]"))
    ran = here.indexer("ask", "x", "--show-prompt")
    assert (ran.code, ran.out, ran.err) == (0, "One\n\nTwo [b]\n", "")
    assert daemon.requests == [AskedFor(ASK.path, {"q": "x", "show_prompt": True})]
    daemon.answer(ASK, answered("declined"))
    ran = here.indexer("ask", "x", "--show-prompt")
    assert (ran.code, ran.out, ran.err) == (1, "", "no prompt: no language model would be called\n")


@pytest.mark.parametrize(
    ("why", "said"),
    [
        (replace(NO_REASON, keyword=WORDS, title=0.5), "title, words"),
        (replace(NO_REASON, title=0.5), "title"),
        (replace(NO_REASON, keyword=replace(WORDS, coverage=0.0), title=0.5), "title"),
        (replace(NO_REASON, keyword=replace(WORDS, fields={"title": 0.8, "path": 3.2})), "title"),
        (replace(NO_REASON, keyword=replace(WORDS, fields={"title": 0.7, "body": 3.3})), "words"),
        (replace(NO_REASON, keyword=replace(WORDS, fields={})), "words"),
        (replace(NO_REASON, keyword=WORDS, vector=VectorReason(10, 0.5)), "words, meaning"),
        (replace(NO_REASON, keyword=WORDS, vector=VectorReason(11, 0.5)), "words"),
        (replace(NO_REASON, vector=VectorReason(11, 0.5)), "meaning"),
        (replace(NO_REASON, graph=GraphReason(1, 0.2, ())), "links"),
        (replace(NO_REASON, graph=GraphReason(1, 0.1, ())), "links"),
        (replace(NO_REASON, keyword=WORDS, graph=GraphReason(1, 0.1, ())), "words"),
        (
            replace(NO_REASON, vector=VectorReason(11, 0.5), graph=GraphReason(1, 0.2, ())),
            "links",
        ),
    ],
)
def test_a_note_has_its_evidence(here: CommandHere, daemon: AnsweringDaemon, why: Why, said: str) -> None:
    daemon.answer(SEARCH, found(replace(HIT, why=why)))
    ran = here.indexer("search", "saturn")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [f"Sky/Night sky.md  {said}", "   3  The rings of Saturn."]


def test_a_file_without_text_has_a_name_and_no_line(here: CommandHere, daemon: AnsweringDaemon) -> None:
    picture = replace(HIT, path="rings.png", kind="attachment", snippet="", why=NO_REASON, copies=("b.png",))
    daemon.answer(SEARCH, found(picture, replace(HIT, stale=True, copies=("A.md", "B.md"))))
    assert here.indexer("search", "rings").out.splitlines() == [
        "rings.png  name, and 1 copy",
        "Sky/Night sky.md  words, changed since, and 2 copies",
        "   3  The rings of Saturn.",
    ]
    assert here.indexer("search", "rings", "--places").out.splitlines() == [
        "rings.png (and 1 copy)",
        "Sky/Night sky.md:3 (and 2 copies)  The rings of Saturn.",
    ]


MEANT = replace(NO_REASON, vector=VectorReason(1, 0.5))
FOUR_NOTES = tuple(
    replace(HIT, path=path, why=MEANT) for path in ("A.md", "A.md", "B.md", "C.md", "D.md", "A.md")
)


@pytest.mark.parametrize(
    ("likely", "hits", "missing", "options", "paths", "heading"),
    [
        (6, FOUR_NOTES, (), (), "AABCDA", ""),
        (6, FOUR_NOTES, ("x",), (), "AABCDA", ""),
        (1, FOUR_NOTES, (), (), "A|BCD", ""),
        (2, FOUR_NOTES[1:], (), (), "AB|CD", ""),
        (1, (*FOUR_NOTES, HIT), (), (), "A|BCD", ""),
        (1, (*FOUR_NOTES, HIT), (), ("--nearest",), "A|ABCDAN", ""),
        (0, FOUR_NOTES, (), (), "ABC", "in meaning:"),
        (0, FOUR_NOTES, (), ("--nearest",), "AABCDA", "in meaning:"),
        (0, (HIT,), ("x", "y"), (), "N", "Closest:"),
        (0, (), (), (), "", "."),
        (0, (), ("x",), (), "", "."),
    ],
)
def test_hits_that_are_not_likely_are_set_off(
    here: CommandHere,
    daemon: AnsweringDaemon,
    likely: int,
    hits: tuple[Hit, ...],
    missing: tuple[str, ...],
    options: tuple[str, ...],
    paths: str,
    heading: str,
) -> None:
    """`|` stands for the heading of the others."""
    status = 0 if likely else 1
    verdict: Verdict = "likely" if likely else "none"
    daemon.answer(SEARCH, replace(found(*hits), verdict=verdict, missing_words=missing, likely=likely))
    ran = here.indexer("search", "saturn", "--places", *options)
    first = "".join(
        "|" if line == "Less likely:" else line.partition(".md")[0].rpartition("/")[2][0]
        for line in ran.out.splitlines()
    )
    assert (ran.code, first, bool(ran.err)) == (status, paths, bool(missing or not likely))
    assert ran.err.strip().endswith(heading) and all(f'"{word}"' in ran.err for word in missing)
    scripted = here.indexer("search", "saturn", "--paths", *options)
    printed = len(hits) if options else likely
    assert (scripted.code, len(scripted.out.splitlines())) == (status, printed)
    assert ("(--nearest " in scripted.err) == bool(hits and not printed)
    data = here.indexer("search", "saturn", "--json", *options)
    assert (data.code, len(data.data["results"]), data.err) == (status, len(hits), "")  # type: ignore[arg-type]


def test_notices_are_sentences_behind_the_hits(here: CommandHere, daemon: AnsweringDaemon) -> None:
    daemon.answer(SEARCH, replace(found(HIT), notices=("one is late", "", "Two\x1b[2J")))
    assert here.indexer("search", "x").err.splitlines() == ["One is late", "", "Two [2J"]


def test_places_of_a_note_are_in_its_order_and_its_evidence_is_that_of_all(
    here: CommandHere, daemon: AnsweringDaemon
) -> None:
    later = replace(HIT, line=1200, snippet="Later.", marks=(), why=MEANT, stale=True)
    other = replace(HIT, path="B.md", line=1, snippet="Other. \x1b ", marks=())
    daemon.answer(SEARCH, found(later, other, HIT))
    assert here.indexer("search", "x").out.splitlines() == [
        "Sky/Night sky.md  words, meaning, changed since",
        "   3  The rings of Saturn.",
        "1200  Later.",
        "B.md  words",
        "   1  Other.",
    ]
    shown = here.terminal("search", "x", columns=60).out
    assert f"The rings of {MARK}Saturn{END}." in shown
    places = here.terminal("search", "x", "--places", columns=60).out.splitlines()
    assert len(places) == 3
    assert f"{MARK}Saturn{END}" in places[2]


def test_marks_stay_on_their_words_where_characters_are_taken_out(
    here: CommandHere, daemon: AnsweringDaemon
) -> None:
    hit = replace(HIT, snippet="\u202ethe\u202c rings of Saturn", marks=((5, 10), (17, 23)))
    text = hit.snippet
    start = text.index("rings")
    second = text.index("Saturn")
    daemon.answer(SEARCH, found(replace(hit, marks=((start, start + 5), (second, second + 6)))))
    shown = here.terminal("search", "x", "--places").out
    assert [part.partition(END)[0] for part in shown.split(MARK)[1:]] == ["rings", "Saturn"]


def test_what_is_searched_is_what_the_options_say(here: CommandHere, daemon: AnsweringDaemon) -> None:
    daemon.answer(SEARCH, found(HIT))
    options = ("--limit", "3", "--by", "note", "--fresh", "--as-you-type", "--no-correct")
    here.indexer("search", "a", "b", *options, "--expand", "window", "--min-relevance", "0.5")
    here.indexer("search", "a")
    full = {
        "q": "a b",
        "limit": "3",
        "by": "note",
        "fresh": "true",
        "as_you_type": "true",
        "correct": "false",
    }
    assert [one.parameters for one in daemon.requests] == [
        {**full, "expand": "window", "min_relevance": "0.5"},
        {"q": "a"},
    ]


PASSAGE = Passage("section", 0, 9, 1, 3, "# Sky\n\nSaturnian rings and a sat,\nSATURN and satu.  ")


def test_the_text_around_a_hit_is_indented(here: CommandHere, daemon: AnsweringDaemon) -> None:
    hit = replace(HIT, passage=PASSAGE)
    again = replace(HIT, line=9, passage=replace(PASSAGE, text=""))
    daemon.answer(SEARCH, found(hit, again))
    ran = here.indexer("search", "saturn", "--expand", "section")
    assert ran.out.split("\n")[1:] == [
        "   3  ",
        "      # Sky",
        "",
        "      Saturnian rings and a sat,",
        "      SATURN and satu.",
        "   9  The rings of Saturn.",
        "",
    ]
    assert daemon.requests == [AskedFor(SEARCH.path, {"q": "saturn", "expand": "section"})]


def test_at_a_terminal_forms_of_the_words_are_set_off(here: CommandHere, daemon: AnsweringDaemon) -> None:
    daemon.answer(SEARCH, found(replace(HIT, passage=PASSAGE)))
    shown = here.terminal("search", "saturn", "--expand", "section").out
    marked = [part.partition(END)[0] for part in shown.split(MARK)[1:]]
    assert marked == ["Saturnian", "SATURN", "satu"]
    daemon.answer(SEARCH, found(replace(HIT, passage=PASSAGE, marks=(), why=NO_REASON)))
    assert MARK not in here.terminal("search", "saturn", "--expand", "section").out


def test_at_a_terminal_a_snippet_is_cut_around_its_word(here: CommandHere, daemon: AnsweringDaemon) -> None:
    text = f"{'Once upon a time ' * 8}Saturn rose. {'And so on ' * 9}"
    start = text.index("Saturn")
    daemon.answer(SEARCH, found(replace(HIT, snippet=text, marks=((start, start + 6),))))
    line = here.terminal("search", "saturn", columns=60).out.splitlines()[1]
    assert f"{MARK}Saturn{END}" in line
    daemon.answer(SEARCH, found(replace(HIT, snippet=text, marks=())))
    assert "Saturn" not in here.terminal("search", "saturn", columns=60).out


def test_an_explanation_names_all_evidence(here: CommandHere, daemon: AnsweringDaemon) -> None:
    keyword = KeywordReason(1, 4.0, {"rings": 1.0, "saturn": 3.0, "saturno": 2.0}, synonyms={"ring": "band"})
    why = Why(
        VectorReason(2, 0.456),
        keyword,
        GraphReason(3, 0.5, ("a/A.md", "B.md", "C.md", "D.md")),
        1.25,
        title=1,
    )
    answer = Explanation(
        query="Rings of Saturn",
        path="Sky.md",
        rank=1200,
        candidates=3400,
        shown=True,
        why=replace(why, filters=("tag:a", "-tag:b")),
        reasons=("It is long.",),
    )
    daemon.answer(EXPLAIN, answer)
    ran = here.indexer("search", "x", "--explain", "Sky")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "Sky.md   rank 1,200 of 3,400",
        "  title   equals the query",
        '  words   "saturn", "rings"; also searched: "saturno"',
        '  synonym "ring" for "band"',
        "  meaning rank 2, cosine 0.46",
        "  links   linked from A, B, C and 1 more",
        "  recent  changed recently, × 1.25",
        "  filters tag:a -tag:b",
        "  It is long.",
    ]
    few = Why(VectorReason(1, 0.5), None, GraphReason(3, 0.5, ()), 1.0)
    daemon.answer(EXPLAIN, replace(answer, shown=False, why=few, reasons=()))
    ran = here.indexer("search", "x", "--explain", "Sky")
    assert (ran.code, ran.out.splitlines()) == (
        1,
        [
            "Sky.md   rank 1,200 of 3,400, not in the answer",
            "  meaning closest, cosine 0.50",
            "  links   rank 3",
        ],
    )
    three = replace(few, vector=None, graph=GraphReason(3, 0.5, ("A.md", "B.md", "C.md")))
    for shown, place in ((True, "in the answer"), (False, "not in the answer")):
        daemon.answer(EXPLAIN, replace(answer, rank=None, shown=shown, why=three, reasons=()))
        lines = here.indexer("search", "x", "--explain", "Sky").out.splitlines()
        assert lines == [f"Sky.md   {place}", "  links   linked from A, B, C"]


STYLES = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\\\")


def lines_at(here: CommandHere, columns: int, *arguments: str) -> list[str]:
    """What a terminal of so many columns shows, without styles."""
    return STYLES.sub("", here.terminal(*arguments, columns=columns).out).splitlines()


@pytest.mark.parametrize(
    ("columns", "lines"),
    [
        (
            59,
            [
                '  words   "saturn"             meaning closest, cosine 0.50',
                "  links   linked from A, Bee",
            ],
        ),
        (
            58,
            [
                '  words   "saturn"',
                "  meaning closest, cosine 0.50",
                "  links   linked from A, Bee",
            ],
        ),
    ],
)
def test_evidence_is_in_two_columns_where_both_have_room(
    here: CommandHere, daemon: AnsweringDaemon, columns: int, lines: list[str]
) -> None:
    why = Why(VectorReason(1, 0.5), WORDS, GraphReason(3, 0.5, ("a/A.md", "Bee.md")), 1.0)
    daemon.answer(
        EXPLAIN,
        Explanation(query="saturn", path="Sky.md", rank=1, candidates=2, shown=True, why=why, reasons=()),
    )
    shown = lines_at(here, columns, "search", "x", "--explain", "Sky")
    assert shown == ["Sky.md   rank 1 of 2", *lines]


def test_a_hit_is_one_line_however_narrow_the_terminal(here: CommandHere, daemon: AnsweringDaemon) -> None:
    daemon.answer(SEARCH, found(replace(HIT, path="A.md", snippet=f"The rings of Saturn {'and ' * 50}")))
    assert len(lines_at(here, 20, "search", "x")) == 2
    assert len(lines_at(here, 20, "search", "x", "--places")) == 1


NEAR = RelatedNote("B.md", "Bee", 0.987, 0.654, ("links here",), header_path="Bee > Wings", shared_count=2)


def test_notes_near_a_note_have_their_reasons(here: CommandHere, daemon: AnsweringDaemon) -> None:
    bare = RelatedNote("C.md", "Sea", 0.5, None, (), shared_count=1)
    daemon.answer(RELATED, RelatedAnswer("A.md", (NEAR, bare)))
    ran = here.indexer("related", "A", "-n", "3")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "0.99  Bee  B.md  links here, cosine 0.65, 2 shared links, nearest: Bee > Wings",
        "0.50  Sea  C.md  1 shared link",
    ]
    assert daemon.requests == [AskedFor(RELATED.path, {"path": "A", "limit": "3"})]
    assert here.indexer("related", "A", "--lines").out.splitlines()[1] == "vault/C.md:1:Sea (1 shared link)"
    assert here.indexer("related", "A", "--json").data["note"] == "A.md"


@pytest.mark.parametrize("form", ["", "--json", "--paths"])
def test_where_no_note_is_near_the_status_says_so(
    here: CommandHere, daemon: AnsweringDaemon, form: str
) -> None:
    daemon.answer(RELATED, RelatedAnswer("A.md", ()))
    ran = here.indexer("related", "A", *filter(None, (form,)))
    assert (ran.code, ran.err) == (1, "" if form else "No note is related to A.\n")


LINK = OutgoingLink("wikilink", "Bread", "Rise", None, 4, "Kitchen/Bread.md")
LINKS = LinksAnswer(
    path="A.md",
    outgoing=(
        LINK,
        replace(LINK, kind="embed", subpath="", line=5, target_line=7),
        replace(LINK, line=6, problem="no such heading"),
        replace(LINK, line=7, ambiguous=True, candidate_count=3, target_line=1),
        replace(LINK, line=8, target="Gone", resolved=None),
    ),
    backlinks=(
        Backlink("B.md", 2, "wikilink", "", snippet="see A"),
        Backlink("C.md", 3, "wikilink", "^x", snippet="or A", problem="no such block"),
    ),
    unresolved=(replace(LINK, line=8, target="Gone", resolved=None),),
    diagnostics=(),
    outgoing_count=1005,
    backlink_count=2,
    unresolved_count=1,
    more=True,
)


def test_links_say_where_they_lead_and_what_is_wrong(here: CommandHere, daemon: AnsweringDaemon) -> None:
    daemon.answer(ALL_LINKS, LINKS)
    ran = here.indexer("links", "A", "-n", "5")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "A.md",
        "links to: 1,004",
        "      4  Kitchen/Bread.md#Rise",
        "      5  Kitchen/Bread.md  embed  line 7",
        "      6  Kitchen/Bread.md#Rise    no such heading",
        "      7  Kitchen/Bread.md#Rise    ambiguous: one of 3 files",
        "linked from: 2",
        "      2  B.md                    see A",
        "      3  C.md#^x  no such block  or A",
        "broken: 1",
        "      8  Gone#Rise",
    ]
    assert ran.err == "There are more (--limit).\n"
    assert daemon.requests == [AskedFor(ALL_LINKS.path, {"path": "A", "limit": "5"})]


def test_links_as_grep_prints_them(here: CommandHere, daemon: AnsweringDaemon) -> None:
    daemon.answer(ALL_LINKS, LINKS)
    assert here.indexer("links", "A", "--lines").out.splitlines()[3:] == [
        "vault/A.md:7:Bread#Rise -> Kitchen/Bread.md",
        "vault/A.md:8:Gone#Rise -> nowhere",
        "vault/B.md:2:see A",
        "vault/C.md:3:or A",
    ]
    paths = here.indexer("links", "A", "--files", "--null")
    assert paths.out.split("\0") == ["vault/A.md", "vault/B.md", "vault/C.md", ""]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--files", "--json"), "give only one of --files, --paths, --lines and --json"),
        (("--broken",), "--broken and --orphans list the whole vault: leave out 'A'"),
        (("--orphans",), "--broken and --orphans list the whole vault: leave out 'A'"),
        (("--mentions", "--orphans"), "give only one of --broken, --orphans and --mentions"),
        (("--depth", "1", "--mentions"), "--depth, --dot and --graphml require one NOTE and no other list"),
        (("--dot", "--json"), "give only one of --json, --dot and --graphml"),
        (("--dot", "--graphml"), "give only one of --json, --dot and --graphml"),
    ],
)
def test_what_does_not_go_together_is_refused(
    here: CommandHere, daemon: AnsweringDaemon, options: tuple[str, ...], message: str
) -> None:
    ran = here.indexer("links", "A", *options)
    assert (ran.code, ran.out, ran.err) == (2, "", f"indexer: {message}\n")
    assert daemon.requests == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "Name a note, or add --broken or --orphans."),
        (("--mentions",), "Name a note, or add --broken or --orphans."),
        (("--graphml",), "--depth, --dot and --graphml require one NOTE and no other list"),
    ],
)
def test_some_views_need_a_note(here: CommandHere, options: tuple[str, ...], message: str) -> None:
    ran = here.indexer("links", *options)
    assert (ran.code, ran.out, ran.err) == (2, "", f"indexer: {message}\n")


def test_broken_links_name_three_places(here: CommandHere, daemon: AnsweringDaemon) -> None:
    places = tuple(LinkPlace("A.md", line, "wikilink") for line in range(1, 6))
    targets = (UnresolvedTarget("Gone", 1005, places), UnresolvedTarget("Lost", 3, places[:3]))
    daemon.answer(ALL_LINKS, UnresolvedLinks(1008, 2, True, targets))
    ran = here.indexer("links", "--broken")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "broken links: 1,008",
        "  1,005  Gone  A.md:1, A.md:2, A.md:3 and 2 more",
        "      3  Lost  A.md:1, A.md:2, A.md:3",
    ]
    assert ran.err == "There are more (--limit).\n"
    assert len(here.indexer("links", "--broken", "--paths").out.splitlines()) == 8


def test_notes_without_links(here: CommandHere, daemon: AnsweringDaemon) -> None:
    daemon.answer(ALL_LINKS, Orphans((Orphan("A.md", "Ay"),), 1200, False))
    ran = here.indexer("links", "--orphans")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == ["notes without links: 1,200", "   A.md  Ay"]
    assert daemon.requests == [AskedFor(ALL_LINKS.path, {"view": "orphans"})]


def test_mentions_are_shown_where_they_stand(here: CommandHere, daemon: AnsweringDaemon) -> None:
    mention = Mention("B.md", "Bee", 5, 0, 9, "Bread", "a loaf of Bread.", ((10, 15),))
    daemon.answer(ALL_LINKS, MentionsAnswer("A.md", ("Bread", "Loaf"), (mention,), True))
    ran = here.indexer("links", "A", "--mentions")
    assert (ran.code, ran.err) == (0, "There are more (--limit).\n")
    assert ran.out.splitlines() == ["      5  B.md  a loaf of Bread."]
    assert "\x1b[1;32mBread\x1b[0m" in here.terminal("links", "A", "--mentions").out
    daemon.answer(ALL_LINKS, MentionsAnswer("A.md", ("Bread",), (mention,), False))
    assert here.indexer("links", "A", "--mentions").err == ""
    daemon.answer(ALL_LINKS, MentionsAnswer("A.md", ("Bread", "Loaf"), (), False))
    ran = here.indexer("links", "A", "--mentions")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "No other note mentions A.md (Bread, Loaf) without a link.\n"
    assert here.indexer("links", "A", "--mentions", "--json").code == 1


GRAPH_OF_A = NoteGraph(
    ("A.md",),
    (
        GraphNode("A.md", 'The "A"', "note", 0, 2),
        GraphNode("B&C.md", "B < C", "note", 1, 1),
        GraphNode("D.md", "D", "note", 2, 0),
        GraphNode("E.md", "E", "note", 1, 1),
    ),
    (
        GraphEdge("A.md", "B&C.md", "link", 2),
        GraphEdge("A.md", "D.md", "related", 0.5),
        GraphEdge("E.md", "A.md", "link", 1),
        GraphEdge("A.md", "E.md", "related", 0.5),
    ),
    True,
)


def test_files_around_a_note_are_listed(here: CommandHere, daemon: AnsweringDaemon) -> None:
    daemon.answer(GRAPH, GRAPH_OF_A)
    ran = here.indexer("links", "A", "--depth", "2", "-n", "4")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        '  0  A.md    The "A"  2 links',
        "  1  B&C.md  B < C    1 link",
        "  2  D.md    D        0 links",
        "  1  E.md    E        1 link",
    ]
    assert ran.err == "There are more than these 4 (--limit).\n"
    here.indexer("links", "A", "--links-only")
    assert [one.parameters for one in daemon.requests] == [
        {"path": "A", "depth": "2", "limit": "4", "related": "false"},
        {"path": "A", "related": "false"},
    ]
    daemon.answer(GRAPH, replace(GRAPH_OF_A, more=False))
    assert here.indexer("links", "A", "--depth", "1", "-n", "3").err == ""
    assert len(here.indexer("links", "A", "--depth", "1", "--json").data["nodes"]) == 4  # type: ignore[arg-type]


def test_files_around_a_note_as_graphviz_reads_them(here: CommandHere, daemon: AnsweringDaemon) -> None:
    daemon.answer(GRAPH, GRAPH_OF_A)
    assert here.indexer("links", "A", "--dot").out.splitlines() == [
        "graph vault {",
        r'  "A.md" [label="The \"A\""];',
        '  "B&C.md" [label="B < C"];',
        '  "D.md" [label="D"];',
        '  "E.md" [label="E"];',
        '  "A.md" -- "B&C.md";',
        '  "A.md" -- "D.md" [style=dashed];',
        '  "E.md" -- "A.md";',
        '  "A.md" -- "E.md" [style=dashed];',
        "}",
    ]


def test_files_around_a_note_as_graphml(here: CommandHere, daemon: AnsweringDaemon) -> None:
    graph = replace(GRAPH_OF_A, nodes=(GraphNode('a\x01"b".md', "<A\x1f>", "note", 0, 0),))
    daemon.answer(GRAPH, graph)
    space = "{http://graphml.graphdrawing.org/xmlns}"
    root = ElementTree.fromstring(here.indexer("links", "A", "--graphml").out.encode())
    keys = [dict(one.attrib) for one in root.findall(f"{space}key")]
    assert keys == [
        {"id": "title", "for": "node", "attr.name": "title", "attr.type": "string"},
        {"id": "kind", "for": "edge", "attr.name": "kind", "attr.type": "string"},
        {"id": "weight", "for": "edge", "attr.name": "weight", "attr.type": "double"},
    ]
    (drawn,) = root.findall(f"{space}graph")
    assert drawn.attrib == {"id": "vault", "edgedefault": "undirected"}
    (node,) = drawn.findall(f"{space}node")
    assert (node.attrib, [one.text for one in node]) == ({"id": 'a "b".md'}, ["<A >"])
    edges = drawn.findall(f"{space}edge")
    assert edges[1].attrib == {"source": "A.md", "target": "D.md"}
    assert [(one.get("key"), one.text) for one in edges[1]] == [("kind", "related"), ("weight", "0.5")]


def test_paths_for_editors_are_quoted_and_no_options(here: CommandHere, daemon: AnsweringDaemon) -> None:
    odd = ('"q".md', "a\nb\x01.md", "back\\slash.md", "-n.md")
    daemon.answer(SEARCH, found(*(replace(HIT, path=path, snippet=" x\t y ") for path in odd)))
    place = ("search", "x", "--vault", ".", "--index-dir", str(here.sandbox.index_dir))
    daemon.announce(here.sandbox.index_dir, here.sandbox.root)
    assert here.run(*place, "--lines").out.splitlines() == [
        '"\\"q\\".md":3:x y',
        '"a\\nb\\001.md":3:x y',
        "back\\slash.md:3:x y",
        "./-n.md:3:x y",
    ]
    assert here.run(*place, "--paths", "--null").out.split("\0")[1] == "a\nb\x01.md:3"
    assert here.run(*place, "--lines", "--by", "note").out.splitlines()[2] == "back\\slash.md:1:x y"
