"""What makes a note pleasant to read runs nothing and asks nobody."""

import importlib.util
from collections.abc import Iterator, Mapping

import pytest
from code_in_notes import FAULTS
from code_in_reading import EVIL, hostile_readings
from page_site import ServeVault, Site, Visit
from playwright.sync_api import expect
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.browser]

NOTES: Mapping[str, str] = hostile_readings()

UNFINISHED = """() => document.querySelectorAll(
  '[data-diagram]:not(:has(img, .line)), [data-formula]:not(.set, [title]), code.raw:empty').length"""


@pytest.fixture(scope="module")
def hostile(serve_vault: ServeVault) -> Iterator[Site]:
    with serve_vault("hostile-reading", NOTES) as found:
        yield found


@pytest.fixture
def visit(hostile: Site) -> Iterator[Visit]:
    found = hostile.visit(reduced_motion="reduce")
    yield found
    assert found.dialogs == []
    assert sent(found) == []
    assert found.errors == []


def sent(visit: Visit) -> list[str]:
    """Requests to another host that the policy has not stopped."""
    foreign = visit.foreign()
    return [one.url for one in visit.requests if one.url in foreign and one.failure != "csp"]


def read(visit: Visit, path: str) -> None:
    """Show the note, until all is drawn, and use all that can be clicked in it."""
    page = visit.page
    visit.show("note", path=path)
    expect(page.locator(".note .hit-path").first).to_have_text(path)
    for summary in page.locator(".note-main summary:visible").all()[:20]:
        summary.click()
    page.locator(
        ".note-text [data-diagram]"
    ).first.scroll_into_view_if_needed() if "diagram" in path else None
    wait_until(lambda: page.evaluate(UNFINISHED) == 0)
    for button in page.locator(".note-text button:not(.copy):visible").all()[:20]:
        button.click()


@pytest.mark.parametrize("kind", ["html", "formula", "diagram", "other", "property"])
def test_nothing_runs(visit: Visit, kind: str) -> None:
    page = visit.page
    paths = [path for path in NOTES if path.startswith(kind)]
    assert paths
    for path in paths:
        read(visit, path)
        assert page.evaluate(FAULTS) == [], path
        for frame in page.frames[1:]:
            assert frame.evaluate("[window.pwned, window.origin]") == [None, "null"], path


def test_the_frame_of_the_diagrams_reaches_nothing(visit: Visit) -> None:
    """Even code that runs there, as if Mermaid itself were hostile, has no token, no page and no network."""
    if importlib.util.find_spec("mermaidx") is None:
        pytest.skip("needs mermaidx: pip install -e .[diagrams]")
    read(visit, "diagram 00.md")
    [_, frame] = visit.page.frames
    attack = f"""async () => {{
      const tried = {{}};
      const attempt = async (name, run) => {{
        try {{ tried[name] = String(await run()); }} catch (error) {{ tried[name] = 'refused'; }}
      }};
      await attempt('page', () => parent.document.title);
      await attempt('token', () => sessionStorage.length);
      await attempt('cookie', () => document.cookie);
      await attempt('api', () => fetch('{visit.page.url.split("#")[0]}v1/vaults'));
      await attempt('network', () => fetch('{EVIL}/'));
      await attempt('navigation', () => {{ top.location = '{EVIL}/'; return 'done'; }});
      await attempt('picture', () => new Promise((resolve, reject) => {{
        const one = new Image();
        one.onload = resolve;
        one.onerror = reject;
        one.src = '{EVIL}/i.png';
      }}));
      return tried;
    }}"""
    tried = frame.evaluate(attack)
    assert set(tried.values()) == {"refused"}, tried
    assert visit.foreign() == [f"{EVIL}/i.png"]
    visit.errors.clear()
