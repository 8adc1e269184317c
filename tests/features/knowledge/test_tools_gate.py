"""The one gate over packs, discoveries, contexts and bundles, asked of real projects in real repositories."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from file_trees import committed, git, lay
from hypothesis import given, settings
from hypothesis import strategies as st

from context_pack.contexts.refresh import RefreshRequest
from context_pack.knowledge.about import Gate
from context_pack.knowledge.model import Verdict
from context_pack_adapters.library import Workspace, open_workspace

TTL = '''"""Times to live."""

LIMIT = 10


def expiry(now, minutes):
    """When something ends that lives so many minutes."""
    if minutes > LIMIT:
        raise ValueError("too long")
    return now + minutes


def left(now, end):
    """How much is left."""
    return max(0, end - now)
'''
RULE = "An expiry is never in the past: callers sort by it"
HAND_OVER = """# Times

## What ends

Something ends `minutes` after it began: src/ttl.py#expiry. Nothing is ever late (src/ttl.py#left).

Why minutes: agents think in them.
"""
BUNDLE = {
    "shop/sdd-bundle.yaml": "kind: Bundle\nmetadata: {name: Shop}\nspec: {bundleTypeDefinition: type.yaml}\n",
    "shop/type.yaml": "entities:\n  - {entityType: Feature, directory: features, schemaPath: feature.json}\n",
    "shop/feature.json": '{"properties": {"needs": {"type": "string", "x-sdd-refTargets": ["Feature"]}}}\n',
    "shop/features/cart.yaml": "id: cart\nneeds: cart\n",
}


CONTEXT = """version: 1
last_updated: "2026-01-01T00:00:00Z"
fingerprint: "00000000"
scope: src
summary: Times.
maintenance: By hand.
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with one file, committed."""
    return committed(tmp_path / "project", {"src/ttl.py": TTL, "src/other.py": "OTHER = 1\n"})


@pytest.fixture
def workspace(root: Path, tmp_path: Path) -> Iterator[Workspace]:
    """A pack of two claims and a rule about one function."""
    with open_workspace(root, storage=tmp_path / "storage") as workspace:
        workspace.call("input", {"action": "write", "text": HAND_OVER, "name": "times", "ttl_minutes": 60})
        rule = {"type": "rule", "content": RULE, "path": "src/ttl.py", "symbol": "expiry"}
        workspace.call("context_record", rule)
        yield workspace


def edit(root: Path, old: str, new: str) -> None:
    """Change the function that is written about."""
    lay(root, {"src/ttl.py": TTL.replace(old, new)})


def rows(gate: Gate, *, failing: bool = True) -> list[tuple[str, str, str]]:
    """Kind, place and state of the rows that do not hold, or of all."""
    return [(row.kind, row.where, row.state) for row in gate.verify().rows if not (failing and row.holds)]


@pytest.mark.clause("KW-09")
def test_a_project_that_is_as_it_was_written_about_holds(workspace: Workspace) -> None:
    report = workspace.cases.gate.verify()
    assert report.verdict is Verdict.HOLDS
    assert report.counts == {
        "packs": {"checked": 2, "failing": 0, "unknown": 0},
        "discoveries": {"checked": 1, "failing": 0, "unknown": 0},
        "contexts": {"checked": 0, "failing": 0, "unknown": 0},
        "bundles": {"checked": 0, "failing": 0, "unknown": 0},
    }


@pytest.mark.clause("KW-09")
def test_a_changed_function_fails_its_claim_and_its_rule_and_says_what_changed(
    workspace: Workspace, root: Path
) -> None:
    edit(root, "now + minutes", "now + 60 * minutes")
    report = workspace.cases.gate.verify()
    assert report.verdict is Verdict.FAILS
    claim, rule = sorted((row for row in report.rows if not row.holds), key=lambda row: row.kind)
    assert (claim.kind, claim.where, claim.state) == ("claim", "src/ttl.py:6-10", "changed")
    assert claim.text.startswith("Something ends")
    assert "+    return now + 60 * minutes" in claim.diff
    assert (rule.text, rule.state) == (RULE, "changed")
    assert "+    return now + 60 * minutes" in rule.diff


@pytest.mark.clause("KW-09")
@pytest.mark.parametrize(
    "old, new",
    [
        ("LIMIT = 10\n", "LIMIT = 10\n\n# A comment above.\n"),
        ('    """When something ends that lives so many minutes."""\n    if', "    # Ends when.\n    if"),
    ],
)
def test_code_that_moved_or_changed_its_comments_holds(
    workspace: Workspace, root: Path, old: str, new: str
) -> None:
    edit(root, old, new)
    assert rows(workspace.cases.gate) == []


@pytest.mark.clause("KW-10")
@pytest.mark.parametrize("folder", ["packs", "memory/discoveries"])
def test_one_file_that_cannot_be_read_fails_and_hides_nothing_else(
    workspace: Workspace, root: Path, tmp_path: Path, folder: str
) -> None:
    (other,) = (tmp_path / "storage" / folder).glob("*.md")
    name = "pk_aaaaaaaa.md" if folder == "packs" else f"0000{other.stem[4:]}.md"
    (other.parent / name).write_text("nothing to read\n", encoding="utf-8")
    edit(root, "now + minutes", "now")
    family = folder.rpartition("/")[2]
    expected = {("claim", "changed"), ("rule", "changed"), (family, "unreadable")}
    assert {(kind, state) for kind, _, state in rows(workspace.cases.gate)} == expected
    touched = workspace.cases.gate.affected()
    assert {(row.kind, row.state) for row in touched.rows if not row.holds} == expected
    known = (workspace.call("context_for", {"path": "src/ttl.py"}).structured or {})["known"]
    assert {row["kind"] for row in known} == {"claim", "rule", family}
    assert [row["text"].partition(" ")[0] for row in known if row["kind"] == family] == [name]
    near = workspace.cases.knowledge.near("src/ttl.py", 1, 20)
    assert {line.partition(":")[0] for line in near} == {"claim", "rule"}


@pytest.mark.clause("KW-09")
def test_a_context_fails_when_a_file_of_its_folder_changed(workspace: Workspace, root: Path) -> None:
    lay(root, {".context.config.yaml": "min_tokens: 0\n"})
    cases = workspace.cases.contexts
    project: Any = cases.queries.projects.open(None)
    cases.refresher.refresh(project, RefreshRequest(scope="src"))
    assert rows(workspace.cases.gate) == []
    lay(root, {"src/other.py": "OTHER = 2\n"})
    assert rows(workspace.cases.gate) == [("context", "src", "stale")]
    lay(root, {"src/.context.yaml": "version: [\n"})
    assert rows(workspace.cases.gate) == [("context", "src", "corrupt")]


@pytest.mark.clause("KW-09")
def test_a_bundle_fails_with_each_of_its_errors(workspace: Workspace, root: Path) -> None:
    lay(root, BUNDLE)
    gate = workspace.cases.gate
    assert [(row.kind, row.where, row.state) for row in gate.verify().families["bundles"]] == [
        ("bundle", "shop", "sound")
    ]
    lay(root, {"shop/features/cart.yaml": "id: cart\nneeds: basket\n"})
    assert rows(gate) == [("bundle", "shop/features/cart.yaml", "unsound")]


@pytest.mark.clause("KW-11")
def test_affected_names_what_rests_on_changed_lines_and_on_changed_folders(
    workspace: Workspace, root: Path
) -> None:
    lay(root, {"src/.context.yaml": CONTEXT})
    gate = workspace.cases.gate
    assert gate.affected().rows == []
    edit(root, "max(0, end - now)", "max(1, end - now)")
    assert {(row.kind, row.where) for row in gate.affected().rows} == {
        ("claim", "src/ttl.py:13-15"),
        ("context", "src"),
    }
    git(root, "commit", "-qam", "second")
    assert gate.affected().rows == []
    assert len(gate.affected("HEAD~1").rows) == 2


@pytest.mark.clause("KW-11")
def test_affected_knows_of_code_that_is_gone_and_of_files_that_are_new(
    workspace: Workspace, root: Path
) -> None:
    lay(root, {"src/ttl.py": "", "src/new.py": "def fresh():\n    return 1\n"})
    git(root, "add", ".")
    workspace.call(
        "context_record", {"type": "rule", "content": "New it is, and short", "path": "src/new.py"}
    )
    assert {(row.where, row.state) for row in workspace.cases.gate.affected().rows} == {
        ("src/ttl.py:6-10", "stale"),
        ("src/ttl.py:13-15", "stale"),
        ("src/new.py:1-2", "exact"),
    }


@pytest.mark.clause("KW-11")
def test_of_a_base_that_went_on_only_the_changes_of_this_branch_count(
    workspace: Workspace, root: Path
) -> None:
    git(root, "switch", "-qc", "mine")
    git(root, "switch", "-q", "main")
    edit(root, "now + minutes", "now")
    git(root, "commit", "-qam", "theirs")
    git(root, "switch", "-q", "mine")
    assert workspace.cases.gate.affected("main").rows == []


LINES = 60
EDITS = st.lists(
    st.tuples(st.sampled_from(["replace", "delete", "insert"]), st.integers(0, LINES - 1)), max_size=6
)


@pytest.mark.clause("KW-11")
@given(
    edits=EDITS, ranges=st.lists(st.tuples(st.integers(1, LINES), st.integers(0, 9)), min_size=1, max_size=5)
)
@settings(max_examples=10)
def test_affected_refs_are_those_whose_lines_the_diff_touches(
    edits: list[tuple[str, int]], ranges: list[tuple[int, int]]
) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder, "project")
        before = [f"value_{number} = {number} * {number}" for number in range(LINES)]
        committed(root, {"a.py": "".join(f"{line}\n" for line in before)})
        spans = sorted({(start, min(start + more, LINES)) for start, more in ranges})
        text = "# Places\n\n## All\n\n" + "".join(f"- Here: a.py:{a}-{b}\n" for a, b in spans)
        with open_workspace(root, storage=Path(folder, "storage")) as workspace:
            workspace.call("input", {"action": "write", "text": text, "name": "all", "ttl_minutes": 9})
            after: list[str | None] = list(before)
            for number, (kind, place) in enumerate(edits):
                line = after[place]
                if kind == "delete":
                    after[place] = None
                elif kind == "replace":
                    after[place] = f"changed_{number} = {place}"
                elif line is not None:
                    after[place] = f"{line}\nadded_{number} = {place}"
            lay(root, {"a.py": "".join(f"{line}\n" for line in after if line is not None)})
            diff = subprocess.run(["git", "diff", "-U0"], cwd=root, capture_output=True, text=True).stdout
            touched = workspace.cases.gate.affected().rows
        old = [(int(a), int(b or 1)) for a, b in re.findall(r"^@@ -(\d+)(?:,(\d+))? ", diff, re.MULTILINE)]
        assert {str(row.written_at.lines) for row in touched if row.written_at} == {
            f"{a}-{b}"
            for a, b in spans
            if any(start <= b and a < start + count if count else a <= start < b for start, count in old)
        }
