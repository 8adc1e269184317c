"""One bad file costs itself: whatever goes wrong inside, the others are found and a warning names it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from attrs import evolve, frozen
from inmemory import FixedClock, SeededIds
from inmemory.ports import memory_ports
from inmemory.search_index import MemoryIndex

from context_pack.app import build
from context_pack.kernel.syntax import NotParsed, Parsed
from context_pack.memory.ports import CodeFile, CodeTree, GoOn, always
from context_pack.memory.refresh import MOST_NAMED, CodeIndexer
from context_pack.ports import Ports
from context_pack.retrieval.model import Scope
from context_pack.retrieval.ports import Kind
from context_pack.retrieval.upkeep import File
from context_pack.toolkit.call import QuietCall
from context_pack_adapters.embed.hashed import HashedEmbedder
from context_pack_adapters.syntax.tree_sitter_syntax import TreeSitterSyntax

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
