"""One entry of a client's configuration changes, and every other byte stays."""

from __future__ import annotations

import json
import tomllib

import pytest

from context_pack_adapters.commands.config_text import (
    UnreadableConfig,
    drop_json,
    drop_toml,
    put_json,
    put_toml,
)

PATH = ("mcpServers", "ours")
VALUE = {"command": "/bin/x", "args": []}
TEXTS = [
    '{"theme":"dark"}',
    '{\n  // a comment with "quotes" and { braces\n  "theme": "dark", /* more */\n'
    '  "mcpServers": {\n    "other": {"command": "y"}\n  }\n}\n',
    '{\n\t"mcpServers": {\n\t\t"other": {"a": [1, {"b": "}"}], "c": null}\n\t},\n\t"z": -1.5e3\n}',
    '{"mcpServers": {"other": {}}, "x": "\\"}"}\n',
]


@pytest.mark.clause("CLI-60")
@pytest.mark.parametrize("text", TEXTS)
def test_json_keeps_everything_else_and_gives_it_back(text: str) -> None:
    made = put_json(text, PATH, VALUE)
    assert put_json(made, PATH, VALUE) == made
    assert drop_json(made, PATH) == text
    other = put_json(made, PATH, {"command": "/bin/z"})
    assert drop_json(other, PATH) == text
    assert '"/bin/z"' in other
    assert '"/bin/x"' not in other


@pytest.mark.clause("CLI-60")
def test_json_is_made_where_there_is_none() -> None:
    assert json.loads(put_json("", PATH, VALUE)) == {"mcpServers": {"ours": VALUE}}
    assert json.loads(put_json("{}", PATH, VALUE)) == {"mcpServers": {"ours": VALUE}}
    assert json.loads(put_json('{"mcpServers": {}}', PATH, VALUE)) == {"mcpServers": {"ours": VALUE}}
    assert drop_json(put_json("{}\n", PATH, VALUE), PATH).strip() == "{}"
    trailing = '{\n  "a": 1,\n}\n'
    assert put_json(trailing, PATH, VALUE).startswith('{\n  "a": 1,\n  "mcpServers": {')


@pytest.mark.clause("CLI-60")
@pytest.mark.parametrize("text", ["[]", "{", '{"a" 1}', '{"mcpServers": 5}', "nonsense", '{"a": 1 "b": 2}'])
def test_a_file_that_is_no_json_configuration_is_refused(text: str) -> None:
    with pytest.raises(UnreadableConfig):
        put_json(text, PATH, VALUE)


@pytest.mark.clause("CLI-60")
@pytest.mark.parametrize(
    "text",
    [
        "",
        'model = "o3"\n',
        '# mine\n[mcp_servers.other]\ncommand = "y"\n\n[mcp_servers.other.env]\nA = "1"\n',
        'notify = ["a"]\n\n[profiles.x]\nmodel = "y"\n',
    ],
)
def test_toml_keeps_everything_else_and_gives_it_back(text: str) -> None:
    values = {"command": "/bin/x", "args": ["-m", "y"], "env": {"A": "auto"}}
    made = put_toml(text, "mcp_servers.ours", values)
    assert made.startswith(text)
    assert tomllib.loads(made)["mcp_servers"]["ours"] == values
    assert put_toml(made, "mcp_servers.ours", values) == made
    assert drop_toml(made, "mcp_servers.ours") == text
    more = made + '\n[mcp_servers.ours.tools]\nB = "2"\n\n[last]\na = 1\n'
    assert tomllib.loads(drop_toml(more, "mcp_servers.ours"))["last"] == {"a": 1}
    changed = put_toml(more, "mcp_servers.ours", {"command": "z"})
    assert tomllib.loads(changed)["mcp_servers"]["ours"] == {"command": "z"}
    assert tomllib.loads(changed)["last"] == {"a": 1}


@pytest.mark.clause("CLI-60")
@pytest.mark.parametrize(
    "text",
    [
        "[a\nb =\n",
        'mcp_servers = { other = { command = "x" } }\n',
        '[mcp_servers]\nours.command = "x"\n',
        "[[mcp_servers]]\na = 1\n",
        'text = """\n[mcp_servers.ours]\n"""\n',
    ],
)
def test_a_toml_file_that_the_change_would_break_is_refused(text: str) -> None:
    with pytest.raises(UnreadableConfig):
        put_toml(text, "mcp_servers.ours", {"command": "/bin/x"})


@pytest.mark.clause("CLI-60")
def test_json_is_changed_where_clients_read_it() -> None:
    assert put_json('{"a": 1// one\n}', PATH, VALUE).startswith('{"a": 1,')
    twice = put_json('{"mcpServers": {"a": 1}, "mcpServers": {"b": 2}}', PATH, VALUE)
    assert json.loads(twice)["mcpServers"] == {"b": 2, "ours": VALUE}
