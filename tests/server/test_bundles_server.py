"""Bundles over a real server: the sample bundle, determinism, resources, completion, growth."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from bundle_maker import LONG_AGO, SAMPLE, ids_of, nodes, target, write_files
from stdio_client import ROOT, StdioClient, environment

Spawn = Callable[..., StdioClient]
RIDE = target("ride-start", "Feature")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that holds the sample bundle."""
    shutil.copytree(SAMPLE, tmp_path / "lantern")
    for path in (tmp_path / "lantern").rglob("*.yaml"):
        os.utime(path, (LONG_AGO, LONG_AGO))
    return tmp_path


def structured(client: StdioClient, tool: str, **arguments: Any) -> Any:
    """The structured content of a successful call, which its text agrees with."""
    result = client.call(tool, arguments)
    assert not result["isError"], result
    (content,) = result["content"]
    body = result["structuredContent"]
    text = content["text"]
    assert body == (yaml.safe_load(text) if arguments.get("format") == "yaml" else json.loads(text))
    return body


@pytest.mark.clause("BD-71", "BD-36", "BD-53")
def test_the_sample_is_exported_in_both_transports(project: Path, client: StdioClient) -> None:
    body = structured(client, "export_context", targets=[RIDE], dependencyDepth=1)
    assert ids_of(body["data"]["targets"]) == ["ride-start"]
    assert ids_of(body["data"]["dependencies"]) == [
        "REQ-001",
        "REQ-003",
        "DEC-001",
        "DEC-004",
        "ride-end",
        "ACT-rider",
        "CMP-app",
        "CMP-lock-gateway",
    ]
    assert body["diagnostics"] == []
    assert body["data"]["exportMeta"]["bundleName"] == "Lantern bicycle rental"
    assert [edge["displayName"] for edge in body["data"]["relations"][:6]] == [
        "Realizes",
        "Realizes",
        "Governed by",
        "Governed by",
        "Related IDs",
        "Actor ID",
    ]
    as_yaml = structured(client, "export_context", targets=[RIDE], dependencyDepth=1, format="yaml")
    assert as_yaml["data"]["targets"] == body["data"]["targets"]
    times = {entity["id"]: entity["lastModified"] for entity in body["data"]["dependencies"]}
    assert times["REQ-001"] == "2026-02-13T10:00:00.000Z"
    assert times["REQ-003"] == "2023-11-14T22:13:20.000Z"


@pytest.mark.clause("BD-39")
def test_same_input_same_bytes_in_every_process(project: Path, tmp_path: Path) -> None:
    asked = {"targets": [RIDE, target("city-report", "Feature")], "dependencyDepth": 4}
    (project / "lantern/bundle/actors/broken.yaml").write_text("id: 5\nx: [1]\n")
    (project / "lantern/bundle/actors/odd.yaml").write_text("id: ACT-odd\nzeta: 1\nalpha: 2\nbeta: 3\n")
    script = (
        "import sys, json\n"
        "from context_pack import open_workspace\n"
        "with open_workspace(sys.argv[1]) as one:\n"
        "    for name, asked in json.loads(sys.argv[2]):\n"
        "        sys.stdout.buffer.write(one.call(name, asked).text.encode() + b'\\n')\n"
    )
    calls = [["export_context", {**asked, "format": form}] for form in ("json", "yaml")]
    calls += [["get_context", {"entityType": "Feature", "id": "ride-start", "depth": 3}]]
    calls += [["export_entity_markdown", RIDE]]
    found: set[bytes] = set()
    for seed, zone, locale in (
        ("0", "UTC", "C"),
        ("1", "Asia/Tokyo", "C.UTF-8"),
        ("4711", "America/New_York", "POSIX"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", script, str(project), json.dumps(calls)],
            env=environment(PYTHONHASHSEED=seed, TZ=zone, LC_ALL=locale, LANG=locale),
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        text = done.stdout
        for mark in (b'"exportedAt":"', b"exportedAt: '"):
            at = text.index(mark) + len(mark)
            text = text[:at] + text[at + 24 :]
        found.add(text)
    assert len(found) == 1


@pytest.mark.clause("BD-16", "BD-03")
def test_a_running_server_sees_every_change(project: Path, client: StdioClient) -> None:
    one = {"entityType": "Requirement", "id": "REQ-003", "depth": 0}
    assert structured(client, "get_context", **one)["data"]["target"]["data"]["priority"] == 4
    path = project / "lantern/bundle/requirements/REQ-003.yaml"
    for priority in (1, 2, 3):
        path.write_text(f"id: REQ-003\ntitle: Show\nownerActorId: ACT-rider\npriority: {priority}\n")
        found = structured(client, "get_context", **one)["data"]["target"]
        assert found["data"]["priority"] == priority
        moment = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(path.stat().st_mtime))
        assert found["lastModified"].startswith(moment)
    write_files(project / "second", nodes({"a": []}))
    assert (
        structured(client, "export_context", targets=[target("a")], bundleId="second")["bundleId"] == "second"
    )
