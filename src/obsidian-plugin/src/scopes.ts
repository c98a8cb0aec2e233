// A scope limits a search to a folder, a file, a tag or a property. It becomes an operator of the query language.

export type Scope =
  | { kind: "folder"; folder: string }
  | { kind: "file"; path: string }
  | { kind: "tag"; tag: string }
  | { kind: "property"; name: string; value?: string };

/** The operator of a scope; docs/query-language.md describes it. */
export function operator(scope: Scope): string {
  switch (scope.kind) {
    case "folder":
      return `path:/^${escapeExpression(scope.folder)}\\//`;
    case "file":
      return `path:/^${escapeExpression(scope.path)}$/`;
    case "tag":
      return `tag:#${scope.tag.replace(/^#/, "")}`;
    case "property":
      return scope.value === undefined ? `[${scope.name}]` : `[${scope.name}:${quote(scope.value)}]`;
  }
}

/** What a person reads on the chip. */
export function label(scope: Scope): string {
  switch (scope.kind) {
    case "folder":
      return `${scope.folder}/`;
    case "file":
      return scope.path;
    case "tag":
      return `#${scope.tag.replace(/^#/, "")}`;
    case "property":
      return scope.value === undefined ? scope.name : `${scope.name}: ${scope.value}`;
  }
}

/** The query as the daemon gets it: every scope holds, then what was typed. */
export function scopedQuery(scopes: readonly Scope[], typed: string): string {
  return [...scopes.map(operator), typed.trim()].filter(Boolean).join(" ");
}

function quote(text: string): string {
  return `"${text.replace(/\\/g, "\\\\").replace(/"/g, '\\"')}"`;
}

/** An expression that matches the text itself. A blank would end the word of the query, so it is written `\s`. */
function escapeExpression(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replace(/\s/g, "\\s");
}
