import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RequestUrlParam } from "obsidian";
import { DaemonClient, NoDaemonError, RefusedError, SilentError } from "../src/client";
import type { Discovery } from "../src/discovery";
import type { Status } from "../src/answers";
import { commandLine, indexLine, stateOf, stateOfError } from "../src/states";

const READY: Status = {
  state: "ready",
  seq: 1,
  pending: 0,
  notes: 3,
  detail: "",
  progress: null,
  paused: false,
  paused_until: "",
  vectors_owed: 0,
};

describe("the state of the daemon", () => {
  it("is not shown when there is nothing to say", () => {
    expect(stateOf(READY)).toBeNull();
    expect([READY, { ...READY, notes: 1 }].map(indexLine)).toEqual(["3 notes, up to date", "1 note, up to date"]);
  });

  it("says what is going on", () => {
    const progress = { stage: "reading", notes: 30, total: 120 };
    expect(stateOf({ ...READY, state: "building", progress })).toMatchObject({ kind: "building", progress: 0.25 });
    expect(stateOf({ ...READY, state: "paused", pending: 1 })).toMatchObject({
      kind: "paused",
      detail: "1 change pending",
      actions: ["resume"],
    });
    expect(stateOf({ ...READY, state: "degraded", detail: "the vault is gone" })).toMatchObject({
      kind: "degraded",
      detail: "the vault is gone",
    });
    expect(stateOf({ ...READY, state: "indexing", pending: 4 })?.title).toBe("4 changes being indexed");
    const first = { stage: "notes", notes: 1189, total: 16614 };
    expect(stateOf({ ...READY, state: "indexing", pending: 15276, progress: first })).toMatchObject({
      kind: "building",
      title: "The index is being built",
      detail: "1,189 of 16,614 notes",
      progress: 1189 / 16614,
    });
    const check = { stage: "verify vault", notes: 1, total: 3 };
    expect(stateOf({ ...READY, state: "indexing", pending: 15276, progress: check })?.title).toBe(
      "15,276 changes being indexed",
    );
    expect(stateOf({ ...READY, state: "unusable", detail: "catalog: damaged" })).toMatchObject({
      title: "The index cannot be used",
      detail: "catalog: damaged",
    });
    expect(stateOfError(new NoDaemonError([], false, false, "Not used: /x"), "/v", false)).toMatchObject({
      detail: "Not used: /x",
      commands: [],
    });
    expect(stateOf({ ...READY, vectors_owed: 9 })?.kind).toBe("pending");
    const upgrade = { model: "multilingual", done: 41, total: 100, seconds_left: 61, waits_for: "" };
    expect(stateOf({ ...READY, upgrade })).toMatchObject({
      kind: "ready",
      title: "Better vectors: 41%",
      detail: "about 2 minutes of idle time left; searches are answered meanwhile",
    });
    expect(stateOf({ ...READY, upgrade: { ...upgrade, waits_for: "waiting for mains power" } })?.detail).toBe(
      "waiting for mains power",
    );
  });

  it("says what to do without a daemon", () => {
    const missing = stateOfError(new NoDaemonError([], false), "/home/a/My notes", false);
    expect(missing.kind).toBe("missing");
    expect(missing.commands.map((one) => one.text)).toContain("indexer start --vault '/home/a/My notes'");
    const command = ["/usr/bin/python3", "-m", "vault_indexer.cli", "start"];
    expect(stateOfError(new NoDaemonError(command, true), "/v", false).actions).toContain("allow");
    expect(stateOfError(new NoDaemonError(command, true), "/v", true).actions).toContain("start");
    expect(stateOfError(new NoDaemonError([], true), "/v", true).actions).not.toContain("start");
    const done = (error: NoDaemonError) => stateOfError(error, "/v", true).steps.map(({ isDone }) => isDone);
    expect(done(new NoDaemonError([], false))).toEqual([false, false, false]);
    expect(done(new NoDaemonError(command, true, true))).toEqual([true, false, false]);
    expect(done(new NoDaemonError(command, true))).toEqual([true, true, false]);
  });

  it("quotes a command for the shell", () => {
    expect(commandLine(["/usr/bin/x", "it's $HOME"], false)).toBe("/usr/bin/x 'it'\\''s $HOME'");
    expect(commandLine(["indexer", "C:\\My notes\\it's"], true)).toBe("indexer 'C:\\My notes\\it''s'");
    expect(commandLine(["C:\\Program Files\\python.exe", "-P"], true)).toBe("& 'C:\\Program Files\\python.exe' -P");
  });
});

