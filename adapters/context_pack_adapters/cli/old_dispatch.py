"""From argument words to a command: the table of commands, the help that teaches, and the exit codes.

Only the group of the named command is loaded. Whatever happens inside becomes words on stderr and an exit
code: 0 done, 1 the answer is a failure, 2 wrong usage, 130 interrupted, 141 our reader went away.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from textwrap import dedent
from typing import NamedTuple

from context_pack import __version__
from context_pack.kernel.errors import Failure
from context_pack_adapters.cli.arguments import EVERYWHERE, Command, Parser, before_command, near_option
from context_pack_adapters.cli.shell import Shell, WrongUsage, nearest
from context_pack_adapters.cli.terminal import Terminal, standard_terminal
from context_pack_adapters.logs import Log
from context_pack_adapters.private_places import open_places
from context_pack_adapters.settings import (
    Settings,
    no_project,
    read_settings,
    resolve_source_root,
    working_directory,
)
from context_pack_adapters.storage import check_settings

DONE, FAILED, WRONG_USAGE, INTERRUPTED, READER_GONE = 0, 1, 2, 130, 141


class CommandEntry(NamedTuple):
    """Where a command lives (module:name) and what it is for."""

    home: str
    summary: str

    def load(self) -> Command:
        """The command itself."""
        module, _, name = self.home.partition(":")
        found: Command = getattr(import_module(f"context_pack_adapters.cli.{module}"), name)
        return found


COMMANDS: Mapping[str, CommandEntry] = {
    "serve": CommandEntry("server:serve", "be the MCP server on stdin and stdout (the same as no arguments)"),
    "setup": CommandEntry("setup:setup", "write this server into the configuration of your agents"),
    "demo": CommandEntry("demo:demo", "build a small pack over the current folder and print it"),
    "call": CommandEntry("tools:call", "run any tool and print its answer"),
    "tools": CommandEntry("tools:tools", "list the tools, or explain one"),
    "read": CommandEntry("code:read", "print a file with line numbers, and what it imports"),
    "outline": CommandEntry("code:outline", "list the definitions of a file or folder"),
    "usages": CommandEntry("code:usages", "list where a name is defined and used"),
    "grep": CommandEntry("code:grep", "search the project's text files for a regular expression"),
    "search": CommandEntry("memory:search", "search code, discoveries, sessions and packs by meaning"),
    "packs list": CommandEntry("packs:list_packs", "list the context packs"),
    "packs create": CommandEntry("packs_build:create", "make an empty pack"),
    "packs add": CommandEntry("packs_build:add", "add lines of a file, or a definition, to a pack"),
    "packs finalize": CommandEntry("packs_build:finalize", "say that a pack is done"),
    "packs reopen": CommandEntry("packs_build:reopen", "make a finalized pack a draft again"),
    "packs accept": CommandEntry("packs_build:accept", "take changed code as it is now"),
    "packs extend": CommandEntry("packs_build:extend", "let a pack live longer"),
    "packs draft": CommandEntry("packs:draft", "make a pack that answers a question"),
    "packs show": CommandEntry("packs:show", "render a pack with its code"),
    "packs verify": CommandEntry("packs:verify", "check that every ref still finds its code"),
    "packs repair": CommandEntry("packs:repair", "rewrite the refs whose code has moved"),
    "packs restore": CommandEntry("packs_life:restore", "bring back a pack whose time is over"),
    "packs diff": CommandEntry("packs:diff", "say what changed between two revisions"),
    "packs delete": CommandEntry("packs_life:delete", "delete packs"),
    "packs export": CommandEntry("packs_export:export", "write a rendered pack to a file"),
    "bundles list": CommandEntry("bundles:list_bundles", "list the bundles"),
    "bundles check": CommandEntry("bundles:check", "check files, schemas, ids and references of bundles"),
    "bundles export": CommandEntry("bundles:export", "export entities with what they depend on"),
    "bundles graph": CommandEntry("bundles:graph", "draw an export as a Mermaid diagram"),
    "contexts init": CommandEntry("contexts:init", "make the directory contexts that are missing"),
    "contexts refresh": CommandEntry("contexts:refresh", "bring directory contexts up to date"),
    "contexts status": CommandEntry("contexts:status", "tell which contexts are fresh, stale or missing"),
    "contexts validate": CommandEntry("contexts:validate", "check that every .context.yaml is valid"),
    "contexts show": CommandEntry("contexts:show", "print the context of a folder"),
    "contexts watch": CommandEntry(
        "contexts_watch:watch", "tell when contexts become stale, or refresh them at once"
    ),
    "memory add": CommandEntry("memory:add", "record a discovery about the project"),
    "memory list": CommandEntry("memory:list_discoveries", "list the discoveries"),
    "memory show": CommandEntry("memory:show", "print discoveries whole, with their code"),
    "memory search": CommandEntry("memory:search_memory", "search the discoveries"),
    "memory import": CommandEntry(
        "memory_import:import_notes", "record what Markdown notes and decision records say"
    ),
    "memory forget": CommandEntry("memory:forget", "forget discoveries"),
    "index": CommandEntry("index:index", "index the code for context_search now"),
    "docs add": CommandEntry("docs:add", "add a collection of documents to context.json"),
    "docs allow": CommandEntry("docs:allow", "let a repository be fetched that a project names"),
    "docs remove": CommandEntry("docs:remove", "remove a collection of documents"),
    "docs list": CommandEntry("docs:list_collections", "list the collections of documents"),
    "docs sync": CommandEntry("docs_content:sync", "bring collections up to date, or say what would be done"),
    "docs search": CommandEntry("docs_content:search", "search the documents by meaning and by words"),
    "team init": CommandEntry("team:init", "prepare a Postgres database for packs and discoveries of a team"),
    "team status": CommandEntry(
        "team:status", "tell whether that database can be reached, and what it holds"
    ),
    "team push": CommandEntry("team:push", "copy packs and discoveries of this checkout to it"),
    "team pull": CommandEntry("team:pull", "copy packs and discoveries from it to this checkout"),
    "stats": CommandEntry("server:stats", "what the tools have done in past connections"),
    "completion": CommandEntry(
        "completion:completion", "print a script that completes commands in your shell"
    ),
    "doctor": CommandEntry("doctor:doctor", "what is configured, what is missing, how to mend it"),
}
HIDDEN: Mapping[str, CommandEntry] = {
    "task": CommandEntry("task:task", "long work that a server has done in a process of its own"),
}
"""Commands that the help does not list."""

PROJECTLESS = frozenset({"serve", "setup", "doctor", "completion"})
"""Commands that run although the settings do not say where data is."""
WALKING = frozenset(
    {"search", "memory search", "index", "packs draft", "contexts init", "contexts refresh", "contexts watch"}
)
"""Commands that walk the whole project."""

USUAL_WORDS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("list", "ls"), ("list", "status")),
    **dict.fromkeys(("rm", "remove", "delete", "drop"), ("delete", "remove", "forget")),
    **dict.fromkeys(("get", "cat", "view", "read", "print"), ("show", "export")),
    **dict.fromkeys(("new", "make", "record"), ("create", "add", "init")),
    **dict.fromkeys(("check", "test"), ("verify", "check", "validate")),
    **dict.fromkeys(("update", "upgrade"), ("refresh", "sync", "repair")),
}
"""Common command names of other tools, and the commands to suggest for them."""

INTRODUCTION = """\
context-pack: the context a coding agent needs, kept true.

