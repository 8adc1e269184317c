"""Contexts on a real disk: what cannot be read, decoded or trusted, links, caches, allowed roots, crashes."""

from __future__ import annotations

import os
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from context_trees import Asked, age, context, disk_contexts, plant, refresher
from hanging import never_hanging
from ordinary_user import ordinary_user

from context_pack.contexts.fingerprint import Method
from context_pack.contexts.model import Context, Corrupt, read_context
from context_pack.contexts.ports import Project, unwatched
from context_pack.contexts.queries import RefusedQuery
from context_pack.contexts.refresh import RefreshRequest
from context_pack.kernel.ports import Reason
from context_pack_adapters.files.signature import FINE_GRAIN_NS

BASE: dict[str, str | bytes] = {
    ".context.config.yaml": "min_tokens: 0\nmax_depth: 40\n",
    "a.py": "x = 1\n",
    "src/b.py": "y = 1\n",
    "src/.context.yaml": context("src"),
}
is_root = os.geteuid() == 0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return plant(tmp_path / "project", BASE)


def opened(root: Path, *allowed: Path) -> Project:
    """The project of a folder."""
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
@pytest.mark.skipif(is_root, reason="root may list everything")
def test_a_folder_without_permission_is_skipped_and_counted(root: Path) -> None:
    (root / "src").chmod(0)
    try:
        listed = Asked(disk_contexts(root)).ok("list_contexts")
    finally:
        (root / "src").chmod(0o755)
    assert (listed["warnings"], [entry["scope"] for entry in listed["entries"]]) == (1, ["."])


@pytest.mark.clause("CX-14")
def test_undecodable_names_are_left_out_and_counted(root: Path) -> None:
    before = opened(root).find("src")
    assert not isinstance(before, Reason)
    stat, content = before.stat_fingerprint(), before.content_fingerprint(unwatched)
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
    assert after.content_fingerprint(unwatched) == content


@pytest.mark.clause("CX-06")
def test_a_huge_file_counts_by_its_size_and_is_not_read(root: Path) -> None:
    """A terabyte of nothing would be read for hours."""
    seen = []
    for size in (1 << 40, 1 << 40, (1 << 40) + 1):
        (root / "src/huge.bin").unlink(missing_ok=True)
        with open(root / "src/huge.bin", "wb") as file:
            file.truncate(size)
        folder = opened(root).find("src")
        assert not isinstance(folder, Reason)
        with never_hanging():
            seen.append(folder.content_fingerprint(unwatched))
    assert seen[0] == seen[1] != seen[2]


@pytest.mark.clause("CX-14", "CX-15")
def test_a_list_is_complete_also_for_odd_names_and_long_paths(root: Path) -> None:
    deep = "/".join(["n" * 200] * 7)
    odd = ["line\nbreak", "tab\there", "bell\x07", "sep\u2028arator", "back\\slash", " blank ", "größe", deep]
    for name in odd:
        plant(root, {f"{name}/a.py": "x", f"{name}/.context.yaml": context(name)})
    ports = disk_contexts(root)
    asked = Asked(ports)
    listed = asked.ok("list_contexts")
    entries = {entry["scope"]: entry for entry in listed["entries"]}
    assert listed["warnings"] == 0
    assert all(entries[name]["has_context"] for name in odd)
    for name in odd:
        if "\\" not in name:
            assert asked.ok("query_context", scope=name)["context"]["scope"] == name
    refresher(ports).refresh(opened(root), RefreshRequest(agents=True))
    assert {entry["state"] for entry in Asked(ports).ok("list_contexts")["entries"]} == {"fresh"}
    assert "| `line break` |" in (root / "AGENTS.md").read_text()


