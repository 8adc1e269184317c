"""How the words of a command line are read: options anywhere, `--`, and complaints that name what was meant.

The options that every command has may stand before the command's own words too; they are moved behind them,
so that each command reads all of its options in one place. A word after `--` is never an option: it goes
through `argparse` behind a NUL, which no argument of a process can hold, and comes out without it.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple, NoReturn

from context_pack_adapters.cli.shell import Shell, WrongUsage

Argument = Callable[[Any], object]
"""A callable that adds one argument to a parser."""
Run = Callable[[argparse.Namespace, Shell], int | None]
"""Prints its result on stdout and returns the exit code; None is 0."""

PLACES = ("--root", "--source-root")
EVERYWHERE = (*PLACES, "--json")
"""Options that may stand before the command; which of them it takes is for the command to say."""
_MARK = "\0"
_NUMBER = re.compile(r"-\d+|-\d*\.\d+")


class Command(NamedTuple):
    """One command: what it does, the arguments it takes, and its help."""

    run: Run
    arguments: Sequence[Argument]
    help: str


def command(*arguments: Argument) -> Callable[[Run], Command]:
    """Make a command of a function, whose docstring is the help."""
    return lambda run: Command(run, arguments, run.__doc__ or "")


def argument(*names: str, **rules: Any) -> Argument:
    """An argument or option, with the rules of `argparse`."""
    return lambda parser: parser.add_argument(*names, **rules)


def flag(name: str, about: str) -> Argument:
    """An option without a value."""
    return argument(name, action="store_true", help=about)


def one_of(*arguments: Argument) -> Argument:
    """Options of which only one may be given."""

    def add(parser: argparse.ArgumentParser) -> None:
        group = parser.add_mutually_exclusive_group()
        for each in arguments:
            each(group)

    return add


class Parser(argparse.ArgumentParser):
    """The arguments of one command; a complaint is a few words that name the help."""

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """The options that the words spell.

        Raises:
            Usage: they spell none.
        """
        end = words.index("--") if "--" in words else len(words)
        options, names = words[:end], [_MARK + word for word in words[end + 1 :]]
        for word in options:
            self._check_known(word)
        found = self.parse_intermixed_args([*options, *names])
        for name, value in vars(found).items():
            setattr(found, name, _unmarked(value))
        return found

    def error(self, message: str) -> NoReturn:
        """Refuse the arguments.

        Raises:
            Usage: always.
        """
        shown = message.replace("\\x00", "").replace(_MARK, "")
        raise WrongUsage(f"{shown}\nTry '{self.prog} --help'.")

    def _check_known(self, word: str) -> None:
        """Refuse unknown options before any other error of the arguments."""
        if not _looks_like_option(word):
            return
        known = self._option_string_actions
        name = word.partition("=")[0]
        if name in known or (not word.startswith("--") and word[:2] in known):
            return
        hint = near_option(name, known) or f"; there are {', '.join(known)}"
        takes_names = any(not action.option_strings for action in self._actions)
        if takes_names and not word.startswith("--"):
            hint += "\nA name that begins with '-' goes after '--'."
        self.error(f"unknown option {name!r}{hint}")


def near_option(word: str, known: Collection[str]) -> str:
    """A hint that names the option that was meant, or nothing; one letter means the name that it begins."""
    names = {name[2:]: name for name in known if name.startswith("--")}
    meant = word.lstrip("-").lower()
    if len(meant) == 1:
        close = [name for name in names if name[0] == meant]
    else:
        close = get_close_matches(meant, names, n=1, cutoff=0.5)
    return f"; did you mean {names[close[0]]!r}?" if close else ""


def before_command(words: Sequence[str], groups: Collection[str]) -> tuple[list[str], list[str]]:
    """Split the words: global options before or between the command's words, and the other words.

    Raises:
        Usage: the last of them has no value.
    """
    options: list[str] = []
    others: list[str] = []
    left = list(words)
    while left and (left[0].partition("=")[0] in EVERYWHERE or (not others and left[0] in groups)):
        word = left.pop(0)
        if word in groups:
            others.append(word)
            continue
        options.append(word)
        if word in PLACES:
            if not left:
                raise WrongUsage(f"argument {word}: expected one argument\nTry 'context-pack --help'.")
            options.append(left.pop(0))
    return options, [*others, *left]


def _looks_like_option(word: str) -> bool:
    """Whether `argparse` takes the word for an option; a number or a text with spaces it does not."""
    return word.startswith("-") and len(word) > 1 and " " not in word and not _NUMBER.fullmatch(word)


def _unmarked(value: Any) -> Any:
    if isinstance(value, list):
        return [_unmarked(member) for member in value]
    return value.removeprefix(_MARK) if isinstance(value, str) else value
