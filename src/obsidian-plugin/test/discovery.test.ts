import { createHash, createHmac, webcrypto } from "node:crypto";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, get, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { discover, findProgram } from "../src/discovery";
import { startDaemon } from "../src/launcher";

// As Obsidian's function: a request that no page's rules bind.
vi.mock("obsidian", () => ({
  Platform: { isDesktop: true },
  requestUrl: ({ url }: { url: string }) =>
    new Promise((resolve, reject) => {
      get(url, (response) => {
        const status = response.statusCode;
        text(response).then((body) => resolve({ status, json: JSON.parse(body) as unknown }), reject);
      }).on("error", reject);
    }),
}));

const COMMAND = ["/usr/bin/python3", "-P", "-m", "vault_indexer.cli", "start"];

describe.skipIf(process.platform === "win32")("finding a daemon by its files", () => {
  let root = "";
  let server: Server;
  const file = { pid: 7, url: "", token: "t", vault: "", started: "", command: COMMAND };
  /** What listens at the address. */
  const listening: { token: string; pid?: number } = { token: "t" };

  beforeEach(async () => {
    Object.assign(listening, { token: "t", pid: 7 });
    server = createServer((request, response) => {
      expect(request.headers.authorization).toBeUndefined();
      const { port } = server.address() as AddressInfo;
      const challenge = new URL(request.url ?? "", "http://x").searchParams.get("challenge") ?? "";
      const proof = createHmac("sha256", listening.token).update(`${port}:${challenge}`).digest("hex");
      response.end(JSON.stringify({ proof, pid: listening.pid }));
    });
    await new Promise<void>((bound) => server.listen(0, "127.0.0.1", bound));
    file.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    root = realpathSync(mkdtempSync(join(tmpdir(), "vault-")));
    vi.stubGlobal("window", { crypto: webcrypto });
    vi.stubEnv("XDG_STATE_HOME", join(root, "state"));
    vi.stubEnv("HOME", root);
    mkdirSync(join(root, "Notes ä"));
    mkdirSync(join(root, "index"));
  });

  afterEach(() => {
    server.close();
    vi.unstubAllGlobals();
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true });
  });

  function announce(content: object): void {
    writeFileSync(join(root, "index", "daemon.json"), JSON.stringify(content));
  }

  function point(): void {
    const folder = join(root, "state", "vault-indexer", "daemons");
    mkdirSync(folder, { recursive: true });
    const name = createHash("sha256").update(join(root, "Notes ä")).digest("hex").slice(0, 16);
    writeFileSync(join(folder, name), join(root, "index"));
  }

  it("follows the signpost of the vault, by its real path", async () => {
    point();
    announce(file);
    symlinkSync(join(root, "Notes ä"), join(root, "link"));
    for (const vault of ["Notes ä", "link"]) {
      const found = await discover(join(root, vault), "");
      expect(found).toEqual({ info: { pid: 7, url: file.url, token: "t" }, command: COMMAND });
    }
  });

  it("looks in the folder that the settings name", async () => {
    announce(file);
    expect((await discover(join(root, "Notes ä"), "")).info).toBeNull();
    expect((await discover(join(root, "Notes ä"), join(root, "index"))).info?.token).toBe("t");
    for (const wrong of [join(root, "none"), join(root, "Notes ä")]) {
      const problem = `The setting “Index folder” names a folder without an index: ${wrong}`;
      expect(await discover(join(root, "Notes ä"), wrong)).toEqual({ info: null, command: [], problem });
    }
  });

  it("believes a daemon that proves its token, and sends none to what else listens there, whatever the pid", async () => {
    const found = () => discover(join(root, "Notes ä"), join(root, "index"));
    announce(file);
    for (const [now, runs] of [
      [{ token: "t", pid: 7 }, true],
      [{ token: "t", pid: undefined }, true], // a daemon of an earlier version does not tell it
      [{ token: "another", pid: 7 }, false],
      [{ token: "t", pid: 8 }, false], // the next daemon: this announcement is of the last one
    ] as const) {
      Object.assign(listening, now);
      expect((await found()).info?.url).toBe(runs ? file.url : undefined);
    }
    announce({ ...file, pid: process.pid });
    expect(await found()).toEqual({ info: null, command: COMMAND });
    await new Promise((closed) => server.close(closed));
    expect(await found()).toEqual({ info: null, command: COMMAND });
  });

  it("takes the command of the last daemon when none is announced", async () => {
    writeFileSync(join(root, "index", "start.json"), JSON.stringify({ vault: "", command: COMMAND }));
    const found = await discover(join(root, "Notes ä"), join(root, "index"));
    expect(found).toEqual({ info: null, command: COMMAND });
  });

  it("believes nothing that another user may have written", async () => {
    const index = join(root, "index");
    const found = () => discover(join(root, "Notes ä"), index);
    announce(file);
    writeFileSync(join(index, "start.json"), JSON.stringify({ vault: "", command: COMMAND }));
    for (const path of [index, join(index, "daemon.json"), join(index, "start.json")]) chmodSync(path, 0o700);
    expect((await found()).info?.token).toBe("t");
    const problem = (path: string, reason = "another user owns it or may write to it") => `Not used, because ${reason}: ${path}`;
    chmodSync(index, 0o777);
    expect(await found()).toEqual({ info: null, command: [], problem: problem(index) });
    chmodSync(index, 0o700);
    chmodSync(join(index, "daemon.json"), 0o660);
    expect(await found()).toEqual({ info: null, command: COMMAND, problem: problem(join(index, "daemon.json")) });
    chmodSync(join(index, "daemon.json"), 0o600);
    rmSync(join(index, "daemon.json"));
    renameSync(join(index, "start.json"), join(root, "theirs.json"));
    symlinkSync(join(root, "theirs.json"), join(index, "start.json"));
    const link = join(index, "start.json");
    expect(await found()).toEqual({ info: null, command: [], problem: problem(link, "it is a link") });
    announce(file);
    if (process.getuid?.() !== 0) return;
    chmodSync(join(index, "daemon.json"), 0o600);
    chownSync(join(index, "daemon.json"), 1234, 1234);
    expect((await found()).info).toBeNull();
    chownSync(join(index, "daemon.json"), 0, 0);
    chownSync(index, 1234, 1234);
    expect((await found()).info).toBeNull();
  });

  it("starts a daemon in the folder of its program, not in the vault", async () => {
    await startDaemon(["/bin/sh", "-c", `pwd -P > ${join(root, "ran")}`]);
    expect(readFileSync(join(root, "ran"), "utf8").trim()).toBe(realpathSync("/bin"));
  });

  it("finds the installed program, and believes none that another user may have written", async () => {
    const [bin, other] = [join(root, ".local", "bin"), join(root, "other")];
    for (const folder of [bin, other]) mkdirSync(folder, { recursive: true });
    vi.stubEnv("PATH", `relative:${other}/:${root}`);
    expect(await findProgram()).toEqual({ program: "", problem: "" });
    writeFileSync(join(root, "real"), "#!/bin/sh\n");
    symlinkSync(join(root, "real"), join(bin, "indexer"));
    expect(await findProgram()).toEqual({ program: join(bin, "indexer"), problem: "" });
    writeFileSync(join(other, "indexer"), "#!/bin/sh\n");
    expect((await findProgram()).program).toBe(join(other, "indexer"));
    chmodSync(other, 0o777);
    chmodSync(join(root, "real"), 0o666);
    expect(await findProgram()).toEqual({
      program: "",
      problem: `Not used, because another user owns it or may write to it: ${other}`,
    });
  });

  it("finds nothing where nothing is", async () => {
    expect(await discover(join(root, "Notes ä"), "")).toEqual({ info: null, command: [] });
  });
});
