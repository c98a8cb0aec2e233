// The JSON answers as types: those of the plugin, which `make api-types` writes.

export * from "../../../obsidian-plugin/src/generated/shapes";
