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


@pytest.fixture
def shop(tmp_path: Path) -> CommandLine:
    """The command line in a project that holds the sample bundle."""
    shutil.copytree(SAMPLE, tmp_path / "lantern")
    for path in (tmp_path / "lantern").rglob("*.yaml"):
        os.utime(path, (LONG_AGO, LONG_AGO))
    return CommandLine(tmp_path)


@pytest.mark.clause("BD-70")
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


@pytest.mark.clause("BD-71")
def test_each_finding_alone_fails_and_orphans_may_be_allowed(shop: CommandLine, tmp_path: Path) -> None:
    alone = tmp_path / "lantern/bundle/actors/alone.yaml"
    alone.write_text("id: ACT-alone\nname: Nobody\n")
    assert shop("bundles", "check").code == 1
    assert shop("bundles", "check", "--allow-orphans").code == 0
    assert "ACT-alone" in shop("bundles", "check", "--allow-orphans").out
    for text in (
        "id: [",
        "id: ACT-x\nname: 5\nreportsToId: ACT-city\n",
        "id: ACT-x\nname: X\nreportsToId: none\n",
    ):
        alone.write_text(text)
        assert shop("bundles", "check", "--allow-orphans").code == 1, text
    alone.unlink()
    shutil.rmtree(tmp_path / "lantern/bundle/actors")
    assert shop("bundles", "check").code == 1
    (tmp_path / "bundles.yaml").write_text("bundles: [{id: x, path: ../y}]\n")
    done = shop("bundles", "check")
    assert done.code == 1
    assert "bundles.yaml: $.bundles[0].path" in done.err


@pytest.mark.clause("BD-72")
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
