import { describe, expect, it } from "vitest";
import { mentionSpan } from "../src/mentions";
import { editorPosition, escapeInTable, lineStart, matches, segments, utf16Index } from "../src/places";
import { placesOf } from "../src/note_matches";

const TEXT = "# Bread 🍞\r\n\r\n👩‍🍳 says: feed the starter.\r\nThen wait.\r\n";

describe("positions", () => {
  it("counts code points as UTF-16 units", () => {
    expect(utf16Index("a🍞b", 0)).toBe(0);
    expect(utf16Index("a🍞b", 2)).toBe(3);
    expect(utf16Index("a🍞b", 3)).toBe(4);
    expect(utf16Index("a🍞b", 99)).toBe(4);
  });

  it("agrees with the code points of every prefix", () => {
    const points = [...TEXT];
    for (let count = 0; count <= points.length; count++) {
      expect(utf16Index(TEXT, count)).toBe(points.slice(0, count).join("").length);
    }
  });

  it("finds lines, which count from 1", () => {
    expect(lineStart(TEXT, 1)).toBe(0);
    expect(TEXT.slice(lineStart(TEXT, 4)).startsWith("Then")).toBe(true);
    expect(lineStart(TEXT, 40)).toBe(TEXT.length);
  });

  it("gives an editor lines from 0 and columns in UTF-16 units", () => {
    expect(editorPosition(TEXT, 0)).toEqual({ line: 0, ch: 0 });
    expect(editorPosition(TEXT, TEXT.indexOf("feed"))).toEqual({ line: 2, ch: "👩‍🍳 says: ".length });
  });
});

describe("segments", () => {
  it("cuts a snippet at its marks", () => {
    expect(segments("a 🍞 starter", [[4, 11]])).toEqual([
      { text: "a 🍞 ", marked: false },
      { text: "starter", marked: true },
    ]);
  });

  it("loses no character, whatever the marks", () => {
    const snippet = "one 🍞 two three";
    for (const marks of [[], [[0, 99]], [[3, 1]], [[0, 5], [2, 7]], [[50, 60]]]) {
      expect(segments(snippet, marks).map((one) => one.text).join("")).toBe(snippet);
    }
  });
});

describe("matches", () => {
  const hit = { snippet: "says: feed the starter. Then wait.", marks: [[6, 10], [15, 22]], line: 3, end_pos: 60 };

  it("finds the marked words in order from the line of the hit", () => {
    expect(matches(TEXT, hit).map(({ from, to }) => TEXT.slice(from, to))).toEqual(["feed", "starter"]);
  });

  it("leaves out what is not there, and what is behind the chunk", () => {
    const gone = { ...hit, snippet: "says: lost the starter" };
    expect(matches(TEXT, gone).map(({ from, to }) => TEXT.slice(from, to))).toEqual(["starter"]);
    const far = `${TEXT}${"x\n".repeat(100)}starter`;
    expect(matches(far.replace("starter", "STARTER"), hit).map(({ from, to }) => far.slice(from, to))).toEqual(["feed"]);
  });
});

describe("marked words", () => {
  const found = (text: string, snippet: string, word: string) => {
    const at = snippet.lastIndexOf(word);
    const hit = { snippet, marks: [[at, at + word.length]], line: 1, end_pos: text.length };
    return matches(text, hit).map(({ from }) => from);
  };

  it("are whole words, and not those of an address", () => {
    const party = "The party saw art.";
    expect(found(party, party, "art")).toEqual([party.indexOf("art.")]);
    const link = "[The page](https://example.org/art/page) shows art here.";
    expect(found(link, "The page shows art here.", "art")).toEqual([link.indexOf("art here")]);
  });

  it("are those that the snippet marks, where a word stands twice", () => {
    const text = "art of old, and **art** of today";
    expect(found(text, "and art of today", "art")).toEqual([text.lastIndexOf("art")]);
    const thai = "猫がいる。**猫**は寝る。";
    expect(found(thai, "猫は寝る。", "猫")).toEqual([thai.lastIndexOf("猫")]);
  });
});

describe("a link in a table", () => {
  const text = "a | b\n\n> | Place | When |\n> | --- | :-: |\n> | harbour | noon |\n\n| no | table |\n";

  it("has no bar that would end its cell", () => {
    const link = "[[Moonlit Harbour|harbour]]";
    for (const word of ["harbour", "Place"]) {
      expect(escapeInTable(link, text, text.indexOf(word))).toBe("[[Moonlit Harbour\\|harbour]]");
    }
    for (const word of ["a |", "no |"]) expect(escapeInTable(link, text, text.indexOf(word))).toBe(link);
  });
});

describe("a mention", () => {
  const at = [...TEXT].join("").indexOf("starter");
  const position = [...TEXT.slice(0, at)].length;
  const mention = {
    path: "a.md",
    title: "a",
    line: 3,
    start_pos: position,
    end_pos: position + 7,
    name: "Starter",
    snippet: "feed the starter.",
    marks: [[9, 16]],
  };

  it("is found where the index says, with or without a byte order mark", () => {
    expect(mentionSpan(TEXT, mention)).toEqual({ from: at, to: at + 7 });
    expect(mentionSpan(`\uFEFF${TEXT}`, mention)).toEqual({ from: at + 1, to: at + 8 });
  });

  it("is not found in a text that changed", () => {
    expect(mentionSpan(TEXT.replace("feed", "give"), mention)).not.toBeNull();
    expect(mentionSpan(TEXT.replace("feed", "starve"), mention)).toBeNull();
    expect(mentionSpan("", mention)).toBeNull();
  });
});

describe("the places of marked words in a note", () => {
  const text = "# Otters 🦦\n\nA quagga and a Moonlit\nharbour. Quaggas, QUAGGA.\n";
  const hit = (snippet: string, marks: number[][], line: number) => ({ snippet, marks, line });
  const shown = (hits: Parameters<typeof placesOf>[1]) => placesOf(text, hits).map(({ from, to }) => text.slice(from, to));

  it("are all of them, in order, whatever their case", () => {
    const hits = [hit("moonlit harbour", [[0, 15]], 4), hit("A quagga", [[2, 8]], 3), hit("QUAGGA.", [[0, 6]], 4)];
    expect(shown(hits)).toEqual(["quagga", "Moonlit\nharbour", "QUAGGA"]);
  });

  it("are the lines that were found where no word is marked", () => {
    expect(placesOf(text, [hit("x", [], 4), hit("y", [], 3), hit("z", [], 3)]).map(({ from }) => from)).toEqual([13, 36]);
  });
});
