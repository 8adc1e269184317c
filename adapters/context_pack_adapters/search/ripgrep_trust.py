"""Which files ripgrep is trusted with: those that look to it as they look to us, known before it starts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from context_pack.code.domain.search_ripgrep import RipgrepSource
from context_pack_adapters.search.roll import Known, Roll

ARGUMENT_BYTES = 30_000 if os.name == "nt" else min(1_000_000, os.sysconf("SC_ARG_MAX") // 2)
"""What one command line may hold; the environment needs room too."""
STDIN = "-"
"""What `rg` takes for its input and not for a file, whatever it is called."""


class Trusted(NamedTuple):
    """The files of a roll that `rg` may be started on, in command lines and with what is known of them.

    `others` are known texts that it is not trusted with.
    """

    batches: Sequence[Sequence[str]]
    states: Mapping[str, Known]
    others: Sequence[str]


def trusts(path: str, known: Known, source: RipgrepSource) -> bool:
    """Whether a file looks to `rg` as it looks to us."""
    if not known.is_text or known.is_odd or path == STDIN:
        return False
    return known.reach <= source.reach and not (known.has_returns and source.no_returns)


def trusted(roll: Roll, source: RipgrepSource) -> Trusted:
    """The files of a roll sorted by trust; remembered with the roll."""
    key = (source.reach, source.no_returns)
    found: Trusted | None = roll.views.get(key)
    if found is None:
        states: dict[str, Known] = {}
        others: list[str] = []
        for path, known in zip(roll.paths, roll.knowns, strict=True):
            if known is not None and trusts(path, known, source):
                states[path] = known
            elif known is not None and known.is_text:
                others.append(path)
        found = roll.views[key] = Trusted(batches(list(states)), states, others)
    return found


def batches(paths: Sequence[str]) -> list[list[str]]:
    """The paths in groups that fit on a command line."""
    groups: list[list[str]] = []
    left = 0
    for path in paths:
        size = (len(path) if path.isascii() else len(os.fsencode(path))) + 16
        if size > left:
            groups.append([])
            left = ARGUMENT_BYTES
        groups[-1].append(path)
        left -= size
    return groups
