"""Searching the source tree: ripgrep, and a pure engine on `regex`, with the same answers."""
