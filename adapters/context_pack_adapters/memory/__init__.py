"""Discoveries and sessions on disk."""
