"""Which files of the tree a source file imports: one module per language, one way to ask.

Each language has two steps. `parse` reads the text alone and knows comments and strings; what it finds
depends on nothing else, so it can be kept by content. `resolve` looks for those names in the tree as it is
now. Names that lead to no file inside the root are external, as they were written.
"""
