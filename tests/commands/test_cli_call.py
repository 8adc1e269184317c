"""`context-pack call` and `tools`: every tool from a shell, with arguments people can type."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import CommandLine


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    """The command line in a folder with one source file."""
    (tmp_path / "app.py").write_text("one = 1\ntwo = 2\n")
    return CommandLine(tmp_path)


@pytest.mark.clause("CLI-10")
def test_a_tool_is_run_with_words_json_stdin_or_nothing(cli: CommandLine) -> None:
    assert cli("call", "output").out == "No context packs found.\n"
    words = ("action=create", "ttl_minutes=60", "name=2026", 'tags=["a", "b"]', "title=One = two")
    done = cli("call", "input", *words)
    assert (done.code, done.err) == (0, "")
    payload = done.json["payload"]
    assert (payload["name"], payload["tags"], payload["title"]) == ("2026", ["a", "b"], "One = two")
    made = cli("call", "input", '{"action": "create", "ttl_minutes": 60, "name": "typed"}')
    assert made.json["payload"]["name"] == "typed"
    assert "- name: typed\n" in cli("call", "output", "-", stdin='{"name": "typed"}').out


@pytest.mark.clause("CLI-10")
@pytest.mark.parametrize(
    "word, fault",
    [
        ("ttl_minutes=true", "'ttl_minutes' must be"),
        ("ttl_minutes=soon", "'ttl_minutes' must be"),
        ("tags=x", "'tags' must be"),
        ("title=5", None),
        ("title=true", None),
        ('title="5"', None),
        ("title=two\nlines", "'title'"),
    ],
)
def test_a_value_is_json_where_it_reads_as_json_and_text_where_text_is_wanted(
    cli: CommandLine, word: str, fault: str | None
) -> None:
    done = cli("call", "input", "action=create", *(["ttl_minutes=5"] if "ttl" not in word else []), word)
    if fault is None:
        assert done.json["payload"]["title"] == word.removeprefix("title=").strip('"')
    else:
        assert (done.code, fault in done.err) == (1, True), done.err


@pytest.mark.clause("CLI-10")
@pytest.mark.parametrize(
    "words",
    [
        ["name"],
        ["a-b=x"],
        ["name=a", "name=b"],
        ['{"a": 1}', "b=2"],
        ["{"],
        ['{"a": NaN}'],
    ],
)
def test_arguments_that_make_no_sense_are_wrong_usage(cli: CommandLine, words: list[str]) -> None:
    done = cli("call", "input", *words)
    assert (done.code, done.out) == (2, "")


@pytest.mark.clause("CLI-10")
@pytest.mark.parametrize("stdin", [b"", b"[]", b"{", b"\xff"])
def test_stdin_that_is_no_json_object_is_wrong_usage(cli: CommandLine, stdin: bytes) -> None:
    done = cli("call", "input", "-", stdin=stdin)
    assert (done.code, done.out, "stdin" in done.err) == (2, "", True)


@pytest.mark.clause("CLI-10")
@pytest.mark.parametrize(
    "call, words",
    [
        ("input action=create", "ttl_required: "),
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
    assert (done.code, done.out != "", words in done.err) == (1, True, True)


@pytest.mark.clause("CLI-10")
def test_the_raw_result_is_what_a_client_gets(cli: CommandLine) -> None:
    good = cli("call", "input", "--json")
    assert good.code == 0
    (block,) = good.json["content"]
    text = json.dumps(good.json["structuredContent"], separators=(",", ":"))
    assert block["text"].replace("\n", "") == text
    assert set(good.json) == {"content", "structuredContent", "isError"}
    for words in (("--json", "input", "action=nonsense"), ("input", "--json", "action=nonsense")):
        bad = cli("call", *words)
        assert (bad.code, bad.json["isError"], "structuredContent" in bad.json) == (1, True, False)
        assert json.loads(bad.json["content"][0]["text"])["code"] == "invalid_data"


@pytest.mark.clause("CLI-04", "CLI-10")
def test_json_is_laid_out_for_people_on_a_terminal(cli: CommandLine) -> None:
    done = cli.on_terminal("call", "input")
    assert done.out.startswith('{\n  "action": "list",\n')
    assert done.json["action"] == "list"
    assert "\n" not in cli("call", "input").out.rstrip("\n")


@pytest.mark.clause("ENV-05", "ENV-09")
def test_a_command_logs_nothing_unless_asked_and_has_no_rate_limits(cli: CommandLine) -> None:
    assert cli("call", "input").err == ""
    logged = cli("call", "input", "action=list", "query=my-secret", CONTEXT_PACK_LOG="info").err
    assert "call tool=input ok=true" in logged
    assert "my-secret" not in logged
    assert cli("call", "output", CONTEXT_PACK_RATE_LIMITS="output=0").code == 0


@pytest.mark.clause("CLI-10")
def test_tools_are_listed_and_explained_with_every_argument(cli: CommandLine) -> None:
    lines = cli("tools").out.splitlines()
    assert lines[0].split() == ["TOOL", "TITLE", "WHAT", "IT", "DOES"]
    names = [tool["name"] for tool in cli("tools", "--json").json]
    assert [line.split()[0] for line in lines[1:]] == names
    explained, schema = cli("tools", "input").out, cli("tools", "input", "--json").json["inputSchema"]
    assert all(f"action={action}\n" in explained for action in schema["properties"]["action"]["enum"])
    assert all(name in explained for name in schema["properties"])
    assert "  ttl_minutes: integer, 1 to 2628000, required — " in explained
    assert "arguments\n" in cli("tools", "output").out
