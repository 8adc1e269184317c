"""`context-pack demo`, `doctor` and `stats`: the first minute, the bad day, and the numbers afterwards."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from stdio_client import StdioClient

from context_pack_adapters.cli.doctor import PACKAGES
from context_pack_adapters.syntax.grammars import grammar_faults

Spawn = Callable[..., StdioClient]


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    """The command line in an empty folder."""
    return CommandLine(tmp_path)


def checks(cli: CommandLine, *words: str, **variables: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """The doctor's exit code and findings by subject."""
    done = cli("doctor", "--json", *words, **variables)
    return done.code, {check["subject"]: check for check in done.json["checks"]}


@pytest.mark.clause("CLI-30")
def test_the_demo_reads_the_project_and_shows_a_ref_that_follows_an_edit(cli: CommandLine) -> None:
    files = {
        "README.md": "# Shop\n\nSells things.\n",
        "shop/till.py": "from shop import money\n\n\ndef open_till():\n    return money.price(1)\n",
        "shop/run.py": "from shop import money, till\n\n\ndef main():\n    till.open_till(money)\n",
        "shop/money.py": "def price(thing):\n    rate = 2\n    return rate * thing\n",
        "tests/main.py": "from shop import run, till, money\n",
        "docs/main.py": "from shop import run, till, money\n",
    }
    for name, text in files.items():
        (cli.folder / name).parent.mkdir(exist_ok=True)
        (cli.folder / name).write_text(text)
    done = cli("demo")
    assert done.code == 0
    assert done.out.startswith("[LEGEND]\n# Context pack: A first look at ")
    assert "- status: finalized\n" in done.out
    assert "   4: def main():\n" in done.out
    statement = "`shop/money.py:1-3`: definition of price, in a file that is imported by 2 others"
    assert statement in done.out
    assert "  moved  shop/money.py:1-3 → shop/money.py:4-6\n" in done.out
    _, _, after = done.out.partition("is taken out of it")
    assert "- lines: 4-5 (moved from 1-3)\n" in after
    assert statement in after
    assert sorted(os.listdir(cli.folder)) == ["README.md", "docs", "shop", "tests"]
    assert (cli.folder / "shop/money.py").read_text() == files["shop/money.py"]


@pytest.mark.clause("CLI-30")
def test_the_demo_works_in_an_empty_folder(cli: CommandLine) -> None:
    done = cli("demo")
    assert done.code == 0
    assert "```mermaid\n" in done.out
    assert "There is no source file here yet." in done.out
    assert os.listdir(cli.folder) == []


@pytest.mark.clause("CLI-30")
def test_the_demo_says_when_there_is_no_folder(cli: CommandLine) -> None:
    done = cli("demo", "--source-root", "absent")
    assert done.code == 2
    assert "is not a folder" in done.err


@pytest.mark.clause("CLI-21")
def test_the_doctor_finds_a_good_installation_sound(cli: CommandLine) -> None:
    code, found = checks(CommandLine(cli.folder, afresh=True))
    assert code == 0
    assert {check["state"] for check in found.values()} <= {"ok", "warn"}
    assert {"python", "packages", "hnswlib", "source root", "storage root", "ripgrep", "git"} <= set(found)
    assert found["sqlite"]["state"] == "ok"
    assert os.listdir(cli.folder) == []
    shown = cli("doctor")
    assert shown.code == 0
    assert re.search(rf"source root +{re.escape(str(cli.folder))}\n", shown.out)


@pytest.mark.clause("CLI-21")
def test_the_doctor_looks_at_every_package_that_is_installed_with_us() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    needed = {re.split(r"[<>=;\[ ]", requirement)[0] for requirement in project["dependencies"]}
    grammars = {name for name in needed if name.startswith("tree-sitter-")}
    assert set(PACKAGES) == needed - grammars
    assert set(grammar_faults()) == grammars


@pytest.mark.clause("CLI-21")
def test_the_doctor_warns_of_an_optional_package_that_does_not_load(cli: CommandLine) -> None:
    (cli.folder / "mmdr.py").write_text("raise ImportError('broken on purpose')\n")
    code, found = checks(CommandLine(cli.folder, afresh=True))
    assert (code, found["mmdr"]["state"]) == (0, "warn")
    assert "pip install" in found["mmdr"]["mend"]


@pytest.mark.clause("CLI-21")
def test_the_doctor_names_a_broken_pack_and_how_to_mend_it(cli: CommandLine) -> None:
    cli.payload("action=create", "ttl_minutes=5")
    folder = cli.folder / ".agents/mcp/context_pack/packs"
    assert checks(cli)[1]["packs"]["found"] == "1 live, all sound"
    (folder / "pk_aaaaaaaa.md").write_text("---\nid: 1\n---\n")
    code, found = checks(cli)
    assert code == 1
    assert found["packs"]["state"] == "broken"
    assert "pk_aaaaaaaa.md" in found["packs"]["found"]
    assert "mend" in found["packs"]["mend"]
    text = cli("doctor")
    assert text.code == 1
    assert "1 broken." in text.out


