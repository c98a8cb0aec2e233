// The daemon's HTTP API. Every answer of the plugin comes through here, and nothing else is ever asked.

import { requestUrl, type RequestUrlResponse } from "obsidian";
import type { DaemonInfo, Discovery } from "./discovery";
import type { Explanation, MentionsAnswer, RelatedAnswer, SearchAnswer, Status } from "./shapes";

/** The keys of a hit that are read; the rest of it (its whole text, its properties) is not sent while typing. */
export const FIELDS =
  "path,kind,title,header_path,chunk_id,start_pos,end_pos,end_line,line,relevance,snippet,marks,stale,why";

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
    readonly status: number,
  ) {
    super(message);
  }
}

const UNKNOWN_PARAMETER = 422;

type Value = string | number | boolean;

export class DaemonClient {
  private found: Discovery | null = null;
  /** A daemon of an earlier version refuses the parameter `fields`. */
  private takesFields = true;

  /** `discover` reads the files that announce the daemon. Nothing is read before the first request. */
  constructor(private readonly discover: () => Promise<Discovery>) {}

  async search(query: string, limit: number): Promise<SearchAnswer> {
    const parameters = { q: query, limit, as_you_type: true };
    if (this.takesFields) {
      try {
        return await this.get("/v1/search", { ...parameters, fields: FIELDS });
      } catch (error) {
        if (!(error instanceof RefusedError) || error.status !== UNKNOWN_PARAMETER) throw error;
        this.takesFields = false;
      }
    }
    return this.get("/v1/search", parameters);
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

  /** Keep that a hit was opened, where the daemon says that the user wants it. */
  async recordClick(query: string, path: string, rank: number): Promise<void> {
    if ((await this.status()).records_clicks) await this.request("POST", "/v1/click", { q: query, path, rank });
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
    this.takesFields = true;
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
  const answer = response.json as Answer & { error?: { message?: string } };
  if (response.status < 400) return answer;
  throw new RefusedError(answer.error?.message ?? `Status ${response.status}`, response.status);
}
