"""Search the document collections by meaning and by words; what has changed is indexed first.

The exit code is 0 if something was found, 1 if nothing was.

Examples:
  context-pack docs search "how to rotate keys"
  context-pack docs search parse_http_header -c handbook -c api --limit 3
  context-pack docs search "retry policy" --json | jq '.results[0]'
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any

from context_pack_adapters.commands.docs import DONE, FAILED, open_documents, sync_with_bar
from context_pack_adapters.commands.shell import Shell

SHOWN_LINES = 4


def configure(parser: ArgumentParser) -> None:
    """What to look for, and where."""
    parser.add_argument("query", metavar="QUERY", help="what to find, in words")
    parser.add_argument(
        "-c", "--collection", action="append", default=[], metavar="NAME", help="only this collection"
    )
    parser.add_argument("-n", "--limit", type=int, default=10, metavar="N", help="most hits, 1 to 100 (10)")
    parser.add_argument("--max-distance", type=float, metavar="X", help="largest cosine distance, 0 to 2")
    parser.add_argument("--vector", action="store_true", help="by meaning alone, without the words")
    parser.add_argument("--json", action="store_true", help="print the tool's whole answer as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Bring the collections up to date, ask, and print what was found."""
    documents = open_documents(shell)
    chosen = [one for one in documents.shelf.chosen(options.collection) if one.where.is_local]
    sync_with_bar(documents, chosen, fetch=False)
    given = {
        "query": options.query,
        "collections": options.collection,
        "limit": options.limit,
        "hybridSearch": not options.vector,
        "maxDistance": options.max_distance,
    }
    with shell.workspace() as workspace:
        answer = workspace.call(
            "documents_search", {name: value for name, value in given.items() if value is not None}
        )
    if answer.is_error:
        shell.terminal.complain(answer.text)
        return FAILED
    found = json.loads(answer.text)
    if options.json:
        shell.terminal.json(found)
    else:
        _show(found, shell)
    return DONE if found["results"] else FAILED


def _show(found: Mapping[str, Any], shell: Shell) -> None:
    if found.get("warning"):
        shell.terminal.note(found["warning"])
    if not found["results"]:
        shell.terminal.note("Nothing found.")
    for hit in found["results"]:
        place = f"{hit['collection']}/{hit['documentId']}:{hit['startLine']}"
        heading = hit.get("sectionHeading") or hit["documentTitle"]
        shell.terminal.styled_line(
            ("green", f"{hit['relevanceScore']:.2f}"), "  ", ("cyan", place), f"  {heading}"
        )
        lines = [line for line in hit["content"].split("\n") if line.strip()]
        for line in lines[:SHOWN_LINES]:
            shell.terminal.line(f"      {line[:160]}")
