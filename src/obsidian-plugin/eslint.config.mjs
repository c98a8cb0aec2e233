// Run from the repository's root, where manifest.json is: rules of the community directory read it.
import { defineConfig, globalIgnores } from "eslint/config";
import obsidianmd from "eslint-plugin-obsidianmd";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { parser } from "typescript-eslint";

// The rule for the manifest wants one expression; the braces of JSON alone are a block.
const jsonParser = {
  meta: { name: "json-as-expression", version: "1" },
  parseForESLint: (text) => parser.parseForESLint(`(${text.trimEnd()})`, { range: true, loc: true, tokens: true }),
};

export default defineConfig([
  globalIgnores(["**/node_modules/**", "**/main.js", "**/build/**", "**/*.mjs", "**/package-lock.json"]),
  ...obsidianmd.configs.recommended,
  {
    files: ["**/*.ts"],
    languageOptions: {
      parserOptions: {
        project: "./tsconfig.json",
        tsconfigRootDir: dirname(fileURLToPath(import.meta.url)),
      },
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
  },
  {
    files: ["manifest.json"],
    languageOptions: { parser: jsonParser },
    plugins: { obsidianmd },
    rules: { "obsidianmd/validate-manifest": "error" },
  },
]);
