// The daemon's HTTP API. Every answer of the plugin comes through here, and nothing else is ever asked.

import { requestUrl, type RequestUrlResponse } from "obsidian";
import type { DaemonInfo, Discovery } from "./discovery";
import type { Explanation, MentionsAnswer, RelatedAnswer, SearchAnswer, Status } from "./shapes";

/** The optional parts of a hit that an answer holds; null asks for all, as a daemon without `fields` needs it. */
export const FIELDS: string | null = null;

/** No daemon can be reached. `command` starts one, if it is known. */
export class NoDaemonError extends Error {
  constructor(
    readonly command: string[],
    readonly isKnown: boolean,
  ) {
    super("The daemon of this vault is not running");
  }
}

/** The daemon refused a request; the message is its own. */
export class RefusedError extends Error {
  constructor(
    message: string,
    readonly kind: string,
  ) {
    super(message);
  }
}

type Value = string | number | boolean;

export class DaemonClient {
  private found: Discovery | null = null;

  /** `discover` reads the files that announce the daemon. Nothing is read before the first request. */
  constructor(private readonly discover: () => Promise<Discovery>) {}

  search(query: string, limit: number): Promise<SearchAnswer> {
    const fields: Record<string, Value> = FIELDS === null ? {} : { fields: FIELDS };
    return this.get("/v1/search", { q: query, limit, as_you_type: true, ...fields });
  }

  explain(path: string, query: string): Promise<Explanation> {
    return this.get("/v1/explain", { path, q: query });
  }

  related(path: string, limit: number): Promise<RelatedAnswer> {
    return this.get("/v1/related", { path, limit });
  }

  mentions(path: string, limit: number): Promise<MentionsAnswer> {
    return this.get("/v1/links", { view: "mentions", path, limit });
  }

  status(): Promise<Status> {
    return this.get("/v1/status", {});
  }

  resume(): Promise<unknown> {
    return this.request("POST", "/v1/resume", {});
  }

  /** Read the files again at the next request. */
  forget(): void {
    this.found = null;
  }

  private get<Answer>(path: string, parameters: Record<string, Value>): Promise<Answer> {
    const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    return this.request("GET", query.length > 0 ? `${path}?${query.join("&")}` : path);
  }

  /** Asks twice at most: a daemon that was started again has another port and another token. */
  private async request<Answer>(method: string, target: string, body?: object): Promise<Answer> {
    const known = this.found?.info;
    const first = known && (await this.send(known, method, target, body));
    if (first && first.status !== 401) return read<Answer>(first);
    this.found = await this.discover();
    const { info, command } = this.found;
    const second = info && (await this.send(info, method, target, body));
    if (!second || second.status === 401) {
      this.found = null;
      throw new NoDaemonError(command, info !== null || command.length > 0);
    }
    return read<Answer>(second);
  }

  /** The response, or null if nothing listens there. */
  private async send(
    info: DaemonInfo,
    method: string,
    target: string,
    body?: object,
  ): Promise<RequestUrlResponse | null> {
    try {
      return await requestUrl({
        url: info.url + target,
        method,
        headers: { Authorization: `Bearer ${info.token}` },
        ...(body && { body: JSON.stringify(body), contentType: "application/json" }),
        throw: false,
      });
    } catch {
      return null;
    }
  }
}

function read<Answer>(response: RequestUrlResponse): Answer {
  const answer = response.json as Answer & { error?: { kind?: string; message?: string } };
  if (response.status < 400) return answer;
  throw new RefusedError(answer.error?.message ?? `Status ${response.status}`, answer.error?.kind ?? "error");
}
