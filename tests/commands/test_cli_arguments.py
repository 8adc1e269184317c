"""How the words of a command line are read: options anywhere, `--`, unknown options."""

from __future__ import annotations

import pytest

from context_pack_adapters.cli.arguments import Parser, before_command, near_option
from context_pack_adapters.cli.dispatch import COMMANDS, find_command, groups, parser_for
from context_pack_adapters.cli.shell import WrongUsage


def parser(name: str) -> Parser:
    """The parser of a command."""
    return parser_for(name, COMMANDS[name].load())


@pytest.mark.clause("CLI-05")
@pytest.mark.parametrize(
    "words, packs",
    [
        (["--", "-rf"], ["-rf"]),
        (["auth", "--", "--json", "--"], ["auth", "--json", "--"]),
        (["--", "auth", "-h"], ["auth", "-h"]),
        (["--"], []),
        (["-12", "- and -"], ["-12", "- and -"]),
    ],
)
def test_a_word_after_two_dashes_is_never_an_option(words: list[str], packs: list[str]) -> None:
    found = parser("packs verify").read([*words])
    assert (found.packs, found.json) == (packs, False)


@pytest.mark.clause("CLI-05")
def test_options_before_two_dashes_are_options() -> None:
    found = parser("packs delete").read(["--revision", "7", "--json", "--", "--force"])
    assert (found.packs, found.revision, found.json) == (["--force"], 7, True)


@pytest.mark.clause("CLI-02")
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("word", ["--sorce-root", "--sorce-root=x", "--source-rot", "--SOURCE-ROOT"])
def test_every_command_names_the_option_that_was_meant(name: str, word: str) -> None:
    with pytest.raises(WrongUsage, match="did you mean '--source-root'") as refused:
        parser(name).read([word])
    assert f"context-pack {name} --help" in str(refused.value)


@pytest.mark.clause("CLI-02")
def test_an_unknown_option_is_reported_before_missing_arguments() -> None:
    with pytest.raises(WrongUsage, match="did you mean '--compact'"):
        parser("packs show").read(["--compct"])


@pytest.mark.clause("CLI-02")
def test_an_option_like_no_other_is_refused_with_those_there_are() -> None:
    known = "there are -h, --help, --all, --strict, --github, --json, --root, --source-root"
    with pytest.raises(WrongUsage, match=known):
        parser("packs verify").read(["--xyzzy"])


@pytest.mark.clause("CLI-02", "CLI-05")
def test_a_name_that_looks_like_an_option_is_shown_behind_two_dashes() -> None:
    with pytest.raises(WrongUsage, match="A name that begins with '-' goes after '--'"):
        parser("packs show").read(["-rf"])


@pytest.mark.clause("CLI-02")
@pytest.mark.parametrize(
    "word, hint",
    [
        ("-j", "; did you mean '--json'?"),
        ("-R", "; did you mean '--root'?"),
        ("-x", ""),
        ("-", ""),
        ("--", ""),
        ("--jason", "; did you mean '--json'?"),
        ("--zzz", ""),
    ],
)
def test_only_a_similar_option_is_suggested(word: str, hint: str) -> None:
    assert near_option(word, ["-h", "--help", "--json", "--root"]) == hint


@pytest.mark.clause("CLI-04")
@pytest.mark.parametrize(
    "words, options, others",
    [
        (["packs", "list", "--json"], [], ["packs", "list", "--json"]),
        (["--root", "a", "packs", "list"], ["--root", "a"], ["packs", "list"]),
        (["packs", "--json", "--root=a", "list", "--x"], ["--json", "--root=a"], ["packs", "list", "--x"]),
        (["--source-root", "packs", "packs"], ["--source-root", "packs"], ["packs"]),
        (["call", "--json", "input"], [], ["call", "--json", "input"]),
        (["--json"], ["--json"], []),
    ],
)
def test_options_for_every_command_may_stand_before_it(
    words: list[str], options: list[str], others: list[str]
) -> None:
    assert before_command(words, groups()) == (options, others)


@pytest.mark.clause("CLI-02", "CLI-04")
def test_an_option_before_the_command_needs_its_value() -> None:
    with pytest.raises(WrongUsage, match="--source-root: expected one argument"):
        before_command(["--json", "--source-root"], groups())


@pytest.mark.clause("CLI-02")
@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("contexts list", "status"),
        ("packs rm", "delete"),
        ("memory delete", "forget"),
        ("packs verfy", "verify"),
    ],
)
def test_common_command_names_of_other_tools_suggest_ours(words: str, meant: str) -> None:
    with pytest.raises(WrongUsage, match=f"did you mean '{meant}'"):
        find_command(words.split())
