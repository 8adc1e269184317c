"""What begins a block of HTML in Markdown, and what ends it: CommonMark's seven kinds.

Every pattern is matched without going back, so that a long line costs no more than its length.
"""

from __future__ import annotations

import re

_NAME = r"[A-Za-z][A-Za-z0-9-]*+"
_VALUE = r"""(?:[^\s"'=<>`]++|'[^']*+'|"[^"]*+")"""
_ATTRIBUTE = rf"[ \t]++[A-Za-z_:][A-Za-z0-9_.:-]*+(?:[ \t]*+=[ \t]*+{_VALUE})?+"
_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|"
    "dt|fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5|h6|head|header|hr|html|iframe|legend|"
    "li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|"
    "tfoot|th|thead|title|tr|track|ul"
)
# What opens an HTML block, and what a line has to hold for it to be the last; None: a blank line ends it.
_HTML: tuple[tuple[re.Pattern[str], re.Pattern[str] | None], ...] = (
    (
        re.compile(r"(?i)<(?:script|pre|style|textarea)(?=[ \t>]|\Z)"),
        re.compile(r"(?i)</(?:script|pre|style|textarea)>"),
    ),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<![A-Za-z]"), re.compile(r">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(rf"(?i)</?+(?:{_BLOCK_TAGS})(?=[ \t]|/?>|\Z)"), None),
)
_LONE_TAG = re.compile(rf"(?:<{_NAME}(?:{_ATTRIBUTE})*+[ \t]*+/?+>|</{_NAME}[ \t]*+>)[ \t]*+\Z")


def opens_html(line: str, at: int, *, in_paragraph: bool) -> tuple[bool, re.Pattern[str] | None]:
    """Whether HTML begins here, and what its last line has to hold; None when a blank line ends it.

    A lone tag of any name begins a block, but interrupts no paragraph.
    """
    for opening, closing in _HTML:
        if opening.match(line, at):
            return True, closing
    return not in_paragraph and _LONE_TAG.match(line, at) is not None, None
