export const MAX_RECENT = 20;

/** Recent queries with this one first, each once, at most `MAX_RECENT`. */
export function remember(recent: readonly string[], query: string): string[] {
  const text = query.trim();
  if (!text) return [...recent];
  return [text, ...recent.filter((one) => one !== text)].slice(0, MAX_RECENT);
}
