"""The generated text of a drafted pack, and how to distinguish it from a person's words.

A pack that `draft` wrote repeats the question in its title and in the reason of every passage. Whoever
searches packs must not find those: they would answer the question with itself. So the words are made here,
and here they are known again; once somebody has put others in their place, those are the pack's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from context_pack.packs.domain import values
from context_pack.packs.domain.model import Pack, Ref, Section
from context_pack.toolkit.budget import cut_text

CODE = "code"
TITLES: Mapping[str, str] = {CODE: "Code", "documents": "Documents", "memory": "Memory"}
_FOUND = r'found for "(?P<question>.*)"(?:, score [0-9]\.[0-9]{2}|: [^"]*)?'
_WHY = re.compile(_FOUND)
_QUOTE = re.compile(rf"- .*\({_FOUND}\)")
_KEY_CHARS = 48


def title_of(question: str) -> str:
    """The title of a pack that answers a question."""
    return cut_text(question, values.TITLE_CHARS).strip()


def reason(question: str, what: str) -> str:
    """The generated reason of a ref: the question, and what was found for it."""
    found = what.replace('"', "'")
    return f'found for "{title_of(question)}"' + (f": {found}" if found else "")


def quote(title: str, text: str, why: str) -> str:
    """A passage without a path, as a line of a description."""
    return f"- {title}: {' '.join(text.split())} ({why})"


def key_of(title: str) -> str:
    """The key of a ref with this title, before it is made unique."""
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:_KEY_CHARS] or "excerpt"
    return words if len(words) > 1 else f"{words}-1"


def own_title(pack: Pack) -> str | None:
    """The pack's title, unless it is the question that it was drafted for."""
    return None if pack.title in set(_questions(pack)) else pack.title


def own_heading(pack: Pack, section: Section) -> str | None:
    """The section's title, unless it is generated."""
    drafted = TITLES.get(section.key) == section.title and any(_questions(pack))
    return None if drafted else section.title


def own_description(section: Section) -> str | None:
    """The section's description without the lines that were quoted for a question."""
    lines = (section.description or "").split("\n")
    return "\n".join(line for line in lines if not _QUOTE.fullmatch(line)).strip() or None


def own_why(ref: Ref) -> str | None:
    """The ref's reason, unless it is generated."""
    return None if ref.why is not None and _WHY.fullmatch(ref.why) else ref.why


def is_own(ref: Ref) -> bool:
    """Whether a person described the ref: wrote a reason, or changed its generated title."""
    if ref.why is None or own_why(ref) is not None:
        return True
    base = key_of(ref.title or "")
    return re.fullmatch(rf"{re.escape(base)}(-[0-9]+)?", ref.key) is None


def _questions(pack: Pack) -> Iterator[str]:
    """The questions for which something in the pack was found."""
    for section in pack.sections:
        whys = (_WHY.fullmatch(ref.why) for ref in section.refs if ref.why is not None)
        quotes = map(_QUOTE.fullmatch, (section.description or "").split("\n"))
        yield from (found["question"] for found in (*whys, *quotes) if found is not None)
