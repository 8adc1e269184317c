"""One entry of a client's configuration changes, and every other value stays."""

from __future__ import annotations

import json
import tomllib

import pytest

from context_pack_adapters.cli.config_text import (
    UnreadableConfig,
    drop_json,
    drop_toml,
    put_json,
    put_toml,
)

ENTRY = {"command": "/bin/x", "args": ["-m"], "env": {"A": "b"}}
PLACE = ("servers", "ours")


@pytest.mark.clause("CLI-60")
@pytest.mark.parametrize(
    "text",
    ["", "{}", '{"theme":"ünï"}', '{\n\t"servers": {\n\t\t"other": {"a": [1, null]}\n\t},\n\t"z": -1.5\n}'],
)
def test_json_is_given_an_entry_and_loses_it_again(text: str) -> None:
    before = json.loads(text or "{}")
    made = put_json(text, *PLACE, ENTRY)
    assert json.loads(made) == {**before, "servers": {**before.get("servers", {}), "ours": ENTRY}}
    assert put_json(made, *PLACE, ENTRY) == made
    assert json.loads(drop_json(made, *PLACE)) == before
    assert ("\t" in made) == ("\t" in text)
    assert drop_json(text or "{}", *PLACE) == (text or "{}")


@pytest.mark.clause("CLI-60")
@pytest.mark.parametrize(
    "text",
    [
        "",
        'model = "o3" # mine\n',
        "a = 1\n[[b]]\nc = 1\n",
        '[servers.other]\ncommand = "y" # mine\n\n[x]\ny = 1\n',
        'servers = { other = { command = "y" } }\nz = 1 # mine\n',
    ],
)
def test_toml_is_given_a_table_loses_it_again_and_keeps_comments(text: str) -> None:
    before = tomllib.loads(text)
    made = put_toml(text, *PLACE, ENTRY)
    assert tomllib.loads(made) == {**before, "servers": {**before.get("servers", {}), "ours": ENTRY}}
    assert put_toml(made, *PLACE, ENTRY) == made
    assert made.count("# mine") == text.count("# mine")
    assert drop_toml(made, *PLACE).strip() == text.strip()
    assert drop_toml(text, *PLACE) == text


@pytest.mark.clause("CLI-60")
def test_an_older_entry_is_replaced_with_all_that_was_in_it() -> None:
    old = '[servers.ours]\ncommand = "old"\n[servers.ours.env]\nB = "c"\n\n[z]\na = 1\n'
    assert tomllib.loads(put_toml(old, *PLACE, ENTRY)) == {"servers": {"ours": ENTRY}, "z": {"a": 1}}
    assert tomllib.loads(drop_toml(old, *PLACE)) == {"z": {"a": 1}}


@pytest.mark.clause("CLI-60")
@pytest.mark.parametrize("text", ["{ // mine\n}", "{,}", "[]", '{"servers": []}', "[" * 100_000])
def test_json_that_cannot_be_kept_is_refused(text: str) -> None:
    with pytest.raises(UnreadableConfig):
        put_json(text, *PLACE, ENTRY)


@pytest.mark.clause("CLI-60")
@pytest.mark.parametrize("text", ["a =", "[a\n", "servers = 1\n"])
def test_toml_that_cannot_be_kept_is_refused(text: str) -> None:
    with pytest.raises(UnreadableConfig):
        put_toml(text, *PLACE, ENTRY)
