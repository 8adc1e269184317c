"""Contexts on a real disk: what cannot be read, decoded or trusted, links, caches, allowed roots, crashes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from context_trees import Asked, age, context, disk_contexts, refresher
from file_trees import lay
from ordinary_user import ordinary_user

from context_pack.contexts.fingerprint import Method
from context_pack.contexts.ports import Project
from context_pack.contexts.refresh import RefreshRequest
from context_pack.kernel.ports import Reason

BASE: dict[str, str | bytes] = {
    ".context.config.yaml": "min_tokens: 0\nmax_depth: 40\n",
    "a.py": "x = 1\n",
    "src/b.py": "y = 1\n",
    "src/.context.yaml": context("src"),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return lay(tmp_path / "project", BASE)


def opened(root: Path, *allowed: Path) -> Project:
    found = disk_contexts(root, *allowed).open(None)
    assert not isinstance(found, Reason)
    return found


# -- nothing fails a list


@pytest.mark.clause("CX-14")
def test_a_folder_that_cannot_be_listed_is_skipped_and_counted(root: Path) -> None:
    closed = root / "closed"
    closed.mkdir(mode=0)
    with ordinary_user():
        listed = Asked(disk_contexts(root)).ok("list_contexts")
    assert (listed["warnings"], [entry["scope"] for entry in listed["entries"]]) == (1, [".", "src"])


@pytest.mark.clause("CX-14")
def test_undecodable_names_are_left_out_and_counted(root: Path) -> None:
    before = opened(root).find("src")
    assert not isinstance(before, Reason)
    stat, content = before.stat_fingerprint, before.fingerprint(Method.CONTENT)
    with open(os.fsencode(root / "src") + b"/bad\xff.py", "wb") as file:
        file.write(b"z = 1\n")
    os.mkdir(os.fsencode(root) + b"/dir\xfe")
    with open(os.fsencode(root) + b"/dir\xfe/c.py", "wb") as file:
        file.write(b"z = 1\n")
    asked = Asked(disk_contexts(root))
    listed = asked.ok("list_contexts")
    assert listed["warnings"] == 2
    assert [entry["scope"] for entry in listed["entries"]] == [".", "src"]
    checked = asked.ok("check_freshness", scope="src")
    assert (checked["warnings"], checked["fingerprint"]["computed"]) == (1, stat)
    after = opened(root).find("src")
    assert not isinstance(after, Reason)
    assert after.fingerprint(Method.CONTENT) == content


@pytest.mark.clause("CX-14", "CX-24")
@pytest.mark.parametrize("kind", ["folder", "pipe", "loop", "dangling"])
def test_a_context_that_is_no_file_never_blocks_or_fails(root: Path, kind: str) -> None:
    path = root / "src/.context.yaml"
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(".context.yaml" if kind == "loop" else "nowhere.yaml")
    asked = Asked(disk_contexts(root))
    entry = asked.entries()["src"]
    assert (entry["state"], entry["has_context"]) == ("missing", False)
    assert asked.error("query_context", scope="src")["found"] is False
    assert asked.error("check_freshness", scope="src")["state"] == "missing"


@pytest.mark.clause("CX-10", "CX-14")
def test_links_are_never_followed_by_a_scan_and_never_counted(root: Path, tmp_path: Path) -> None:
    before = opened(root).find("src")
    assert not isinstance(before, Reason)
    other = lay(tmp_path / "other", {"c.py": "", ".context.yaml": context(".")})
    (root / "src/up").symlink_to("..")
    (root / "src/self").symlink_to("self")
    (root / "out").symlink_to(other)
    (root / "src/link.py").symlink_to("b.py")
    listed = Asked(disk_contexts(root)).ok("list_contexts")
    assert [entry["scope"] for entry in listed["entries"]] == [".", "src"]
    assert listed["warnings"] == 0
    after = opened(root).find("src")
    assert not isinstance(after, Reason)
    assert after.stat_fingerprint == before.stat_fingerprint
    assert after.fingerprint(Method.CONTENT) == before.fingerprint(Method.CONTENT)


# -- confinement


@pytest.mark.clause("CX-20")
def test_links_out_of_the_root_are_traversals_and_links_inside_are_served(root: Path, tmp_path: Path) -> None:
    other = lay(tmp_path / "other", {"c.py": "", ".context.yaml": context(".")})
    (root / "out").symlink_to(other)
    (root / "in").symlink_to("src")
    asked = Asked(disk_contexts(root))
    for tool in ("query_context", "check_freshness"):
        refused = asked.error(tool, scope="out")
        assert (refused["scope"], refused["error"]) == ("out", "Invalid scope: path traversal detected")
        asked.ok(tool, scope="in")
    assert asked.ok("query_context", scope="in")["context"]["scope"] == "src"


@pytest.mark.clause("CX-20", "CX-14")
def test_a_context_that_links_out_of_the_root_is_a_traversal_and_missing_in_lists(
    root: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.yaml").write_text(context("src", summary="A secret."))
    path = root / "src/.context.yaml"
    path.unlink()
    path.symlink_to(tmp_path / "secret.yaml")
    asked = Asked(disk_contexts(root))
    for tool in ("query_context", "check_freshness"):
        assert asked.error(tool, scope="src")["error"] == "Invalid scope: path traversal detected"
    entry = asked.entries()["src"]
    assert (entry["state"], entry["has_context"]) == ("missing", False)
    assert "secret" not in str(entry)
    path.unlink()
    path.symlink_to("../shared.yaml")
    (root / "shared.yaml").write_text(context("src", summary="Inside."))
    assert asked.ok("query_context", scope="src")["context"]["summary"] == "Inside."


@pytest.mark.clause("CX-22")
def test_a_path_may_be_a_folder_of_the_allowed_roots_and_none_beside_them(root: Path, tmp_path: Path) -> None:
    other = lay(tmp_path / "other", {"in/c.py": "", "in/.context.yaml": context("in")})
    lay(tmp_path / "other-not", {"c.py": ""})
    (tmp_path / "other/way-out").symlink_to(tmp_path)
    asked = Asked(disk_contexts(root, other))
    assert asked.ok("query_context", scope="in", path=str(other))["found"] is True
    assert asked.ok("query_context", scope=".", path=str(other / "in"))["found"] is True
    assert asked.ok("query_context", scope="in", path="../other")["found"] is True
    for path in (str(tmp_path), "../other-not", str(other / "way-out"), str(other / ".."), "/", "~"):
        body, is_error = asked.raw("query_context", scope="in", path=path)
        assert is_error
        wanted = f'Failed to scan project at "{root}/~"' if path == "~" else f'Path not allowed: "{path}"'
        assert body == {"found": False, "scope": "in", "error": wanted}


@pytest.mark.clause("CX-22")
def test_a_refused_path_does_not_reveal_whether_it_exists(root: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    asked = Asked(disk_contexts(root))
    answers = {
        str(asked.error("list_contexts", path=str(tmp_path / name))).replace(name, "NAME")
        for name in ("there", "not-there")
    }
    assert len(answers) == 1


@pytest.mark.clause("CX-22")
def test_denied_folders_hold_no_contexts(root: Path) -> None:
    lay(
        root,
        {".git/.context.yaml": context(".git"), "vault/.context.yaml": context("vault"), "vault/a.py": ""},
    )
    asked = Asked(disk_contexts(root, deny=("vault",)))
    for scope in (".git", "vault"):
        assert "No .context.yaml found" in asked.error("query_context", scope=scope)["error"]
    assert set(asked.entries()) == {".", "src"}


# -- what is known from earlier calls


@pytest.mark.clause("CX-07")
def test_every_change_is_seen_by_the_next_call(root: Path) -> None:
    ports = disk_contexts(root)
    refresher(ports).refresh(opened(root), RefreshRequest())
    asked = Asked(ports)
    age(root)
    for change in range(30):
        assert asked.entries()["src"]["state"] == "fresh"
        # The same size, and a time that is put back: only what the system keeps for itself tells.
        status = (root / "src/b.py").stat()
        (root / "src/b.py").write_text(f"y = {change % 8 + 2}\n")
        os.utime(root / "src/b.py", ns=(status.st_mtime_ns, status.st_mtime_ns))
        assert asked.entries()["src"]["state"] == "stale", change
        assert asked.ok("check_freshness", scope="src")["state"] == "stale"
        (root / "src/b.py").write_text("y = 1\n")


@pytest.mark.clause("CX-05", "CX-07")
def test_a_content_fingerprint_survives_a_copy_and_a_stat_fingerprint_does_not(
    root: Path, tmp_path: Path
) -> None:
    for method in Method:
        ports = disk_contexts(root)
        refresher(ports).refresh(opened(root), RefreshRequest(method=method))
        copy = tmp_path / f"copy-{method}"
        shutil.copytree(root, copy, copy_function=shutil.copyfile)
        asked = Asked(disk_contexts(copy))
        state = asked.ok("check_freshness", scope="src")
        expected = ("fresh", "content") if method is Method.CONTENT else ("stale", "stat")
        assert (state["state"], state["fingerprint"]["method"]) == expected


# -- writing


@pytest.mark.clause("CX-35")
def test_a_context_is_replaced_atomically_and_keeps_its_mode(root: Path) -> None:
    path = root / "src/.context.yaml"
    path.chmod(0o640)
    before = path.stat().st_ino
    (root / "src/b.py").write_text("y = 2\n")
    refresher(disk_contexts(root)).refresh(opened(root), RefreshRequest())
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.stat().st_ino != before
    assert sorted(os.listdir(root / "src")) == [".context.yaml", "b.py"]


@pytest.mark.clause("CX-35")
def test_a_context_that_is_a_link_is_left_alone(root: Path) -> None:
    (root / "shared.yaml").write_text(context("src"))
    path = root / "src/.context.yaml"
    path.unlink()
    path.symlink_to("../shared.yaml")
    outcomes = refresher(disk_contexts(root)).refresh(opened(root), RefreshRequest())
    assert not hasattr(outcomes, "error")
    (src,) = [each for each in outcomes if each.scope == "src"]
    assert (src.result, path.is_symlink()) == ("left", True)
    assert (root / "shared.yaml").read_text() == context("src")


# -- the dialect
