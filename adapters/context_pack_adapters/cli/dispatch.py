"""From argument words to a command: the table of commands, the help of the whole, and the exit codes.

Only the module of the named command is loaded. Whatever happens inside becomes words on stderr and an exit
code: 0 done, 1 the answer is a failure, 2 wrong usage, 130 interrupted, 141 our reader went away.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import click
from click.shell_completion import shell_complete

from context_pack import __version__
from context_pack.kernel.errors import Failure
from context_pack.kernel.text import close
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import COMPLETE, EVERYWHERE, NAME, REGISTERED, App, HelpContext

DONE, FAILED, WRONG_USAGE, INTERRUPTED, READER_GONE = 0, 1, 2, 130, 141

MODULES: Mapping[str, Mapping[str, str]] = {
    "packs": {
        "packs list": "list the context packs",
        "packs show": "print a pack with its code of today",
        "packs diff": "say what changed: in the code of a ref, or between two revisions",
        "packs delete": "delete packs",
        "packs restore": "bring back a pack that was deleted or whose time is over",
    },
    "packs_text": {
        "packs import": "make a pack of a Markdown file that names code",
        "packs draft": "make a pack of a question, a diff or a stack trace",
        "packs edit": "edit a pack as Markdown in your editor",
        "packs lint": "name what its writer should look at again",
        "packs export": "write a pack to a file, as Markdown or as a page",
    },
    "packs_write": {
        "packs create": "make an empty pack",
        "packs add": "add lines of a file, or a definition, to a pack",
        "packs section": "add a section with prose, or change one",
        "packs diagram": "put a Mermaid diagram into a section",
        "packs describe": "change title, brief or tags of a pack",
        "packs rename": "give a section or a ref another key",
        "packs remove": "take a section, a ref or a diagram out of a pack",
        "packs accept": "take changed code as it is now",
        "packs finalize": "say that a pack is done",
        "packs reopen": "make a finalized pack a draft again",
        "packs extend": "let a pack live longer",
    },
    "code": {
        "read": "print a file with line numbers, and what it imports",
        "outline": "list the definitions of a file or folder",
        "usages": "list where a name is defined and used",
        "grep": "search the project's text files for a regular expression",
    },
    "checks": {
        "about": "say what is known of a file, lines or a definition",
        "verify": "check packs, discoveries, contexts and bundles against the code",
        "affected": "say what rests on the code that was changed since a revision",
        "packs verify": "check that every ref still finds its code",
        "packs repair": "point the refs whose code has moved at it again",
    },
    "memory": {
        "search": "search code, discoveries, sessions and packs by meaning",
        "memory add": "record a discovery about the project",
        "memory list": "list the discoveries",
        "memory show": "print discoveries whole, with their code",
        "memory search": "search the discoveries",
        "memory accept": "say that discoveries still hold for the code as it is now",
        "memory forget": "forget discoveries",
        "memory import": "record what Markdown notes and decision records say",
    },
    "index": {"index": "index the code for searches now"},
    "docs": {
        "docs add": "add a collection of documents to context.json",
        "docs allow": "let a repository be fetched that a project names",
        "docs remove": "remove a collection of documents",
        "docs list": "list the collections of documents",
        "docs sync": "bring collections up to date, or say what would be done",
        "docs search": "search the documents by meaning and by words",
    },
    "contexts": {
        "contexts init": "make the directory contexts that are missing",
        "contexts refresh": "bring directory contexts up to date",
        "contexts status": "tell which contexts are fresh, stale or missing",
        "contexts show": "print the context of a folder",
    },
    "bundles": {
        "bundles check": "list bundles, check files, schemas, ids and references",
        "bundles export": "export entities with what they depend on",
    },
    "team": {
        "team init": "prepare a Postgres database for packs and discoveries of a team",
        "team status": "tell whether that database can be reached, and what it holds",
        "team push": "copy packs and discoveries of this checkout to it",
        "team pull": "copy packs and discoveries from it to this checkout",
    },
    "model": {
        "model fetch": "bring a known model for searches by meaning, or list them",
    },
    "setup": {"setup": "write this server into the configuration of your agents"},
    "doctor": {"doctor": "say what is missing or does not work, and how to mend it"},
    "demo": {"demo": "see a pack over this project, and how it follows an edit"},
    "tools": {
        "call": "run any tool and print its answer",
        "tools": "list the tools, or explain one",
    },
    "server": {
        "serve": "be the MCP server on stdin and stdout (the same as no arguments)",
        "completion": "print a script that completes commands in your shell",
    },
}
"""Every command: the module that it is in, and what it is for."""
HIDDEN: Mapping[str, str] = {"task": "index", "hook": "hooks"}
"""Commands that no help lists, and their modules."""
COMMANDS: Mapping[str, str] = {name: about for each in MODULES.values() for name, about in each.items()}
HOMES: Mapping[str, str] = {name: module for module, each in MODULES.items() for name in each} | dict(HIDDEN)
GROUPS: Mapping[str, str] = {
    "packs": "Context packs: prose, refs to code that say when it changed, and diagrams.",
    "memory": "Discoveries: rules, decisions, patterns and issues of the project.",
    "docs": "Collections of documents that are searched by meaning and by words.",
    "contexts": "Directory contexts: what each folder is for, and whether that is still true.",
    "bundles": "Bundles: entities in YAML files that refer to each other.",
    "team": "Packs and discoveries that a team shares in a Postgres database.",
    "model": "Models for searches by meaning, in place of the installed one.",
}
FIRST_PAGE: Mapping[str, Sequence[str]] = {
    "Packs": ("packs import", "packs draft", "packs create", "packs add", "packs show", "packs edit"),
    "Search and read": ("search", "about", "usages", "outline"),
    "Keep it true": ("verify", "affected"),
    "Memory": ("memory add", "memory search"),
    "Set up": ("setup", "doctor", "demo"),
}
"""What most people use, by what they want to do."""
ABOUT = "The context a coding agent needs, kept true. Without a command: the MCP server on stdin and stdout."
FIRST_STEPS = """\
  context-pack demo                                  nothing is left behind
  context-pack packs create my-pack --title "My pack"
  context-pack packs add my-pack README.md:1-10 --why "What it is about"
  context-pack packs show my-pack
  context-pack verify                                exit code 1 when something changed
