"""Which files of a tree are indexed, that a change is always seen, and that one bad file costs itself."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen
from inmemory import FixedClock, SeededIds
from inmemory.ports import memory_ports
from inmemory.search_index import MemoryIndex

from context_pack import open_workspace
from context_pack.app import build
from context_pack.kernel.paths import PathPolicy
from context_pack.kernel.syntax import NoSyntax, NotParsed, Parsed
from context_pack.memory.ports import CodeFile, CodeTree, GoOn, always
from context_pack.memory.refresh import MOST_NAMED, CodeIndexer
from context_pack.ports import Ports
from context_pack.retrieval.model import Scope
from context_pack.retrieval.ports import Kind
from context_pack.retrieval.upkeep import File
from context_pack.toolkit.call import QuietCall
from context_pack_adapters.embed.hashed import HashedEmbedder
from context_pack_adapters.source.code_files import CodeFiles
from context_pack_adapters.syntax.tree_sitter_syntax import TreeSitterSyntax


def tree(root: Path) -> CodeFiles:
    own = (root / ".agents" / "store", root / ".cache" / "ours", root.parent / "elsewhere", root)
    return CodeFiles(root, PathPolicy(("*.hidden",)), *own)


def settled(files: CodeFiles, last: str) -> CodeFiles:
    """The tree once the file that was written last is older than the clock's grain."""
    while not files.read(last).stamp:
        pass
    return files


def aged(path: Path) -> Path:
    """The file as if it had been written a minute ago."""
    then = time.time() - 60
    os.utime(path, (then, then))
    return path


@pytest.mark.clause("ME-21")
def test_a_pack_that_was_exported_is_not_indexed(tmp_path: Path) -> None:
    with open_workspace(tmp_path, storage=tmp_path / ".packs") as workspace:
        pack = workspace.packs.create(ttl_minutes=60, title="How <we> greet")
        (tmp_path / "a.html").write_text(workspace.packs.export_html(pack))
        (tmp_path / "a.md").write_text(workspace.packs.document(pack))
    (tmp_path / "b.html").write_text("<!DOCTYPE html>\n<title>Ours</title>\n")
    files = tree(tmp_path)
    told = [files.read(name).skipped for name in ("a.html", "a.md", "b.html")]
    assert told == ["an exported pack", "an exported pack", None]


@pytest.mark.clause("ME-21")
def test_a_survey_names_what_counts_and_says_why_the_rest_is_skipped(tmp_path: Path) -> None:
    files = {
        "a.py": "x = 1\n",
        "big.py": "#" * (2 * 1024 * 1024 + 1),
        "empty.py": "",
        "data.csv": "a,b\n",
        "package-lock.json": "{}\n",
        "package.json": "{}\n",
        "app.min.js": "x\n",
        "README.md": "# Hi\n",
        ".env": "SECRET=1\n",
        "x.hidden": "x\n",
        "ignored/b.py": "x = 1\n",
        "node_modules/c.py": "x = 1\n",
        ".agents/store/packs/pk_a.md": "x\n",
        ".cache/ours/project/sessions/a.md": "x\n",
        ".gitignore": "ignored/\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    os.symlink(tmp_path / "a.py", tmp_path / "link.py")
    found = tree(tmp_path).survey()
    assert found is not None
    assert {path: state.skipped for path, state in found.items()} == {
        ".gitignore": "no source code",
        "README.md": None,
        "a.py": None,
        "app.min.js": "generated",
        "big.py": "larger than 2 MiB",
        "data.csv": "no source code",
        "empty.py": "empty",
        "package-lock.json": "generated",
        "package.json": None,
    }
    assert list(found) == sorted(found)


@pytest.mark.clause("ME-21")
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"x = 1\0", "not text"),
        ("größe".encode("latin-1"), "not UTF-8"),
        (b"x" * 20_001, "a line of more than 20000 characters"),
        (b"x = 1\n", None),
    ],
)
def test_reading_reports_files_without_text_to_index(tmp_path: Path, data: bytes, reason: str | None) -> None:
    (tmp_path / "a.py").write_bytes(data)
    assert tree(tmp_path).read("a.py").skipped == reason
    assert tree(tmp_path).read("gone.py").skipped == "gone"


