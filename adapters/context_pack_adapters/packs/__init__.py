"""Packs on disk: their files, history, excerpts and the watch over them."""
