"""Settings that do not say where data is: the server answers with what to set, commands end with code 1."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command_line import CommandLine
from local_client import LocalClient

CALLS = (
    ("input", {"action": "list"}),
    ("read_file", {"path": "a.py"}),
    ("context_search", {"query": "a"}),
    ("documents_search", {"query": "a"}),
)


def refusals(client: LocalClient) -> list[str]:
    """What each tool answers, and the instructions of the connection first."""
    assert client.request("tools/list")["result"]["tools"]
    answers = [client.call(*each) for each in CALLS]
    assert all(answer["isError"] for answer in answers)
    return [client.greeting["instructions"], *(answer["content"][0]["text"] for answer in answers)]


@pytest.mark.clause("ENV-18", "MCP-22")
@pytest.mark.parametrize(
    ("variable", "value", "advice"),
    [
        ("CONTEXT_PACK_STORE", "host=db.example dbname=team", "postgresql://USER@HOST/DATABASE"),
        ("CONTEXT_PACK_STORE", "mysql://db.example/team", "postgresql://USER@HOST/DATABASE"),
        ("CONTEXT_PACK_PROJECT", "${workspaceFolderBasename}", "a name of one line"),
        ("CONTEXT_PACK_SOURCE_ROOT", "${workspaceFolder}", "the folder of the project"),
    ],
)
def test_nothing_is_kept_where_a_setting_is_not_understood(
    tmp_path: Path, variable: str, value: str, advice: str
) -> None:
    (tmp_path / "a.py").write_text("a = 1\n")
    client = LocalClient(tmp_path, **{variable: value})
    for words in refusals(client):
        assert f"{variable} is not understood" in words
        assert advice in words
        assert value not in words
    done = CommandLine(tmp_path)("packs", "create", "x", **{variable: value})
    assert (done.code, advice in done.err) == (1, True)
    assert os.listdir(tmp_path) == ["a.py"]
    assert CommandLine(tmp_path)("doctor", **{variable: value}).code == 1


@pytest.mark.clause("ENV-18")
def test_a_server_started_in_the_home_folder_serves_no_file_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a.py").write_text("private words\n")
    for words in refusals(LocalClient(tmp_path)):
        assert "set CONTEXT_PACK_SOURCE_ROOT to the folder of the project" in words
        assert "private words" not in words
    assert os.listdir(tmp_path) == ["a.py"]
    named = LocalClient(tmp_path, CONTEXT_PACK_SOURCE_ROOT=str(tmp_path))
    assert "private words" in str(named.call("read_file", {"path": "a.py"}))
