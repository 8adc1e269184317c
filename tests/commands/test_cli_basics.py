"""The command line as a whole: help that teaches, wrong words, exit codes, broken streams, completion."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from command_line import MAIN, CommandLine
from pages import ROOT
from stdio_client import StdioClient, environment

from context_pack import __version__
from context_pack_adapters.cli.app import EVERYWHERE
from context_pack_adapters.cli.dispatch import COMMANDS, FIRST_PAGE, GROUPS, load

Spawn = Callable[..., StdioClient]


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    """The command line in an empty folder."""
    return CommandLine(tmp_path)


@pytest.mark.clause("CLI-01")
def test_the_version_is_one_line(cli: CommandLine) -> None:
    assert cli("help", "packs", "show").out == cli("packs", "show", "--help").out
    for word in ("--version", "-V"):
        assert cli(word) == (0, f"context-pack {__version__}\n", "")


@pytest.mark.clause("CLI-01")
def test_the_bare_command_on_a_terminal_says_it_waits_for_a_client(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    server = subprocess.Popen(
        MAIN, cwd=tmp_path, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, env=environment()
    )
    os.close(theirs)
    with server, open(ours, "r+b", buffering=0) as terminal:
        assert b"waits for a client on stdin" in terminal.read(1000)
        terminal.write(b"\x04")
        assert server.stdout is not None
        assert (server.stdout.read(), server.wait()) == (b"", 0)


@pytest.mark.clause("CLI-01")
def test_the_first_page_names_what_most_people_use_and_all_names_everything(cli: CommandLine) -> None:
    first = cli("--help")
    assert (first.code, cli("-h").out, cli("help").out) == (0, first.out, first.out)
    for heading, names in FIRST_PAGE.items():
        assert f"{heading}:\n" in first.out
        assert all(f"  {name} " in first.out for name in names)
    assert "context-pack demo" in first.out
    assert "CONTEXT_PACK_SOURCE_ROOT" in first.out
    assert "\x1b[1mPacks:\x1b[0m\n" in cli.on_terminal("--help").out
    assert max(map(len, first.out.splitlines())) < 90
    everything = " ".join(cli("--help", "--all").out.split())
    assert all(f" {name} {about} " in everything for name, about in COMMANDS.items())


@pytest.mark.clause("CLI-01")
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_examples(cli: CommandLine, name: str) -> None:
    asked = cli(*name.split(), "--help", COLUMNS="60")
    assert asked.code == 0
    assert "Example" in asked.out
    assert f"  context-pack {name}" in asked.out


@pytest.mark.clause("CLI-01", "CLI-04")
def test_the_page_names_every_command_with_its_words_and_options() -> None:
    text = (ROOT / "docs/command-line.md").read_text("utf-8")
    rows = re.findall(r"^\| `(.+?)` \| (.*?) \| (.*?) ?\|$", text, re.MULTILINE)
    shown = {
        words.replace("\\|", "|"): (about, re.findall("`(.+?)`", options)) for words, about, options in rows
    }
    expected = {}
    for name, about in COMMANDS.items():
        params = load(name).params
        assert set(EVERYWHERE) <= set(params)
        words = [
            each.make_metavar(click.Context(load(name)))
            for each in params
            if isinstance(each, click.Argument)
        ]
        options = [
            max(each.opts, key=len)
            for each in params
            if isinstance(each, click.Option) and each not in EVERYWHERE
        ]
        expected[" ".join([name, *words])] = (about, options)
    assert {words: shown.get(words) for words in expected} == expected


@pytest.mark.clause("CLI-01")
@pytest.mark.parametrize("group", GROUPS)
def test_a_group_of_commands_lists_its_commands(cli: CommandLine, group: str) -> None:
    members = [name for name in COMMANDS if name.startswith(f"{group} ")]
    asked, alone = cli(group, "--help"), cli(group)
    assert (asked.code, alone.code, alone.out) == (0, 2, "")
    assert all(name in asked.out and name in alone.err for name in members)


@pytest.mark.clause("CLI-02")
@pytest.mark.parametrize(
    "words, meant",
    [
        ("tols", "tools"),
        ("docter", "doctor"),
        ("packs verfy", "verify"),
        ("call inptu", "input"),
        ("--jsn doctor", "--json"),
        ("packs verify --strct", "--strict"),
        ("packs show", "PACK"),
        ("packs list --status gone", "finalized"),
        ("packs export auth --forse", "--force"),
    ],
)
def test_wrong_usage_names_what_may_be_meant(cli: CommandLine, words: str, meant: str) -> None:
    done = cli(*words.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("context-pack: ")
    assert meant in done.err


@pytest.mark.clause("CLI-03")
def test_a_closed_output_pipe_ends_a_command_quietly() -> None:
    for words in (["--help"], ["tools", "input"]):
        reads, writes = os.pipe()
        os.close(reads)
        done = subprocess.run(
            [*MAIN, *words], stdout=writes, stderr=subprocess.PIPE, env=environment(), check=False
        )
        os.close(writes)
        assert (done.stderr, done.returncode) == (b"", 141)


@pytest.mark.clause("CLI-03")
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_an_answer_that_cannot_be_written_is_an_error_message() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*MAIN, "tools"], stdout=full, stderr=subprocess.PIPE, env=environment(), check=False
        )
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert done.stderr.startswith(b"context-pack: ")


@pytest.mark.clause("CLI-03")
def test_an_interrupt_ends_a_command_quietly(cli: CommandLine) -> None:
    reads, writes = os.pipe()
    # Whoever runs the tests in the background may ignore interrupts, and children would inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        [*MAIN, "call", "input", "-"],
        stdin=reads,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cli.folder,
        env=environment(),
    ) as process:
        signal.signal(signal.SIGINT, before)
        os.close(reads)
        # When this much has been taken, the command is reading its arguments and nothing else.
        os.write(writes, b" " * 200_000)
        for _ in range(10):  # one that falls between two system calls is not noticed; people press again
            process.send_signal(signal.SIGINT)
            try:
                out, err = process.communicate(timeout=5)
                break
            except subprocess.TimeoutExpired:
                continue
        else:
            process.kill()
            pytest.fail("ten interrupts did not end it")
    os.close(writes)
    assert (process.returncode, out, err) == (130, b"", b"")


@pytest.mark.clause("CLI-03")
def test_text_that_the_encoding_lacks_is_escaped_and_a_deleted_folder_is_said(cli: CommandLine) -> None:
    done = cli("tools", "input", PYTHONIOENCODING="ascii")
    assert (done.code, done.out.isascii()) == (0, True)
    gone = cli.folder / "gone"
    gone.mkdir()
    command = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    away = subprocess.run(
        ["sh", "-c", command, "sh", str(gone), *MAIN, "doctor", "--json"],
        capture_output=True,
        cwd=cli.folder,
        env=environment(),
        check=False,
        text=True,
    )
    assert (away.returncode, "Traceback" in away.stderr, "does not exist" in away.stdout) == (1, False, True)


@pytest.mark.clause("CLI-04")
def test_options_for_every_command_may_stand_before_it_and_the_last_one_counts(cli: CommandLine) -> None:
    (cli.folder / "here").mkdir()
    elsewhere = {"CONTEXT_PACK_ROOT": "/nowhere", "CONTEXT_PACK_SOURCE_ROOT": "/nowhere"}
    places = ("--root", "store", "--source-root", "here")
    expected = cli("doctor", "--json", *places, **elsewhere).json["settings"]
    assert expected["root"] == str(cli.folder / "store")
    assert expected["source_root"] == str(cli.folder / "here")
    assert cli(*places, "--json", "doctor").json["settings"] == expected
    assert cli("--root=x", "--json", "doctor", *places).json["settings"] == expected
    assert cli("--root", "store", "packs", "--json", "list").json == {"count": 0, "packs": []}
    assert cli(*places, "--version").code == 0
    assert cli("--json").code == 2


@pytest.mark.clause("CLI-02", "CLI-04")
def test_a_source_root_that_is_no_folder_is_wrong_usage(cli: CommandLine) -> None:
    for words in ("packs list", "grep x", "serve", "contexts status", "docs list", "demo"):
        done = cli("--source-root", "absent", *words.split())
        assert (done.code, done.out) == (2, "")
        assert f"{cli.folder / 'absent'} is not a folder" in done.err
    assert cli("--source-root", "absent", "doctor").code == 1


@pytest.mark.clause("CLI-04")
@pytest.mark.parametrize("words", [[], ["serve"]])
def test_places_with_and_without_serve_are_those_of_the_server(
    cli: CommandLine, spawn: Spawn, words: list[str]
) -> None:
    (cli.folder / "here").mkdir()
    client = spawn("unframed", command=[*MAIN, *words, "--root", "store", "--source-root", "here"])
    client.initialize()
    made = client.payload("input", {"action": "create", "ttl_minutes": 5})["payload"]
    assert client.end()[0] == 0
    assert (cli.folder / "store" / "packs" / f"{made['id']}.md").is_file()


@pytest.mark.clause("CLI-07")
def test_a_home_folder_is_walked_only_on_request(cli: CommandLine) -> None:
    home = {"HOME": str(cli.folder)}
    for words in (["search", "where is the token"], ["contexts", "refresh"], ["demo"]):
        done = cli(*words, **home)
        assert (done.code, "is no project" in done.err) == (2, True)
    assert not [*cli.folder.rglob(".context.yaml")]
    assert cli("contexts", "refresh", "--source-root", ".", **home).code == 0
    (cli.folder / ".git").mkdir()
    assert cli("contexts", "refresh", **home).code == 0


@pytest.mark.clause("CLI-08")
@pytest.mark.parametrize("columns", [40, 80, 120])
def test_a_table_fits_the_terminal_and_loses_no_word(cli: CommandLine, columns: int) -> None:
    shown = cli.on_terminal("tools", COLUMNS=str(columns), TERM="dumb").out.rstrip()
    wide = cli("tools").out
    assert sorted("".join(shown.split())) == sorted("".join(wide.split()))
    assert all(len(line) <= columns for line in shown.splitlines())


@pytest.mark.clause("CLI-63")
@pytest.mark.parametrize(
    "words, expected",
    [
        ("packs ", "create"),
        ("packs show ", "auth-flow"),
        ("packs accept auth-flow ", "main/one"),
        ("packs remove auth-flow ", "main"),
        ("memory list --module ", "shop"),
        ("docs sync ", "handbook"),
        ("packs verify --", "--strict"),
    ],
)
def test_a_shell_completes_commands_and_names(cli: CommandLine, words: str, expected: str) -> None:
    (cli.folder / "a.py").write_text("one = 1\n")
    cli("packs", "create", "auth-flow")
    cli("packs", "add", "auth-flow", "a.py:1", "--key", "one")
    cli("memory", "add", "rule", "Never log the tokens", "--module", "shop")
    cli("docs", "add", "handbook", ".")
    *before, last = f"context-pack {words}".split(" ")
    asked = {"COMP_WORDS": f"context-pack {words}", "COMP_CWORD": str(len(before))}
    done = cli(**asked, _CONTEXT_PACK_COMPLETE="bash_complete")
    assert f"plain,{expected}" in done.out.splitlines(), last


@pytest.mark.clause("CLI-63")
def test_the_completion_script_asks_the_command(cli: CommandLine) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert f"_CONTEXT_PACK_COMPLETE={shell}_complete" in cli("completion", shell).out
