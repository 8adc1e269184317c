"""Claims: sentences of a pack with the code that they rest on, and which of them must be read again.

A claim is a block of prose that names places, or a ref that no prose names with its reason. It holds while
the code of all its refs is as it was, but for what is only cosmetic. The others are ordered by doubt: code
that is gone first, then by the share of its lines that changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from attrs import frozen

from context_pack.packs.domain.model import Pack, Ref, Section
from context_pack.packs.domain.prose import blocks_of
from context_pack.packs.domain.states import Resolution, State
from context_pack.toolkit.budget import cut_text

SENTENCE_BYTES = 240
GONE = {State.STALE: 3.0, State.AMBIGUOUS: 2.5, State.UNKNOWN: 0.5}

Resolve = Callable[[Ref], Resolution]


@frozen
class Claim:
    """A sentence, the section that says it, and the refs that it rests on."""

    section: Section
    text: str
    refs: tuple[Ref, ...]

    @property
    def sentence(self) -> str:
        """The text, short enough for a list."""
        return cut_text(self.text, SENTENCE_BYTES)


@frozen
class Doubt:
    """A claim whose code is not as it was: the refs that say so, each with what became of it."""

    claim: Claim
    refs: tuple[tuple[Ref, Resolution], ...]

    @property
    def weight(self) -> float:
        """How doubtful it is."""
        return max(weight_of(found) for _, found in self.refs)

    @property
    def change(self) -> str:
        """What became of its code, in one line."""
        return "; ".join(f"{_place(ref, found)} {found.summary}" for ref, found in self.refs)


def claims_of(pack: Pack) -> tuple[list[Claim], int]:
    """The claims of a pack in reading order, and how many blocks of prose name no code."""
    named = {spelling: ref for _, ref in pack.refs for spelling in ref.spellings}
    claims: list[Claim] = []
    bare = 0
    for section in pack.sections:
        for block in blocks_of(section.description):
            refs = dict.fromkeys(named[each.spelling] for each in block.places if each.spelling in named)
            if refs:
                claims.append(Claim(section, block.text, tuple(refs)))
            else:
                bare += 1
        alone = (ref for ref in section.refs if not ref.spellings)
        claims += [Claim(section, ref.why or ref.title or ref.key, (ref,)) for ref in alone]
    return claims, bare


def doubts_of(claims: Iterable[Claim], resolve: Resolve) -> list[Doubt]:
    """The claims that must be read again, the most doubtful first."""
    doubts = []
    for claim in claims:
        refs = tuple((ref, found) for ref in claim.refs if is_doubtful(found := resolve(ref)))
        if refs:
            doubts.append(Doubt(claim, refs))
    return sorted(doubts, key=lambda doubt: -doubt.weight)


def is_doubtful(found: Resolution) -> bool:
    """Whether what is said about the code must be read again."""
    return not found.trusted and not found.cosmetic


def weight_of(found: Resolution) -> float:
    """How doubtful what is said about a ref is."""
    if found.state is not State.CHANGED:
        return GONE.get(found.state, 0.0)
    difference = found.difference
    return 1.0 if difference is None else 1.0 + difference.changed / max(1, difference.lines)


def _place(ref: Ref, found: Resolution) -> str:
    where = found.found
    return f"{ref.path}:{ref.lines}" if where is None else f"{where.path}:{where.lines}"


def headline(doubts: Sequence[Doubt], claims: int, bare: int) -> str:
    """How many claims must be read again, and what nobody checks."""
    unchecked = f"; {bare} statement{'' if bare == 1 else 's'} without code" if bare else ""
    return f"{len(doubts)} of {claims} claim{'' if claims == 1 else 's'}{unchecked}"
