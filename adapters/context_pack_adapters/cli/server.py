"""The commands `serve`, and `completion` in shells."""

from __future__ import annotations

import os

import click
from click.shell_completion import get_completion_class

from context_pack_adapters.bootstrap import serve as serve_stdio
from context_pack_adapters.cli.app import COMPLETE, NAME, App, command
from context_pack_adapters.settings import TOOL_FAMILIES, parse_tools


@command("serve", anywhere=True)
@click.option(
    "--tools", metavar="FAMILIES", help="Families to list (packs,code,…), auto, or all, the default."
)
def serve(app: App, tools: str | None) -> None:
    """Be the MCP server on stdin and stdout.

    This is what `context-pack` does without arguments; the command exists to give the places on the command
    line, and which families of tools are listed. With 'auto' those are listed that have something to serve in
    this project. A tool that is not listed can still be called.

    Examples:
      context-pack serve --source-root ~/src/shop --root ~/.cache/packs/shop
      context-pack serve --tools auto
    """
    settings = app.settings
    if tools is not None:
        families = parse_tools(tools)
        if families is None:
            raise click.UsageError(f"--tools takes auto, all or some of: {', '.join(sorted(TOOL_FAMILIES))}")
        settings = settings._replace(tools=families)
    os._exit(serve_stdio(settings))  # a busy thread must not hold the process


@command("completion", anywhere=True)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL")
def completion(app: App, shell: str) -> None:
    """Print a script that completes commands and names in your shell: bash, zsh or fish.

    Examples:
      context-pack completion bash >> ~/.bashrc
      context-pack completion zsh >> ~/.zshrc
      context-pack completion fish > ~/.config/fish/completions/context-pack.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(click.Command(NAME), {}, NAME, COMPLETE).source()
    app.tell({"shell": shell, "script": script}, script)
