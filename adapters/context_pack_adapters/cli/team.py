"""The commands about the team's database: init, status, push, pull."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import click
from attrs import asdict

from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.disk_ports import open_ports
from context_pack_adapters.postgres.copying import (
    copy_discoveries,
    copy_excerpts,
    copy_packs,
    report_lines,
)
from context_pack_adapters.postgres.opening import load_team

if TYPE_CHECKING:
    from context_pack_adapters.postgres.team import Team

MEMBERS = "context_pack_member"
NO_STORE = "no database is configured; set CONTEXT_PACK_STORE=postgresql://user@host/database"


def open_team(app: App) -> Team:
    """The configured database."""
    if not app.settings.store:
        raise click.UsageError(NO_STORE)
    return load_team(app.settings, os.environ)


@command("team init")
@click.option(
    "--members", metavar="ROLE", default=MEMBERS, show_default=True, help="Who may use this project."
)
@flag("--print", "Print the SQL instead, for somebody who may run it.", "only_print")
def init(app: App, members: str, only_print: bool) -> None:
    """Prepare the team's database for this project; what is there already stays as it is.

    Makes the tables and the roles context_pack_owner and context_pack_member, and registers this
    project. Run it once, with a login that may create roles; everybody else only needs the role.

    Examples:
      CONTEXT_PACK_STORE=postgresql://admin@db.example.org/team context-pack team init
      context-pack team init --print | psql "$ADMIN_DATABASE"
    """
    team = open_team(app)
    project = team.database.project
    if only_print:
        output.line(team.preparation(members))
        return
    made = team.prepare(members)
    done = "its tables were made" if made else "it was up to date"
    words = f"The database is ready for {project} ({done}); its members have {members}."
    app.tell({"project": project, "members": members, "made": made}, words)


@command("team status")
def status(app: App) -> None:
    """Tell whether the team's database can be reached, how fast it is and what it holds.

    Example:
      context-pack team status
    """
    body = asdict(open_team(app).status())
    rows = [[name.replace("_", " "), str(value)] for name, value in body.items()]
    open_to_all = "This login is a superuser: row-level security does not hold it. Use a plain one."
    app.table(body, rows, ("WHAT", "VALUE"), "", [open_to_all] if body["bypasses_security"] else [])


def _copy(app: App, *, up: bool) -> int:
    """Copy from files to the database, or back, and print the outcome; 1 for conflicts."""
    team, files = open_team(app), open_ports(app.settings._replace(store=""))
    here = files.packs, files.excerpts, files.discoveries
    there = team.packs(os.urandom), team.excerpts(), team.discoveries()
    (packs, excerpts, discoveries), target = (here, there) if up else (there, here)
    copy_excerpts(packs, excerpts, target[1])  # before the packs that need them
    copied = {"packs": copy_packs(packs, target[0]), "discoveries": copy_discoveries(discoveries, target[2])}
    lines = [line for kind, outcome in copied.items() for line in report_lines(outcome, kind)]
    code = 1 if any(outcome.conflicts for outcome in copied.values()) else 0
    return app.tell({kind: asdict(outcome) for kind, outcome in copied.items()}, *lines, code=code)


COPY = """Copy the packs and discoveries of {} to {}; nothing is overwritten.

What differs on both sides is named and left alone; then the exit code is 1.

Examples:
  context-pack team {}
"""
HERE, THERE = "this checkout", "the team's database"
command("team push", about=COPY.format(HERE, THERE, "push"))(partial(_copy, up=True))
command("team pull", about=COPY.format(THERE, HERE, "pull"))(partial(_copy, up=False))
