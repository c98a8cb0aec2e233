"""Layer 2: where a cited passage stands now, and whether an answer cites it."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import cast

import pytest
from eval_lab import BREAD, NOTES, TextNotes, simple_case, span_of, write_case
from golden_cases import check_golden, of_parts
from http_servers import send, serving

from vault_evals.agents import AgentAnswer, CitedSpan, read_findings
from vault_evals.cases import CitationsExpected, ExpectedCitation, load_cases, sha256_of
from vault_evals.citations import NoteSource, check_citations, locate
from vault_evals.pages import (
    MAX_KEPT_CHARS,
    LivePages,
    Located,
    MissingSnapshotError,
    Network,
    Page,
    PageSnapshots,
    check_page,
    cited_urls,
    fetch_page,
    hosts_of,
    page_text,
    snapshot_name,
)
from vault_evals.results import Outcome
from vault_indexer.errors import UnavailableError, UsageError

QUOTE = "Knead the dough until it is smooth."
START = BREAD.index(QUOTE)
CITATION = ExpectedCitation(
    path="Kitchen/Bread.md",
    heading="Kneading",
    start=START,
    end=START + len(QUOTE),
    quote=QUOTE,
    sha256=sha256_of(QUOTE),
)
URL = "https://example.org/bread"


def bread(text: str) -> dict[str, str]:
    return {**NOTES, "Kitchen/Bread.md": text}


CHANGED = BREAD.replace("smooth", "very smooth")
TEXTS = {
    "BREAD": BREAD,
    "SKY": NOTES["Sky.md"],
    "TWICE": BREAD.replace("Flour,", f"{QUOTE} Flour,"),
    "CHANGED": CHANGED,
    "COLDER": BREAD.replace("250", "150"),
    "LONGER": BREAD.replace("Flour", "More flour"),
    "UNMARKED": BREAD.replace(" ^rest", ""),
    "QUOTE": QUOTE,
}
"""Texts of notes in the golden, by name."""


def test_citations_are_checked_as_the_golden_says(tmp_path: Path) -> None:
    def found(cited: str, *notes: str) -> str:
        """What changes of the citation, and where it stands now; a note is `path = text`."""
        named = (note.split(" = ") for note in notes if note)
        citation = CITATION.model_copy(update=json.loads(cited))
        located = locate(citation, TextNotes({path: TEXTS.get(text, text) for path, text in named}))
        if located.now is None:
            return f"{located.state}: {located.detail}"
        was, now = citation.model_dump(), located.now.model_dump()
        changed = {key: value for key, value in now.items() if value != was[key]}
        return f"{located.state}: {located.detail} {changed or ''}"

    def text_of(html: str) -> str:
        return page_text(html, is_html=True)

    pages = PageSnapshots(tmp_path)
    pages.write(Page(URL, 200, URL, "Dough needs time.", "2026-01-01T00:00:00Z"))

    def cited(finding: str, phrase: str) -> str:
        page = ExpectedCitation(url=URL)
        expected = CitationsExpected(expected_citations=(page,), support_phrases=(phrase,))
        outcome = check_citations(expected, read_findings([json.loads(finding)]), TextNotes(NOTES), pages)
        return f"{outcome.verdict} {' / '.join(outcome.reasons)}"

    looked_up = "A page that an agent cites is looked up in its snapshot, `Dough needs time.`"
    check_golden(
        Path(__file__).parent / "fixtures" / "citations.md",
        {"The passage now": of_parts(found), "The text of a page": text_of, looked_up: of_parts(cited)},
    )
    assert page_text("A <b>\n", is_html=False) == "A <b>"
    assert page_text("a" * (MAX_KEPT_CHARS + 1), is_html=False) == "a" * MAX_KEPT_CHARS


def test_changed_words_are_shown() -> None:
    located = locate(CITATION, TextNotes(bread(BREAD.replace("smooth", "very smooth and soft"))))
    words = "Knead the dough until it is very smooth and soft."
    assert (located.diff, located.line) == (f"- {QUOTE}\n+ {words}", 7)
    position = {"start": START, "end": START + len(words)}
    assert located.now == CITATION.model_copy(update={"quote": words, "sha256": sha256_of(words), **position})


def test_of_places_in_one_section_the_nearest_to_the_start_counts() -> None:
    text = f"# A\n\n{QUOTE} x {QUOTE} y {QUOTE}\n"
    first, second, third = (at for at in range(len(text)) if text.startswith(QUOTE, at))
    for start, nearest in ((0, first), (second - 1, second), (second + 18, second), (9_999, third)):
        cited = CITATION.model_copy(update={"start": start, "end": start + len(QUOTE), "heading": None})
        now = locate(cited, TextNotes(bread(text))).now
        assert now is not None
        assert (now.start, now.end, now.heading) == (nearest, nearest + len(QUOTE), "A")


@pytest.mark.parametrize(
    ("start", "end", "cites"),
    [
        (START - 5, START, False),
        (START - 5, START + 1, True),
        (START + len(QUOTE) - 1, START + len(QUOTE) + 3, True),
        (START + len(QUOTE), START + len(QUOTE) + 3, False),
    ],
)
def test_a_span_is_cited_where_it_overlaps(start: int, end: int, cites: bool) -> None:
    cited = CitedSpan("Kitchen/Bread.md", start, end, "")
    outcome = check(AgentAnswer(citations=(cited,)), TextNotes(NOTES), CITATION)
    assert outcome.verdict == ("pass" if cites else "fail")
    assert outcome.score == (1.0 if cites else pytest.approx(2 / 3))
    elsewhere = replace(cited, path="Sky.md", start=0, end=5)
    missed = check(AgentAnswer(citations=(elsewhere,)), TextNotes(NOTES), CITATION)
    assert missed.reasons == ("expected_citations: the answer does not cite Kitchen/Bread.md, line 7",)
    whole = ExpectedCitation(path="Kitchen/Bread.md")
    assert check(AgentAnswer(citations=(cited,)), TextNotes(NOTES), whole).verdict == "pass"
    missed = check(AgentAnswer(citations=(elsewhere,)), TextNotes(NOTES), whole)
    assert missed.reasons == ("expected_citations: the answer does not cite Kitchen/Bread.md",)


def test_a_fault_of_a_citation_says_where_it_is() -> None:
    where = "the answer cites Sky.md, characters 0 to"
    size = len(NOTES["Sky.md"])
    for cited, reason in (
        (CitedSpan("Sky.md", 0, size, NOTES["Sky.md"]), ""),
        (CitedSpan("Sky.md", 0, size + 1, ""), f"{where} {size + 1}: the note has {size}"),
        (CitedSpan("Sky.md", 0, 5, "# Sea"), f"{where} 5: the text there is different\n  - # Sea\n  + # Sky"),
        (CitedSpan("Sky.md", 0, 5, "", "0"), f"{where} 5: the sha256 does not match the text there"),
        (CitedSpan("Sky.md", 0, 5, "", sha256_of("# Sky")), ""),
    ):
        outcome = check(AgentAnswer(citations=(cited,)), TextNotes(NOTES), phrases=("sky",))
        assert outcome.reasons == tuple(filter(None, (reason,)))
        assert outcome.score == (0.5 if reason else 1.0)
    (reason, _) = check(
        AgentAnswer(citations=(CitedSpan("No.md", 0, 5, ""),)), TextNotes(NOTES), phrases=("sky",)
    ).reasons
    assert reason == "the answer cites No.md, characters 0 to 5: there is no such note"


def check(
    answer: AgentAnswer | None, notes: TextNotes, *citations: ExpectedCitation, phrases: tuple[str, ...] = ()
) -> Outcome:
    expected = CitationsExpected(expected_citations=citations, support_phrases=phrases)
    return check_citations(expected, answer, notes, LivePages(None))


def test_a_support_phrase_stands_in_a_cited_passage_of_the_note() -> None:
    citing = AgentAnswer(citations=(span_of(BREAD, QUOTE),))
    assert check(citing, TextNotes(NOTES), phrases=("until it is smooth",)).verdict == "pass"
    assert check(citing, TextNotes(NOTES), phrases=("for forty minutes",)).verdict == "fail"
    # The agent's own words do not count, only those of the note.
    lying = AgentAnswer(text="for forty minutes", citations=citing.citations)
    assert check(lying, TextNotes(NOTES), phrases=("for forty minutes",)).verdict == "fail"
    assert check(None, TextNotes(NOTES), CITATION, phrases=("the dough",)).verdict == "pass"


def test_a_moved_passage_passes_and_says_so_and_a_changed_one_fails() -> None:
    outcome = check(None, TextNotes(bread(f"\n{BREAD}")), CITATION)
    assert (outcome.verdict, outcome.score) == ("pass", 1.0)
    assert outcome.reasons == (f"Kitchen/Bread.md: moved: start {START}, now {START + 1}",)
    outcome = check(None, TextNotes(bread(CHANGED)), CITATION)
    assert outcome.verdict == "fail"
    assert "+ Knead the dough until it is very smooth." in outcome.reasons[0]


def fetched(text: str = "A bread needs time.", status: int = 200, final_url: str = URL) -> LivePages:
    return LivePages(lambda url: Page(url, status, final_url, text, "2026-01-01T00:00:00+00:00"))


def test_a_page_is_fetched_once_in_a_run_and_one_that_does_not_answer_is_no_verdict() -> None:
    asked: list[str] = []

    def fetch(url: str) -> Page:
        asked.append(url)
        if "away" in url:
            raise UnavailableError(f"{url}: no route to host")
        return fetched().page(url)

    pages = LivePages(fetch)
    for url in (URL, f"{URL}/2", URL):
        assert pages.page(url).url == url
    assert asked == [URL, f"{URL}/2"]
    with pytest.raises(UnavailableError, match="no route"):
        check_page(ExpectedCitation(url=f"{URL}/away"), pages)
    with pytest.raises(UsageError, match="not fetched here"):
        check_page(ExpectedCitation(url=URL), LivePages(None))


@pytest.mark.posix("modes of files")
def test_a_snapshot_is_named_by_its_url_and_a_missing_one_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "snapshots"
    pages = PageSnapshots(folder)
    with pytest.raises(UsageError, match="no snapshot of this page"):
        pages.page(URL)
    file = pages.write(fetched().page(URL))
    assert file.name == snapshot_name(URL) == f"{sha256_of(URL)}.json"
    assert check_page(ExpectedCitation(url=URL, quote="needs time"), pages).state == "same"
    assert pages.has(URL)
    assert not pages.has(f"{URL}/2")
    other = pages.write(replace(fetched().page(URL), url=f"{URL}/2"))
    other.replace(file)
    with pytest.raises(UsageError, match=f"is the snapshot of {URL}/2, expected {URL}"):
        pages.page(URL)
    assert not pages.has(URL)
    for damaged in ("{}", "[", "[]"):
        file.write_text(damaged)
        with pytest.raises(UsageError, match="not a snapshot"):
            pages.page(URL)
    pages.write(fetched("K\xe4se").page(URL))
    assert file.stat().st_mode & 0o777 == 0o644
    assert '"text": "K\xe4se"' in file.read_text(encoding="utf-8")
    hidden = PageSnapshots(folder, lambda one: one != file)
    assert not hidden.has(URL), "an excluded one does not exist"
    with pytest.raises(MissingSnapshotError):
        hidden.page(URL)


def respond(request: BaseHTTPRequestHandler) -> None:
    """Each path has the status that it names; 200 is a page that says of which letters it is."""
    status = int(request.path.rpartition("/")[2])
    send(request, status, "<p>K\xe4se</p>".encode("latin-1"), "text/html; charset=iso-8859-1")


@pytest.fixture
def site() -> Iterator[str]:
    """The address of a page, which is served from an address that no public page has."""
    with serving(respond) as server:
        yield f"http://page.example:{server.server_port}"


def network(*addresses: str, accepts: Callable[[str], bool] = lambda _: True) -> Network:
    """A network in which every name has these addresses."""
    return Network(lambda *_args, **_options: [(2, 1, 6, "", (one, 0)) for one in addresses], accepts)


def test_a_page_is_fetched_and_one_that_is_gone_is_one_without_text(site: str) -> None:
    found = fetch_page(f"{site}/200", network("127.0.0.1"))
    assert (found.status, found.text, found.final_url) == (200, "K\xe4se", f"{site}/200")
    for status in (404, 410):
        gone = fetch_page(f"{site}/{status}", network("127.0.0.1"))
        assert (gone.status, gone.text, gone.is_gone) == (status, "", True)
    with pytest.raises(UnavailableError, match=f"{site}/403: the server returned 403 Forbidden"):
        fetch_page(f"{site}/403", network("127.0.0.1"))


def test_the_next_address_of_a_host_is_tried_and_none_that_is_not_accepted(site: str) -> None:
    for addresses in (("127.0.0.2", "127.0.0.1"), ("127.0.0.1", "127.0.0.2")):
        assert fetch_page(f"{site}/200", network(*addresses)).status == 200
    with pytest.raises(UnavailableError, match=r"cannot be fetched: .*refused"):
        fetch_page(f"{site}/200", network("127.0.0.2", "127.0.0.3"))
    some = network("127.0.0.1", "127.0.0.3", accepts=lambda address: address != "127.0.0.3")
    with pytest.raises(UnavailableError, match=r"page\.example has the address 127\.0\.0\.3; only public"):
        fetch_page(f"{site}/200", some)
    with pytest.raises(UnavailableError, match="cannot be fetched: "):
        fetch_page("ftp://page.example", network("127.0.0.1"))


def test_the_citation_of_a_page_gets_the_values_of_today() -> None:
    quoted = ExpectedCitation(url=URL, quote="A bread needs time.", sha256=sha256_of("A bread needs time."))
    today = "A bread needs no time."
    changed = check_page(quoted, fetched(f"{today} It is short."))
    assert changed.now == ExpectedCitation(url=URL, quote=today, sha256=sha256_of(today))
    assert changed.detail == "the page does not contain the quote"
    assert changed.diff == f"- A bread needs time.\n+ {today}"
    plain = check_page(quoted.model_copy(update={"sha256": None}), fetched(today))
    assert plain.now == ExpectedCitation(url=URL, quote=today)
    nothing = check_page(quoted, fetched("Other words"))
    assert nothing == Located("changed", None, "the page does not contain the quote", "- A bread needs time.")
    hashed = ExpectedCitation(url=URL, sha256=sha256_of("other"))
    new = sha256_of("A bread needs time.")
    assert check_page(ExpectedCitation(url=URL, sha256=new), fetched()).state == "same"
    assert check_page(hashed, fetched()) == Located(
        "changed", ExpectedCitation(url=URL, sha256=new), f"the sha256 of its text is {new}"
    )
    assert check_page(quoted, fetched(status=410)) == Located("gone", None, "the server returned 410")
    moved = check_page(quoted, fetched(final_url=f"{URL}/new"))
    assert moved == Located("moved", quoted.model_copy(update={"url": f"{URL}/new"}), f"now {URL}/new")
    broken_line = quoted.model_copy(update={"quote": "A bread\nneeds time."})
    assert check_page(broken_line, fetched()) == Located("same")


def test_hosts_are_named_once_in_order_and_without_what_is_secret() -> None:
    urls = ("https://b.org/x", "http://user:key@a.org:81/y", "https://b.org", "note")
    assert hosts_of(urls) == ("a.org:81", "b.org", "note")


def test_the_pages_that_cases_cite_are_named_once(tmp_path: Path) -> None:
    for name, cited in (("a", f"'{URL}/2', A.md, '{URL}'"), ("b", f"'{URL}'")):
        expected = f"expected: {{expected_citations: [{cited}]}}"
        write_case(tmp_path, name, f"id: {name}\nagent: search\nlayer: 2\n{expected}\n")
    simple_case(tmp_path, "c")
    assert cited_urls(load_cases(tmp_path)) == (f"{URL}/2", URL)


def test_a_page_is_checked_without_reading_a_note() -> None:
    expected = CitationsExpected(expected_citations=(ExpectedCitation(url=URL),))
    assert check_citations(expected, None, cast("NoteSource", None), fetched()).verdict == "pass"
