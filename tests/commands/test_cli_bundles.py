"""`context-pack bundles`: check and export, for people, scripts and CI jobs."""

from __future__ import annotations

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


@pytest.mark.clause("BD-71")
def test_check_lists_every_bundle_and_says_which_are_sound(shop: CommandLine, tmp_path: Path) -> None:
    done = shop("bundles", "check")
    assert (done.code, done.out) == (0, "lantern  45 entities, 122 references: ok\n")
    told = {"id": "lantern", "name": "Lantern bicycle rental", "path": "lantern", "ok": True}
    counts: dict[str, object] = {"entities": 45, "references": 122, "findings": []}
    report = {"ok": True, "bundles": [{**told, **counts}], "diagnostics": []}
    assert shop("bundles", "check", "lantern", "--json").json == report
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/sdd-bundle.yaml").write_text("kind: [")
    done = shop("bundles", "check")
    assert (done.code, done.out.splitlines()[0]) == (1, "bad  0 entities, 0 references: not sound")
    assert shop("bundles", "check", "lantrn").code == 2


@pytest.mark.clause("BD-71")
def test_check_prints_every_finding_and_fails(shop: CommandLine, tmp_path: Path) -> None:
    bundle = tmp_path / "lantern/bundle"
    (bundle / "actors/alone.yaml").write_text("id: ACT-alone\nname: Nobody\n")
    (bundle / "actors/again.yaml").write_text("id: ACT-rider\nname: Another\n")
    (bundle / "actors/broken.yaml").write_text("id: [")
    (bundle / "actors/lost.yaml").write_text("id: ACT-lost\nname: 7\nreportsToId: ACT-gone\n")
    done = shop("bundles", "check")
    assert done.code == 1
    shown = [line.partition(" not valid")[0][:69] for line in done.out.splitlines()]
    assert (shown[0], sorted(shown[1:])) == (
        "lantern  47 entities, 122 references: not sound",
        [
            "  duplicate  bundle/actors/again.yaml: Actor ACT-rider: the id 'ACT-r",
            "  file       bundle/actors/broken.yaml: Actor:",
            "  orphan     bundle/actors/alone.yaml: Actor ACT-alone: orphan: it re",
            "  reference  bundle/actors/lost.yaml: Actor ACT-lost: broken referenc",
            "  schema     bundle/actors/lost.yaml: Actor ACT-lost: $.name: 7 is no",
        ],
    )
    assert "line 2, column 1" in done.out
    assert "bundle/actors/ACT-rider.yaml" in done.out
    assert "'ACT-gone'" in done.out


@pytest.mark.clause("BD-73")
def test_export_prints_what_the_tool_answers(shop: CommandLine) -> None:
    body = shop("bundles", "export", "Feature/ride-start", "ride-end", "--depth", "1").json
    assert [one["id"] for one in body["data"]["targets"]] == ["ride-start", "ride-end"]
    assert (body["meta"]["dependencyDepth"], body["bundleId"]) == (1, "lantern")
    done = shop("bundles", "export", "ride-start", "--format", "yaml")
    assert yaml.safe_load(done.out)["data"]["targets"][0]["id"] == "ride-start"
    gone = shop("bundles", "export", "ride-strt")
    assert (gone.code, gone.out, "did you mean ride-start" in gone.err) == (1, "", True)
