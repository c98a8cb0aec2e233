// Run from the repository's root, where manifest.json is: the rules of the community directory read it.
import { defineConfig, globalIgnores } from "eslint/config";
import obsidianmd from "eslint-plugin-obsidianmd";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

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
  },
]);
