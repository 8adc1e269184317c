"""Project memory: what was found out, what was done, what was gathered, and the code, found by meaning."""