const sent = vi.hoisted(() => ({ requests: [] as RequestUrlParam[], answers: [] as (number | "refused" | "silent")[] }));

vi.mock("obsidian", () => ({
  requestUrl: (request: RequestUrlParam) => {
    sent.requests.push(request);
    const answer = sent.answers.shift() ?? 200;
    if (answer === "silent") return new Promise(() => undefined);
    if (answer === "refused") return Promise.reject(new Error("net::ERR_CONNECTION_REFUSED"));
    const json = answer < 400 ? READY : { error: { kind: "query", message: "column 3: no" } };
    return Promise.resolve({ status: answer, json });
  },
  Platform: { isDesktop: true },
}));

function client(...found: Discovery[]): DaemonClient {
  sent.requests = [];
  return new DaemonClient(() => Promise.resolve(found.shift() ?? { info: null, command: [] }));
}

const at = (port: number): Discovery => ({
  info: { pid: 1, url: `http://127.0.0.1:${port}`, token: `token-${port}` },
  command: ["/bin/indexer", "start"],
});

describe("the client", () => {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal("window", { setTimeout, clearTimeout });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("reads the files again on 401 and on refusal", async () => {
    for (const answer of [401, "refused"] as const) {
      const asked = client(at(1), at(2));
      sent.answers = [200, answer, 200];
      await asked.status();
      await asked.status();
      expect(sent.requests.map((one) => one.url.slice(0, 18))).toEqual([1, 1, 2].map((n) => `http://127.0.0.1:${n}`));
      expect(sent.requests[2]?.headers).toEqual({ Authorization: "Bearer token-2" });
    }
  });

  it("knows how to start a daemon that does not answer", async () => {
    sent.answers = ["refused"];
    const error: unknown = await client(at(1)).status().catch((one: unknown) => one);
    expect(error).toBeInstanceOf(NoDaemonError);
    expect((error as NoDaemonError).command).toEqual(["/bin/indexer", "start"]);
  });

  it("passes on what the daemon refuses, without asking again", async () => {
    sent.answers = [400];
    await expect(client(at(1)).search("[x:", 5)).rejects.toThrow(RefusedError);
    expect(sent.requests).toHaveLength(1);
    expect(sent.requests[0]?.url).toContain("q=%5Bx%3A&limit=5&as_you_type=true");
  });

  it("asks an older daemon without the parameter that it refuses", async () => {
    const asked = client(at(1));
    sent.answers = [422, 200, 200];
    await asked.search("x", 5);
    await asked.search("y", 5);
    expect(sent.requests.map((one) => one.url.includes("fields="))).toEqual([true, false, false]);
  });

  it("asks with that parameter again after a while: a newer daemon may be at the same address", async () => {
    const asked = client(at(1));
    sent.answers = [422, 200, 200, 200];
    await asked.search("x", 5);
    await asked.search("y", 5);
    vi.advanceTimersByTime(60_000);
    await asked.search("z", 5);
    expect(sent.requests.map((one) => one.url.includes("fields="))).toEqual([true, false, false, true]);
  });

  it("takes a query that is refused either way for a wrong query, not for an older daemon", async () => {
    const asked = client(at(1));
    sent.answers = [422, 422, 200];
    await expect(asked.search("x", 5)).rejects.toThrow(RefusedError);
    await asked.search("y", 5);
    expect(sent.requests.map((one) => one.url.includes("fields="))).toEqual([true, false, true]);
  });

  it("gives up a request that gets no answer", async () => {
    sent.answers = ["silent"];
    const failed = expect(client(at(1)).status()).rejects.toThrow(SilentError);
    await vi.advanceTimersByTimeAsync(30_000);
    await failed;
    expect(stateOfError(new SilentError(), "/v", true).kind).toBe("silent");
  });
});
