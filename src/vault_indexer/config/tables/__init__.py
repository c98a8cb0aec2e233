"""The tables of the configuration file: the keys of each, their types and defaults."""
