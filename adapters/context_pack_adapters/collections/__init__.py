"""Collections of documents: folders and git repositories."""
