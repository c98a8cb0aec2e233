"""Notes that attack what makes a note pleasant to read: HTML that is shown, formulas, diagrams, code.

They go for what the allow-list lets through, and for the two libraries that draw.
"""

from collections.abc import Mapping

EVIL = "http://evil.example"
RUN = "window.pwned=1;alert(1)"
BAD_LINKS = (
    f"javascript:{RUN}",
    f"JaVa\tScRiPt:{RUN}",
    "data:text/html,<script>alert(1)</script>",
    f"//{EVIL[7:]}",
)

HTML = (
    *(f'<{tag} onclick="{RUN}" onmouseover={RUN} style="background:url({EVIL}/x.png)" id=main>x</{tag}>'
      for tag in ("b", "kbd", "sub", "sup", "mark", "u", "span", "code", "q", "small")),
    *(f'<div><{tag} onclick="{RUN}" class="message" style="position:fixed;inset:0">x</{tag}></div>'
      for tag in ("p", "div", "h1", "ul", "table", "blockquote")),
    f"<details open ontoggle={RUN}><summary onfocus={RUN} autofocus tabindex=1>x</summary>y</details>",
    *(f'<a href="{link}" onclick={RUN}>x</a>' for link in BAD_LINKS),
    *(
        f'<p>\n<a href="{link}">x</a>\n<img src="{link}">\n<iframe src="{link}"></iframe>\n</p>'
        for link in BAD_LINKS
    ),
    f'<a href="java&#115;cript:{RUN}">x</a> <a href="&#x6A;avascript&colon;{RUN}">y</a>',
    f'<img src="{EVIL}/i.png" onerror={RUN} srcset="{EVIL}/s.png 2x">',
    f'<iframe srcdoc="<script>{RUN}</script>" src="{EVIL}"></iframe>',
    f"<div>\n<b\n</div><script>{RUN}</script>",
    f'<kbd title="</kbd><script>{RUN}</script>">x</kbd>',
    f"<!-- --!><img src=x onerror={RUN}> -->\n\n<!--> <script>{RUN}</script>",
    f'<br onclick={RUN}><hr style="background:url({EVIL}/h.png)">',
    "<b>" * 300 + "x" + "<details>" * 200,
    f"a <svg onload={RUN}><style>@import url({EVIL}/x.css)</style></svg> b",
    f'<table><tr><td background="{EVIL}/t.png" onclick={RUN} align="right&quot;'
    f' onclick=x">x</td></tr></table>',
    f"<u/onclick={RUN}>x</u> <mark\n{RUN}>y</mark>"
)  # fmt: skip

FORMULAS = (
    f"$\\href{{javascript:{RUN}}}{{x}}$ $\\url{{javascript:{RUN}}}$ $\\href{{{EVIL}}}{{x}}$",
    f"$\\htmlClass{{message}}{{x}}$ $\\htmlId{{main}}{{x}}$"
    f" $\\htmlStyle{{background:url({EVIL}/f.png)}}{{x}}$",
    f"$\\htmlData{{x=y}}{{x}}$ $$\\includegraphics[alt=x]{{{EVIL}/i.png}}$$",
    f"$$\\text{{<img src=x onerror={RUN}>}} \\verb|<script>{RUN}</script>|$$",
    f"$\\color{{red;background:url({EVIL}/c.png)}}x$ $\\textcolor{{expression({RUN})}}{{x}}$",
    "$$\\def\\a{\\a\\a}\\a$$ $$\\rule{99999em}{99999em}$$ $$\\kern{1e9em}x$$",
    f'$$\\boxed{{x}} \\pmb{{y}} \\unicode{{"><script>{RUN}</script>}}$$',
    "$$\\gdef\\htmlClass{}\\let\\href=\\url\\newcommand{\\x}{y}$$",
)

