"""The source tree: reading it, listing it, searching its lines."""
