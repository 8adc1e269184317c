"""A pack as one self-contained HTML page: no network, no script, no font, no second file.

`page` gathers what the template shows; `markup` makes code, Markdown and plain text into HTML; `diagrams`
draws Mermaid in another process. Nothing here reads packs or source files.
"""
