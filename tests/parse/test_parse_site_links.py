"""Where links lead in a vault that is written for another program, beyond the examples of the docs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from golden_cases import check_golden, of_parts
from hypothesis import given
from hypothesis import strategies as st
from parse_goldens import FIXTURES

from vault_indexer.model import JsonValue, LinkStyle, NoteRow
from vault_indexer.parse import StyledPaths, detect_style, link_key, parse_note
from vault_indexer.store.catalog import note_rows

STYLES: tuple[LinkStyle, ...] = ("dendron", "docusaurus", "hugo", "jekyll", "logseq", "mkdocs", "obsidian")


def page(path: str, source: str, style: LinkStyle) -> NoteRow:
    """A note as the catalog has it."""
    note = parse_note(path, source.encode(), style)
    title, language, properties, aliases, tags = map(str, note_rows(note, (), ()).note[:5])
    return NoteRow(1, path, title, language, properties, aliases, tags, 0)


def led(paths: StyledPaths, target: str, source: str) -> str | None:
    return paths.find(target, source)[0].path


def test_links_of_sites_lead_where_the_golden_says() -> None:
    def of_hugo(properties: str, target: str) -> str | None:
        paths = StyledPaths("hugo", ["content/posts/one.md", "content/posts/two.md"])
        assert led(paths, target, "content/posts/two.md") is None
        keys = paths.put_page(page("content/posts/one.md", f"---\n{properties}\n---\n", "hugo"))
        found, key = paths.find(target, "content/posts/two.md")
        assert key in keys
        paths.put_page(page("content/posts/one.md", "Without properties.\n", "hugo"))
        assert led(paths, target, "content/posts/two.md") is None
        return found.path

    def of_logseq(source: str, target: str) -> str | None:
        path = "pages/Animals___Cat.md"
        paths = StyledPaths("logseq", [path], [page(path, source, "logseq")])
        assert led(StyledPaths("obsidian", paths), target, "pages/Dog.md") is None
        return led(paths, target, "pages/Dog.md")

    def of_jekyll(properties: str, target: str) -> str | None:
        post = "blog/_posts/2024-05-06-a-day.md"
        own = page(post, f"---\n{properties}\n---\n", "jekyll")
        return led(StyledPaths("jekyll", [post, "day2.md"], [own]), target, "about/me.md")

    check_golden(
        FIXTURES / "site_links.md",
        {
            "A page of Hugo is at the addresses of its properties": of_parts(of_hugo),
            "A page of Logseq is found by its names": of_parts(of_logseq),
            "A post of Jekyll is found whatever the permalinks": of_parts(of_jekyll),
        },
    )


BLOCK = "65f1c0de-1234-4abc-9def-00112233aabb"


@pytest.mark.parametrize("written", ["(({}))", "{{{{embed (({})) }}}}", "[the plan]((({})))"])
def test_a_reference_of_logseq_leads_to_the_page_of_the_block(written: str) -> None:
    source = f"- First\n- A *plan*\n  for rye\n  id:: {BLOCK}\n- See {written.format(BLOCK)} later.\n"
    note = parse_note("pages/Plan.md", source.encode(), "logseq")
    (link,), (block,) = note.links, note.blocks
    assert note.text[block.start : block.end] == "- A *plan*\n  for rye"
    assert (block.id, block.line, "id::" in note.text) == (BLOCK, 2, False)
    paths = StyledPaths("logseq", ["pages/Plan.md", "pages/Dog.md"], [note], {"pages/Plan.md": [BLOCK]})
    found, key = paths.find(link.target, "pages/Dog.md")
    assert (found.path, key in paths.put_page(note)) == ("pages/Plan.md", True)
    assert led(paths, link.target, "pages/Dog.md") is None


def test_the_style_of_a_site_below_the_root_is_that_of_the_vault() -> None:
    files = {"docs/mkdocs.yml", "b/hugo.toml", "notes/a/_config.yml"}
    assert detect_style(files.__contains__, ["docs"]) == "mkdocs"
    assert detect_style(files.__contains__, ["b", "docs"]) == "hugo"
    assert detect_style({*files, "dendron.yml"}.__contains__, ["b", "docs"]) == "dendron"
    assert detect_style(files.__contains__, ["notes"]) == "obsidian"
    paths = StyledPaths("mkdocs", ["docs/docs/index.md", "docs/docs/guide/use.md", "diary/use.md"])
    assert led(paths, "/guide/use/", "docs/docs/index.md") == "docs/docs/guide/use.md"


def test_a_property_within_the_text_of_a_page_names_nothing() -> None:
    note = parse_note("pages/a%2Fb.md", b"- Text.\n- alias:: c\n", "logseq")
    assert (note.title, note.aliases) == ("a/b", ())


def test_of_several_files_at_an_address_the_language_then_the_folder_decides() -> None:
    files = ["v1/docs/a.md", "v2/docs/a.md", "v2/docs/a.fr.md", "v2/docs/deep/x.md", "v2/docs/deep/x.fr.md"]
    paths = StyledPaths("docusaurus", files)
    assert led(paths, "../a", "v2/docs/deep/x.md") == led(paths, "/docs/a", "v2/docs/deep/x.md")
    assert led(paths, "/docs/a", "v2/docs/deep/x.fr.md") == "v2/docs/a.fr.md"
    assert led(paths, "/docs/a", "v1/docs/x.md") == "v1/docs/a.md"


@pytest.mark.parametrize("style", STYLES)
def test_a_name_leads_where_it_leads_in_obsidian(style: LinkStyle) -> None:
    files = ["a.md", "b/a.md", "b/c.md", "d/e.md"]
    paths, plain = StyledPaths(style, files), StyledPaths("obsidian", files)
    for target in ("a", "c", "e", "d/e", "b/a", "nothing", ""):
        assert led(paths, target, "d/e.md") == led(plain, target, "d/e.md")


FOLDERS = ("", "a/", "a/b/", "content/", "content/a/", "_docs/", "static/")
NAMES = (
    *("a.md", "b.md", "index.md", "_index.md", "README.md", "a.de.md", "a___b.md", "2024_05_06.md", "a.png"),
)
PATHS = [folder + name for folder in FOLDERS for name in NAMES]
TARGETS = [
    *(
        f"{before}{name}{after}"
        for before in ("", "/", "../", "a/")
        for name in ("", "a", "b", "c", "index.md", "README.md", "a.html", "a.png", "docs")
        for after in ("", "/")
    ),
    *("..", ".", "../..", "./a", "../../a.md", "May 6th, 2024", "a b"),
]
PROPERTIES: list[Mapping[str, JsonValue]] = [{}, {"slug": "c"}, {"url": "/a/c/"}, {"aliases": ["/", "b"]}]


@given(
    style=st.sampled_from(STYLES),
    source=st.sampled_from(PATHS),
    changes=st.lists(
        st.tuples(st.sampled_from(PATHS), st.sampled_from((None, *PROPERTIES))), min_size=1, max_size=8
    ),
)
def test_only_links_with_a_returned_key_change_their_target(
    style: LinkStyle, source: str, changes: list[tuple[str, Mapping[str, JsonValue] | None]]
) -> None:
    paths = StyledPaths(style)
    named: dict[str, NoteRow] = {}
    before = {target: paths.find(target, source) for target in TARGETS}
    for path, properties in changes:
        keys: frozenset[str]
        if properties is None:
            keys = paths.remove(path)
            named.pop(path, None)
        else:
            front = "".join(f"{name}: {value}\n" for name, value in properties.items())
            named[path] = page(path, f"---\n{front}---\n" if front else "", style)
            keys = paths.add(path) | paths.put_page(named[path])
        after = {target: paths.find(target, source) for target in TARGETS}
        for target in TARGETS:
            assert after[target] == before[target] or after[target][1] in keys, target
            assert after[target][1] == before[target][1]
        before = after
    fresh = StyledPaths(style, named, named.values())
    assert {target: fresh.find(target, source) for target in TARGETS} == before


def test_the_key_of_a_name_is_the_same_in_every_style() -> None:
    keys: list[Callable[[str], str]] = [link_key, *(_key_in(style) for style in STYLES)]
    for target in ("a", "a b", "a/b", "a.md", "../a.md", "x.png"):
        assert len({key(target) for key in keys}) == 1


def _key_in(style: LinkStyle) -> Callable[[str], str]:
    return lambda target: StyledPaths(style).find(target, "f/n.md")[1]