"""
MORE = """\
'context-pack COMMAND --help' explains one, 'context-pack --help --all' lists all {count}.
CONTEXT_PACK_SOURCE_ROOT, CONTEXT_PACK_ROOT, CONTEXT_PACK_CACHE and CONTEXT_PACK_LOG
say where things are and what is logged; docs/configuration.md tells the rest.
"""


class Commands(click.Group):
    """Commands whose modules are loaded when they are asked for; `prefix` is the group's name and a blank."""

    context_class = HelpContext

    def __init__(self, prefix: str, **rules: Any) -> None:
        below = [name.removeprefix(prefix).split()[0] for name in COMMANDS if name.startswith(prefix)]
        super().__init__(commands={name: click.Command(name) for name in below}, **rules)
        self.prefix = prefix
        self.params += EVERYWHERE

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The first words of the commands below, in the order of the table."""
        return [*self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The group or the command of that name; its module is loaded."""
        name = self.prefix + cmd_name
        return group(name) if name in GROUPS else load(name) if name in HOMES else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The commands of this group, without loading any."""
        rows = [(name, about) for name, about in COMMANDS.items() if name.startswith(self.prefix)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class Root(Commands):
    """All commands; the first page of help has those that most people use."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What there is, by what one wants to do, and how to begin; everything with `--all`."""
        everything = ctx.params.get("everything", False)
        pages: Mapping[str, Iterable[str]] = {"Commands": sorted(COMMANDS)} if everything else FIRST_PAGE
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text(ABOUT)
        for heading, names in pages.items():
            with formatter.section(heading):
                formatter.write_dl([(name, COMMANDS[name]) for name in names])
        if everything:
            self.format_options(ctx, formatter)
            return
        with formatter.section("First steps"):
            formatter.write(FIRST_STEPS)
        formatter.write_paragraph()
        formatter.write(MORE.format(count=len(COMMANDS)))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Nothing: they stand above the options."""


def load(name: str) -> click.Command:
    """The command of that whole name."""
    import_module(f"context_pack_adapters.cli.{HOMES[name]}")
    return REGISTERED[name]


def group(name: str) -> click.Group:
    """The group of that name."""
    return Commands(f"{name} ", name=name, help=GROUPS[name], no_args_is_help=True)


@click.group(
    cls=Root,
    prefix="",
    name=NAME,
    add_help_option=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.option("-h", "--help", "asked", is_flag=True, help="Show this page, or explain a command.")
@click.option("--all", "everything", is_flag=True, help="With --help: every command.")
@click.version_option(__version__, "-V", "--version", message=f"{NAME} %(version)s")
@click.pass_context
def root(context: click.Context, asked: bool, everything: bool) -> int | None:
    """Print the help that was asked for, or serve where no command is named."""
    if asked or everything:
        sys.stdout.write(context.get_help() + "\n")  # its styles are no text of a pack or a file
        context.exit()
    if context.invoked_subcommand is not None:
        return None
    app = context.ensure_object(App)
    if app.json:
        raise click.UsageError("which command?")
    serve = load("serve")
    return int(serve.invoke(serve.make_context("serve", [], parent=context)) or DONE)


def run(argv: Sequence[str]) -> int:
    """Run one command line and return its exit code; no command ever shows a traceback."""
    output.prepare_streams()
    app = App()
    try:
        if asked := os.environ.get(COMPLETE):
            return shell_complete(root, {"obj": app}, NAME, COMPLETE, asked)
        words = [*argv[1:], "--help"] if argv[:1] == ["help"] else list(argv)
        try:
            with root.make_context(NAME, words, obj=app) as context:
                code = int(root.invoke(context) or DONE)
        except click.exceptions.Exit as end:
            code = end.exit_code
        sys.stdout.flush()
        return code
    except click.exceptions.NoArgsIsHelpError as alone:
        output.note(alone.format_message())
        return WRONG_USAGE
    except click.UsageError as wrong:
        _complain_of_usage(wrong)
        return WRONG_USAGE
    except output.Refused as refusal:
        output.complain(str(refusal))
        if app.json:
            output.value(refusal.body)
        return refusal.code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except Failure as failure:
        app.complain({"": failure})
    except ImportError as error:
        output.complain(f"a package does not load: {error}\n'context-pack doctor' tells how to mend it.")
    except BrokenPipeError:
        _discard_stdout()
        return READER_GONE
    except OSError as error:
        _discard_stdout()
        output.complain(f"{error.filename or 'the answer could not be written'}: {error.strerror or error}")
    except Exception as error:
        app.log.alarm(" ".join(argv[:2]), error)
        output.complain("it failed inside; CONTEXT_PACK_LOG=debug shows where, please report it")
    finally:
        app.close()
    return FAILED


def _complain_of_usage(wrong: click.UsageError) -> None:
    """Say what is wrong with the words, and which help explains them."""
    if isinstance(wrong, click.exceptions.NoSuchOption):
        likely = close(wrong.option_name, wrong.possibilities or ())
        wrong = click.exceptions.NoSuchOption(wrong.option_name, possibilities=likely, ctx=wrong.ctx)
    output.complain(wrong.format_message())
    unknown = isinstance(wrong, click.exceptions.NoSuchOption) and wrong.option_name
    if unknown and not unknown.startswith("--"):
        output.note("A name that begins with '-' goes after '--'.")
    output.note(f"Try '{NAME if wrong.ctx is None else wrong.ctx.command_path} --help'.")


def _discard_stdout() -> None:
    """Redirect stdout to the null device, so that the interpreter's last flush cannot fail again."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)
    except (OSError, ValueError):
        return
