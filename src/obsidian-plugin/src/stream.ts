import { Platform } from "obsidian";
import type { DaemonInfo } from "./discovery";

/** A response with another status than 200: its status and text. */
export interface Refusal {
  status: number;
  text: string;
}

/**
 * Sends JSON and passes on each JSON line of the answer as it comes, which `requestUrl` cannot do. The signal ends the
 * request. Returns null once all lines have come; rejects with a code such as ECONNREFUSED if nothing listens.
 */
export async function postLines(
  { url, token }: DaemonInfo,
  path: string,
  body: object,
  onLine: (line: unknown) => void,
  signal: AbortSignal,
): Promise<Refusal | null> {
  if (!Platform.isDesktop) return null;
  const { request } = await import("http");
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  return new Promise((resolve, reject) => {
    // A connection of its own: one that was kept may have been closed by the daemon meanwhile.
    const sent = request(url + path, { method: "POST", headers, agent: false }, (response) => {
      const status = response.statusCode ?? 0;
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        const lines = (text + part).split("\n");
        text = status === 200 ? (lines.pop() ?? "") : text + part;
        if (status === 200 && !signal.aborted) for (const line of lines) onLine(JSON.parse(line));
      });
      response.on("end", () => resolve(status === 200 ? null : { status, text }));
      response.on("error", reject);
    });
    sent.on("error", reject);
    signal.addEventListener("abort", () => sent.destroy(new Error("Stopped")));
    sent.end(JSON.stringify(body));
  });
}