@pytest.mark.clause("CX-14", "CX-24")
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\x01\x02",
        b"\xff\xfe\xfd",
        b"[1, 2",
        b"version: 1\n\ttab: 1\n",
        b"---\nversion: 1\n---\nversion: 1\n",
        b"a: &a [*a]\n",
        b"- " * 5000 + b"x",
        b"a: !!python/object/apply:os.system [ls]\n",
        b"version: 1\nsummary: \xc3\x28\n",
        b"x" * 2_000_000,
    ],
    ids=["empty", "zeros", "no-utf8", "open", "tab", "two", "loop", "deep", "tag", "half", "huge"],
)
def test_a_corrupt_file_is_missing_with_a_reason_and_refused_by_name(root: Path, data: bytes) -> None:
    (root / "src/.context.yaml").write_bytes(data)
    asked = Asked(disk_contexts(root))
    entry = asked.entries()["src"]
    assert (entry["state"], entry["has_context"]) == ("missing", False)
    assert entry["reason"].startswith("corrupt: ")
    for tool, shape in (("query_context", {"found": False}), ("check_freshness", {"state": "missing"})):
        refused = asked.error(tool, scope="src")
        assert refused["error"] == 'Invalid or corrupt .context.yaml at scope "src"'
        assert refused["reason"] == entry["reason"]
        assert shape.items() <= refused.items()


@pytest.mark.clause("CX-02", "CX-24")
def test_a_context_that_is_too_large_is_corrupt_and_says_why(root: Path) -> None:
    text = context("src", todos=["x" * 1000] * 1100)
    plant(root, {"src/.context.yaml": text})
    asked = Asked(disk_contexts(root))
    reason = "corrupt: it is larger than 1 MiB"
    assert asked.entries()["src"]["reason"] == reason
    assert asked.error("query_context", scope="src") == {
        "found": False,
        "scope": "src",
        "error": 'Invalid or corrupt .context.yaml at scope "src"',
        "reason": reason,
    }
    assert refreshed(root) == {"made", "left"}
    assert (root / "src/.context.yaml").read_text() == text


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
    other = plant(tmp_path / "other", {"c.py": "", ".context.yaml": context(".")})
    (root / "src/up").symlink_to("..")
    (root / "src/self").symlink_to("self")
    (root / "out").symlink_to(other)
    (root / "src/link.py").symlink_to("b.py")
    listed = Asked(disk_contexts(root)).ok("list_contexts")
    assert [entry["scope"] for entry in listed["entries"]] == [".", "src"]
    assert listed["warnings"] == 0
    after = opened(root).find("src")
    assert not isinstance(after, Reason)
    assert after.stat_fingerprint() == before.stat_fingerprint()
    assert after.content_fingerprint(unwatched) == before.content_fingerprint(unwatched)


@pytest.mark.clause("CX-14")
def test_lists_never_fail_while_files_and_folders_come_and_go(root: Path) -> None:
    plant(root, {f"f{number}/a.py": "x" for number in range(30)})
    asked = Asked(disk_contexts(root))
    stop = threading.Event()

    def churn() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            folder = root / f"f{number % 30}"
            for name in ("a.py", ".context.yaml"):
                (folder / name).unlink(missing_ok=True)
            folder.rmdir()
            plant(root, {f"f{number % 30}/a.py": "y" * number})
            plant(root, {f"f{number % 30}/.context.yaml": context(f"f{number % 30}")})

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(40):
            listed = asked.ok("list_contexts")
            assert listed["warnings"] == 0
            scopes = {entry["scope"] for entry in listed["entries"]}
            assert {".", "src"} <= scopes <= {".", "src", *(f"f{number}" for number in range(30))}
            assert asked.raw("check_freshness", scope="f3")[0]["state"] in ("missing", "stale", "fresh")
    finally:
        stop.set()
        thread.join()


@pytest.mark.clause("CX-07", "CX-14")
def test_a_file_that_vanishes_before_it_is_read_makes_a_context_stale(
    root: Path,
) -> None:
    folder = opened(root).find("src")
    assert not isinstance(folder, Reason)
    (root / "src/b.py").unlink()
    assert folder.content_fingerprint(unwatched) is None


@pytest.mark.clause("CX-16")
def test_a_root_that_goes_away_is_a_scan_error(root: Path) -> None:
    asked = Asked(disk_contexts(root))
    asked.ok("list_contexts")
    root.rename(root.with_name("moved"))
    assert asked.error("list_contexts") == {
        "root": str(root),
        "total_directories": 0,
        "skipped_directories": 0,
        "tracked": 0,
        "entries": [],
        "error": f'Failed to scan project at "{root}"',
    }
    assert asked.error("query_context", scope="src")["error"] == f'Failed to scan project at "{root}"'


