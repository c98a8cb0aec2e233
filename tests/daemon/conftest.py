"""What tests of the daemon share: a built index, and its loop stepped by hand."""

from loop_by_hand import built, kept

__all__ = ["built", "kept"]
