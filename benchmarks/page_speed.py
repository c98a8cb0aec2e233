"""How fast the web page is: from a keystroke to painted hits, in Chromium, beyond the API's own time.

    python benchmarks/page_speed.py INDEX_DIR [--rounds 3]

Needs Chromium (`apt-get install chromium`), `pip install -e '.[browser]'` and a daemon that runs on the
index folder. It only reads. It types queries into the page one key after the other, each key after the hits
of the one before are painted, and measures in the page with `performance.now()`:

- painted: from the event `keydown` until the frame after the one in which the hits were put into the page;
- api: `took_ms` of the answer, which is the time of the search in the daemon;
- beyond: painted minus api: HTTP, JSON, layout and paint.

It also counts tasks over 50 ms while typing, requests to other hosts and bytes for each hit, and times 10
hits over HTTP on one connection. The targets are 60 ms (p50) and 120 ms (p95) beyond the API, no long task,
and 8 ms (p50) for 10 hits.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote, urlsplit

from playwright.sync_api import sync_playwright

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


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("index_dir", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    info = json.loads((options.index_dir / "daemon.json").read_text(encoding="utf-8"))
    found = {
        **typing(info["url"], info["token"], options.rounds),
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
        for query in QUERIES * rounds:
            page.fill("#q", "")
            for key in query:
                seen = page.evaluate("window.painted.length")
                page.keyboard.press("Space" if key == " " else key)
                page.wait_for_function("seen => window.painted.length > seen", arg=seen, timeout=30_000)
        painted = page.evaluate("window.painted")
        long = page.evaluate("window.long")
        browser.close()
    beyond = [whole - api for whole, api in painted]
    return {
        "keystrokes": len(painted),
        "painted_ms": quantiles([whole for whole, _ in painted]),
        "api_ms": quantiles([api for _, api in painted]),
        "beyond_ms": quantiles(beyond),
        "long_tasks_ms": sorted(long),
        "hosts": sorted(hosts),
    }


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
