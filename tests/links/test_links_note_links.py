"""What `links` and `related` answer over a small vault whose every link is known."""

from linked_vault import NOTES, PICTURE

from vault_indexer.model import OutgoingLink
from vault_indexer.service import VaultService

BREAD = "kitchen/Bread.md"


def link(linked: VaultService, target: str, subpath: str = "") -> OutgoingLink:
    found = linked.links("Index").outgoing
    return next(one for one in found if (one.target, one.subpath) == (target, subpath))


def test_a_link_to_a_heading_knows_its_chunk_and_line(linked: VaultService) -> None:
    kneading = link(linked, "Bread", "Kneading")
    assert (kneading.resolved, kneading.target_line, kneading.problem) == (BREAD, 8, None)
    web = link(linked, "kitchen/Bread.md", "kneading-well")
    assert (web.target_line, web.problem) == (14, None)
    assert kneading.chunk_id != web.chunk_id
    assert {kneading.chunk_id, web.chunk_id} <= {f"kitchen/Bread_chunk_{n}" for n in range(3)}
    assert link(linked, "Bread").chunk_id is None


def test_a_link_to_a_block_knows_its_chunk(linked: VaultService) -> None:
    assert link(linked, "Bread", "^rest").chunk_id == link(linked, "Bread", "Kneading").chunk_id


def test_backlinks_show_where_and_how_they_stand(linked: VaultService) -> None:
    found = linked.links("Bread").backlinks
    assert {back.path for back in found} == {"Index.md", "Diary.md"}  # not from itself
    assert (found[0].path, found[0].snippet) == ("Diary.md", NOTES["Diary.md"].splitlines()[8])
    front, plain, kneading, frying, *_ = found[1:]
    assert (front.line, front.kind, front.chunk_id) == (2, "frontmatter", None)
    assert (plain.line, plain.chunk_id, plain.target_chunk_id) == (6, "Index_chunk_0", None)
    assert plain.snippet == "Start with [[Bread]], then [[Bread#Kneading|knead]]."
    assert kneading.target_chunk_id == link(linked, "Bread", "Kneading").chunk_id
    assert frying.problem == "no heading Frying"


def test_an_orphan_has_no_edge_either_way(linked: VaultService) -> None:
    # Alone has an unresolved link, b/Twin loses to a/Twin.
    assert [one.path for one in linked.orphans()] == ["Alone.md", "Japanese.md", "b/Twin.md", "検索.md"]


def test_related_says_why(linked: VaultService) -> None:
    found = {near.path: near for near in linked.related("Night sky")}
    oven, bread = found["kitchen/Oven.md"], found[BREAD]
    assert (oven.links, oven.why.link > 0, oven.shared) == (("links to",), True, ())
    assert (bread.links, bread.why.link, bread.shared) == ((), 0.0, ("kitchen/Oven.md",))
    assert bread.why.shared > 0
    assert (oven.similarity, oven.chunk_id) == (None, None), "it has hardly any text"
    assert bread.similarity is not None and bread.chunk_id
    scores = [near.score for near in linked.related("Night sky")]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert "Night sky.md" not in found


def test_a_shared_attachment_relates_notes_but_is_none(linked: VaultService) -> None:
    found = {near.path: near for near in linked.related("Oven")}
    assert PICTURE in found["Index.md"].shared
    assert PICTURE not in found
