"""Resolves links like the program that a vault is written for: by the addresses of web pages in site
generators, by the names of pages in Logseq.

A file has addresses, which follow from its path and its properties. A link leads to the first address that it
may mean, else to its target in Obsidian.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from operator import eq
from posixpath import normpath
from types import MappingProxyType
from typing import NamedTuple

from vault_indexer.model import LinkStyle, Note, NoteRow
from vault_indexer.parse.frontmatter import strings
from vault_indexer.parse.resolve import (
    UNRESOLVED,
    Resolution,
    VaultPaths,
    link_key,
    normal,
    resolve,
    target_name,
)
from vault_indexer.parse.site_syntax import PAGE_SUFFIX, is_block, page_name

Page = Note | NoteRow

# The style of a vault, from the files and folders at its root.


_MARKERS: Mapping[LinkStyle, tuple[tuple[str, ...], ...]] = MappingProxyType(
    {
        "dendron": (("dendron.yml",), ("root.schema.yml",)),
        "logseq": (("logseq/config.edn",),),
        "mkdocs": (("mkdocs.yml",), ("mkdocs.yaml",)),
        "docusaurus": tuple((f"docusaurus.config.{suffix}",) for suffix in ("js", "ts", "mjs", "cjs")),
        "hugo": (
            *((f"hugo.{suffix}",) for suffix in ("toml", "yaml", "yml", "json")),
            *((f"config.{suffix}", "content") for suffix in ("toml", "yaml", "yml", "json")),
            ("config/_default", "content"),
        ),
        "jekyll": (("_config.yml",), ("_config.yaml",), ("_config.toml",)),
    }
)
"""Files that only such a vault has; of each group, all of them."""


def detect_style(exists: Callable[[str], bool], folders: Iterable[str] = ()) -> LinkStyle:
    """The style of a vault, else of the first of its `folders` that has one. `exists` returns whether a file,
    or a folder with files, is at a path."""
    for root in ("", *(f"{folder}/" for folder in folders)):
        for style, groups in _MARKERS.items():
            if any(all(exists(f"{root}{marker}") for marker in group) for group in groups):
                return style
    return "obsidian"


# Addresses of web pages, without `/` around them: `content/guide/_index.md` is at `content/guide`.


_LANGUAGE = re.compile(r"\.[a-z]{2}(?:-[a-z]{2,4})?\Z")
_DATED = re.compile(r"(?:(?P<blog>.*)/)?(?P<day>\d{4}-\d\d-\d\d)-(?P<name>[^/]+)\Z")
_DAY_PATH = re.compile(r"(?<=/)\d{4}/\d\d/\d\d/[^/]+\Z")
_PLACEHOLDER = re.compile(r":([a-z_]+)")
_ANYWHERE = "*"
"""The folder of the posts of a day, since the configuration of a site decides where they are."""

_INDEX = frozenset({"index", "readme"})
_UNPUBLISHED = frozenset({"static", "public", "", "."})
"""Folders that are no part of the address of what they contain."""

_OWN_ADDRESS = frozenset({"url", "permalink", "slug", "aliases", "redirect_from"})


def _address(path: str) -> str:
    """The address of the file, or of the page, at a normal path."""
    *folders, name = path.split("/")
    if PAGE_SUFFIX.search(name):
        name = _LANGUAGE.sub("", PAGE_SUFFIX.sub("", name))
        if name.removeprefix("_") in _INDEX and (folders or name != "readme"):  # not that of a repository
            name = ""
    return "/".join(part.removeprefix("_") for part in (*folders, name) if part not in _UNPUBLISHED)


def _web_addresses(path: str, page: Page | None, _: Iterable[str]) -> Iterator[str]:
    path = normal(path)
    own = _address(path)
    yield own
    yield own.replace(" ", "-")
    if _is_index(path):
        yield f"{own}/"
    if dated := _DATED.match(own):
        blog = (dated["blog"] or "").removesuffix("posts").strip("/")
        for folder in ("", blog):
            yield _address(f"{folder}/{dated['day'].replace('-', '/')}/{dated['name']}")
            yield _address(f"{folder}/{dated['name']}")
        yield f"{_ANYWHERE}/{dated['name']}"
    folder = path.rpartition("/")[0]
    for name, value in page.frontmatter.items() if page else ():
        for one in strings(value) if name.lower() in _OWN_ADDRESS else ():
            written = _filled(one, own, dated) if name.lower() == "permalink" else one
            yield _address(normal(written.strip("/") if written[:1] == "/" else f"{folder}/{written}"))


def _filled(permalink: str, address: str, dated: re.Match[str] | None) -> str:
    """A permalink of Jekyll with its placeholders replaced, such as `:title`; categories are left out."""
    name = dated["name"] if dated else address.rpartition("/")[2]
    values = dict.fromkeys(("title", "slug", "name", "basename"), name)
    if dated:
        values |= zip(("year", "month", "day"), dated["day"].split("-"), strict=True)
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], ""), permalink)


def _web_forms(target: str, source: str) -> Iterator[str]:
    """The addresses that a target may mean. Their last parts are equal, except for the root of the site, so
    that they have one link key."""
    written, source = normal(target).removeprefix("@site").partition("?")[0].rstrip("/"), normal(source)
    folder = source.rpartition("/")[0]
    roots = _roots(folder)
    if written[:1] in ("", "/") and not _address(written):
        yield from (f"{root}/" for root in map(_address, roots))
        return
    last = written.rpartition("/")[2]
    if written[0] == "/":
        bases = roots
    else:
        # For a browser a page is a folder, so that `..` is the folder of its file.
        bases = [_address(source), folder]
        if "." in last.strip("."):  # a file
            bases.reverse()
        if not last.strip(".") or _is_index(last):
            bases = bases[:1]
        elif written[0] != ".":
            bases += roots
    for base in bases:
        path = normpath(f"{base}/{written}".lstrip("/"))
        if path.split("/")[0] != "..":
            yield _address(path)
    if dated := _DAY_PATH.search(written):
        yield _address(dated[0])


def _roots(folder: str) -> list[str]:
    """The folders that may be the root of the site which a folder belongs to, from that of the vault."""
    return ["", *accumulate(folder.split("/"), "{}/{}".format)] if folder else [""]


# Names of Logseq's pages.


_JOURNAL = re.compile(r"(\d{4})[_-](\d\d)[_-](\d\d)\Z")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def _logseq_addresses(path: str, page: Page | None, blocks: Iterable[str]) -> Iterator[str]:
    name = normal(page_name(path))
    yield name
    if day := _JOURNAL.match(name):
        year, month, number = map(int, day.groups())
        ending = "th" if number in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
        yield f"{year}-{month:02}-{number:02}"
        yield f"{_MONTHS[(month - 1) % 12]} {number}{ending}, {year}"
    names = (page.title, *page.aliases) if page else ()
    yield from (normal(target_name(other)) for other in (*names, *filter(is_block, blocks)))


# Each vault of Dendron has its own root.


def _dendron_forms(target: str, source: str) -> Iterator[str]:
    if target.startswith("/"):
        yield from (normal(f"{root}{target}").lstrip("/") for root in _roots(source.rpartition("/")[0]))


class _Rules(NamedTuple):
    """The addresses of a file, of its page and of the ids of its blocks, and the addresses that a target may
    mean in a note."""

    addresses: Callable[[str, Page | None, Iterable[str]], Iterable[str]]
    forms: Callable[[str, str], Iterable[str]]


_WEB = _Rules(_web_addresses, _web_forms)
_RULES: Mapping[LinkStyle, _Rules] = MappingProxyType(
    {
        "dendron": _Rules(lambda path, *_: (normal(path),), _dendron_forms),
        "docusaurus": _WEB,
        "hugo": _WEB,
        "jekyll": _WEB,
        "mkdocs": _WEB,
        "logseq": _Rules(_logseq_addresses, lambda target, _: (normal(target),)),
    }
)
_OTHER_VAULT = re.compile(r"dendron://[^/]*/")


class StyledPaths(VaultPaths):
    """The paths of a vault with the addresses of its files. `add` and `remove` return link keys, as of
    `VaultPaths`."""

    def __init__(
        self,
        style: LinkStyle,
        paths: Iterable[str] = (),
        pages: Iterable[Page] = (),
        blocks: Mapping[str, Iterable[str]] = MappingProxyType({}),
    ) -> None:
        """`blocks` are the ids of the blocks of notes, by path."""
        self._style = style
        self._rules = _RULES.get(style)
        self._by_address: dict[str, dict[str, None]] = {}
        self._addresses: dict[str, tuple[str, ...]] = {}
        super().__init__(paths)
        for page in pages:
            self.put_page(page, blocks.get(page.path, ()))

    @property
    def reads_pages(self) -> bool:
        """Whether notes have addresses that only their content gives."""
        return self._rules is not None and self._style != "dendron"

    def add(self, *paths: str) -> frozenset[str]:
        keys = super().add(*paths)
        if self._rules is None:
            return keys
        new = (path for path in paths if path not in self._addresses)
        return keys.union(*(self._put(path, self._rules.addresses(path, None, ())) for path in new))

    def remove(self, *paths: str) -> frozenset[str]:
        return super().remove(*paths).union(*(self._put(path, ()) for path in paths))

    def put_page(self, page: Page, blocks: Iterable[str] = ()) -> frozenset[str]:
        """Takes the addresses of a note that was added from its content; returns link keys as `add`."""
        if self._rules is None:
            return frozenset()
        return self._put(page.path, self._rules.addresses(page.path, page, blocks))

    def find(self, target: str, source: str) -> tuple[Resolution, str]:
        """Resolves the target of a link in the note `source`. Returns the link key as well."""
        target = target_name(target)
        if self._style == "dendron":
            target = _OTHER_VAULT.sub("", target)
        if self._rules is None or not target:
            return resolve(target, source, self), link_key(target)
        forms = list(self._rules.forms(target, source))
        key = link_key(forms[0] if forms else target)
        in_obsidian = resolve(target, source, self) if key == link_key(target) else UNRESOLVED
        if self._rules is _WEB and in_obsidian.path and not {"/", "."} & set(target):
            return in_obsidian, key  # a name, not an address
        if self._rules is _WEB and target[0] == "/" and forms:
            forms.append(f"{_ANYWHERE}/{forms[0].rpartition('/')[2]}")
        for form in forms:
            if found := self._by_address.get(form):
                return Resolution(min(found, key=lambda path: _distance(path, source))), key
        return in_obsidian, key

    def _put(self, path: str, addresses: Iterable[str]) -> frozenset[str]:
        old, new = self._addresses.pop(path, ()), tuple(dict.fromkeys(addresses))
        if new:
            self._addresses[path] = new
        for address in old:
            self._by_address[address].pop(path)
        for address in new:
            self._by_address.setdefault(address, {})[path] = None
        changed = {link_key(address) for address in set(old) ^ set(new)}
        # An index page may be the root of a site, whose key is "".
        return frozenset(changed | {""} if changed and _is_index(path) else changed)


def _is_index(path: str) -> bool:
    return not _address(f"x/{normal(path).rpartition('/')[2]}").removeprefix("x")


def _distance(path: str, source: str) -> tuple[bool, int, int, str]:
    """Orders files with the same address: first those in the language of the note, then the nearest."""
    languages = (_LANGUAGE.findall(PAGE_SUFFIX.sub("", normal(one))) for one in (path, source))
    shared = sum(map(eq, path.split("/")[:-1], source.split("/")[:-1]))
    return next(languages) != next(languages), -shared, len(path), path
