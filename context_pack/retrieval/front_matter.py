"""The block of settings that may stand at the head of a document, and the title in it.

YAML between lines of `---` (ended by `---` or `...`) or TOML between lines of `+++`, from the very first
line. What holds no setting is no front matter: two rules with a heading between them are what they look like.
"""

from __future__ import annotations

import re

_ENDS = {"---": ("---", "..."), "+++": ("+++",)}
_SETTING = {
    "---": re.compile(r"""(?:[\w"'][^:\n]*+:(?:\s|\Z)|[{-])"""),
    "+++": re.compile(r"[\w\"'.-]+\s*=|\["),
}
_TITLE = {
    "---": re.compile(r"""["']?title["']?\s*:\s*(.*)"""),
    "+++": re.compile(r"""["']?title["']?\s*=\s*(.*)"""),
}
_BLOCK_SCALAR = re.compile(r"[>|][-+0-9]*\s*(?:#.*)?\Z")
# YAML and TOML write the same escapes between double quotes; YAML has a few more.
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPED = {'"': '"', "\\": "\\", "/": "/", " ": " ", "n": "\n", "t": "\t", "r": "\r", "_": "\xa0"}
# A document may begin with a rule and never end it: the search for the end stops somewhere.
_LONGEST = 2000


def front_matter_end(lines: list[str]) -> int:
    """How many lines the front matter takes; 0 when there is none."""
    mark = lines[0].rstrip() if lines else ""
    if mark not in _ENDS:
        return 0
    for number, line in enumerate(lines[1:_LONGEST], 1):
        if line.rstrip() in _ENDS[mark]:
            return number + 1 if _holds_settings(lines[1:number], mark) else 0
    return 0


def front_matter_title(lines: list[str], end: int) -> str:
    """The title that the front matter sets, as plain text; "" when it sets none."""
    mark = lines[0].rstrip() if end else ""
    for number in range(1, end - 1):
        found = _TITLE[mark].match(lines[number])
        if found is None:
            continue
        value = found[1].strip()
        if not value or _BLOCK_SCALAR.match(value):
            return _folded(lines[number + 1 : end - 1])
        return _scalar(value)
    return ""


def _holds_settings(lines: list[str], mark: str) -> bool:
    """Whether the first line that says something is a setting; empty front matter counts."""
    for line in lines:
        if line.strip() and not line.lstrip().startswith("#"):
            return _SETTING[mark].match(line) is not None
    return not any(line.strip() for line in lines)


def _folded(lines: list[str]) -> str:
    """The indented lines below a setting as one."""
    words: list[str] = []
    for line in lines:
        if line.strip() and line[:1] not in " \t":
            break
        words += line.split()
    return _scalar(" ".join(words))


def _scalar(value: str) -> str:
    """A value without its quotes or its comment."""
    quote = value[:1]
    if quote in ("'", '"') and len(value) > 1:
        end = _closing(value, quote)
        if end > 0:
            inner = value[1:end]
            plain = _unescaped(inner) if quote == '"' else inner.replace("''", "'")
            return " ".join(plain.split())
    return re.split(r"\s#", value, maxsplit=1)[0].strip()


def _unescaped(text: str) -> str:
    """What stands between double quotes, with its escapes read; one that says nothing is left as it is."""

    def meant(escape: re.Match[str]) -> str:
        number = escape[1] or escape[2] or escape[3]
        if number is None:
            return _ESCAPED.get(escape[4], escape[0])
        code = int(number, 16)
        return chr(code) if 0 < code <= 0x10FFFF else escape[0]

    # JSON writes what is beyond the first plane as two halves; half a character is none.
    return _ESCAPE.sub(meant, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _closing(value: str, quote: str) -> int:
    """Where the quoted part of a value ends; -1 when it does not."""
    at = 1
    while at < len(value):
        if (value[at] == "\\" and quote == '"') or (value.startswith("''", at) and quote == "'"):
            at += 2
            continue
        if value[at] == quote:
            return at
        at += 1
    return -1
