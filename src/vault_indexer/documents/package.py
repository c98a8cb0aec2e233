"""Reads the archives of XML that office documents and books are."""

from __future__ import annotations

import posixpath
import re
import xml.etree.ElementTree as ET
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import NamedTuple
from urllib.parse import unquote

from vault_indexer.errors import NoteError

MAX_UNPACKED = 100 << 20
"""Bytes of all members that are read. With this bound on the sum, no ratio of compression is an attack."""

_MAX_DEPTH = 256
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = 1
"""The flag of an encrypted member."""

_DATE = re.compile(r"\d{4}-\d\d-\d\d")

LOCKED = "locked by a password"

Element = ET.Element


@contextmanager
def errors_as_damage() -> Iterator[None]:
    """Raises NoteError for every error that a malformed document causes."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
        raise NoteError(f"damaged: {error}") from error
    except ET.ParseError as error:
        raise NoteError(f"damaged: its XML is malformed: {error}") from error
    except (ValueError, LookupError) as error:
        raise NoteError(f"damaged: a value is not as its format requires: {error}") from error


class Relation(NamedTuple):
    """The target of a reference in a part of an Office document: a member of the archive, or an address."""

    kind: str
    target: str


class Package:
    """The members of an archive. It unpacks only those that are read, at most `MAX_UNPACKED` bytes together.

    Elements and attributes have their local names, without namespaces, so that the strict and the
    transitional variant of a format are the same; "r:id" is the id of a relation. Nothing outside of the
    archive is opened, and XML that defines entities is refused.
    """

    def __init__(self, data: bytes) -> None:
        if data.startswith(_OLD_OFFICE):
            is_locked = "EncryptedPackage".encode("utf-16-le") in data
            raise NoteError(LOCKED if is_locked else "damaged: it has the format of Office before 2007")
        self._archive = zipfile.ZipFile(BytesIO(data))
        self._left = MAX_UNPACKED

    def names(self) -> list[str]:
        return self._archive.namelist()

    def read(self, name: str) -> bytes:
        """Returns a member; b"" if it is missing."""
        try:
            member = self._archive.getinfo(name)
        except KeyError:
            return b""
        if member.flag_bits & _ENCRYPTED:
            raise NoteError(LOCKED)
        with self._archive.open(member) as stream:
            # One byte above the limit shows that the member is too large, whatever size the archive claims.
            data = stream.read(self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise NoteError(f"too large: unpacked it has more than {MAX_UNPACKED >> 20} MB")
        return data

    def tree(self, name: str) -> Element:
        """Returns the root of a member; an empty element if it is missing."""
        data = self.read(name)
        root = Element("missing")
        for event, element in _events(data) if data else ():
            if event == "end":
                root = element
        return root

    def children(self, name: str, parents: tuple[str, ...]) -> Iterator[Element]:
        """Yields each child of the named elements once it is whole, and empties it afterwards: a large member
        is never in memory as a whole. A child that is itself one of the parents comes without children."""
        path: list[Element] = []
        data = self.read(name)
        for event, element in _events(data) if data else ():
            if event == "start":
                path.append(element)
                continue
            path.pop()
            if path and path[-1].tag in parents:
                yield element
                element.clear()

    def relations(self, name: str) -> dict[str, Relation]:
        """Returns the targets of a part by the ids of its relations. Targets outside are addresses."""
        folder, _, base = name.rpartition("/")
        found = {}
        for relation in self.tree(f"{folder}/_rels/{base}.rels".lstrip("/")):
            target = relation.get("Target", "")
            if relation.get("TargetMode") != "External":
                target = resolve(folder, target)
            found[relation.get("Id", "")] = Relation(relation.get("Type", "").rpartition("/")[2], target)
        return found


def resolve(folder: str, target: str) -> str:
    """Returns the name of the member that a part in the folder refers to."""
    return posixpath.normpath(posixpath.join("/", folder, unquote(target))).lstrip("/")


def _events(data: bytes) -> Iterator[tuple[str, Element]]:
    if b"<!ENTITY" in data.replace(b"\0", b""):  # without the zero bytes of UTF-16
        raise NoteError("damaged: its XML defines entities, which this format does not allow")
    depth = 0
    for event, element in ET.iterparse(BytesIO(data), ("start", "end")):
        if event == "start":
            depth += 1
            if depth > _MAX_DEPTH:
                raise NoteError("damaged: its XML is nested too deeply")
            element.tag = _local(element.tag)
            if any("}" in key for key in element.attrib):
                element.attrib = {_local(key): value for key, value in element.attrib.items()}
        else:
            depth -= 1
        yield event, element


def _local(name: str) -> str:
    namespace, _, local = name.rpartition("}")
    return f"r:{local}" if namespace.endswith("/relationships") and local == "id" else local


def iso_date(text: str | None) -> str:
    """Returns the day at the start of a time in ISO form; "" for other text."""
    found = _DATE.match((text or "").strip())
    return found[0] if found else ""


def keywords_in(text: str) -> tuple[str, ...]:
    """Returns the keywords of a list that commas or semicolons separate."""
    return tuple(word.strip() for word in re.split("[,;]", text) if word.strip())


def texts(element: Element, tag: str) -> str:
    """Returns all the text of the descendants with this tag."""
    return "".join(found.text or "" for found in element.iter(tag))


def nearest_descendants(element: Element, tag: str) -> Iterator[Element]:
    """Yields the rows of a table, or the cells of a row, also those in groups and content controls."""
    for child in element:
        if child.tag == tag:
            yield child
        else:
            yield from nearest_descendants(child, tag)
