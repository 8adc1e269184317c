"""Directory contexts: a description of each folder beside the code, and whether it is still true."""
