// The daemon's HTTP API. Every answer of the plugin comes through here, and nothing else is ever asked.

import { requestUrl, type RequestUrlResponse } from "obsidian";
import type { DaemonInfo, Discovery } from "./discovery";
import { postLines } from "./stream";
import { FIELDS, type AskAnswer, type AskLine, type Completions, type Explanation, type MentionsAnswer, type RelatedAnswer, type SearchAnswer, type Status } from "./answers";

/** No daemon can be reached. `command` starts one, if it is known. */
export class NoDaemonError extends Error {
  constructor(
    readonly command: string[],
    readonly isKnown: boolean,
    /** Whether `command` is for a vault that has had no daemon yet. */
    readonly isNew = false,
    /** Why what was found is not used. */
    readonly problem = "",
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

/** The daemon takes requests and does not answer them. */
export class SilentError extends Error {
  constructor() {
    super("The daemon does not answer");
  }
}

const UNKNOWN_PARAMETER = 422;
/** How long a daemon that refused a parameter is asked without: it may be a newer one at the same address by then. */
const OLDER_MS = 60_000;
/** A request is given up after so long. `requestUrl` has no time limit of its own. */
const ANSWER_MS = 30_000;

type Value = string | number | boolean;

export class DaemonClient {
  private found: Discovery | null = null;
  /** A daemon of an earlier version refuses newer parameters: until then it is asked without. */
  private olderUntil = 0;

  /** `discover` reads the files that announce the daemon. Nothing is read before the first request. */
  constructor(private readonly discover: () => Promise<Discovery>) {}

  /** `by`: one hit for each note or chunk; "" means what the daemon's configuration says. */
  search(query: string, limit: number, by: "note" | "chunk" | "" = ""): Promise<SearchAnswer> {
    const parameters = { q: query, limit, as_you_type: true, ...(by && { by }) };
    return this.getNewer("/v1/search", parameters, { fields: FIELDS });
  }

  explain(path: string, query: string): Promise<Explanation> {
    return this.get("/v1/explain", { path, q: query });
  }

  related(path: string, limit: number): Promise<RelatedAnswer> {
    return this.get("/v1/related", { path, limit });
  }

  mentions(path: string, limit: number): Promise<MentionsAnswer> {
    return this.getNewer("/v1/links", { view: "mentions", path, limit }, { rendered: true });
  }

  /** How the end of a query can go on. */
  complete(query: string, limit: number): Promise<Completions> {
    return this.get("/v1/complete", { q: query, limit });
  }

  status(): Promise<Status> {
    return this.get("/v1/status", {});
  }

  /** Keep that a hit was opened, where the daemon says that the user wants it. */
  async recordClick(query: string, path: string, rank: number): Promise<void> {
    if ((await this.status()).records_clicks) await this.request("POST", "/evals/click", { q: query, path, rank });
  }

  /** Ask a question; each line of the answer is passed on as it comes. Without `usesModel`, notes are only quoted. */
  async ask(question: string, usesModel: boolean, signal: AbortSignal, onLine: (line: AskLine) => void): Promise<void> {
    await this.status();
    const info = this.found?.info;
    if (!info || signal.aborted) return;
    const body = { q: question, stream: true, model: usesModel };
    const refusal = await postLines(info, "/v1/ask", body, (line) => onLine(line as AskLine), signal);
    if (refusal) throw refused(refusal.status, JSON.parse(refusal.text));
  }

  /** What a question would send to the model; "" if nothing. The model is not asked. */
  async promptOf(question: string): Promise<string> {
    return (await this.request<AskAnswer>("POST", "/v1/ask", { q: question, show_prompt: true })).prompt;
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

  /** Asks without `newer`, the parameters that an older daemon refuses, where they are refused. */
  private async getNewer<Answer>(path: string, parameters: Record<string, Value>, newer: Record<string, Value>): Promise<Answer> {
    if (Date.now() < this.olderUntil) return this.get(path, parameters);
    try {
      return await this.get(path, { ...parameters, ...newer });
    } catch (error) {
      if (!(error instanceof RefusedError) || error.status !== UNKNOWN_PARAMETER) throw error;
    }
    // A query may be refused for another reason: then it is refused again.
    const answer = await this.get<Answer>(path, parameters);
    this.olderUntil = Date.now() + OLDER_MS;
    return answer;
  }

  /** Asks twice at most: a daemon that was started again has another port and another token. */
  private async request<Answer>(method: string, target: string, body?: object): Promise<Answer> {
    const known = this.found?.info;
    const first = known && (await this.send(known, method, target, body));
    if (first && first.status !== 401) return read<Answer>(first);
    this.found = await withinTime(this.discover());
    this.olderUntil = 0;
    const { info, command, isNew, problem } = this.found;
    const second = info && (await this.send(info, method, target, body));
    if (!second || second.status === 401) {
      this.found = null;
      throw new NoDaemonError(command, info !== null || command.length > 0, isNew, problem);
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
    const response = requestUrl({
      url: info.url + target,
      method,
      headers: { Authorization: `Bearer ${info.token}` },
      ...(body && { body: JSON.stringify(body), contentType: "application/json" }),
      throw: false,
    });
    return withinTime(response.catch(() => null));
  }
}

async function withinTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  let timer = 0;
  const limit = new Promise<never>((_, reject) => {
    timer = window.setTimeout(() => reject(new SilentError()), ANSWER_MS);
  });
  return Promise.race([answer, limit]).finally(() => window.clearTimeout(timer));
}

function read<Answer>(response: RequestUrlResponse): Answer {
  if (response.status < 400) return response.json as Answer;
  throw refused(response.status, response.json);
}

function refused(status: number, answer: unknown): RefusedError {
  const { error } = answer as { error?: { message?: string } };
  return new RefusedError(error?.message ?? `Status ${status}`, status);
}