Usage:
  context-pack                     serve MCP on stdin and stdout; this is what a client starts
  context-pack COMMAND [ARGUMENTS]
  context-pack COMMAND --help      the arguments of a command, with examples
  context-pack COMMAND -- -NAME    what comes after -- is never an option

Commands:
"""
EXAMPLES = """
First steps:
  context-pack doctor                          is everything in place?
  context-pack demo                            see a pack over this folder; nothing is left behind
  context-pack packs create my-pack --title "My pack"
  context-pack packs add my-pack README.md:1-10 --why "What the project says about itself"
  context-pack packs show my-pack
  context-pack packs verify                    exit code 1 when an anchor no longer holds: for CI and hooks

Environment (defaults in brackets):
  CONTEXT_PACK_SOURCE_ROOT   the folder that refs point into [the project around the working directory]
  CONTEXT_PACK_ROOT          where packs are kept, relative to it [.agents/mcp/context_pack]
  CONTEXT_PACK_CACHE         where indexes and private state are kept [your cache and state folders]
  CONTEXT_PACK_LOG           off, error, warn, info or debug, on stderr [info; commands: warn]
  More in docs/configuration.md.
"""


def run(argv: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    terminal = standard_terminal()
    try:
        code = _answer(argv, terminal)
        terminal.flush()
    except WrongUsage as wrong:
        terminal.complain(str(wrong))
        return WRONG_USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except ImportError as error:
        terminal.complain(f"a package does not load: {error}\n'context-pack doctor' tells how to mend it.")
        return FAILED
    except BrokenPipeError:
        _discard_stdout()
        return READER_GONE
    except OSError as error:
        _discard_stdout()
        terminal.complain(f"{error.filename or 'the answer could not be written'}: {error.strerror or error}")
        return FAILED
    return code


def _answer(argv: Sequence[str], terminal: Terminal) -> int:
    """Answer the words that are no command, or run the one that is."""
    options, words = before_command(argv, groups())
    if not words:
        if "--json" in options:
            raise WrongUsage("which command?\nTry 'context-pack --help'.")
        words = ["serve"]
    first = words[0]
    if first in {"-V", "--version", "version"}:
        terminal.line(f"context-pack {__version__}")
        return DONE
    if first in {"-h", "--help"} or words == ["help"]:
        terminal.raw(help_text())
        return DONE
    if first == "help":
        words = [*words[1:], "--help"]
    if words[0] in groups() and (len(words) == 1 or words[1] in {"-h", "--help"}):
        if len(words) == 1:
            raise WrongUsage(f"which of these?\n{group_text(words[0]).rstrip()}")
        terminal.raw(group_text(words[0]))
        return DONE
    name, arguments = find_command(words)
    return _perform(name, [*options, *arguments], terminal)


def groups() -> list[str]:
    """The first words of the commands that have two."""
    return list(dict.fromkeys(name.split()[0] for name in COMMANDS if " " in name))


def find_command(words: Sequence[str]) -> tuple[str, list[str]]:
    """The command that the first one or two words name, and the words after it.

    Raises:
        Usage: there is no such command.
    """
    for length in (2, 1):
        name = " ".join(words[:length])
        if name in COMMANDS or name in HIDDEN:
            return name, list(words[length:])
    first = words[0]
    group = first if first in groups() else ""
    word = words[1] if group else first
    if word.startswith("-"):
        hint = near_option(word, ["--help", "--version", *EVERYWHERE])
        raise WrongUsage(f"unknown option {word!r}{hint}\nTry 'context-pack --help'.")
    if group:
        known = [name.split()[1] for name in COMMANDS if name.startswith(f"{group} ")]
        hint = _near_command(word, known)
        raise WrongUsage(f"unknown command '{group} {word}'{hint}\n{group_text(group).rstrip()}")
    hint = nearest(word, [*COMMANDS, *groups()])
    raise WrongUsage(f"unknown command {word!r}{hint}\nTry 'context-pack --help'.")


def _near_command(word: str, known: Sequence[str]) -> str:
    """A hint at the command of a group that was meant, by its usual names or by its letters."""
    usual = [each for each in USUAL_WORDS.get(word, ()) if each in known]
    return f"; did you mean {usual[0]!r}?" if usual else nearest(word, known)


def _perform(name: str, arguments: Sequence[str], terminal: Terminal) -> int:
    """Load the command, parse its arguments, run it."""
    command = (COMMANDS.get(name) or HIDDEN[name]).load()
    try:
        options = parser_for(name, command).read(arguments)
    except SystemExit as end:  # argparse has printed the help
        return int(end.code or 0)
    settings = _settings_for(options)
    if options.source_root and name != "doctor" and not os.path.isdir(settings.source_root):
        raise WrongUsage(f"{settings.source_root} is not a folder; --source-root says where the project is")
    _check_is_project(name, options, settings)
    log = Log(settings.log_level if settings.log_level_given else "warn")
    for complaint in settings.complaints:
        log.write("warn", complaint)
    if name in WALKING and (trouble := open_places(settings).trouble):
        log.write("warn", f"what is indexed now is gone when this command ends: {trouble}; see 'doctor'")
    shell = Shell(settings, terminal, log)
    try:
        if name not in PROJECTLESS:
            check_settings(settings)
        return command.run(options, shell) or DONE
    except Failure as failure:
        shell.complain_of({"": failure})
    except (WrongUsage, OSError, ImportError):
        raise
    except Exception as error:
        log.alarm(name, error)
        terminal.complain(f"{name} failed inside; CONTEXT_PACK_LOG=debug shows where, please report it")
    return FAILED


def _check_is_project(name: str, options: argparse.Namespace, settings: Settings) -> None:
    """Refuse to walk all of the disk or of a home, where only the working directory makes it the project.

    Raises:
        WrongUsage: it does.
    """
    if name not in WALKING or getattr(options, "path", None) or os.path.isdir(settings.root):
        return
    place = no_project(settings)
    if place:
        raise WrongUsage(f"{place} is no project; go into one, or name it with --source-root")


def parser_for(name: str, command: Command) -> Parser:
    """The parser of one command, with the options that every command has."""
    first, _, rest = command.help.partition("\n")
    parser = Parser(
        prog=f"context-pack {name}",
        description=f"{first}\n{dedent(rest)}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    for add in command.arguments:
        add(parser)
    places = parser.add_argument_group("places")
    places.add_argument("--root", metavar="DIR", help="where packs are kept; wins over CONTEXT_PACK_ROOT")
    places.add_argument(
        "--source-root", metavar="DIR", help="what refs point into; wins over CONTEXT_PACK_SOURCE_ROOT"
    )
    return parser


def _settings_for(options: argparse.Namespace) -> Settings:
    """The environment's settings, with the places given as options taken from the working directory."""
    environ = dict(os.environ)
    cwd = working_directory()
    given = {"CONTEXT_PACK_SOURCE_ROOT": options.source_root, "CONTEXT_PACK_ROOT": options.root}
    environ.update({name: resolve_source_root(place, cwd) for name, place in given.items() if place})
    return read_settings(environ, cwd)


def help_text() -> str:
    """The help of the whole: what there is, and how to begin."""
    width = max(map(len, COMMANDS)) + 2
    rows = [f"  {name.ljust(width)}{entry.summary}\n" for name, entry in COMMANDS.items()]
    return "".join([INTRODUCTION, *rows, EXAMPLES])


def group_text(group: str) -> str:
    """The commands of one group."""
    rows = [(name, entry.summary) for name, entry in COMMANDS.items() if name.startswith(f"{group} ")]
    width = max(len(name) for name, _ in rows) + 2
    lines = [f"  context-pack {name.ljust(width)}{summary}" for name, summary in rows]
    return "\n".join([*lines, f"Try 'context-pack {rows[0][0]} --help'.", ""])


def _discard_stdout() -> None:
    """Redirect stdout to the null device, so that the interpreter's last flush cannot fail again."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)
    except (OSError, ValueError):
        return
