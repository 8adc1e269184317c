"""`context-pack demo` and `doctor`: the first minute and the bad day; and what a server has counted."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from stdio_client import StdioClient

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


@pytest.mark.clause("CLI-21", "ENV-02")
def test_the_doctor_says_in_one_line_that_all_is_well(cli: CommandLine) -> None:
    plain = {"CONTEXT_PACK_EMBEDDER": "fast"}
    done = CommandLine(cli.folder, afresh=True)("doctor", **plain)
    where = f"{cli.folder} (the working directory), packs in {cli.folder}/.agents/mcp/context_pack"
    assert done == (0, f"Everything needed is in place: {where}\n", "")
    assert cli("doctor", "--json", **plain).json["settings"]["source_root"] == str(cli.folder)
    assert os.listdir(cli.folder) == []


@pytest.mark.clause("CLI-21")
def test_the_doctor_names_packages_that_do_not_load(cli: CommandLine) -> None:
    for module in ("tomlkit", "tree_sitter_go"):
        (cli.folder / f"{module}.py").write_text("raise ImportError('broken on purpose')\n")
    code, found = checks(CommandLine(cli.folder, afresh=True))
    states = {name: found[name]["state"] for name in ("tomlkit", "tree-sitter-go")}
    assert (code, states) == (1, {"tomlkit": "broken", "tree-sitter-go": "warn"})
    assert found["tomlkit"]["mend"] == "pip install --upgrade tomlkit"


@pytest.mark.clause("CLI-21")
def test_the_doctor_names_a_broken_pack_and_how_to_mend_it(cli: CommandLine) -> None:
    cli.payload("action=create", "ttl_minutes=5")
    folder = cli.folder / ".agents/mcp/context_pack/packs"
    assert "packs" not in checks(cli)[1]
    (folder / "pk_aaaaaaaa.md").write_text("---\nid: 1\n---\n")
    code, found = checks(cli)
    assert (code, found["packs"]["state"]) == (1, "broken")
    assert "pk_aaaaaaaa.md" in found["packs"]["found"]
    assert "mend" in found["packs"]["mend"]
    text = cli("doctor")
    assert (text.code, "Something is broken" in text.out) == (1, True)


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
def test_the_doctor_warns_where_a_server_would_refuse_to_serve(cli: CommandLine) -> None:
    code, findings = checks(cli, HOME=str(cli.folder))
    assert (code, "your home folder is no project" in findings["source root"]["found"]) == (0, True)
    last = cli("doctor", HOME=str(cli.folder)).out.splitlines()[-1]
    assert last.startswith("Nothing is broken, but see above: ")


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
    endpoint = {"CONTEXT_PACK_EMBEDDER": "http://127.0.0.1:1/v1", "CONTEXT_PACK_EMBEDDER_KEY": "s3cret"}
    for variables in ({"CONTEXT_PACK_EMBEDDER": "fast"}, endpoint):
        told = checks(cli, **variables)
        assert ("embedder" in told[1], "s3cret" in str(told)) == (False, False)
    code, found = checks(cli, CONTEXT_PACK_EMBEDDER="auto", CONTEXT_PACK_MODEL="nowhere")
    assert code == 0
    assert found["embedder"]["state"] == "warn"
    assert "has no model that can be run" in found["embedder"]["found"]


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
