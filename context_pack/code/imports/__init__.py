"""Which files of the tree a source file imports: one way for all languages.

A language turns what is written into places, as `languages` says; the first that is a file counts. What a
project calls its own packages is read from its manifests, wherever they are in the tree (`manifests`); a name
that no manifest knows is the nearest file that ends in its parts, where the language spells folders by names
(`tree`). Names that lead to no file are external, as they were written.
"""
