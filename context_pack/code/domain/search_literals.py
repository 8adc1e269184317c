"""Literals that every match of a pattern contains, so that a search can look for them first.

They are a few alternatives of which every match holds one (`get|set` has two); longer is rarer, so better.
Worth it by `benches/side_by_side/grep.py`: `[A-Z]\\w+Error` takes ten times as long without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from context_pack.code.domain.search_tokens import Token

MOST_ALTERNATIVES = 8
SHORTEST = 2
_ONCE = Token("repeat", "", 0)
Needs = tuple[str, ...]


def needs_of(tokens: Sequence[Token]) -> Needs:
    """The best set of literals of which every match holds one; empty if there is none worth looking for."""
    best = _LiteralReader(tokens).choice()
    return best if best and min(map(len, best)) >= SHORTEST else ()


class _LiteralReader:
    """One pass over the tokens, group by group."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._at = 0

    def choice(self) -> Needs:
        """The union of what each branch up to the end of the group needs."""
        chosen = [self._branch()]
        while self._kind() == "bar":
            self._at += 1
            chosen.append(self._branch())
        self._at += 1
        joined = tuple(dict.fromkeys(need for needs in chosen for need in needs))
        return joined if all(chosen) and len(joined) <= MOST_ALTERNATIVES else ()

    def _branch(self) -> Needs:
        """The set whose shortest literal is longest, the smaller set among equals."""
        found = [needs for needs in self._needs() if needs and all(needs)]
        return max(found, key=lambda needs: (min(map(len, needs)), -len(needs)), default=())

    def _needs(self) -> Iterator[Needs]:
        """Every set of literals that we know of, up to the end of the branch."""
        run = ""
        while self._kind() not in ("", "bar", "close"):
            token = self._tokens[self._at]
            self._at += 1
            inner = self.choice() if token.kind in ("open", "look") else ()
            repeat = self._tokens[self._at] if self._kind() == "repeat" else _ONCE
            self._at += repeat is not _ONCE
            if token.kind == "char" and repeat.low:
                run += token.char
                if repeat is _ONCE:
                    continue
            yield (run,)
            run = ""
            if token.kind == "open" and repeat.low:
                yield inner
        yield (run,)

    def _kind(self) -> str:
        """The kind of the next token, empty at the end."""
        return self._tokens[self._at].kind if self._at < len(self._tokens) else ""
