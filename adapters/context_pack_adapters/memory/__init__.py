"""Discoveries, sessions and statistics on disk."""
