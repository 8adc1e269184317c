"""Prepares Mermaid sources for drawing: finds their kind, sets our colours, removes links.

A diagram is drawn in the page's light colours, and once more in its dark ones where that is sure to stay
legible: for the kinds whose every part follows the theme, and only if the author chose no colours. All others
are shown on light paper in both. Links are left out, because pictures in a page cannot be clicked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

FONT = "Arial, Helvetica, sans-serif"
LIGHT: Mapping[str, Any] = {
    "background": "#ffffff",
    "primaryColor": "#e8f0fe",
    "primaryTextColor": "#1f2328",
    "primaryBorderColor": "#4f7cc4",
    "lineColor": "#57606a",
    "secondaryColor": "#e6f4ea",
    "tertiaryColor": "#f6f8fa",
    "noteBkgColor": "#fff8c5",
    "noteTextColor": "#1f2328",
    "noteBorderColor": "#d4a72c",
    "edgeLabelBackground": "#ffffff",
    "taskBkgColor": "#dbe7fb",
    "taskBorderColor": "#4f7cc4",
    "taskTextColor": "#1f2328",
    "activeTaskBkgColor": "#b3cdf5",
    "activeTaskBorderColor": "#2f5fae",
    "doneTaskBkgColor": "#e1e5ea",
    "doneTaskBorderColor": "#8c959f",
    "critBkgColor": "#f8c4c0",
    "critBorderColor": "#b4202c",
    "pie1": "#a9c7f5",
    "pie2": "#b5dfc0",
    "pie3": "#f5d9a0",
    "pie4": "#e9b9d6",
    "pie5": "#c7bdf0",
    "pie6": "#a8dbe0",
}
DARK: Mapping[str, Any] = {
    "darkMode": True,
    "background": "#161b22",
    "primaryColor": "#1f3354",
    "primaryTextColor": "#e6edf3",
    "primaryBorderColor": "#6ea8fe",
    "lineColor": "#9aa7b4",
    "secondaryColor": "#1f3b2a",
    "tertiaryColor": "#21262d",
    "noteBkgColor": "#3d3414",
    "noteTextColor": "#f0e6c0",
    "noteBorderColor": "#8a7320",
    "edgeLabelBackground": "#161b22",
    "cScale0": "#1f3354",
    "cScale1": "#1f3b2a",
    "cScale2": "#3d3414",
    "cScale3": "#43263a",
    "cScale4": "#332b57",
    "cScale5": "#1b4045",
}
_FOLLOW_THE_THEME = {
    "flowchart",
    "graph",
    "sequenceDiagram",
    "classDiagram",
    "classDiagram-v2",
    "stateDiagram",
    "stateDiagram-v2",
    "erDiagram",
    "journey",
    "timeline",
}
_HAVE_LINKS = {
    "flowchart",
    "graph",
    "classDiagram",
    "classDiagram-v2",
    "stateDiagram",
    "stateDiagram-v2",
    "gantt",
}
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:.*\n)*?---[ \t]*(?:\n|$)")
_OWN_CONFIG = re.compile(r"%%\{|^config[ \t]*:", re.MULTILINE)
_OWN_COLOURS = re.compile(r"^[ \t]*(?:style|classDef|linkStyle|rect|box)\b|:::", re.MULTILINE)
_LINK = re.compile(r"^[ \t]*(?:click|link|callback)[ \t][^\n]*", re.MULTILINE)
_KIND = re.compile(r"[A-Za-z][\w-]*")


def light(source: str) -> str:
    """The source to draw for light paper."""
    return _themed(source, LIGHT)


def dark(source: str) -> str | None:
    """The source to draw for a dark page, or None if the diagram is better shown on light paper."""
    if kind(source) not in _FOLLOW_THE_THEME or _OWN_CONFIG.search(source) or _OWN_COLOURS.search(source):
        return None
    return _themed(source, DARK)


def kind(source: str) -> str:
    """The word that names the diagram's kind; empty when there is none."""
    for line in source[_front(source) :].split("\n"):
        words = line.strip()
        if words and not words.startswith("%%"):
            match = _KIND.match(words)
            return match[0] if match else ""
    return ""


def _themed(source: str, colours: Mapping[str, Any]) -> str:
    """The source without links and with our colours, where the author configured nothing."""
    drawn = _LINK.sub("", source) if kind(source) in _HAVE_LINKS else source
    if _OWN_CONFIG.search(source):
        return drawn
    variables = {**colours, "fontFamily": FONT, "fontSize": "14px"}
    config = {"theme": "base", "look": "classic", "fontFamily": FONT, "themeVariables": variables}
    front = _front(drawn)
    return f"{drawn[:front]}%%{{init: {json.dumps(config)}}}%%\n{drawn[front:]}"


def _front(source: str) -> int:
    """Where the diagram begins: after its front matter, which must stay first."""
    match = _FRONT_MATTER.match(source)
    return match.end() if match else 0
