"""Commands that are not on click yet, for one commit."""

from __future__ import annotations

from typing import Any

import click

from context_pack_adapters.cli import old_dispatch as old
from context_pack_adapters.cli.app import App, Command
from context_pack_adapters.cli.shell import Shell, WrongUsage
from context_pack_adapters.cli.terminal import standard_terminal


class Bridged(Command):
    """A command whose words argparse reads."""

    def make_context(self, info_name: Any, args: list[str], parent: Any = None, **_: Any) -> click.Context:
        """Nothing is parsed here."""
        context = click.Context(self, info_name=info_name, parent=parent)
        context.args = list(args)
        return context

    def invoke(self, ctx: click.Context) -> Any:
        """Run it."""
        name, app = self.name or "", ctx.ensure_object(App)
        entry = (old.COMMANDS.get(name) or old.HIDDEN[name]).load()
        places = [("--root", app.root), ("--source-root", app.source_root)]
        words = [word for option, place in places if place for word in (option, place)]
        try:
            options = old.parser_for(name, entry).read([*words, *(["--json"] if app.json else []), *ctx.args])
        except SystemExit as end:
            return int(end.code or 0)
        except WrongUsage as wrong:
            raise click.UsageError(str(wrong)) from None
        app.root, app.source_root = options.root or app.root, options.source_root or app.source_root
        self.walks, self.anywhere = name in old.WALKING, name in old.PROJECTLESS
        app.prepare(self, vars(options))
        try:
            return entry.run(options, Shell(app.settings, standard_terminal(), app.log))
        except WrongUsage as wrong:
            raise click.UsageError(str(wrong)) from None


def bridged(name: str) -> click.Command:
    """The old command of that name."""
    command = Bridged(name)
    parser = old.parser_for(name, (old.COMMANDS.get(name) or old.HIDDEN[name]).load())
    for action in parser._actions:
        command.params += [click.Option([each, "x"]) for each in action.option_strings if "--" in each]
    return command
