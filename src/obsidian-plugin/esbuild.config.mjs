// Bundles the plugin into main.js. `--host` bundles the host page of the browser tests instead.
import { build } from "esbuild";

const host = process.argv.includes("--host");
const target = process.argv.find((one) => one.startsWith("--outfile="))?.slice("--outfile=".length);

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
        outfile: target ?? "main.js",
        bundle: true,
        format: "cjs",
        platform: "browser",
        target: "es2022",
        external: ["obsidian", "electron", "@codemirror/*", "fs/promises", "os", "child_process"],
        // A native import() would look for a file; Obsidian gives plugins a require().
        supported: { "dynamic-import": false },
        // main.js is part of the repository, so that the plugin can be installed without Node: it stays readable.
        minify: false,
        treeShaking: true,
        logLevel: "warning",
      },
);
