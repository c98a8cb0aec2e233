import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { postLines } from "../src/stream";

vi.mock("obsidian", () => ({ Platform: { isDesktop: true } }));

describe("a streamed answer", () => {
  let server: Server;

  async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
    server = createServer(answer);
    await new Promise<void>((bound) => server.listen(0, "127.0.0.1", bound));
    return { pid: 1, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: "t" };
  }

  afterEach(() => new Promise((closed) => server.close(closed)));

  it("is passed on line by line, wherever its parts are cut", async () => {
    const asked: unknown[] = [];
    const daemon = await serve((request, response) => {
      asked.push(request.url, request.headers.authorization);
      void text(request).then((body) => {
        asked.push(JSON.parse(body));
        const bytes = Buffer.from('{"a":"ä"}\n{"b":2}\n');
        response.write(bytes.subarray(0, 7));
        setImmediate(() => response.end(bytes.subarray(7)));
      });
    });
    const lines: unknown[] = [];
    const never = new AbortController().signal;
    expect(await postLines(daemon, "/v1/ask", { q: "ü" }, (line) => lines.push(line), never)).toBeNull();
    expect(lines).toEqual([{ a: "ä" }, { b: 2 }]);
    expect(asked).toEqual(["/v1/ask", "Bearer t", { q: "ü" }]);
  });

  it("says what is refused, and what does not listen", async () => {
    const daemon = await serve((_request, response) => response.writeHead(400).end('{"error":{"message":"no"}}'));
    const post = () => postLines(daemon, "/x", {}, () => undefined, new AbortController().signal);
    expect(await post()).toEqual({ status: 400, text: '{"error":{"message":"no"}}' });
    await new Promise((closed) => server.close(closed));
    await expect(post()).rejects.toThrow("ECONNREFUSED");
  });

  it("ends when it is stopped, also for the daemon", async () => {
    let gone: () => void;
    const left = new Promise<void>((resolve) => (gone = resolve));
    const daemon = await serve((_request, response) => {
      response.write("{}\n");
      response.on("close", () => gone());
    });
    const stop = new AbortController();
    await expect(postLines(daemon, "/x", {}, () => stop.abort(), stop.signal)).rejects.toThrow("Stopped");
    await left;
  });
});
