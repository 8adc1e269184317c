"""Finding text by words and by meaning: tokens, structure, chunks, ranking, and what they ask of an index.

Shared by the features that search (documents, memory). Nothing here knows a tool, a file or a database.
"""