@pytest.mark.clause("ME-22")
def test_only_what_differs_is_read_and_only_other_contents_are_indexed_again(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"f{number}.py").write_text(f"def work_{number}(): ...\n")
    index = MemoryIndex(HashedEmbedder())
    indexer = CodeIndexer(settled(tree(tmp_path), "f2.py"), index, NoSyntax)
    assert indexer.carry_out(indexer.plan()).done == 3
    assert not indexer.plan().changed
    aged(tmp_path / "f1.py")
    plan = indexer.plan()
    assert list(plan.changed) == ["f1.py"]
    before = index.known("code")["f1.py"]
    indexer.carry_out(plan)
    after = index.known("code")["f1.py"]
    assert (after.digest, after.stamp != before.stamp) == (before.digest, True)
    (tmp_path / "f2.py").unlink()
    assert indexer.plan().gone == ("f2.py",)


@pytest.mark.clause("ME-22")
def test_work_that_is_stopped_keeps_what_was_read_and_goes_on_from_there(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"f{number}.py").write_text("x = 1\n")
    index = MemoryIndex(HashedEmbedder())
    indexer = CodeIndexer(settled(tree(tmp_path), "f59.py"), index, NoSyntax)
    asked = iter(range(100))
    done = indexer.carry_out(indexer.plan(), lambda: next(asked) >= 29)
    assert (done.done, done.total) == (30, 60)
    assert len(indexer.plan().changed) == 30
    assert indexer.carry_out(indexer.plan()).done == 60


@pytest.mark.clause("ME-22")
def test_entries_another_process_adds_during_a_survey_are_kept(tmp_path: Path) -> None:
    index = MemoryIndex(HashedEmbedder())

    class Raced(CodeFiles):
        """A tree to which another process adds and indexes a file right after each look."""

        def survey(self, go_on: GoOn = always) -> Mapping[str, File] | None:
            found = super().survey(go_on)
            (tmp_path / "late.py").write_text("x = 1\n")
            other = CodeIndexer(tree(tmp_path), index, NoSyntax)
            other.carry_out(other.plan())
            return found

    indexer = CodeIndexer(Raced(tmp_path, PathPolicy()), index, NoSyntax)
    plan = indexer.plan()
    assert (plan.gone, list(index.known("code"))) == ((), ["late.py"])


GOOD = 'def feed_zebra():\n    """Feed the zebra."""\n    return 1\n'
BAD = 'def ride_camel():\n    """Ride the camel."""\n    return POISON\n'


@frozen
class Poisoned(TreeSitterSyntax):
    """A `Syntax` that says why it does not parse a marked text."""

    said: NotParsed

    def parse(self, language: str, text: str) -> Parsed | NotParsed:
        return self.said if "POISON" in text else super().parse(language, text)


@frozen
class Unreadable:
    """A tree that raises when a marked file is read."""

    real: CodeTree

    def survey(self, go_on: GoOn = always) -> Mapping[str, File] | None:
        return self.real.survey(go_on)

    def left_out(self) -> Mapping[str, str]:
        return self.real.left_out()

    def read(self, path: str) -> CodeFile:
        if path == "bad.py":
            raise RecursionError
        return self.real.read(path)


class Choking(HashedEmbedder):
    """An embedder that raises on a marked text."""

    id = "choking/1"

    def embed(self, texts: Sequence[str], kind: Kind) -> Any:
        if any("POISON" in text for text in texts):
            raise FloatingPointError
        return super().embed(texts, kind)


def ports_over(files: dict[str, str | bytes]) -> Ports:
    return memory_ports(files, FixedClock(), SeededIds(), ())


def with_memory(ports: Ports, **changes: Any) -> Ports:
    assert ports.memory is not None
    memory = evolve(ports.memory(), **changes)
    return evolve(ports, memory=lambda: memory, discoveries=memory.discoveries)


def called(ports: Ports, tool: str, **arguments: Any) -> Any:
    answer = build(ports).call(tool, arguments, QuietCall())
    assert not answer.is_error, answer.text
    return json.loads(answer.text)


