"""The commands about the team's database: init, status, push, pull."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import TYPE_CHECKING

from attrs import asdict

from context_pack_adapters.cli.arguments import argument, command, flag
from context_pack_adapters.cli.shell import Shell, WrongUsage
from context_pack_adapters.postgres.copying import CopySide, copy_discoveries, copy_packs, report_lines
from context_pack_adapters.postgres.opening import load_team
from context_pack_adapters.system import SystemIds

if TYPE_CHECKING:
    from context_pack_adapters.postgres.team import Team

MEMBERS = "context_pack_member"
NO_STORE = "no database is configured; set CONTEXT_PACK_STORE=postgresql://user@host/database"


def open_team(shell: Shell) -> Team:
    """The configured database."""
    if not shell.settings.store:
        raise WrongUsage(NO_STORE)
    return load_team(shell.settings, os.environ)


@command(
    argument("--members", metavar="ROLE", default=MEMBERS, help=f"who may use this project [{MEMBERS}]"),
    flag("--print", "print the SQL instead, for somebody who may run it"),
    flag("--json", "print what was done as JSON"),
)
def init(options: Namespace, shell: Shell) -> None:
    """Prepare the team's database for this project; what is there already stays as it is.

    Makes or migrates the tables and the roles context_pack_owner and context_pack_member, and registers this
    project. Run it once, with a login that may create roles; everybody else only needs the role.

    Examples:
      CONTEXT_PACK_STORE=postgresql://admin@db.example.org/team context-pack team init
      context-pack team init --print | psql "$ADMIN_DATABASE"
    """
    team = open_team(shell)
    address, project = team.address, team.database.project
    from context_pack_adapters.postgres.schema import prepare, printed

    if options.print:
        shell.terminal.line(printed(project, options.members))
        return
    steps = prepare(address, project, options.members)
    done = f"{steps} steps run" if steps else "it was up to date"
    words = f"The database is ready for {project} ({done}); its members have {options.members}."
    shell.tell(options, {"project": project, "members": options.members, "steps": steps}, words)


@command(flag("--json", "print it as JSON"))
def status(options: Namespace, shell: Shell) -> None:
    """Tell whether the team's database can be reached, how fast it is and what it holds.

    Examples:
      context-pack team status
      context-pack team status --json
    """
    team = open_team(shell)
    database = team.database
    from context_pack_adapters.postgres.status import read_status

    found = asdict(read_status(database))
    if options.json:
        shell.terminal.json(found)
        return
    rows = [[name.replace("_", " "), str(value)] for name, value in found.items()]
    shell.terminal.table(rows, "WHAT", "FOUND")
    if found["bypasses_security"]:
        shell.terminal.note(
            "This login is a superuser: row-level security does not hold it. Use a plain one."
        )


@command(flag("--json", "print what was done as JSON"))
def push(options: Namespace, shell: Shell) -> int:
    """Copy the packs and discoveries of this checkout to the team's database; nothing is overwritten.

    What differs on both sides is named and left alone; then the exit code is 1.

    Examples:
      context-pack team push
    """
    return _copied(shell, options, up=True)


@command(flag("--json", "print what was done as JSON"))
def pull(options: Namespace, shell: Shell) -> int:
    """Copy the packs and discoveries of the team's database to files here; nothing is overwritten.

    What differs on both sides is named and left alone; then the exit code is 1.

    Examples:
      context-pack team pull
    """
    return _copied(shell, options, up=False)


def _copied(shell: Shell, options: Namespace, up: bool) -> int:
    """Copy from files to the database, or back, and print the outcome; 1 for conflicts."""
    from context_pack_adapters.disk_ports import file_packs, open_ports

    team, files = open_team(shell), open_ports(shell.settings._replace(store=""))
    here = CopySide(files.packs, lambda ids: file_packs(shell.settings, ids), files.discoveries)
    there = CopySide(team.packs(SystemIds()), team.packs, team.discoveries())
    source, target = (here, there) if up else (there, here)
    packs = copy_packs(source.packs, target.packs_with)
    discoveries = copy_discoveries(source.discoveries, target.discoveries)
    lines = (*report_lines(packs, "packs"), *report_lines(discoveries, "discoveries"))
    shell.tell(options, {"packs": asdict(packs), "discoveries": asdict(discoveries)}, *lines)
    return 1 if packs.conflicts or discoveries.conflicts else 0
