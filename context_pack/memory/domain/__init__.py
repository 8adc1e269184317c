"""Rules about discoveries, sessions and snippets of code: values only."""
