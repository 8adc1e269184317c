"""Document collections: folders, packages and repositories of text, with structure and hybrid search."""
