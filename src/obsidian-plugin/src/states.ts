// What is shown of the daemon's state. A state is shown where the user looks, never only logged.

import { Platform } from "obsidian";
import { NoDaemonError, RefusedError, SilentError } from "./client";
import type { Status } from "./answers";
import type { VectorUpgrade } from "./generated/shapes";

export type StateAction = "copy" | "start" | "allow" | "resume" | "retry";

export interface ShownState {
  kind:
    | "ready"
    | "missing"
    | "stopped"
    | "starting"
    | "building"
    | "paused"
    | "degraded"
    | "pending"
    | "failed"
    | "silent";
  title: string;
  detail: string;
  /** What a search needs, and whether it is there. */
  steps: { name: string; isDone: boolean }[];
  /** Commands to copy, each with what it is for. */
  commands: { text: string; purpose: string }[];
  actions: StateAction[];
  /** From 0 to 1; null shows no progress bar. */
  progress: number | null;
}

/** The state that a status tells; null if there is nothing to say. */
export function stateOf(status: Status): ShownState | null {
  switch (status.state) {
    case "degraded":
      return shown("degraded", "The index is not kept up to date", status.detail);
    case "paused": {
      const until = status.paused_until ? ` until ${localTime(status.paused_until)}` : "";
      return {
        ...shown("paused", `Indexing is paused${until}`, `${changes(status.pending)} pending`),
        actions: ["resume"],
      };
    }
    case "building":
      return build("The first index is being built", status);
    case "rebuilding":
      return build("The index is being rebuilt", status);
    case "unusable":
      return shown("degraded", "The index cannot be used", status.detail);
    case "indexing":
      // Until the first build is complete, its first notes answer already.
      if (status.progress?.stage === "notes") return build("The index is being built", status);
      return shown("pending", `${changes(status.pending)} being indexed`, status.detail);
    default:
      if (status.pending > 0) return shown("pending", `${changes(status.pending)} being indexed`, status.detail);
      if (status.vectors_owed > 0) {
        return shown("pending", "Search by meaning is not complete yet", `${status.vectors_owed} passages to go`);
      }
      if (status.upgrade && !status.detail) return betterVectors(status.upgrade);
      return status.detail ? shown("ready", status.detail, "") : null;
  }
}

function build(title: string, { progress }: Status): ShownState {
  const { notes, total } = progress ?? { notes: 0, total: 0 };
  const detail = total > 0 ? `${grouped(notes)} of ${grouped(total)} notes` : "Reading the vault";
  return { ...shown("building", title, detail), progress: total > 0 ? notes / total : 0 };
}

function betterVectors({ done, total, seconds_left, waits_for }: VectorUpgrade): ShownState {
  const share = `Better vectors: ${Math.floor((100 * done) / Math.max(1, total))}%`;
  const minutes = Math.ceil(seconds_left / 60);
  const left = `about ${minutes} ${minutes === 1 ? "minute" : "minutes"} of idle time left`;
  return shown("ready", share, waits_for || `${left}; searches are answered meanwhile`);
}

/** The state that a failed request tells. */
export function stateOfError(error: unknown, vault: string, mayStart: boolean): ShownState {
  if (error instanceof NoDaemonError) return withoutDaemon(error, vault, mayStart);
  if (error instanceof SilentError) return SILENT;
  if (error instanceof RefusedError) return shown("failed", error.message, "");
  return { ...shown("failed", "The daemon does not answer", String(error)), actions: ["retry"] };
}

function withoutDaemon(error: NoDaemonError, vault: string, mayStart: boolean): ShownState {
  const start = commandLine(["indexer", "start", "--vault", vault], Platform.isWin);
  if (error.problem) return { ...shown("missing", "Vault Indexer cannot be used as it is", error.problem), actions: ["retry"] };
  if (!error.isKnown) {
    return {
      ...shown("missing", "Vault Indexer is not set up for this vault", "Install the program, then try again."),
      steps: stepsUntil(0),
      commands: [
        { text: "pipx install .", purpose: "In a clone of the vault-indexer repository" },
        { text: start, purpose: "Once for this vault" },
      ],
      actions: ["copy", "retry"],
    };
  }
  const canStart = error.command.length > 0;
  const allow = canStart && !mayStart ? "The plugin may start it, if you allow it." : "";
  const state = error.isNew
    ? shown("missing", "This vault has no index yet", `The daemon builds one, outside the vault. ${allow}`.trim())
    : shown("stopped", "The daemon is not running", allow);
  return {
    ...state,
    steps: stepsUntil(error.isNew ? 1 : 2),
    commands: [{ text: canStart ? commandLine(error.command, Platform.isWin) : start, purpose: "Starts the daemon" }],
    actions: canStart ? [mayStart ? "start" : "allow", "copy", "retry"] : ["copy", "retry"],
  };
}

const STEPS = ["Program", "Index of this vault", "Daemon"];

/** The steps to a search, of which the first `done` are done. */
function stepsUntil(done: number): ShownState["steps"] {
  return STEPS.map((name, at) => ({ name, isDone: at < done }));
}

/** The index in one line, when all is well. */
export function indexLine({ notes }: Status): string {
  return `${grouped(notes)} ${notes === 1 ? "note" : "notes"}, up to date`;
}

export function shown(kind: ShownState["kind"], title: string, detail: string): ShownState {
  return { kind, title, detail, steps: [], commands: [], actions: [], progress: null };
}

/** The daemon leaves requests without an answer: it hangs, or the computer is very busy. */
export const SILENT = shown("silent", "The daemon does not answer", "The results may be out of date. Trying again.");

/** A command to paste into a POSIX shell, or on Windows into PowerShell. */
export function commandLine(words: readonly string[], isWindows: boolean): string {
  const plain = isWindows ? /^[\w./:=+\\-]+$/ : /^[\w./:=@%+-]+$/;
  const quote = isWindows ? "''" : "'\\''";
  const line = words.map((word) => (plain.test(word) ? word : `'${word.replace(/'/g, quote)}'`)).join(" ");
  // PowerShell takes a quoted word for a text, not for a program.
  return isWindows && line.startsWith("'") ? `& ${line}` : line;
}

function changes(count: number): string {
  return count === 1 ? "1 change" : `${grouped(count)} changes`;
}

/** A number for a person: 16,614. */
function grouped(count: number): string {
  return count.toLocaleString("en");
}

function localTime(utc: string): string {
  const time = new Date(utc);
  return Number.isNaN(time.getTime()) ? utc : time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}
