"""Ports kept in files: packs as Markdown with front matter, and the source tree."""
