"""File system access, one mechanism per module: atomic writes, locks, confined reads, ignore rules."""
