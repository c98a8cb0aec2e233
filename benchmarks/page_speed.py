"""How fast the web page is: from a keystroke to painted hits, in Chromium, beyond the API's own time.

    python benchmarks/page_speed.py INDEX_DIR [--rounds 3] [--note PATH]

Needs Chromium (`apt-get install chromium`), `pip install -e '.[browser]'` and a daemon that runs on the
index folder. It only reads. It types queries into the page one key after the other, each key after the hits
of the one before are painted, and measures in the page with `performance.now()`:

- painted: from the event `keydown` until the frame after the one in which the hits were put into the page;
- api: `took_ms` of the answer, which is the time of the search in the daemon;
- beyond: painted minus api: HTTP, JSON, layout and paint.

Each key is a pair: painted and api are of the same answer. It also counts tasks over 50 ms while typing,
requests to other hosts and bytes for each hit, and times 10 hits over HTTP on one connection, the first paint
of the page (with an empty cache), and with `--note` from a click on a link to that note until it is painted.
`cpu` is the processor time of the page's main thread, which other work on the machine changes least.
The targets are 40 ms (p50) and 120 ms (p95) beyond the API, no long task, 8 ms (p50) for 10 hits, 300 ms for
the first paint, and 1 s for a note of 2 MB.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote, urlsplit

from playwright.sync_api import CDPSession, Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
QUERIES = ("how do I link to a heading", "sync notes between devices", "daily notes", "export as pdf")
FIELDS = "path,kind,title,language,header_path,line,uri,relevance,snippet,marks,tags,copies,shares"

MEASURE = """() => {
  window.painted = [];
  window.long = [];
  let pressed = 0;
  addEventListener('keydown', () => { pressed = performance.now(); }, true);
  document.addEventListener('hits', (event) => {
    const from = pressed;
    const note = () => window.painted.push([performance.now() - from, event.detail.tookMs]);
    requestAnimationFrame(() => setTimeout(note, 0));
  });
  new PerformanceObserver((list) => window.long.push(...list.getEntries().map((one) => one.duration)))
    .observe({entryTypes: ['longtask']});
}"""


OPEN_NOTE = """path => new Promise((done) => {
  const from = performance.now();
  const observer = new MutationObserver(() => {
    if (!document.querySelector('.note-text > *, .message')) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - from), 0));
  });
  observer.observe(document.body, {childList: true, subtree: true});
  location.hash = `#/note?${new URLSearchParams({path})}`;
})"""


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("index_dir", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--note", default="")
    options = parser.parse_args()
    info = json.loads((options.index_dir / "daemon.json").read_text(encoding="utf-8"))
    found = {
        **typing(info["url"], info["token"], options.rounds),
        **opening(f"{info['url']}/#token={info['token']}", options.note, options.rounds * 5),
        **http(info["url"], info["token"], options.rounds),
    }
    print(json.dumps(found, indent=2))


def typing(url: str, token: str, rounds: int) -> dict[str, object]:
    """What a person at the keyboard sees."""
    hosts: set[str] = set()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
        page.goto(f"{url}/#token={token}")
        page.wait_for_selector("#q")
        page.evaluate(MEASURE)
        session = timed(page)
        before = worked_ms(session)
        for query in QUERIES * rounds:
            page.fill("#q", "")
            for key in query:
                seen = page.evaluate("window.painted.length")
                page.keyboard.press("Space" if key == " " else key)
                page.wait_for_function("seen => window.painted.length > seen", arg=seen, timeout=30_000)
        painted = page.evaluate("window.painted")
        long = page.evaluate("window.long")
        worked = worked_ms(session) - before
        browser.close()
    beyond = [whole - api for whole, api in painted]
    return {
        "keystrokes": len(painted),
        "painted_ms": quantiles([whole for whole, _ in painted]),
        "api_ms": quantiles([api for _, api in painted]),
        "beyond_ms": quantiles(beyond),
        "cpu_a_key_ms": round(worked / len(painted), 1),
        "long_tasks_ms": sorted(long),
        "hosts": sorted(hosts),
    }


def opening(address: str, note: str, rounds: int) -> dict[str, object]:
    """The first paint of the page, and of a note, each in a new browser profile."""
    paints, notes, worked = [], [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for _ in range(rounds):
            context = browser.new_context()
            page = context.new_page()
            page.goto(address)
            page.wait_for_selector("#q")
            first = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
            paints.append(page.wait_for_function(first).json_value())
            if note:
                session = timed(page)
                before = worked_ms(session)
                notes.append(page.evaluate(OPEN_NOTE, note))
                worked.append(worked_ms(session) - before)
            context.close()
        browser.close()
    of_note = {"note_ms": quantiles(notes), "note_cpu_ms": quantiles(worked)} if note else {}
    return {"first_paint_ms": quantiles(paints), **of_note}


def timed(page: Page) -> CDPSession:
    """A session that counts the processor time of the page."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    return session


def worked_ms(session: CDPSession) -> float:
    """What the main thread of the page has worked: scripts, styles, layout and the rest of its tasks."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return 1000 * float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))


def http(url: str, token: str, rounds: int) -> dict[str, object]:
    """Ten hits over one connection, with the fields of the page and with all."""
    found: dict[str, object] = {}
    connection = HTTPConnection(urlsplit(url).netloc, timeout=30)
    for name, fields in (("typing", f"&as_you_type=true&fields={FIELDS}"), ("whole", "")):
        times, sizes = [], []
        for query in QUERIES * rounds * 3:
            started = time.perf_counter()
            target = f"/v1/search?limit=10&q={quote(query)}{fields}"
            connection.request("GET", target, headers={"Authorization": f"Bearer {token}"})
            body = connection.getresponse().read()
            times.append((time.perf_counter() - started) * 1000)
            sizes.append(len(body) / max(1, len(json.loads(body)["results"])))
        found[f"http_10_hits_{name}_ms"] = quantiles(times)
        found[f"bytes_a_hit_{name}"] = round(max(sizes))
    connection.close()
    return found


def quantiles(values: list[float]) -> dict[str, float]:
    """The median and the 95th percentile."""
    cuts = statistics.quantiles(values, n=20)
    return {"p50": round(statistics.median(values), 1), "p95": round(cuts[18], 1)}


if __name__ == "__main__":
    main()
