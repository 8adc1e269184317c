"""The command line as a whole: help that teaches, unknown words, exit codes, streams that break."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import MAIN, CommandLine
from stdio_client import StdioClient, environment

from context_pack import __version__
from context_pack_adapters.cli.dispatch import COMMANDS, GROUPS

Spawn = Callable[..., StdioClient]


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    """The command line in an empty folder."""
    return CommandLine(tmp_path)


@pytest.mark.clause("CLI-01")
@pytest.mark.parametrize("word", ["--version", "-V", "version"])
def test_the_version_is_one_line(cli: CommandLine, word: str) -> None:
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
@pytest.mark.parametrize("word", ["--help", "-h", "help"])
def test_help_names_every_command_and_shows_how_to_begin(cli: CommandLine, word: str) -> None:
    done = cli(word)
    assert done.code == 0
    assert all(name in cli("--help", "--all").out for name in COMMANDS)
    assert "context-pack demo" in done.out
    assert "CONTEXT_PACK_SOURCE_ROOT" in done.out


@pytest.mark.clause("CLI-01")
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_examples(cli: CommandLine, name: str) -> None:
    asked = CommandLine(cli.folder, afresh=True)(*name.split(), "--help")
    assert asked.code == 0
    assert "Example" in asked.out
    assert f"context-pack {name}" in asked.out
    assert cli("help", *name.split()).out == asked.out


@pytest.mark.clause("CLI-01")
@pytest.mark.parametrize("group", GROUPS)
def test_a_group_of_commands_lists_its_commands(cli: CommandLine, group: str) -> None:
    members = [name for name in COMMANDS if name.startswith(f"{group} ")]
    asked, alone = cli(group, "--help"), cli(group)
    assert asked.code == 0
    assert alone.code == 2
    assert all(name in asked.out and name in alone.err for name in members)


@pytest.mark.clause("CLI-02")
@pytest.mark.parametrize(
    "words, meant",
    [
        (["tols"], "tools"),
        (["docter"], "doctor"),
        (["pack"], "packs"),
        (["packs", "verfy"], "verify"),
        (["call", "inptu"], "input"),
        (["tools", "ouput"], "output"),
        (["--versio"], "--version"),
        (["--jsn", "doctor"], "--json"),
        (["packs", "--rot", "x", "list"], "--root"),
        (["packs", "verify", "--strct"], "--strict"),
        (["packs", "delete", "auth", "--revison", "5"], "--revision"),
    ],
)
def test_an_unknown_word_suggests_the_nearest(cli: CommandLine, words: list[str], meant: str) -> None:
    done = cli(*words)
    assert done.code == 2
    assert done.out == ""
    assert f"'{meant}'" in done.err


@pytest.mark.clause("CLI-02")
@pytest.mark.parametrize(
    "words", [["xyzzy"], ["call"], ["tools", "--loud"], ["packs", "show"], ["stats", "extra"], ["--x"], [""]]
)
def test_wrong_usage_is_an_error_message_with_exit_code_two(cli: CommandLine, words: list[str]) -> None:
    done = cli(*words)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("context-pack: ")


@pytest.mark.clause("CLI-02")
def test_the_error_names_the_required_argument(cli: CommandLine) -> None:
    assert cli("packs", "show").err.splitlines()[0] == "context-pack: Missing argument 'PACK'."


@pytest.mark.clause("CLI-03")
def test_a_closed_output_pipe_ends_a_command_quietly(cli: CommandLine) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    command = [*MAIN, "--help"]
    done = subprocess.run(command, stdout=writes, stderr=subprocess.PIPE, env=environment(), check=False)
    os.close(writes)
    assert done.stderr == b""
    assert done.returncode == 141


@pytest.mark.clause("CLI-03")
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_an_answer_that_cannot_be_written_is_an_error_message(cli: CommandLine) -> None:
    with open("/dev/full", "wb") as full:
        command = [*MAIN, "tools"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environment(), check=False)
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
def test_a_command_runs_with_stdout_or_stderr_closed(cli: CommandLine) -> None:
    for closing in (">&-", "2>&-", ">&- 2>&-"):
        done = subprocess.run(
            ["sh", "-c", f'exec "$@" {closing}', "sh", *MAIN, "--version"],
            capture_output=True,
            cwd=cli.folder,
            env=environment(),
            check=False,
        )
        assert done.returncode == 0, closing
        assert b"Traceback" not in done.stderr


@pytest.mark.clause("CLI-03")
def test_text_that_the_terminal_s_encoding_lacks_is_escaped(cli: CommandLine) -> None:
    done = cli("tools", "input", PYTHONIOENCODING="ascii")
    assert done.code == 0
    assert done.out.isascii()


@pytest.mark.clause("CLI-04")
def test_places_on_the_command_line_win_over_the_environment(cli: CommandLine) -> None:
    (cli.folder / "here").mkdir()
    done = cli(
        *("doctor", "--json", "--root", "store", "--source-root", "here"),
        CONTEXT_PACK_ROOT="/nowhere",
        CONTEXT_PACK_SOURCE_ROOT="/nowhere",
    )
    assert done.json["settings"]["storage root"] == str(cli.folder / "store")
    assert done.json["settings"]["source root"] == str(cli.folder / "here")


@pytest.mark.clause("CLI-02", "CLI-04")
@pytest.mark.parametrize("words", ["packs list", "grep x", "serve", "contexts status", "docs list"])
def test_a_source_root_that_is_no_folder_is_wrong_usage(cli: CommandLine, words: str) -> None:
    done = cli("--source-root", "absent", *words.split())
    assert (done.code, done.out) == (2, "")
    assert f"{cli.folder / 'absent'} is not a folder" in done.err


@pytest.mark.clause("CLI-04")
def test_the_doctor_runs_though_the_source_root_is_no_folder(cli: CommandLine) -> None:
    assert cli("--source-root", "absent", "doctor").code == 1


@pytest.mark.clause("CLI-04")
def test_options_for_every_command_may_stand_before_it_and_the_last_one_counts(cli: CommandLine) -> None:
    (cli.folder / "here").mkdir()
    expected = cli("doctor", "--json", "--root", "store", "--source-root", "here").json["settings"]
    places = ("--root", "store", "--source-root", "here")
    assert cli(*places, "--json", "doctor").json["settings"] == expected
    assert cli("--root=x", "--json", "doctor", *places).json["settings"] == expected
    assert cli("--root", "store", "packs", "--json", "list").json == {"count": 0, "packs": []}
    assert cli(*places, "--version").code == 0
    assert cli("--json").code == 2


@pytest.mark.clause("CLI-04")
def test_places_alone_are_those_of_the_server(cli: CommandLine, spawn: Spawn) -> None:
    (cli.folder / "here").mkdir()
    client = spawn("unframed", command=[*MAIN, "--root", "store", "--source-root", "here"])
    client.initialize()
    made = client.payload("input", {"action": "create", "ttl_minutes": 5})["payload"]
    assert client.end()[0] == 0
    assert (cli.folder / "store" / "packs" / f"{made['id']}.md").is_file()


@pytest.mark.clause("CLI-04")
def test_serve_is_the_server_with_places_on_the_command_line(cli: CommandLine, spawn: Spawn) -> None:
    (cli.folder / "here").mkdir()
    words = ("serve", "--root", "store", "--source-root", "here")
    client = spawn("unframed", command=[*MAIN, *words])
    client.initialize()
    made = client.payload("input", {"action": "create", "ttl_minutes": 5})["payload"]
    assert client.end()[0] == 0
    assert (cli.folder / "store" / "packs" / f"{made['id']}.md").is_file()


@pytest.mark.clause("CLI-01")
@pytest.mark.parametrize("columns", ["20", "60", "300"])
def test_help_fits_any_terminal(cli: CommandLine, columns: str) -> None:
    for name in COMMANDS:
        assert cli(*name.split(), "--help", COLUMNS=columns).code == 0


@pytest.mark.clause("ENV-08")
def test_a_bad_variable_is_one_line_on_stderr_and_the_default(cli: CommandLine) -> None:
    done = cli("stats", "--json", CONTEXT_PACK_MAX_SOURCE_BYTES="huge\n")
    assert done.code == 0
    (line,) = done.err.splitlines()
    assert "WARN" in line
    assert "CONTEXT_PACK_MAX_SOURCE_BYTES" in line
    assert cli("stats", CONTEXT_PACK_MAX_SOURCE_BYTES="huge", CONTEXT_PACK_LOG="off").err == ""


@pytest.mark.clause("CLI-03")
def test_a_command_runs_in_a_deleted_working_directory(cli: CommandLine) -> None:
    gone = cli.folder / "gone"
    gone.mkdir()
    command = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    done = subprocess.run(
        ["sh", "-c", command, "sh", str(gone), *MAIN, "doctor", "--json"],
        capture_output=True,
        cwd=cli.folder,
        env=environment(),
        check=False,
        text=True,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "does not exist" in done.stdout
