"""A pack as one self-contained HTML page: no network, no script, no font, no second file.

`page` puts it together; `cards`, `figures` and `prose` make its parts; `highlight` colours code; `mermaid`,
`drawing`, `engine` and `svg` turn diagrams into pictures that cannot do anything. Nothing here reads packs or
source files.
"""
