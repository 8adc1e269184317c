"""The commands that search memory: `search` asks everything, `memory search` only discoveries."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.commands.arguments import argument, command, flag
from context_pack_adapters.commands.memory import TYPES
from context_pack_adapters.commands.shell import Shell

LIMIT = argument("--limit", metavar="N", type=int, default=5, help="most results (5)")


@command(
    argument("question", metavar="QUESTION", help="what to find, by meaning and by name"),
    argument("--module", metavar="NAME", help="only this module"),
    LIMIT,
    flag("--json", "print what context_search answers"),
)
def search(options: Namespace, shell: Shell) -> None:
    """Search code, discoveries, past sessions and packs, as context_search does.

    Examples:
      context-pack search "where is the session renewed"
      context-pack search renew_token --limit 10
    """
    _show(options, shell, "all")


@command(
    argument("question", metavar="QUESTION", help="what to find, by meaning and by name"),
    argument("--type", choices=TYPES, help="only of this type"),
    argument("--module", metavar="NAME", help="only about this module"),
    LIMIT,
    flag("--json", "print what context_search answers"),
)
def search_memory(options: Namespace, shell: Shell) -> None:
    """Search the discoveries.

    Example:
      context-pack memory search "how do we keep sessions" --type decision
    """
    _show(options, shell, options.type or "discovery")


def _show(options: Namespace, shell: Shell, kind: str) -> None:
    asked = {"query": options.question, "module": options.module, "limit": options.limit}
    answer = shell.call("context_search", **asked, type="all" if kind == "discovery" else kind)
    found = json.loads(answer.text)
    if answer.is_error:
        details = found.get("details") or [{}]
        said = details[0].get("message") if isinstance(details, list) else details
        raise Failure(Code.INVALID_DATA, f"{found['error']}{f': {said}' if said else ''}")
    results = found["results"]
    if kind == "discovery":
        results = [each for each in results if each["source"] == "discovery"]
    if options.json:
        shell.terminal.json({**found, "results": results})
        return
    for each in results:
        shell.terminal.styled_line(("bold", _where(each)), ("dim", f"  {each['score']:.2f}"))
        for line in str(each["content"]).split("\n"):
            shell.terminal.line(f"    {line}")
    if not results:
        shell.terminal.line("Nothing found.")


def _where(found: Mapping[str, Any]) -> str:
    """Where a result is from, in one line."""
    if found["source"] == "code":
        symbol = f" {found['symbol']}" if "symbol" in found else ""
        return f"{found['path']}:{found['startLine']}-{found['endLine']}{symbol}"
    return f"{found['type']} {found['id']}"
