import { describe, expect, it } from "vitest";
import { asMarkdown, passagesBeside, sourcesOf, type LinkWriter } from "../src/ask_answer";
import { restOfTerm } from "../src/completions";
import { parseCommand, parseDaemon, stateFolder } from "../src/discovery";
import { copyCount, groupByNote } from "../src/groups";
import { fileName, isName, nameProblem } from "../src/opening";
import { relatedFigures, relatedWords, whyLines } from "../src/reasons";
import { MAX_RECENT, remember } from "../src/recent";
import { label, operator, scopedQuery } from "../src/scopes";
import { Sequence } from "../src/sequence";
import type { AskAnswer, Hit } from "../src/answers";

describe("the sequence of requests", () => {
  it("drops an answer that a later one overtook", () => {
    const sequence = new Sequence();
    const [first, second, third] = [sequence.next(), sequence.next(), sequence.next()];
    expect(sequence.accept(second)).toBe(true);
    expect(sequence.accept(first)).toBe(false);
    expect(sequence.accept(third)).toBe(true);
    expect(sequence.accept(third)).toBe(false);
  });

  it("drops all that is still to come", () => {
    const sequence = new Sequence();
    const asked = sequence.next();
    sequence.dropAll();
    expect(sequence.accept(asked)).toBe(false);
    expect(sequence.accept(sequence.next())).toBe(true);
  });
});

describe("groups", () => {
  it("puts a note where its best hit is, and keeps the order", () => {
    const hit = (path: string, line: number) => ({ path, title: path, line }) as Hit;
    const groups = groupByNote([hit("b", 1), hit("a", 1), hit("b", 9)]);
    expect(groups.map((group) => [group.path, group.hits.map((one) => one.line)])).toEqual([
      ["b", [1, 9]],
      ["a", [1]],
    ]);
    expect(groupByNote([])).toEqual([]);
  });

  it("says how many notes have the same text", () => {
    const hit = { path: "a", title: "a", line: 1, copies: ["b", "c"] } as unknown as Hit;
    expect(groupByNote([hit])[0]?.copies.length).toBe(2);
    expect(copyCount(["b", "c"])).toBe("and 2 copies");
    expect(copyCount(["b"])).toBe("and 1 copy");
  });
});

describe("scopes", () => {
  it("become operators of the query language", () => {
    expect(operator({ kind: "folder", folder: "Daily notes/2026 (a+b)" })).toBe(
      "path:/^Daily\\snotes\\/2026\\s\\(a\\+b\\)\\//",
    );
    expect(operator({ kind: "tag", tag: "#area/garden" })).toBe("tag:#area/garden");
    expect(operator({ kind: "property", name: "status" })).toBe("[status]");
    expect(operator({ kind: "property", name: "status", value: 'in "progress"' })).toBe(
      '[status:"in \\"progress\\""]',
    );
  });

  it("stand before what was typed", () => {
    expect(scopedQuery([{ kind: "tag", tag: "a" }], " bread ")).toBe("tag:#a bread");
    expect(scopedQuery([], "  ")).toBe("");
    expect(label({ kind: "property", name: "status", value: "draft" })).toBe("status: draft");
  });
});

describe("recent queries", () => {
  it("come latest first, each once, and not without end", () => {
    expect(remember(["a", "b"], " b ")).toEqual(["b", "a"]);
    expect(remember(["a"], "  ")).toEqual(["a"]);
    const many = Array.from({ length: 50 }, (_, number) => String(number));
    expect(remember(many, "new")).toHaveLength(MAX_RECENT);
  });
});

describe("discovery", () => {
  const file = { pid: 7, url: "http://127.0.0.1:5001", token: "t", vault: "/v", started: "" };

  it("reads a daemon of this machine only", () => {
    expect(parseDaemon(JSON.stringify(file))).toEqual({ pid: 7, url: file.url, token: "t" });
    const one = { ...file, url: "http://127.0.0.1:5001/vault/work" };
    expect(parseDaemon(JSON.stringify(one))).toEqual({ pid: 7, url: one.url, token: "t" });
    const paths = ["http://127.0.0.1:5001/vault/../x", "http://127.0.0.1:5001/v"];
    for (const url of [...paths, "http://example.org:80", "http://127.0.0.1.evil.org:80", "http://127.0.0.1:80@evil.org"]) {
      expect(parseDaemon(JSON.stringify({ ...file, url }))).toBeNull();
    }
    for (const text of ["", "null", "[]", "{", '{"pid":"7"}']) expect(parseDaemon(text)).toBeNull();
  });

  it("takes a start command with an absolute program only", () => {
    expect(parseCommand('{"command":["/usr/bin/python3","-m","x"]}')).toEqual(["/usr/bin/python3", "-m", "x"]);
    expect(parseCommand('{"command":["C:\\\\Python\\\\python.exe"]}')).toHaveLength(1);
    for (const text of ['{"command":["indexer"]}', '{"command":"/bin/x"}', '{"command":[1]}', "{}", ""]) {
      expect(parseCommand(text)).toEqual([]);
    }
  });

  it("knows the state folder of each system, as platformdirs does", () => {
    const env = { LOCALAPPDATA: "C:\\Users\\a\\AppData\\Local", XDG_STATE_HOME: "" };
    expect(stateFolder({ platform: "linux", home: "/home/a", env })).toBe("/home/a/.local/state/vault-indexer");
    expect(stateFolder({ platform: "linux", home: "/home/a", env: { XDG_STATE_HOME: "/s" } })).toBe("/s/vault-indexer");
    expect(stateFolder({ platform: "darwin", home: "/Users/a", env })).toBe(
      "/Users/a/Library/Application Support/vault-indexer",
    );
    expect(stateFolder({ platform: "win32", home: "C:\\Users\\a", env })).toBe(
      "C:\\Users\\a\\AppData\\Local\\vault-indexer\\vault-indexer",
    );
  });
});

