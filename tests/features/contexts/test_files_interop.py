"""Interop with dotcontext: what it computed, wrote and answered over the same trees, and what we answer.

The facts under `tests/fixtures/contexts` are always compared. Its own answers about its own files are
compared word for word where they lie beside the checkout (`../shared/data/dotcontext`).
"""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from context_trees import Asked, context, disk_contexts
from file_trees import lay

from context_pack.contexts.fingerprint import FreshnessState, Method, compared
from context_pack.contexts.model import Context, read_context
from context_pack.kernel.ports import Reason

CHECKOUT = Path(__file__).resolve().parents[3]
FACTS = json.loads((CHECKOUT / "tests/fixtures/contexts/interop.json").read_text("utf-8"))
ORIGINAL = CHECKOUT.parent / "shared" / "data" / "dotcontext"
TREES = sorted(FACTS["trees"])
ADDED = {"warnings", "reason", "method", "unknown_fields"}
OURS_ALONE = {
    "list_nonexistent": "a path outside every allowed root is refused without a look",
    "bad_args_missing_scope": "bad arguments are told in the tool's own shape",
    "bad_args_filter_string": "bad arguments are told in the tool's own shape",
    "unknown_tool": "an unknown tool is the protocol's business",
}


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of those names, sizes and times, and contexts with the stored fingerprints."""
    root = tmp_path_factory.mktemp("facts")
    for name, tree in FACTS["trees"].items():
        for path, (modified, size) in tree["files"].items():
            text = tree["texts"].get(path, "x" * size)
            assert len(text) == size
            lay(root / name, {path: text})
            os.utime(root / name / path, ns=(modified, modified))
        for scope, stored in tree["stored"].items():
            lay(root / name, {f"{scope}/.context.yaml": context(scope, stored, summary=f"About {scope}")})
    return root


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """dotcontext's own trees with their times."""
    root = tmp_path_factory.mktemp("original")
    with tarfile.open(ORIGINAL / "trees.tar.gz") as packed:
        packed.extractall(root, filter="data")
    for path, (modified, size) in json.loads((ORIGINAL / "mtimes.json").read_text("utf-8")).items():
        assert (root / path).stat().st_size == size
        os.utime(root / path, ns=(modified, modified))
    return root


def fingerprints(root: Path, scopes: Mapping[str, str]) -> dict[str, str]:
    """The fingerprint that we compute for each folder."""
    project = disk_contexts(root).open(None)
    assert not isinstance(project, Reason)
    found = {}
    for scope in scopes:
        folder = project.find(scope)
        assert folder is not None, scope
        assert not isinstance(folder, Reason), scope
        found[scope] = folder.stat_fingerprint
    return found


@pytest.mark.clause("CX-05", "CX-50")
@pytest.mark.parametrize("name", TREES)
def test_every_folder_has_the_fingerprint_that_dotcontext_computes(facts: Path, name: str) -> None:
    expected = FACTS["trees"][name]["fingerprints"]
    assert fingerprints(facts / name, expected) == expected


@pytest.mark.clause("CX-12", "CX-14", "CX-50")
@pytest.mark.parametrize("name", sorted(FACTS["lists"]))
def test_lists_have_the_counts_and_states_of_dotcontext(facts: Path, name: str) -> None:
    listed = Asked(disk_contexts(facts)).ok("list_contexts", path=name)
    expected = FACTS["lists"][name]
    assert {key: listed[key] for key in expected if key != "states"} == {
        key: value for key, value in expected.items() if key != "states"
    }
    assert {entry["scope"]: entry["state"] for entry in listed["entries"]} == expected["states"]
    assert listed["warnings"] == 0


@pytest.mark.clause("CX-07", "CX-50")
@pytest.mark.parametrize("name", TREES)
def test_states_follow_from_what_dotcontext_stored_and_computed(facts: Path, name: str) -> None:
    tree = FACTS["trees"][name]
    asked = Asked(disk_contexts(facts / name))
    for scope, stored in tree["stored"].items():
        computed = tree["fingerprints"][scope]
        expected = compared(stored, computed, lambda: None)
        answer = asked.ok("check_freshness", scope=scope)
        assert answer["state"] == expected.state.value
        assert answer["fingerprint"] == {"stored": stored, "computed": computed, "method": Method.STAT.value}
    assert any(
        compared(stored, tree["fingerprints"][scope], lambda: None).state is FreshnessState.FRESH
        for scope, stored in tree["stored"].items()
    )


def without_added(value: Any) -> Any:
    """An answer without the fields that we add."""
    if isinstance(value, dict):
        return {key: without_added(item) for key, item in value.items() if key not in ADDED}
    return [without_added(item) for item in value] if isinstance(value, list) else value


def placed(value: Any, root: Path) -> Any:
    """A recorded value with the place where the trees are now."""
    return json.loads(json.dumps(value).replace("@HERE@", str(root)))


@pytest.mark.skipif(not ORIGINAL.is_dir(), reason="dotcontext's own files are not here")
@pytest.mark.clause("CX-14", "CX-24", "CX-20", "CX-22", "CX-23", "CX-25", "CX-50")
def test_every_call_is_answered_as_dotcontext_answered_it(original: Path) -> None:
    for path in original.rglob(".context.yaml"):
        assert isinstance(read_context(path.read_bytes()), Context), path
    asked = Asked(disk_contexts(original / "trees/lean", original))
    calls = json.loads((ORIGINAL / "answers.json").read_text("utf-8"))["calls"]
    common = [call for call in calls if call["id"] not in OURS_ALONE]
    assert len(common) == len(calls) - len(OURS_ALONE) == 30
    for call in common:
        expected = placed(call["parsed_text"], original)
        body, is_error = asked.raw(call["tool"], **placed(call["arguments"], original))
        assert is_error == call["response"]["isError"], call["id"]
        found = without_added(body)
        if "entries" in expected:
            expected["entries"].sort(key=lambda entry: entry["scope"])
        if call["id"] not in ("query_full", "query_filter_empty"):  # there the contract orders the fields
            assert json.dumps(found) == json.dumps(expected), call["id"]
        assert found == expected, call["id"]
