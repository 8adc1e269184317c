"""Knowledge at the place: what is written down about a file, lines, a symbol, a diff or a stack trace."""
