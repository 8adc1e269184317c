"""Directory contexts on disk."""
