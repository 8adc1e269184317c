"""Reading and searching the source tree: `read_file` with imports, and `grep_codebase`."""