DIAGRAMS = (
    f'graph TD\n A["<img src=x onerror={RUN}>"] --> B["<script>{RUN}</script>"]',
    f'graph TD\n A-->B\n click A "javascript:{RUN}"\n click B call alert("x")',
    f'graph TD\n A-->B\n click A href "{EVIL}" _top',
    '%%{init: {"securityLevel": "loose", "flowchart": {"htmlLabels": true}, "theme": "base"}}%%\n'
    f'graph TD\n A["<img src={EVIL}/m.png onerror={RUN}>"]-->B',
    f'%%{{init: {{"themeCSS": "@import url({EVIL}/m.css); * {{ background:'
    f' url({EVIL}/b.png) }}"}}}}%%\ngraph TD\n A-->B',
    f"---\nconfig:\n  securityLevel: loose\n"
    f'  fontFamily: "x;}} * {{background:url({EVIL}/f.png)"\n---\ngraph TD\n A-->B',
    f"graph TD\n A-->B\n classDef x fill:url({EVIL}/u.png),stroke:#000\n class A x\n"
    f" style B background:url({EVIL}/u.png)",
    f'graph TD\n A@{{ img: "{EVIL}/node.png", label: "x", w: 60, h: 60 }}',
    f"sequenceDiagram\n Alice->>Bob: <iframe src={EVIL}></iframe>\n link Alice: x @ javascript:{RUN}",
    f'classDiagram\n class A\n link A "javascript:{RUN}" "x"\n callback A "alert" "x"',
    f'C4Context\n Person(a, "<img src=x onerror={RUN}>", "y")\n'
    f' UpdateElementStyle(a, $bgColor="url({EVIL}/c.png)")',
    f"flowchart LR\n A -- <svg onload={RUN}> --> B",
    f'pie title <script>{RUN}</script>\n "</svg><script>{RUN}</script>" : 3',
    "graph TD\n __proto__ --> constructor --> toString",
)

OTHERS = (
    f"> [!__proto__] x\n> y\n\n> [!constructor]- <img src=x onerror={RUN}>\n> y\n\n"
    f'> [!" onclick={RUN}]+ x\n> y',
    f'a[^1] b^[<img src=x onerror={RUN}>] c[^"onclick]\n\n[^1]: <script>{RUN}</script> [x](javascript:{RUN})',
    f'```js" onclick="{RUN}\n<script>{RUN}</script>\n```\n\n```xml\n<img src=x onerror={RUN}>\n```',
    f"```__proto__\nx\n```\n\n```constructor\n{RUN}\n```",
    f'https://a.b/"onmouseover="{RUN} http://a.b/<script>{RUN}</script> https://a.b/\'onclick={RUN}',
    f"https://javascript:{RUN}@a.b javascript://a.b/%0a{RUN} data://x https://a.b/\u202ex",
    f'- ["] <u onclick={RUN}>x</u>\n- [<] x\n- [x] [y](javascript:{RUN})',
    f"| <kbd onclick={RUN}>x</kbd> |\n| :-: |\n| <script>{RUN}</script> <p/> |",
    f"%%\n<script>{RUN}</script>\n%% ==<mark onclick={RUN}>x</mark>==",
    f'# <u onclick={RUN}>x</u> ^a"onclick={RUN}\n\n[[#<u onclick={RUN}>x</u>]] [[#^"]] [[#^a"]:not(x]]',
    f'[[{EVIL}/x.pdf]] ![[javascript:{RUN}.pdf]] [x](x.pdf"onclick={RUN})',
)

PROPERTIES = (
    f'up: "[[javascript:{RUN}]]"\nsite: "javascript:{RUN}"\nother: "https://a.b/\\"onclick={RUN}"',
    f'"<img src=x onerror={RUN}>": ["<script>{RUN}</script>", {{"__proto__": {{"t":'
    f' "pre"}}, "t": "a", "href": "{EVIL}"}}]',
    "t: properties\nc: [{t: html, text: x}]\nconstructor: {prototype: {polluted: true}}",
)


def hostile_readings() -> Mapping[str, str]:
    """The notes, by path."""
    texts = {f"html {number:02}.md": text for number, text in enumerate(HTML)}
    texts |= {f"formula {number:02}.md": text for number, text in enumerate(FORMULAS)}
    texts |= {f"diagram {number:02}.md": f"```mermaid\n{text}\n```\n" for number, text in enumerate(DIAGRAMS)}
    texts |= {f"other {number:02}.md": text for number, text in enumerate(OTHERS)}
    texts |= {f"property {number:02}.md": f"---\n{text}\n---\nx" for number, text in enumerate(PROPERTIES)}
    return texts
