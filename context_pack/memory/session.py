"""Sessions: what one connection did, in numbers and names; never what was said in it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from attrs import evolve, field, frozen

from context_pack.kernel.times import format_instant

MOST_NAMES = 1000
"""How many different files, packs or tools one session remembers."""
SHOWN_NAMES = 40


@frozen(kw_only=True)
class Session:
    """One connection: when it was, which tools it called how often, which files and packs it looked at."""

    id: str
    started: datetime
    ended: datetime | None = None
    tools: Mapping[str, int] = field(factory=dict)
    files: tuple[str, ...] = ()
    packs: tuple[str, ...] = ()

    def called(self, tool: str, times: int = 1) -> Session:
        """After more calls of a tool."""
        if tool not in self.tools and len(self.tools) >= MOST_NAMES:
            return self
        return evolve(self, tools={**self.tools, tool: self.tools.get(tool, 0) + times})

    def read(self, path: str) -> Session:
        """After a file was read."""
        files = _with(self.files, path)
        return self if files is self.files else evolve(self, files=files)

    def touched(self, pack: str) -> Session:
        """After a pack was read or changed."""
        packs = _with(self.packs, pack)
        return self if packs is self.packs else evolve(self, packs=packs)


def _with(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return names if name in names or len(names) >= MOST_NAMES else (*names, name)


def summary(session: Session) -> str:
    """A session in a few sentences: what is shown and searched."""
    began = format_instant(session.started, whole_seconds=True)
    end = "not ended" if session.ended is None else format_instant(session.ended, whole_seconds=True)
    lines = [f"Session from {began} to {end}."]
    if session.tools:
        calls = (f"{tool} {count}" for tool, count in sorted(session.tools.items()))
        lines.append(f"Tools called: {', '.join(calls)}.")
    for what, names in (("Files read", session.files), ("Packs touched", session.packs)):
        if names:
            more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
            lines.append(f"{what}: {', '.join(names[:SHOWN_NAMES])}{more}.")
    return "\n".join(lines)
