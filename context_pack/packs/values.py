"""The small values of packs: keys, names, one-line texts, blocks of text; their bounds and parsers.

Two strengths of rule live here. `one_line`, `block`, `key`, … are what a pack can never break, wherever it
comes from: the model runs them on construction, so that a loader gets every invariant by building the model.
The lengths (`TITLE_CHARS`, …) bind what callers give, in the schemas of commands; a file written by another
implementation may be longer, and is still rendered safely.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import has_half_characters, is_pack_id, is_single_line

KEY_PATTERN = "^[a-z0-9][a-z0-9_-]{1,63}$"
_KEY = re.compile("[a-z0-9][a-z0-9_-]{1,63}")
NAME_LOW, NAME_HIGH = 3, 120
TITLE_CHARS = 200
BRIEF_CHARS = 2_000
TAG_CHARS = 64
TAGS_MOST = 50
WHY_CHARS = 2_000
GROUP_CHARS = 120
DESCRIPTION_CHARS = 20_000
MERMAID_CHARS = 50_000
PATH_CHARS = 1_024


def string(value: Any, field: str) -> str:
    """A string that UTF-8 can carry; None stands for one of which nothing is left.

    Raises:
        Failure: `invalid_data`, naming the field.
    """
    if not isinstance(value, str):
        raise invalid(f"'{field}' must be a string, and not blank", field)
    if has_half_characters(value):
        raise invalid(f"'{field}' holds half of a character (a lone surrogate); send whole characters", field)
    return value


def one_line(value: Any, field: str) -> str | None:
    """A trimmed text of one line, or None when nothing is left of it."""
    text = string(value, field).strip()
    if not is_single_line(text):
        raise invalid(f"'{field}' must be one line without control characters; remove them", field)
    return text or None


def required_line(value: Any, field: str) -> str:
    """A trimmed text of one line that is not blank."""
    text = one_line(value, field)
    if text is None:
        raise invalid(f"'{field}' must not be blank", field)
    return text


def without_blank_ends(text: str) -> str:
    """The text without blank lines at its ends; its first line keeps its indent, which may make it code."""
    body = text.strip()
    if not body:
        return ""
    before, _, after = text.partition(body)
    return f"{before}|".splitlines()[-1][:-1] + body + f"|{after}".splitlines()[0][1:]


def key(value: Any, field: str) -> str:
    """The key of a section, a ref or a diagram."""
    if not isinstance(value, str) or _KEY.fullmatch(value) is None:
        raise invalid(
            f"'{field}' must be 2 to 64 of a-z, 0-9, '_' and '-', starting with a letter or a digit", field
        )
    return value


def name(value: Any, field: str = "name") -> str:
    """A pack's name: one line of 3 to 120 characters that does not look like an id."""
    text = one_line(value, field) or ""
    if not NAME_LOW <= len(text) <= NAME_HIGH:
        raise invalid(f"'{field}' must have {NAME_LOW} to {NAME_HIGH} characters", field)
    if is_pack_id(text):
        raise invalid(f"'{field}' must not look like a pack id; choose a name in words", field)
    return text


def new_name(value: Any, field: str = "name") -> str:
    """The name of a pack to be made: what is not seen would make two names look alike."""
    text = name(value, field)
    if (char := next((char for char in text if not char.isprintable()), None)) is not None:
        called = f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip()
        raise invalid(f"'{field}' holds an invisible character ({called}); remove it", field)
    return text


def tags(values: Any, field: str = "tags") -> tuple[str, ...]:
    """Tags, each one line, the first of equal ones kept."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise invalid("'tags' must be a list of strings", "tags")
    return tuple(dict.fromkeys(required_line(value, field) for value in values))


def path(value: Any, field: str = "path") -> RelativePath:
    """A relative path under the source root; whatever is wrong with it is `invalid_data` here."""
    text = string(value, field)
    if not text.strip():
        raise invalid(f"'{field}' must not be blank", field)
    try:
        return RelativePath.parse(text)
    except Failure as failure:
        message = f"{failure.message}; give a path relative to the source root, such as src/app.py"
        raise Failure(Code.INVALID_DATA, message, {"field": field}) from None