# -- confinement


@pytest.mark.clause("CX-21")
def test_links_out_of_the_root_are_traversals_and_links_inside_are_served(root: Path, tmp_path: Path) -> None:
    other = plant(tmp_path / "other", {"c.py": "", ".context.yaml": context(".")})
    (root / "out").symlink_to(other)
    (root / "in").symlink_to("src")
    asked = Asked(disk_contexts(root))
    for tool in ("query_context", "check_freshness"):
        refused = asked.error(tool, scope="out")
        assert (refused["scope"], refused["error"]) == ("out", "Invalid scope: path traversal detected")
        asked.ok(tool, scope="in")
    assert asked.ok("query_context", scope="in")["context"]["scope"] == "src"


@pytest.mark.clause("CX-21", "CX-15")
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
    other = plant(tmp_path / "other", {"in/c.py": "", "in/.context.yaml": context("in")})
    plant(tmp_path / "other-not", {"c.py": ""})
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


@pytest.mark.clause("CX-26")
def test_denied_folders_hold_no_contexts(root: Path) -> None:
    plant(
        root,
        {".git/.context.yaml": context(".git"), "vault/.context.yaml": context("vault"), "vault/a.py": ""},
    )
    asked = Asked(disk_contexts(root, deny=("vault",)))
    for scope in (".git", "vault"):
        assert "No .context.yaml found" in asked.error("query_context", scope=scope)["error"]
    assert set(asked.entries()) == {".", "src"}


# -- what is known from earlier calls


@pytest.mark.clause("CX-08")
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


@pytest.mark.clause("CX-08")
def test_a_renamed_folder_is_listed_also_when_it_was_asked_about_before(root: Path) -> None:
    settle(root)
    asked = Asked(disk_contexts(root))
    assert set(asked.entries()) == {".", "src"}
    (root / "src").rename(root / "renamed")
    assert asked.ok("query_context", scope="renamed")["found"]
    assert set(asked.entries()) == {".", "renamed"}


@pytest.mark.clause("CX-08")
@pytest.mark.parametrize("kind", ["link", "folder"])
def test_a_context_that_comes_as_a_link_or_a_folder_is_seen_by_the_next_call(root: Path, kind: str) -> None:
    path = root / "src/.context.yaml"
    path.rename(root / "shared.yaml")
    settle(root)
    asked = Asked(disk_contexts(root))
    assert asked.entries()["src"] == {"scope": "src", "state": "missing", "has_context": False}
    if kind == "link":
        path.symlink_to("../shared.yaml")
    else:
        path.mkdir()
    assert asked.entries()["src"]["has_context"] is (kind == "link")
    assert ("reason" in asked.entries()["src"]) is (kind == "folder")


@pytest.mark.clause("CX-08")
def test_contents_are_read_once_for_as_long_as_nothing_changes(root: Path) -> None:
    ports = disk_contexts(root)
    refresher(ports).refresh(opened(root), RefreshRequest())
    time.sleep(FINE_GRAIN_NS / 1e9 * 1.5)  # until the files have settled, not until something is done
    asked = Asked(ports)
    assert asked.entries()["src"]["state"] == "fresh"
    project = ports.open(None)
    assert not isinstance(project, Reason)
    folder = project.find("src")
    assert not isinstance(folder, Reason)
    assert folder.memo["entry"].scope == "src"


@pytest.mark.clause("CX-05", "CX-08")
@pytest.mark.parametrize("method", list(Method))
def test_temporary_files_of_a_context_write_make_no_folder_stale(root: Path, method: Method) -> None:
    ports = disk_contexts(root)
    refresher(ports).refresh(opened(root), RefreshRequest(method=method))
    asked = Asked(ports)
    assert asked.entries()["src"]["state"] == "fresh"
    (root / "src/..context.yaml.0123456789abcdef.tmp").write_text("version: 1\n")
    assert asked.entries()["src"]["state"] == "fresh"
    (root / "src/.other.tmp").write_text("")
    assert asked.entries()["src"]["state"] == "stale"


