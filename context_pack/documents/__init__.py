"""Document collections: folders and repositories of text, with structure and hybrid search."""