@pytest.mark.clause("CLI-21")
def test_the_doctor_names_places_that_cannot_be_used(cli: CommandLine) -> None:
    (cli.folder / "file").write_text("")
    code, found = checks(cli, CONTEXT_PACK_SOURCE_ROOT="absent", CONTEXT_PACK_ROOT=str(cli.folder / "file"))
    assert code == 1
    assert "does not exist" in found["source root"]["found"]
    assert "is not a folder" in found["storage root"]["found"]
    code, found = checks(cli, CONTEXT_PACK_ROOT=str(cli.folder / "file" / "below"))
    assert (code, found["storage root"]["state"]) == (1, "broken")


@pytest.mark.clause("CLI-21")
def test_the_doctor_warns_of_unknown_variables(cli: CommandLine) -> None:
    done = cli(
        "doctor", CONTEXT_PACK_SORCE_ROOT="x", CONTEXT_PACK_MAX_SOURCE_BYTES="big", CONTEXT_PACK_LOG="off"
    )
    assert done.code == 0
    assert "CONTEXT_PACK_SORCE_ROOT is not a setting; did you mean 'CONTEXT_PACK_SOURCE_ROOT'?" in done.out
    assert "CONTEXT_PACK_MAX_SOURCE_BYTES is not understood" in done.out


@pytest.mark.clause("CLI-21", "EM-01")
def test_the_doctor_says_which_embedder_is_used_and_how_to_get_a_better_one(cli: CommandLine) -> None:
    assert checks(cli, CONTEXT_PACK_EMBEDDER="fast")[1]["embedder"]["found"] == "fast, as it was asked for"
    endpoint = checks(cli, CONTEXT_PACK_EMBEDDER="http://127.0.0.1:1/v1", CONTEXT_PACK_EMBEDDER_KEY="s3cret")
    assert endpoint[1]["embedder"]["state"] == "ok"
    assert "s3cret" not in str(endpoint)
    code, found = checks(cli, CONTEXT_PACK_EMBEDDER="auto", CONTEXT_PACK_MODEL="nowhere")
    assert code == 0
    assert found["embedder"]["state"] == "warn"
    assert "has no model that can be run" in found["embedder"]["found"]
    found = checks(cli, CONTEXT_PACK_EMBEDDER="auto")[1]
    assert "works" in found["embedder"]["found"] or "semantic" in found["embedder"]["mend"]


@pytest.mark.clause("CLI-21")
@pytest.mark.parametrize("name", ["attr", "yaml"])
def test_a_package_that_does_not_load_is_named_without_a_traceback(cli: CommandLine, name: str) -> None:
    # a module that stands in the way of the real one, as a broken installation would
    (cli.folder / f"{name}.py").write_text("raise ImportError(f'{__name__} is broken', name=__name__)\n")
    for words in (["contexts", "status"], ["packs", "list"]):
        done = CommandLine(cli.folder, afresh=True)(*words)
        assert (done.code, done.out) == (1, "")
        assert name in done.err
        assert "Traceback" not in done.err


@pytest.mark.clause("CLI-20")
def test_stats_adds_up_what_past_connections_did(cli: CommandLine, spawn: Spawn) -> None:
    assert cli("stats").out.startswith("No calls yet")
    for _ in range(2):
        client = spawn("unframed", source_root=cli.folder)
        client.initialize()
        client.payload("input", {"action": "create", "ttl_minutes": 5})
        client.error("input", {"action": "create"})
        client.call("output")
        assert client.end()[0] == 0
    done = cli("stats", "--json")
    assert done.json["connections"] == 2
    assert done.json["tools"]["input"]["calls"] == 4
    assert done.json["tools"]["input"]["failures"] == {"validation": 2}
    assert done.json["tools"]["output"]["p50"] > 0
    table = cli("stats").out.splitlines()
    assert table[1].split()[:4] == ["input", "4", "validation", "2"]


@pytest.mark.clause("CLI-20")
def test_a_server_without_calls_saves_no_statistics(cli: CommandLine, spawn: Spawn) -> None:
    client = spawn("unframed", source_root=cli.folder)
    client.initialize()
    assert client.request("tools/list")["result"]["tools"]
    assert client.end()[0] == 0
    assert os.listdir(cli.folder) == []


@pytest.mark.clause("CLI-20")
def test_a_server_ended_by_a_signal_saves_its_statistics(cli: CommandLine, spawn: Spawn) -> None:
    client = spawn("unframed", source_root=cli.folder)
    client.initialize()
    client.payload("input", {"action": "create", "ttl_minutes": 5})
    client.process.terminate()
    assert client.wait() == 0
    assert cli("stats", "--json").json["tools"]["input"]["calls"] == 1


@pytest.mark.clause("CLI-20")
def test_the_stats_resource_has_the_numbers_of_the_running_server(cli: CommandLine, spawn: Spawn) -> None:
    client = spawn("unframed", source_root=cli.folder)
    client.initialize()
    client.call("output")
    listed = client.request("resources/list")["result"]["resources"]
    assert [entry["uri"] for entry in listed] == ["context://stats"]
    (content,) = client.request("resources/read", {"uri": "context://stats"})["result"]["contents"]
    assert content["mimeType"] == "application/json"
    assert json.loads(content["text"])["output"]["calls"] == 1
    assert "error" in client.request("resources/read", {"uri": "context://stats/more"})