def found(ports: Ports, query: str) -> tuple[list[tuple[str, str]], str]:
    answer = called(ports, "context_search", query=query, limit=20)
    return [(each["path"], each.get("symbol", "")) for each in answer["results"]], answer.get("warning", "")


@pytest.mark.clause("ME-26")
@pytest.mark.parametrize(
    "reason",
    ["parsing it failed inside (IndexError)", "parsing it crashed", "its grammar cannot read it"],
)
def test_a_file_whose_parsing_fails_is_found_in_plain_lines_until_it_changes(reason: str) -> None:
    files: dict[str, str | bytes] = {"bad.py": BAD, "good.py": GOOD}
    ports = ports_over(files)
    assert ports.memory is not None
    ports = with_memory(ports, syntax=Poisoned(NotParsed(reason)))
    warning = f"not indexed as code (bad.py: {reason})"
    for _ in range(2):
        assert found(ports, "feed the zebra") == ([("good.py", "feed_zebra")], warning)
        assert found(ports, "ride the camel") == ([("bad.py", "")], warning)
    draft = called(ports, "input", action="draft", query="feed the zebra", ttl_minutes=5)["payload"]
    assert draft["warning"] == warning
    assert [ref["path"] for section in draft["sections"] for ref in section["refs"]] == ["good.py"]
    files["bad.py"] = BAD.replace("POISON", "1")
    assert found(ports, "ride the camel") == ([("bad.py", "ride_camel")], "")


@pytest.mark.clause("ME-26")
def test_a_language_without_a_grammar_is_no_failure() -> None:
    text = "# Zebras\n\nFeed the zebra\n"
    ports = ports_over({"zoo.cob": "x", "feed.sql": text})
    assert found(ports, "feed the zebra") == ([("feed.sql", "")], "")


@pytest.mark.clause("ME-26")
def test_a_file_that_cannot_be_read_is_left_out_and_named_until_it_is_gone() -> None:
    files: dict[str, str | bytes] = {"bad.py": BAD, "good.py": GOOD}
    ports = ports_over(files)
    assert ports.memory is not None
    ports = with_memory(ports, tree=Unreadable(ports.memory().tree))
    warning = "not indexed as code (bad.py: reading it failed inside (RecursionError))"
    assert found(ports, "feed the zebra") == ([("good.py", "feed_zebra")], warning)
    assert ports.memory is not None
    assert "bad.py" not in CodeIndexer.over(ports.memory()).plan().changed, (
        "it is not tried with every search"
    )
    del files["bad.py"]
    assert found(ports, "feed the zebra") == ([("good.py", "feed_zebra")], "")


@pytest.mark.clause("ME-26")
def test_a_file_that_cannot_be_embedded_fails_alone_in_its_batch() -> None:
    ports = ports_over({"bad.py": BAD, "good.py": GOOD, "more.py": GOOD.replace("zebra", "gnu")})
    assert ports.memory is not None
    index = MemoryIndex(Choking())
    syntax = ports.memory().syntax
    indexer = CodeIndexer(ports.memory().tree, index, lambda: syntax)
    assert indexer.carry_out(indexer.plan()).done == 3
    assert indexer.failed() == {"bad.py": "indexing it failed inside (FloatingPointError)"}
    with index.reading() as snapshot:
        pieces = [piece for piece, _ in snapshot.keyword(["zebra", "gnu"], Scope(("code",)), 10)]
        assert sorted(each.key for each in snapshot.found(pieces)) == ["good.py", "more.py"]


@pytest.mark.clause("ME-26")
def test_a_warning_names_a_few_of_many() -> None:
    files: dict[str, str | bytes] = {f"bad{number}.py": BAD for number in range(9)}
    ports = ports_over(files | {"good.py": GOOD})
    assert ports.memory is not None
    ports = with_memory(ports, syntax=Poisoned(NotParsed("it crashed")))
    warning = found(ports, "feed the zebra")[1]
    assert warning.count("bad") == MOST_NAMED
    assert warning.endswith(f", and {9 - MOST_NAMED} more)")
