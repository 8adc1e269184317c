"""The commands that search memory: `search` asks everything, `memory search` only discoveries."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import Any

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.commands.arguments import argument, command, flag
from context_pack_adapters.commands.memory import TYPES, against
from context_pack_adapters.commands.shell import Shell

LIMIT = argument("--limit", metavar="N", type=int, default=5, help="most results (5)")


@command(
    argument("question", metavar="QUESTION", help="what to find, by meaning and by name"),
    argument("--module", metavar="NAME", help="only this module"),
    LIMIT,
    flag("--json", "print what context_search answers"),
)
def search(options: Namespace, shell: Shell) -> int:
    """Search code, discoveries, past sessions and packs, as context_search does.

    Examples:
      context-pack search "where is the session renewed"
      context-pack search renew_token --limit 10
    """
    return _show(options, shell, _ask(options, shell, "all"))


@command(
    argument("question", metavar="QUESTION", help="what to find, by meaning and by name"),
    argument("--type", choices=TYPES, help="only of this type"),
    argument("--module", metavar="NAME", help="only about this module"),
    LIMIT,
    flag("--json", "print what context_search answers"),
)
def search_memory(options: Namespace, shell: Shell) -> int:
    """Search the discoveries.

    Example:
      context-pack memory search "how do we keep sessions" --type decision
    """
    kinds = [options.type] if options.type else TYPES
    return _show(options, shell, _together([_ask(options, shell, each) for each in kinds], options.limit))


def _together(answers: Sequence[Mapping[str, Any]], limit: int) -> dict[str, Any]:
    """Merge the results of several answers, each in its own order, with their warnings."""
    together = {key: value for answer in answers for key, value in answer.items()}
    best = merge(*(answer["results"] for answer in answers), key=lambda found: -found["score"])
    sums = {key: sum(answer[key] for answer in answers) for key in ("totalFound", "searchTime")}
    return {**together, **sums, "results": list(islice(best, limit))}


def _ask(options: Namespace, shell: Shell, kind: str) -> dict[str, Any]:
    """The answer of context_search for a type of discoveries, or for everything."""
    asked = {"query": options.question, "module": options.module, "limit": options.limit}
    answer = shell.call("context_search", **asked, type=kind)
    found: dict[str, Any] = json.loads(answer.text)
    if answer.is_error:
        details = found.get("details") or [{}]
        said = details[0].get("message") if isinstance(details, list) else details
        raise Failure(Code.INVALID_DATA, f"{found['error']}{f': {said}' if said else ''}")
    return found


def _show(options: Namespace, shell: Shell, found: Mapping[str, Any]) -> int:
    """Print what was found; the exit code is 1 if that is nothing."""
    code = 0 if found["results"] else 1
    if options.json:
        shell.terminal.json(found)
        return code
    for each in found["results"]:
        shell.terminal.styled_line(("bold", _where(each)), ("dim", f"  {each['score']:.2f}"))
        for line in str(each["content"]).split("\n"):
            shell.terminal.line(f"    {line}")
    if not found["results"]:
        where = (
            f" in the module {options.module!r}; leave --module out to search all" if options.module else ""
        )
        shell.terminal.line(f"Nothing found{where}.")
    return code


def _where(found: Mapping[str, Any]) -> str:
    """Where a result is from, in one line."""
    if found["source"] == "code":
        symbol = f" {found['symbol']}" if "symbol" in found else ""
        return f"{found['path']}:{found['startLine']}-{found['endLine']}{symbol}"
    marks = against("supersededBy" in found, found.get("code", {}).get("state"))
    return f"{found['type']} {found['id']}{f' {marks}' if marks else ''}"
