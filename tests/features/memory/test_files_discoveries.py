"""Discoveries on disk: the file people see, hand edits, malformed files, processes that are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from stdio_client import environment

from context_pack.kernel.errors import Failure
from context_pack.memory.discovery import Discovery, id_of, uuid_of
from context_pack_adapters.memory.discoveries import DiscoveryFiles

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def found_out(content: str) -> Discovery:
    return Discovery(
        id=id_of(content),
        type="decision",
        content=content,
        module="auth",
        session=uuid_of(bytes(16)),
        date=NOW,
        last_seen=NOW,
    )


def folder(root: Path) -> Path:
    return root / "memory" / "discoveries"


@pytest.mark.clause("ME-03")
def test_a_discovery_is_a_markdown_file_with_its_words_as_the_body(tmp_path: Path) -> None:
    kept = DiscoveryFiles(tmp_path).record(found_out("Sessions live in Redis")).discovery
    text = (folder(tmp_path) / f"{kept.id}.md").read_text("utf-8")
    head, body = text.removeprefix("---\n").split("---\n")
    assert body == "Sessions live in Redis\n"
    assert head.splitlines()[:4] == ["version: 1", f"id: {kept.id}", "type: decision", "module: auth"]


@pytest.mark.clause("ME-03")
def test_a_hand_edited_discovery_keeps_its_id_and_the_old_text_is_new(tmp_path: Path) -> None:
    store = DiscoveryFiles(tmp_path)
    kept = store.record(found_out("Sessions live in Redis")).discovery
    path = folder(tmp_path) / f"{kept.id}.md"
    path.write_text(path.read_text("utf-8").replace("in Redis", "in Postgres"), "utf-8")
    assert [one.content for one in store.all()] == ["Sessions live in Postgres"]
    again = store.record(found_out("Sessions live in Redis"))
    assert not again.merged
    assert again.discovery.id != kept.id
    assert store.record(found_out("sessions live in redis")).discovery.id == again.discovery.id
    assert len(store.all()) == 2


@pytest.mark.clause("ME-04")
@pytest.mark.parametrize("damage", ["", "---\ntype: rule\n", "no front matter", "---\n: [\n---\nx\n"])
def test_a_malformed_file_fails_what_looks_at_all_and_names_itself(tmp_path: Path, damage: str) -> None:
    store = DiscoveryFiles(tmp_path)
    good = store.record(found_out("Sessions live in Redis")).discovery
    bad = folder(tmp_path) / f"{uuid_of(b'b' * 16)}.md"
    bad.write_text(damage, "utf-8")
    with pytest.raises(Failure) as caught:
        store.all()
    assert caught.value.code == "malformed_discovery"
    assert [file["file"] for file in caught.value.details["files"]] == [bad.name]
    assert str(tmp_path) not in str(caught.value)
    assert store.record(found_out("Something else is recorded")).merged is False
    assert store.forget(good.id) == good
    assert store.forget(bad.stem) is None
    assert not bad.exists()
    assert len(store.all()) == 1


@pytest.mark.clause("ME-04")
def test_links_and_other_files_are_not_discoveries(tmp_path: Path) -> None:
    store = DiscoveryFiles(tmp_path)
    store.record(found_out("Sessions live in Redis"))
    (folder(tmp_path) / "README.md").write_text("for people")
    (folder(tmp_path) / ".x.md.0123456789abcdef.tmp").write_text("half")
    assert len(store.all()) == 1
    os.symlink("/etc/passwd", folder(tmp_path) / f"{uuid_of(b'c' * 16)}.md")
    with pytest.raises(Failure) as caught:
        store.all()
    assert "not a regular file" in caught.value.message


RECORDER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from context_pack.memory.discovery import Discovery, id_of, uuid_of
from context_pack_adapters.memory.discoveries import DiscoveryFiles
store, now = DiscoveryFiles(Path(sys.argv[1])), datetime.now(UTC)
for number in range(int(sys.argv[2])):
    content = f"Everybody found out thing number {number}"
    store.record(Discovery(id=id_of(content), type="rule", content=content, session=uuid_of(bytes(16)),
                           date=now, last_seen=now))
    print(number, flush=True)
"""


@pytest.mark.clause("ME-03")
def test_a_kill_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    words = [sys.executable, "-c", RECORDER, str(tmp_path), "100000"]
    with subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(20):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        answered = 20 + len(process.stdout.read().splitlines())
    assert len(DiscoveryFiles(tmp_path).all()) in (answered, answered + 1)
