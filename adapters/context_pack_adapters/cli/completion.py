"""`context-pack completion`: a script that completes the names of commands in a shell."""

from __future__ import annotations

from argparse import Namespace

from context_pack_adapters.cli.arguments import argument, command
from context_pack_adapters.cli.dispatch import COMMANDS
from context_pack_adapters.cli.shell import Shell

BASH = """\
_context_pack() {{
  local first="${{COMP_WORDS[1]}}" now="${{COMP_WORDS[COMP_CWORD]}}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then words="{first}"
  elif [ "$COMP_CWORD" -eq 2 ]; then case "$first" in
{second}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$now"))
}}
complete -o default -F _context_pack context-pack
"""


@command(argument("shell", choices=["bash", "zsh", "fish"], metavar="SHELL", help="bash, zsh or fish"))
def completion(options: Namespace, shell: Shell) -> None:
    """Print a script that completes commands in your shell.

    Examples:
      context-pack completion bash >> ~/.bashrc
      context-pack completion zsh >> ~/.zshrc
      context-pack completion fish > ~/.config/fish/completions/context-pack.fish
    """
    tree: dict[str, list[str]] = {}
    for name in COMMANDS:
        first, _, second = name.partition(" ")
        tree.setdefault(first, []).extend([second] if second else [])
    shell.terminal.raw(fish(tree) if options.shell == "fish" else bash(tree, zsh=options.shell == "zsh"))


def bash(tree: dict[str, list[str]], *, zsh: bool) -> str:
    """The completion script for bash, and for zsh through its bash completion."""
    cases = "\n".join(f'    {name}) words="{" ".join(below)}" ;;' for name, below in tree.items() if below)
    script = BASH.format(first=" ".join(tree), second=cases)
    return f"autoload -Uz bashcompinit && bashcompinit\n{script}" if zsh else script


def fish(tree: dict[str, list[str]]) -> str:
    """The completion script for fish."""
    lines = [f"complete -c context-pack -n __fish_use_subcommand -a '{' '.join(tree)}'"]
    lines += [
        f"complete -c context-pack -n '__fish_seen_subcommand_from {name}' -a '{' '.join(below)}'"
        for name, below in tree.items()
        if below
    ]
    return "\n".join(lines) + "\n"
