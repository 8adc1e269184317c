"""The comment that a source file begins with, whatever its language; licences are not about the file."""

from __future__ import annotations

import re
from collections.abc import Iterable

from context_pack.kernel.text import first_sentence

HASH = frozenset(
    {"py", "pyi", "rb", "sh", "bash", "zsh", "yaml", "yml", "toml", "r", "ex", "exs", "tf", "hcl"}
)
HASH |= {"dockerfile", "graphql", "gql"}
DASHES = frozenset({"sql", "lua", "hs"})
MARKUP = frozenset({"html", "xml", "vue", "svelte", "md", "mdx"})
MOST_LINES = 60

_SKIPPED = re.compile(
    r"(?:#!.*|['\"]use \w+['\"];?|<\?(?:php|xml)[^\n]*|<!DOCTYPE[^\n]*|\s*)\n", re.IGNORECASE
)
_LEGAL = re.compile(r"copyright|licen[cs]e|all rights reserved|spdx-", re.IGNORECASE)
_TOOLING = re.compile(
    r"^(?:eslint|prettier|tslint|ts-|@ts-|noqa|type:|pylint|flake8|-\*-|vim:|region\b|coding[:=]|istanbul|"
    r"jshint|:[\w-]+:\s*$|global |go:build|\+build|generated|code generated)",
    re.IGNORECASE,
)
_BLOCK = re.compile(r"/\*[*!]?(?P<body>.*?)\*/", re.DOTALL)
_MARKUP = re.compile(r"<!--(?P<body>.*?)-->", re.DOTALL)
_STARS = re.compile(r"^[ \t]*\*+[ \t]?", re.MULTILINE)


def about(comments: Iterable[str]) -> str:
    """The first sentence of the first of these comments that says something."""
    return next((first_sentence(words) for comment in comments if (words := said(comment))), "")


def head_comment(text: str, extension: str) -> str:
    """The first sentence of the first comment that says something, if the file begins with one."""
    at = 0
    for _ in range(8):
        while skipped := _SKIPPED.match(text, at):
            at = skipped.end()
        body, at = _comment(text, at, extension)
        if not at:
            return ""
        if words := said(body):
            return first_sentence(words)
    return ""


def _comment(text: str, at: int, extension: str) -> tuple[str, int]:
    """The comment at a place and where it ends; 0 when there is none."""
    if extension in MARKUP:
        match = _MARKUP.match(text, at)
        return (match["body"], match.end()) if match else ("", 0)
    if extension in HASH:
        return _lines(text, at, "#")
    if extension in DASHES:
        return _lines(text, at, "--")
    match = _BLOCK.match(text, at)
    if match:
        return _STARS.sub("", match["body"]), match.end()
    return _lines(text, at, "//")


def _lines(text: str, at: int, mark: str) -> tuple[str, int]:
    """A run of lines that begin with a mark."""
    said: list[str] = []
    while text.startswith(mark, at) and len(said) < MOST_LINES:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        said.append(text[at:end].lstrip(mark[0]).removeprefix("!").strip())
        at = end + 1
    return "\n".join(said), at if said else 0


def said(body: str) -> str:
    """The text of a comment without decoration; empty for a licence or a tool directive."""
    lines = [
        line.strip(" \t=-*#~_/") if set(line.strip()) <= set("=-*#~_/ ") else line
        for line in body.split("\n")
    ]
    text = "\n".join(line.strip() for line in lines).strip()
    prose = "\n".join(line for line in text.split("\n") if not _TOOLING.match(line)).strip()
    if _LEGAL.search(prose) or not re.search(r"[^\W\d_]{2}", prose):
        return ""
    return re.sub(r"^@(?:file|fileoverview|module|packageDocumentation)\b\s*", "", prose).split("\n@")[0]
