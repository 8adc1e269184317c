"""Print the .context.yaml of a folder as it is, or what it says as JSON.

Examples:
  context-pack contexts show src/core
  context-pack contexts show .
  context-pack contexts show src/core --json       the parsed context, with its state
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.commands.contexts import add_place, answered, open_project
from context_pack_adapters.commands.shell import Shell


def configure(parser: ArgumentParser) -> None:
    """Which folder of which project."""
    parser.add_argument("scope", metavar="SCOPE", help="a folder, from the root; . is the root")
    add_place(parser)


def run(options: Namespace, shell: Shell) -> int:
    """Print the file."""
    from context_pack.contexts.ports import Refusal
    from context_pack.contexts.usecases.commands import CheckFreshness, QueryContext
    from context_pack.contexts.usecases.query import ContextQueries, refused

    opened = open_project(options, shell)
    if options.json:
        queries = ContextQueries(opened.ports.projects, opened.ports.format)
        asked = {"scope": options.scope, "path": opened.project.root}
        found = answered(queries.query(QueryContext(**asked)))
        checked = answered(queries.check(CheckFreshness(**asked)))
        state = checked.freshness.state.value
        shell.terminal.json({"scope": options.scope, "state": state, "context": found.context})
        return 0
    folder = opened.project.find(options.scope)
    data = folder if folder is None or isinstance(folder, Refusal) else folder.context()
    if not isinstance(data, bytes):
        raise Failure(Code.NOT_FOUND, refused(data, options.scope).error)
    shell.terminal.raw(data.decode("utf-8", "backslashreplace"))
    return 0
