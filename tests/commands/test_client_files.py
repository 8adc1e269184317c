"""One entry of a client's configuration changes, and every other value stays."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from context_pack_adapters.cli.client_files import Edit, UnreadableConfig, server_edit

ENTRY = {"command": "/bin/x", "args": ["-m"], "env": {"A": "b"}}


def edit(file: str) -> Edit:
    """Puts that entry into such a file."""
    return server_edit(file, "servers", ENTRY)


@pytest.mark.clause("CLI-60")
@pytest.mark.parametrize(
    "file, text",
    [
        ("a.json", ""),
        ("a.json", '{"theme":"ünï"}'),
        ("a.json", '{\n\t"servers": {\n\t\t"other": {"a": [1, null]}\n\t},\n\t"z": -1.5\n}'),
        ("a.toml", ""),
        ("a.toml", 'model = "o3" # mine\n'),
        ("a.toml", '[servers.other]\ncommand = "y" # mine\n[x]\ny = 1\n'),
        ("a.toml", 'servers = { other = { command = "y" } }\nz = 1 # mine\n'),
        ("a.toml", "[servers.o]\nb = 1\n[servers.context-pack]\n[servers.context-pack.env]\nB = 2\n[z]\n"),
    ],
)  # fmt: skip
def test_an_entry_is_put_in_once_and_taken_out_and_all_else_stays(file: str, text: str) -> None:
    def read(text: str) -> dict[str, Any]:
        config: dict[str, Any] = tomllib.loads(text) if file == "a.toml" else json.loads(text or "{}")
        return config

    before = read(text)
    made = edit(file).put(text)
    assert read(made) == {**before, "servers": {**before.get("servers", {}), "context-pack": ENTRY}}
    assert edit(file).put(made) == made
    assert made.count("# mine") == text.count("# mine")
    assert ("\t" in made) == ("\t" in text)
    before.get("servers", {}).pop("context-pack", None)
    assert read(edit(file).drop(made)) == before
    assert edit(file).drop(edit(file).drop(made)) == edit(file).drop(made)


@pytest.mark.clause("CLI-60")
@pytest.mark.parametrize(
    "file, text",
    [("a.json", each) for each in ("{ // mine\n}", "{,}", "[]", '{"servers": []}', "[" * 100_000)]
    + [("a.toml", each) for each in ("a =", "[a\n", "servers = 1\n")],
)
def test_what_cannot_be_kept_is_refused(file: str, text: str) -> None:
    with pytest.raises(UnreadableConfig):
        edit(file).put(text)
