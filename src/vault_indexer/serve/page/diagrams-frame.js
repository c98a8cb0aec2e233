// @ts-nocheck
/**
 * Draws diagrams in a document of its own, which `diagrams.js` shows nobody. A classic script: the server puts it
 * behind Mermaid's into that document. It answers nobody but the page around it, and only with a picture's text.
 */

addEventListener("message", async (event) => {
  if (event.source !== parent) return;
  const { id, source, theme } = event.data;
  const answer = { id, svg: "", width: 0, height: 0, problem: "" };
  try {
    if (globalThis.mermaid === undefined) {
      answer.problem = "missing";
    } else {
      mermaid.initialize({ startOnLoad: false, securityLevel: "strict", htmlLabels: false, theme,
        flowchart: { htmlLabels: false }, suppressErrorRendering: true, deterministicIds: true });
      const { svg } = await mermaid.render(`diagram-${id}`, source);
      const [, , width, height] = (/viewBox="([^"]+)"/.exec(svg)?.[1] ?? "").split(/[\s,]+/).map(Number);
      Object.assign(answer, { svg, width: Math.ceil(width) || 0, height: Math.ceil(height) || 0 });
    }
  } catch (error) {
    answer.problem = String(error?.message ?? error).slice(0, 500) || "error";
  }
  // The origin of this document is opaque, and its policy lets it be in the daemon's own page alone.
  parent.postMessage(answer, "*");
});
parent.postMessage({ id: 0 }, "*");