describe("reasons", () => {
  it("name meaning, words and links with the daemon's figures", () => {
    const lines = whyLines({
      vector: { rank: 2, score: 0.714 },
      keyword: { rank: 1, score: 9, terms: { bread: 1 }, fields: { title: 0.5, body: 0.5 }, coverage: null },
      graph: { rank: 3, score: 0.2, via: ["Kitchen/Flour.md"] },
      recency: 1,
      fused: 0,
      fused_rank: 1,
      evidence: null,
      title: 0,
      filters: ["tag:#a"],
      note: { cosine: null, coverage: 1 },
      document_weight: 1,
    });
    expect(lines).toEqual([
      "Meaning: rank 2, similarity 71%",
      "Words: rank 1, bread (in title, body)",
      "Links: rank 3, from Flour",
      "The whole note contains 100% of the query's words, by weight",
      "Meets: tag:#a",
    ]);
  });

  it("say how a related note is related", () => {
    const why = { meaning: 1, link: 0, shared: 0 };
    const place = { path: "a.md", title: "a", header_path: "H", chunk_id: null };
    const note = { ...place, score: 1, shared: ["x/B.md"], shared_count: 4, why };
    const related = { ...note, similarity: 0.5, links: ["links to", "linked from"], closeness: "close", near: true };
    expect(relatedWords(related)).toBe("linked both ways · close in meaning · 4 links in common");
    const apart = { ...related, links: [], shared_count: 0, similarity: null, closeness: "" };
    expect(relatedWords({ ...apart, links: ["linked from"], shared_count: 1 })).toBe("links here · 1 link in common");
    const tagged = { ...apart, closeness: "somewhat close", shared_tags: ["a", "b", "b/c"] };
    expect(relatedWords(tagged)).toBe("same tag #a and 1 more · somewhat close in meaning");
    expect(relatedWords(apart)).toBe("");
    expect(relatedFigures(related)).toEqual([
      "Meaning: similarity 50%",
      "Nearest passage: H",
      "Both linked with B and 3 more",
      "Score: 100%",
    ]);
  });
});

describe("the name of a new note", () => {
  it("has nothing that file systems or links do not take", () => {
    expect(fileName("What: is a/b?")).toBe("What is a b");
    expect(fileName("../..")).toBe("");
    expect(fileName(" .hidden ")).toBe("hidden");
  });

  it("is no query with operators, and no unfinished one", () => {
    const names = ["Rye (dark) bread", "What: is a/b?", "2026-02-01 plan", "https://example.org", "C++", "R&D or not"];
    const queries = ["tag:kit", "-(a.md", "a (b", 'say "it"', "a -b", "a OR b", "[status:x]", "x task-todo:y", "/a b/", "??"];
    expect(names.filter(isName)).toEqual(names);
    expect(queries.filter(isName)).toEqual([]);
  });

  it("is refused beyond what file systems take, which count bytes", () => {
    expect(nameProblem(fileName("🍞".repeat(63)))).toBe("");
    expect(nameProblem(fileName("🍞".repeat(64)))).toBe("The name of a note has at most 252 bytes; this one has 256");
    expect(nameProblem(fileName("??"))).toBe("A note needs a name");
  });
});

describe("completions", () => {
  it("replace the rest of the term behind the cursor", () => {
    expect(restOfTerm("tag:#a", "bc def")).toBe("bc");
    expect(restOfTerm('path:"My', ' notes" x')).toBe(' notes"');
    expect(restOfTerm("[sta", "tus:done] x")).toBe("tus:done]");
    expect(restOfTerm("ta", ") OR b")).toBe("");
  });
});

describe("an answer to a question", () => {
  const source = (id: string, more: object) => ({ id, path: "a/B.md", title: "B", header_path: "B > Part", block: "", ...more });
  const sentences = [
    { text: "One.", citations: [source("x", {}), source("y", { block: "k" })], unchecked: [] },
    { text: "Two.", citations: [source("w", { header_path: "B > Two > Part [a]" }), source("z", { path: "p.pdf", title: "p", part: "page 4" })], unchecked: [] },
  ];
  const answer = { kind: "quotes", sentences, passages: [source("", {}), source("", { path: "c.md" })] } as unknown as AskAnswer;
  const link: LinkWriter = ({ path }, subpath, text) => `[${text}](${path}${subpath})`;

  it("has each source once, by number, and beside it what no sentence cites", () => {
    expect(sourcesOf(answer.sentences).map(({ id }) => id)).toEqual(["x", "y", "w", "z"]);
    expect(passagesBeside(answer).map(({ path }) => path)).toEqual(["c.md"]);
  });

  it("becomes Markdown with links to headings, blocks and pages", () => {
    expect(asMarkdown("Why?", answer, link)).toBe(
      [
        "**Why?**",
        "One. [1](a/B.md#Part) [2](a/B.md#^k)",
        "Two. [3](a/B.md#Two#Part a) [4](p.pdf#page=4)",
        "1. [B › Part](a/B.md#Part)\n2. [B › Part](a/B.md#^k)\n3. [B › Two › Part  a](a/B.md#Two#Part a)\n4. [p › page 4](p.pdf#page=4)",
      ].join("\n\n"),
    );
    const none = { ...answer, kind: "declined", sentences: [] } as AskAnswer;
    expect(asMarkdown("Why?", none, link)).toContain("No note answers this. These passages are the nearest:\n\n- [B › Part]");
  });
});
