"""`context-pack hook`: what a client's session is told, and what is kept of it."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from file_trees import committed

from context_pack import open_workspace
from context_pack_adapters.cli.dispatch import run

Hook = Callable[..., str]
SOURCE = "def expiry(now):\n    return now + 60\n\n\ndef other():\n    return 1\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit."""
    place = committed(tmp_path / "project", {"src/ttl.py": SOURCE, "README.md": "# Times\n"})
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Hook:
    """Runs the hook of an event as a client does; gives what the model is told."""

    def told(event: str, session: str = "one", stdin: str | None = None, **more: str) -> str:
        words = {"session_id": session, "transcript_path": str(tmp_path / f"{session}.jsonl"), **more}
        stream = io.TextIOWrapper(io.BytesIO((json.dumps(words) if stdin is None else stdin).encode()))
        monkeypatch.setattr(sys, "stdin", stream)
        assert run(["hook", event]) == 0
        out = capsys.readouterr().out
        return str(json.loads(out)["hookSpecificOutput"]["additionalContext"]) if out else ""

    return told


def calls(*pairs: tuple[str, Path]) -> str:
    """A transcript with these calls of tools, as Claude Code writes it."""
    return "\n".join(
        json.dumps(
            {"message": {"content": [{"type": "tool_use", "name": name, "input": {"file_path": str(path)}}]}}
        )
        for name, path in pairs
    )


@pytest.mark.clause("CLI-70")
@pytest.mark.parametrize(
    "stdin", [None, "", "[]", "no json", "{}", json.dumps({"session_id": [1], "cwd": 7})]
)
def test_a_start_with_nothing_to_say_is_silent_whatever_it_is_given(
    project: Path, hook: Hook, stdin: str | None
) -> None:
    assert hook("start", stdin=stdin) == ""
    assert not (project / ".agents").exists()


@pytest.mark.clause("CLI-70")
def test_a_start_tells_of_packs_and_of_notes_whose_code_changed(project: Path, hook: Hook) -> None:
    with open_workspace(project) as workspace:
        for number in range(60):
            workspace.packs.create(ttl_minutes=60, name=f"pack-{number}", title="How times work " * 9)
        rule = {"type": "rule", "content": "Times are never negative here"}
        assert not workspace.call(
            "context_record", {**rule, "path": "src/ttl.py", "symbol": "expiry"}
        ).is_error
    assert "read it again" not in hook("start")
    (project / "src/ttl.py").write_text(SOURCE.replace("60", "90"))
    text = hook("start")
    assert "and 55 more" in text
    assert "rule: Times are never negative here [read again: its code is changed]" in text
    assert len(text.encode()) <= 2048


@pytest.mark.clause("CLI-70", "ENV-02")
def test_the_folder_of_the_session_says_which_project_is_meant(
    project: Path, hook: Hook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_workspace(project) as workspace:
        workspace.packs.create(ttl_minutes=60, name="times")
    monkeypatch.chdir(tmp_path)
    assert "`times`" in hook("start", cwd=str(project / "src"))
    assert hook("start", cwd=str(tmp_path)) == ""


@pytest.mark.clause("CLI-71", "ENV-18")
def test_nothing_is_kept_of_a_session_in_the_home_folder(
    hook: Hook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "notes.md").write_text("# Notes\n")
    (tmp_path / "one.jsonl").write_text(calls(("Read", home / "notes.md")))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    assert hook("end") == hook("start") == ""
    assert [path.name for path in home.iterdir()] == ["notes.md"]


@pytest.mark.clause("CLI-71")
@pytest.mark.parametrize("event", ["compact", "end", None])
def test_a_session_leaves_a_draft_pack_that_the_next_one_is_told_of(
    project: Path, hook: Hook, tmp_path: Path, event: str | None
) -> None:
    hook("start")
    (project / "src/ttl.py").write_text(SOURCE.replace("60", "90"))
    outside = tmp_path / "outside.py"
    outside.write_text("secret = 1\n")
    read = [("Read", project / "README.md"), ("Read", outside), ("Edit", project / "src/ttl.py")]
    ours = {"name": "mcp__context-pack__output", "input": {"name": "login", "mode": "diff"}}
    (tmp_path / "one.jsonl").write_text(calls(*read) + "\n" + json.dumps({"content": [ours]}))
    with open_workspace(project) as workspace:
        workspace.memory.record("rule", "Times are never negative here")
    if event is not None:  # else it is killed
        assert hook(event) == ""
    text = hook("start", "two")
    assert "changed: `src/ttl.py#expiry`" in text
    assert "read: README.md" in text
    assert "packs: login" in text
    assert "recorded: rule: Times are never negative here" in text
    assert "outside" not in text
    with open_workspace(project) as workspace:
        (pack,) = workspace.packs.list()
        (ref,) = [ref for _, ref in workspace.packs.get(pack.id).refs]
    assert (str(ref.path), ref.lines.start, ref.lines.end) == ("src/ttl.py", 1, 2)


@pytest.mark.clause("CLI-71")
def test_a_patch_of_codex_and_a_transcript_in_one_piece_are_read(
    project: Path, hook: Hook, tmp_path: Path
) -> None:
    hook("start")
    (project / "src/ttl.py").write_text(SOURCE.replace("return 1", "return 2"))
    patch = "*** Begin Patch\n*** Update File: src/ttl.py\n@@\n-    return 1\n+    return 2\n*** End Patch"
    call = {"type": "function_call", "name": "apply_patch", "arguments": json.dumps({"input": patch})}
    (tmp_path / "one.jsonl").write_text(json.dumps({"messages": [{"payload": call}]}, indent=1))
    hook("compact")
    assert "changed: `src/ttl.py#other`" in hook("start")


@pytest.mark.clause("CLI-70", "CLI-71")
@pytest.mark.parametrize("depth", [3_000, 100_000])
def test_lines_of_a_transcript_that_nest_deep_do_not_hide_the_others(
    project: Path, hook: Hook, tmp_path: Path, depth: int
) -> None:
    hook("start")
    deep = '{"a":[' * depth + "]}" * depth
    (tmp_path / "one.jsonl").write_text(f"{deep}\n{calls(('Read', project / 'README.md'))}")
    assert "read: README.md" in hook("start", "two")


@pytest.mark.clause("CLI-71")
def test_of_a_very_large_transcript_the_end_is_read_and_that_is_told(
    project: Path, hook: Hook, tmp_path: Path
) -> None:
    hook("start")
    with (tmp_path / "one.jsonl").open("wb") as file:
        file.truncate(65 << 20)
        file.seek(0, 2)
        file.write(b"\n" + calls(("Read", project / "README.md")).encode())
    assert hook("end") == ""
    text = hook("start", "two")
    assert "read: README.md" in text
    assert "Its transcript has more than 64 MiB" in text