@pytest.mark.clause("CX-06", "CX-07")
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


def refreshed(root: Path) -> set[str]:
    """What became of the folders when one process refreshed all."""
    ports = disk_contexts(root)
    project = ports.open(None)
    assert not isinstance(project, Reason)
    outcomes = refresher(ports).refresh(project, RefreshRequest())
    assert not isinstance(outcomes, RefusedQuery)
    return {outcome.result for outcome in outcomes}


def settle(root: Path) -> None:
    """Wait until every file has stood still for longer than the clock of the file system is coarse."""
    newest = max(path.stat().st_ctime_ns for path in root.rglob("*") if path.is_file())
    while time.time_ns() <= newest + FINE_GRAIN_NS:
        time.sleep(0.01)


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


@pytest.mark.clause("CX-35")
@pytest.mark.parametrize("text", ["version: 2\nnew: 1\n", "{{{\n", "version: 1\n"])
def test_refresh_leaves_unparsable_context_files_untouched(root: Path, text: str) -> None:
    path = root / "src/.context.yaml"
    path.write_text(text)
    refresher(disk_contexts(root)).refresh(opened(root), RefreshRequest())
    assert path.read_text() == text


# -- the dialect


def as_bytes(text: str | bytes) -> bytes:
    """The bytes of a file."""
    return text.encode() if isinstance(text, str) else text


@pytest.mark.clause("CX-02")
@pytest.mark.parametrize(
    "spelled",
    ["2026-02-13T10:00:00Z", "2026-02-13", "yes", "on", "No", "12:30:45", "1_000", "0b1", "~x", "=", "<<"],
)
def test_yaml_1_1_booleans_and_numbers_stay_text(spelled: str) -> None:
    text = context("src").replace("A folder.", spelled)
    verdict = read_context(as_bytes(text))
    assert isinstance(verdict, Context)
    assert verdict.record["summary"] == spelled


@pytest.mark.clause("CX-02", "CX-03")
@pytest.mark.parametrize("version", ["1", "1.0", "0x1", "0o1", "1e0", "+1"])
def test_every_yaml_spelling_of_1_is_version_1(version: str) -> None:
    verdict = read_context(context("src").replace("version: 1\n", f"version: {version}\n").encode())
    assert isinstance(verdict, Context)
    assert verdict.record["version"] == 1


@pytest.mark.clause("CX-02")
@pytest.mark.parametrize(
    "change",
    [
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text + "todos: &t [one, two]\nevents: *t\n",
        lambda text: "---\n" + text + "...\n",
        lambda text: "# a comment\n" + text + "todos: [one] # another\n",
        lambda text: text + "todos:\n- one\n-   two\n",
    ],
    ids=["bom", "crlf", "anchor", "marks", "comments", "flush"],
)
def test_every_layout_of_a_valid_file_is_fine(change: Any) -> None:
    verdict = read_context(as_bytes(change(context("src"))))
    assert isinstance(verdict, Context)
    assert verdict.record["summary"] == "A folder."


@pytest.mark.clause("CX-02")
@pytest.mark.parametrize(
    "text",
    [
        context("src") + "---\n" + context("src"),
        context("src") + "todos:\n\t- one\n",
        context("src") + "base: &b {x: 1}\n<<: *b\n",
        context("src") + "<<: {todos: [a]}\n",
        context("src") + "scope: src\n",
        context("src").encode() + b"todos: ['\xff']\n",
        context("src") + "? [a]\n: b\n",
    ],
    ids=["two", "tab", "merge", "merge-inline", "twice", "utf8", "key"],
)
def test_yaml_outside_the_supported_subset_is_corrupt(text: str | bytes) -> None:
    assert isinstance(read_context(as_bytes(text)), Corrupt)


@pytest.mark.clause("CX-02")
def test_a_merge_key_below_the_top_is_dropped_and_never_merged() -> None:
    text = context("src") + "dependencies:\n  <<: {internal: [a]}\n  external: [b]\n"
    verdict = read_context(as_bytes(text))
    assert isinstance(verdict, Context)
    assert verdict.record["dependencies"] == {"external": ["b"]}
