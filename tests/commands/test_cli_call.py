"""`context-pack call` and `tools`: every tool from a shell, with arguments people can type."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import CommandLine

from context_pack_adapters.cli.shell import WrongUsage
from context_pack_adapters.cli.tools import read_arguments

PROPERTIES = {"name": {"type": "string"}, "tags": {"type": "array"}, "ttl_minutes": {"type": "integer"}}


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    """The command line in a folder with one source file."""
    (tmp_path / "app.py").write_text("one = 1\ntwo = 2\n")
    return CommandLine(tmp_path)


@pytest.mark.clause("CLI-10")
def test_a_tool_is_run_with_words(cli: CommandLine) -> None:
    done = cli(
        "call", "input", "action=create", "ttl_minutes=60", "name=2026", 'tags=["a", "b"]', "title=One = two"
    )
    assert (done.code, done.err) == (0, "")
    payload = done.json["payload"]
    assert (payload["name"], payload["tags"], payload["title"]) == ("2026", ["a", "b"], "One = two")
    assert "One = two" in cli("call", "output", "name=2026").out


@pytest.mark.clause("CLI-10")
def test_a_tool_is_run_with_json_as_an_argument_or_on_stdin(cli: CommandLine) -> None:
    made = cli("call", "input", '{"action": "create", "ttl_minutes": 60, "name": "typed"}')
    assert made.json["payload"]["name"] == "typed"
    shown = cli("call", "output", "-", stdin='{"name": "typed"}')
    assert "- name: typed\n" in shown.out


@pytest.mark.clause("CLI-10")
def test_a_tool_without_arguments_is_run_without_arguments(cli: CommandLine) -> None:
    assert cli("call", "output").out == "No context packs found.\n"
    assert cli("call", "input").json == {
        "action": "list",
        "payload": {"count": 0, "total": 0, "has_more": False, "packs": []},
    }


@pytest.mark.clause("CLI-10")
@pytest.mark.parametrize(
    "text, value",
    [
        ("ttl_minutes=5", 5),
        ("ttl_minutes=true", True),
        ("ttl_minutes=null", None),
        ("ttl_minutes=1.5", 1.5),
        ("ttl_minutes=soon", "soon"),
        ("ttl_minutes=NaN", "NaN"),
        ("ttl_minutes=", ""),
        ("name=5", "5"),
        ("name=true", "true"),
        ('name="5"', "5"),
        ('name={"a": 1}', '{"a": 1}'),
        ("name=a=b", "a=b"),
        ("name=two\nlines", "two\nlines"),
        ('tags=["x"]', ["x"]),
        ('tags={"a": 1, "a": 2}', '{"a": 1, "a": 2}'),
        ("other=[1, {}]", [1, {}]),
    ],
)
def test_a_value_is_json_where_it_reads_as_json_and_text_where_text_is_wanted(
    text: str, value: object
) -> None:
    (found,) = read_arguments([text], PROPERTIES).values()
    assert found == value
    assert type(found) is type(value)


@pytest.mark.clause("CLI-11")
@pytest.mark.parametrize(
    "words",
    [
        ["name"],
        ["=x"],
        ["a-b=x"],
        ["name=a", "name=b"],
        ['{"a": 1}', "b=2"],
        ["{"],
        ["[1]"],
        ['{"a": 1, "a": 2}'],
        ['{"a": NaN}'],
        ["-", "a=1"],
    ],
)
def test_arguments_that_make_no_sense_are_wrong_usage(words: list[str]) -> None:
    with pytest.raises(WrongUsage):
        read_arguments(words, PROPERTIES)


@pytest.mark.clause("CLI-11")
@pytest.mark.parametrize("stdin", [b"", b"[]", b"{", b"\xff", b'"text"', b"{} {}"])
def test_stdin_that_is_no_json_object_is_wrong_usage(cli: CommandLine, stdin: bytes) -> None:
    done = cli("call", "input", "-", stdin=stdin)
    assert (done.code, done.out) == (2, "")
    assert "stdin" in done.err


@pytest.mark.clause("CLI-12")
def test_a_tool_error_is_printed_and_is_exit_code_one(cli: CommandLine) -> None:
    done = cli("call", "input", "action=create")
    assert done.code == 1
    assert done.json["code"] == "ttl_required"
    assert done.err == f"context-pack: ttl_required: {done.json['message']}\n"
    assert cli("call", "output", "name=nobody").code == 1


@pytest.mark.clause("CLI-12")
@pytest.mark.parametrize(
    "call, words",
    [
        ("output name=nope", "no live pack has that name"),
        ("grep_codebase", "Invalid parameters: 'pattern' is required"),
        ("read_file path=nope", "File not found"),
        ("get_context entityType=Nope id=nope", "there is no bundle"),
        ("query_context scope=nope", "No .context.yaml found"),
        ("documents_get_document collection=nope document=nope", 'Collection "nope" not found'),
    ],
)
def test_the_words_of_every_family_s_errors_go_to_stderr(cli: CommandLine, call: str, words: str) -> None:
    done = cli("call", *call.split())
    assert (done.code, words in done.err) == (1, True)


@pytest.mark.clause("CLI-12")
def test_the_raw_result_is_what_a_client_gets(cli: CommandLine) -> None:
    good = cli("call", "input", "--json")
    assert good.code == 0
    (block,) = good.json["content"]
    text = json.dumps(good.json["structuredContent"], separators=(",", ":"))
    assert block["text"].replace("\n", "") == text
    assert set(good.json) == {"content", "structuredContent", "isError"}
    bad = cli("call", "--json", "input", "action=nonsense")
    assert (bad.code, bad.json["isError"], "structuredContent" in bad.json) == (1, True, False)
    assert json.loads(bad.json["content"][0]["text"])["code"] == "invalid_data"


@pytest.mark.clause("CLI-12")
def test_options_may_stand_anywhere(cli: CommandLine) -> None:
    expected = cli("call", "input", "action=list", "limit=3", "--json").json
    assert cli("call", "--json", "input", "action=list", "limit=3").json == expected
    assert cli("call", "input", "action=list", "--json", "limit=3").json == expected


@pytest.mark.clause("CLI-12")
def test_json_is_laid_out_for_people_on_a_terminal(cli: CommandLine) -> None:
    done = cli.on_terminal("call", "input")
    assert done.out.startswith('{\n  "action": "list",\n')
    assert done.json["action"] == "list"
    assert "\n" not in cli("call", "input").out.rstrip("\n")


@pytest.mark.clause("CLI-12")
def test_a_command_logs_nothing_unless_asked(cli: CommandLine) -> None:
    assert cli("call", "input").err == ""
    logged = cli("call", "input", "action=list", "query=my-secret", CONTEXT_PACK_LOG="info").err
    assert "call tool=input ok=true" in logged
    assert "my-secret" not in logged


@pytest.mark.clause("CLI-12")
def test_commands_have_no_rate_limits(cli: CommandLine) -> None:
    assert cli("call", "output", CONTEXT_PACK_RATE_LIMITS="output=0").code == 0


@pytest.mark.clause("CLI-13")
def test_tools_lists_each_tool_with_its_first_sentence(cli: CommandLine) -> None:
    lines = cli("tools").out.splitlines()
    assert lines[0].split() == ["TOOL", "TITLE", "WHAT", "IT", "DOES"]
    names = [tool["name"] for tool in cli("tools", "--json").json]
    assert names[0] == "context_search"  # what the instructions name first
    assert [line.split()[0] for line in lines[1:]] == names


@pytest.mark.clause("CLI-13")
@pytest.mark.parametrize("columns", [40, 60, 100])
def test_a_table_fits_the_terminal_and_loses_no_word(cli: CommandLine, columns: int) -> None:
    shown = cli.on_terminal("tools", COLUMNS=str(columns), TERM="dumb").out
    table = shown.rpartition("\n\n")[0]
    wide = cli("tools").out.rpartition("\n\n")[0]
    assert table.split() == wide.split()
    rows = [line for line in table.splitlines()[1:] if not line.startswith(tuple(tool_names(cli)))]
    assert all(len(line) <= columns and line.startswith("  ") for line in rows)


def tool_names(cli: CommandLine) -> list[str]:
    """The names of the tools."""
    return [tool["name"] for tool in cli("tools", "--json").json["tools"]]


@pytest.mark.clause("CLI-13")
def test_a_tool_is_explained_with_every_argument_of_every_action(cli: CommandLine) -> None:
    explained, schema = cli("tools", "input").out, cli("tools", "input", "--json").json["inputSchema"]
    assert all(f"action={action}\n" in explained for action in schema["properties"]["action"]["enum"])
    assert all(name in explained for name in schema["properties"])
    assert "  ttl_minutes: integer, 1 to 2628000, required\n" in explained
    assert "arguments\n" in cli("tools", "output").out
