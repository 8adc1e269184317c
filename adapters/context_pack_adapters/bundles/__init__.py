"""Bundles on disk."""
