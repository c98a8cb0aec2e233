// Run from the repository's root, where manifest.json is: rules of the community directory read it.
import { defineConfig, globalIgnores } from "eslint/config";
import obsidianmd from "eslint-plugin-obsidianmd";
import { PlainTextParser } from "eslint-plugin-obsidianmd/dist/lib/plainTextParser.js";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { parser } from "typescript-eslint";

// The rule for the manifest wants one expression; the braces of JSON alone are a block.
const jsonParser = {
  meta: { name: "json-as-expression", version: "1" },
  parseForESLint: (text) => parser.parseForESLint(`(${text.trimEnd()})`, { range: true, loc: true, tokens: true }),
};

// Every rule of the directory's linter is an error, those that it leaves off or only warns of, too. Left out are rules
// for other files (below: the manifest and the licence; locales, of which there are none), the wrapper of other rules,
// and the ban of Node's modules, which the linter itself lifts for a plugin that is for the desktop alone.
const LEFT_OUT = new Set(["no-nodejs-modules", "rule-custom-message", "ui/sentence-case-json",
  "ui/sentence-case-locale-module", "validate-license", "validate-manifest"]);
const codeRules = Object.fromEntries(
  Object.keys(obsidianmd.rules).filter((name) => !LEFT_OUT.has(name)).map((name) => [`obsidianmd/${name}`, "error"]),
);

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
    rules: codeRules,
  },
  {
    files: ["manifest.json"],
    languageOptions: { parser: jsonParser },
    plugins: { obsidianmd },
    rules: { "obsidianmd/validate-manifest": "error" },
  },
  {
    files: ["LICENSE"],
    languageOptions: { parser: PlainTextParser },
    plugins: { obsidianmd },
    rules: { "obsidianmd/validate-license": "error" },
  },
]);
