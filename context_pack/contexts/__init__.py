"""Directory contexts: what each folder holds, told beside the code, and whether that is still true."""
