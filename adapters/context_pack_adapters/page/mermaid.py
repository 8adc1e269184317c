"""Prepares Mermaid sources for drawing: finds their kind, sets our colours, removes links.

A diagram is drawn in the page's light colours, and once more in its dark ones where that is sure to stay
legible: for the kinds whose every part follows the theme, and only if the author chose no colours. All others
are shown on light paper in both. Links are left out, because pictures in a page cannot be clicked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pkgutil import get_data
from typing import Any

FONT = "Arial, Helvetica, sans-serif"
_GRAPHS = {"flowchart", "graph", "classDiagram", "classDiagram-v2", "stateDiagram", "stateDiagram-v2"}
_HAVE_LINKS = _GRAPHS | {"gantt"}
_FOLLOW_THE_THEME = _GRAPHS | {"sequenceDiagram", "erDiagram", "journey", "timeline"}
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:.*\n)*?---[ \t]*(?:\n|$)")
_OWN_CONFIG = re.compile(r"%%\{|^config[ \t]*:", re.MULTILINE)
_OWN_COLOURS = re.compile(r"^[ \t]*(?:style|classDef|linkStyle|rect|box)\b|:::", re.MULTILINE)
_LINK = re.compile(r"^[ \t]*(?:click|link|callback)[ \t][^\n]*", re.MULTILINE)
_KIND = re.compile(r"[A-Za-z][\w-]*")


def light(source: str) -> str:
    """The source to draw for light paper."""
    return _themed(source, "light")


def dark(source: str) -> str | None:
    """The source to draw for a dark page, or None if the diagram is better shown on light paper."""
    if kind(source) not in _FOLLOW_THE_THEME or _OWN_CONFIG.search(source) or _OWN_COLOURS.search(source):
        return None
    return _themed(source, "dark")


def kind(source: str) -> str:
    """The word that names the diagram's kind; empty when there is none."""
    for line in source[_front(source) :].split("\n"):
        words = line.strip()
        if words and not words.startswith("%%"):
            match = _KIND.match(words)
            return match[0] if match else ""
    return ""


def _themed(source: str, scheme: str) -> str:
    """The source without links and with our colours, where the author configured nothing."""
    drawn = _LINK.sub("", source) if kind(source) in _HAVE_LINKS else source
    if _OWN_CONFIG.search(source):
        return drawn
    variables = {**_themes()[scheme], "fontFamily": FONT, "fontSize": "14px"}
    config = {"theme": "base", "look": "classic", "fontFamily": FONT, "themeVariables": variables}
    front = _front(drawn)
    return f"{drawn[:front]}%%{{init: {json.dumps(config)}}}%%\n{drawn[front:]}"


@cache
def _themes() -> Mapping[str, Mapping[str, Any]]:
    """The colours of each scheme, by Mermaid's names for them."""
    found: Mapping[str, Mapping[str, Any]] = json.loads(get_data(__package__, "themes.json") or b"")
    return found


def _front(source: str) -> int:
    """Where the diagram begins: after its front matter, which must stay first."""
    match = _FRONT_MATTER.match(source)
    return match.end() if match else 0
