"""The file system, one mechanism per module: whole-file writes, locks, confined reads, ignore rules."""
