"""Bundles over a real server: the sample bundle, determinism, resources, completion, growth."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from bundle_maker import LONG_AGO, SAMPLE, ids_of, target
from stdio_client import StdioClient

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


@pytest.mark.clause("BD-80", "BD-36", "BD-53")
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


@pytest.mark.clause("BD-80")
def test_the_sample_is_large_and_various_enough(project: Path, client: StdioClient) -> None:
    everything = [
        target(path.stem, folder.name.title()[:-1])
        for folder in sorted((project / "lantern/bundle").iterdir())
        for path in sorted(folder.glob("*.yaml"))
    ]
    body = structured(client, "export_context", targets=everything, dependencyDepth=5)
    assert body["meta"]["targetCount"] == len(everything) >= 40
    assert (
        len({entity["entityType"] for entity in body["data"]["targets"]}) == body["meta"]["schemaCount"] == 5
    )
    assert body["meta"]["dependencyCount"] == 0
    assert body["diagnostics"] == []
