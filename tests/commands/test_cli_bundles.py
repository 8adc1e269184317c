"""`context-pack bundles`: list, check, export and graph, for people, scripts and CI jobs."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
import yaml
from bundle_maker import LONG_AGO, SAMPLE
from command_line import CommandLine

from context_pack_adapters.page.diagrams import Drawing, draw


@pytest.fixture
def shop(tmp_path: Path) -> CommandLine:
    """The command line in a project that holds the sample bundle."""
    shutil.copytree(SAMPLE, tmp_path / "lantern")
    for path in (tmp_path / "lantern").rglob("*.yaml"):
        os.utime(path, (LONG_AGO, LONG_AGO))
    return CommandLine(tmp_path)


@pytest.mark.clause("BD-71")
def test_list_shows_a_line_per_bundle(shop: CommandLine, tmp_path: Path) -> None:
    lines = shop("bundles", "list").out.splitlines()
    assert lines[0].split() == ["ID", "LOADS", "ENTITIES", "PROBLEMS", "FOLDER", "NAME"]
    assert lines[1].split(maxsplit=5) == ["lantern", "yes", "45", "0", "lantern", "Lantern bicycle rental"]
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/sdd-bundle.yaml").write_text("kind: [")
    found = shop("bundles", "list", "--json").json
    assert [(one["id"], one["loads"], one["problems"]) for one in found["bundles"]] == [
        ("bad", False, 1),
        ("lantern", True, 0),
    ]
    assert found["bundles"][1]["types"] == {
        "Actor": 6,
        "Feature": 10,
        "Requirement": 14,
        "Component": 7,
        "Decision": 8,
    }


@pytest.mark.clause("BD-71")
def test_bundles_check_passes_for_the_sample(shop: CommandLine) -> None:
    done = shop("bundles", "check")
    assert (done.code, done.out) == (0, "lantern  45 entities, 122 references: ok\n")
    assert shop("bundles", "check", "lantern", "--json").json == {
        "ok": True,
        "bundles": [
            {
                "id": "lantern",
                "path": "lantern",
                "ok": True,
                "entities": 45,
                "references": 122,
                "findings": [],
            }
        ],
        "diagnostics": [],
    }


@pytest.mark.clause("BD-71")
def test_check_prints_every_finding_and_fails(shop: CommandLine, tmp_path: Path) -> None:
    bundle = tmp_path / "lantern/bundle"
    (bundle / "actors/alone.yaml").write_text("id: ACT-alone\nname: Nobody\n")
    (bundle / "actors/again.yaml").write_text("id: ACT-rider\nname: Another\n")
    (bundle / "actors/broken.yaml").write_text("id: [")
    (bundle / "actors/lost.yaml").write_text("id: ACT-lost\nname: 7\nreportsToId: ACT-gone\n")
    done = shop("bundles", "check")
    assert done.code == 1
    shown = [line.partition(" not valid")[0][:70] for line in done.out.splitlines()]
    assert shown == [
        "lantern  47 entities, 122 references: not sound",
        "  Files that cannot be used (1)",
        "    bundle/actors/broken.yaml: Actor:",
        "  Schema errors (1)",
        "    bundle/actors/lost.yaml: Actor ACT-lost: $.name: 7 is not of type ",
        "  Duplicate ids (1)",
        "    bundle/actors/again.yaml: Actor ACT-rider: the id 'ACT-rider' is a",
        "  Broken references (1)",
        "    bundle/actors/lost.yaml: Actor ACT-lost: broken reference: reports",
        "  Orphans (1)",
        "    bundle/actors/alone.yaml: Actor ACT-alone: orphan: it refers to no",
    ]
    assert "line 2, column 1" in done.out
    assert "bundle/actors/ACT-rider.yaml" in done.out
    assert "'ACT-gone'" in done.out
    found = shop("bundles", "check", "--json").json
    assert [one["kind"] for one in found["bundles"][0]["findings"]] == [
        "duplicate",
        "file",
        "schema",
        "reference",
        "orphan",
    ]


@pytest.mark.clause("BD-73")
def test_export_prints_what_the_tool_answers(shop: CommandLine, tmp_path: Path) -> None:
    body = shop("bundles", "export", "Feature/ride-start", "ride-end", "--depth", "1").json
    assert [one["id"] for one in body["data"]["targets"]] == ["ride-start", "ride-end"]
    assert (body["meta"]["dependencyDepth"], body["bundleId"]) == (1, "lantern")
    done = shop("bundles", "export", "ride-start", "--format", "yaml", "--no-schemas", "--no-relations")
    found = yaml.safe_load(done.out)
    assert "schemas" not in found["data"]
    assert found["data"]["relations"] == []
    assert shop("bundles", "export", "ride-start", "-o", "x.json").out == "x.json\n"
    assert json.loads((tmp_path / "x.json").read_text())["ok"] is True
    again = shop("bundles", "export", "ride-start", "-o", "x.json")
    assert again.code == 2
    assert shop("bundles", "export", "ride-start", "-o", "x.json", "--force").code == 0


@pytest.mark.clause("BD-73")
def test_graph_prints_a_diagram_that_can_be_drawn_and_held_by_a_pack(shop: CommandLine) -> None:
    done = shop("bundles", "graph", "ride-start", "--depth", "1")
    assert done.code == 0
    assert done.out.startswith('flowchart LR\n  e0["Feature ride-start<br/>Start a ride"]\n')
    assert isinstance(draw([done.out])[0], Drawing)
    pack = shop.payload("action=create", "ttl_minutes=5")
    section = shop.payload(
        "action=upsert_section",
        f"id={pack['id']}",
        "expected_revision=1",
        "section_key=main",
        "section_title=Main",
    )
    diagram = json.dumps(
        {
            "action": "upsert_diagram",
            "id": pack["id"],
            "expected_revision": section["revision"],
            "section_key": "main",
            "diagram_key": "graph",
            "title": "Graph",
            "mermaid": done.out,
        }
    )
    assert shop.payload(diagram)["changed"]["key"] == "graph"
    whole = shop("bundles", "graph")
    assert whole.out.count("-->") <= 122
    assert whole.out.count('["') == 45
