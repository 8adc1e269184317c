"""A search pattern, read once and ready for either engine."""

from __future__ import annotations

from functools import lru_cache

from attrs import frozen

from context_pack.code.domain.search import INVALID_PATTERN
from context_pack.code.domain.search_escapes import BadPattern
from context_pack.code.domain.search_literals import Literal, Needs, alternatives, lead_of, needs_of
from context_pack.code.domain.search_regex import RegexSource, regex_source
from context_pack.code.domain.search_ripgrep import RipgrepSource, ripgrep_source
from context_pack.code.domain.search_syntax import read_pattern
from context_pack.code.domain.search_walk import Cost, cost_of, may_be_empty
from context_pack.kernel.errors import Code, Failure


@frozen
class Pattern:
    """What the engines need to know of a pattern.

    `needs` are literals of which every match holds one, `lead` is what it begins with; `choices` are the
    plain texts of a pattern that is nothing else. `ripgrep` is None where ripgrep has no words for it.
    """

    regex: RegexSource
    ripgrep: RipgrepSource | None
    needs: Needs
    lead: Literal | None
    choices: Needs
    may_be_empty: bool
    cost: Cost


@lru_cache(maxsize=64)
def compiled(text: str, case_sensitive: bool) -> Pattern:
    """The pattern that `text` spells.

    Raises:
        Failure: `invalid_data` with the pattern and the reason, if it means nothing.
    """
    try:
        node = read_pattern(text, fold=not case_sensitive)
        source = regex_source(node)
        _check(source, len(text))
        return Pattern(
            source,
            ripgrep_source(node),
            needs_of(node),
            lead_of(node),
            alternatives(node),
            may_be_empty(node),
            cost_of(node),
        )
    except BadPattern as bad:
        reason = str(bad)
    raise Failure(Code.INVALID_DATA, INVALID_PATTERN, {"pattern": text, "details": reason})


def _check(source: RegexSource, end: int) -> None:
    """What only `regex` itself can tell: where in its own words is no place of the pattern."""
    import regex

    try:
        regex.compile(source.text, regex.V0 | regex.MULTILINE)
    except (regex.error, RecursionError, OverflowError) as error:
        reason = getattr(error, "msg", None) or "too complex"
        raise BadPattern(f"{reason}, up to the end", end) from error
