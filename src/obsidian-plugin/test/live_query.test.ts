import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { LiveQuery } from "../src/live_query";

/** A live query whose answers the test gives; `shown` holds what reached the user, `asked` what was sent. */
function typing() {
  const asked: string[] = [];
  const shown: string[] = [];
  const open = new Map<string, { answer: () => void; fail: () => void }>();
  const live = new LiveQuery<string>({
    ask: (query) => {
      asked.push(query);
      return new Promise((resolve, reject) => {
        open.set(query, { answer: () => resolve(query.toUpperCase()), fail: () => reject(new Error(query)) });
      });
    },
    show: (answer) => shown.push(answer),
    fail: (error) => shown.push(`no ${String(error)}`),
  });
  const settle = async (query: string, how: "answer" | "fail" = "answer") => {
    open.get(query)?.[how]();
    await setImmediate();
  };
  return { live, asked, shown, settle };
}

describe("a query that is asked while it is typed", () => {
  it("has two requests under way at most, and the newest text waits", async () => {
    const { live, asked, shown, settle } = typing();
    for (const text of ["w", "wo", "wom", "womb", "wombat"]) live.ask(text);
    expect(asked).toEqual(["w", "wo"]);
    await settle("w");
    expect(asked).toEqual(["w", "wo", "wombat"]);
    await settle("wombat");
    await settle("wo");
    expect(shown).toEqual(["W", "WOMBAT"]);
    expect(asked).toHaveLength(3);
  });

  it("asks what waits after a failure, too", async () => {
    const { live, asked, shown, settle } = typing();
    for (const text of ["[", "[x", "[x:y]"]) live.ask(text);
    await settle("[", "fail");
    await settle("[x:y]");
    expect(asked).toEqual(["[", "[x", "[x:y]"]);
    expect(shown).toEqual(["no Error: [", "[X:Y]"]);
  });

  it("is busy until the last text is answered", async () => {
    const { live, settle } = typing();
    expect(live.isBusy).toBe(false);
    live.ask("a");
    live.ask("ab");
    await settle("a");
    expect(live.isBusy).toBe(true);
    await settle("ab");
    expect(live.isBusy).toBe(false);
  });

  it("drops all that is still to come", async () => {
    const { live, asked, shown, settle } = typing();
    for (const text of ["a", "ab", "abc"]) live.ask(text);
    live.drop();
    expect(live.isBusy).toBe(false);
    await settle("a");
    await settle("ab");
    expect(asked).toEqual(["a", "ab"]);
    expect(shown).toEqual([]);
  });
});
