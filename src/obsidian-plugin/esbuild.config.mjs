// Bundles the plugin into generated/main.js. `--host` bundles the host page of the browser tests instead.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { build } from "esbuild";

const host = process.argv.includes("--host");
const target = process.argv.find((one) => one.startsWith("--outfile="))?.slice("--outfile=".length);

/**
 * A digest of the sources, written into main.js: a check without Node can tell that they fit each other. The
 * folder `generated` is left out: it has types only, so main.js is the same whatever it says.
 */
function digestOfSources() {
  const digest = createHash("sha256");
  for (const name of readdirSync("src").sort()) {
    if (name !== "generated") digest.update(`${name}\n`).update(readFileSync(`src/${name}`));
  }
  return digest.digest("hex");
}

await build(
  host
    ? {
        entryPoints: ["test/host/host.mjs"],
        outfile: target ?? "build/host.js",
        bundle: true,
        format: "iife",
        target: "chrome120",
        define: { "process.env.NODE_ENV": '"test"' },
        logLevel: "warning",
      }
    : {
        entryPoints: ["src/main.ts"],
        outfile: target ?? "generated/main.js",
        banner: { js: `// Built from sources with the digest ${digestOfSources()}` },
        bundle: true,
        format: "cjs",
        platform: "browser",
        target: "es2022",
        external: ["obsidian", "electron", "@codemirror/*", "fs/promises", "os", "http", "child_process"],
        // A native import() would look for a file; Obsidian gives plugins a require().
        supported: { "dynamic-import": false },
        // main.js is part of the repository, so that the plugin can be installed without Node: it stays readable.
        minify: false,
        treeShaking: true,
        logLevel: "warning",
      },
);
