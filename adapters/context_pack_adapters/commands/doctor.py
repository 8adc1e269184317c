"""What is configured, what is missing, and how to mend it.

Nothing is changed. Exit code 1 when something is broken; a warning is something that works less well.

Examples:
  context-pack doctor
  context-pack doctor --source-root ~/src/shop
  context-pack doctor --json
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from context_pack_adapters.commands.shell import Shell

COLOURS: Mapping[str, str] = {"ok": "green", "warn": "yellow", "broken": "red"}


def configure(parser: ArgumentParser) -> None:
    """How to print."""
    parser.add_argument("--json", action="store_true", help="print settings and findings as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Examine everything and print what was found."""
    from context_pack_adapters.commands.examination import examine, settings_shown

    settings = settings_shown(shell.settings)
    findings = examine(shell.settings)
    broken = [finding for finding in findings if finding.state == "broken"]
    if options.json:
        checks = [finding._asdict() for finding in findings]
        shell.terminal.json({"ok": not broken, "settings": settings, "checks": checks})
        return 1 if broken else 0
    terminal = shell.terminal
    terminal.styled_line(("bold", "Settings"))
    width = max(map(len, settings))
    for name, value in settings.items():
        terminal.line(f"  {name.ljust(width)}  {value}")
    terminal.line()
    terminal.styled_line(("bold", "Checks"))
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        state = (COLOURS[finding.state], finding.state.ljust(6))
        terminal.styled_line("  ", state, f"  {finding.subject.ljust(width)}  {finding.found}")
        if finding.mend is not None:
            terminal.styled_line(" " * (width + 12), ("cyan", f"→ {finding.mend}"))
    terminal.line()
    terminal.line(f"{len(broken)} broken." if broken else "Everything needed is in place.")
    return 1 if broken else 0
