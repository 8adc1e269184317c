"""A desk to work with packs at: real tools over the in-memory twins, with a clock that the test moves."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import define, field
from inmemory import (
    FixedClock,
    MemoryExcerptStore,
    MemoryPackStore,
    MemorySourceTree,
    SeededIds,
)

from context_pack.app import build
from context_pack.composition import UseCases
from context_pack.kernel.errors import KIND_OF, Code
from context_pack.packs.commands import NamedPack
from context_pack.packs.states import problem_record
from context_pack.ports import Ports
from context_pack.toolkit.call import QuietCall
from context_pack.toolkit.registry import Registry
from context_pack.toolkit.spec import Answer
from context_pack_adapters.syntax import shared_syntax

CODE = "".join(f"line {number}\n" for number in range(1, 101))


@define
class Desk:
    """The tools of the pack feature over a dictionary of files."""

    files: dict[str, str | bytes] = field(factory=lambda: {"src/app.py": CODE})
    clock: FixedClock = field(factory=FixedClock)
    max_source_bytes: int = 2 * 1024 * 1024
    alarms: list[BaseException] = field(factory=list)
    store: MemoryPackStore = field(init=False)
    tree: MemorySourceTree = field(init=False)
    ports: Ports = field(init=False)
    registry: Registry = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.store = MemoryPackStore(self.clock, SeededIds())
        self.tree = MemorySourceTree(self.files)
        kept = MemoryExcerptStore(self.clock)
        history = self.store.history
        self.open(Ports(self.clock, self.tree, self.store, shared_syntax(), kept, history=history))

    def open(self, ports: Ports) -> None:
        self.ports = ports
        self.registry = build(
            ports,
            max_source_bytes=self.max_source_bytes,
            alarm=lambda _, error: self.alarms.append(error),
        )

    def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        """The raw answer of a tool; an unforeseen exception fails the test."""
        answer = self.registry.call(tool, arguments, QuietCall(7))
        assert self.alarms == []
        return answer

    def input(self, **arguments: Any) -> Any:
        """The payload of a successful `input`."""
        answer = self.call("input", arguments)
        assert not answer.is_error, answer.text
        body = json.loads(answer.text)
        assert body == answer.structured
        assert body["action"] == arguments.get("action", "list")
        return body["payload"]

    def output(self, **arguments: Any) -> str:
        """The Markdown of a successful `output`."""
        answer = self.call("output", arguments)
        assert not answer.is_error, answer.text
        assert answer.structured is None
        return answer.text

    def refused(self, tool: str, **arguments: Any) -> Any:
        """The error body of a refused call, which has the shape of every refusal (PK-35)."""
        answer = self.call(tool, arguments)
        assert answer.is_error, answer.text
        assert answer.structured is None
        body = json.loads(answer.text)
        assert list(body) == ["error", "kind", "code", "message", "request_id", "details"]
        assert (body["error"], body["request_id"], Code(body["code"])) == (True, 7, body["code"])
        assert KIND_OF[Code(body["code"])] == body["kind"]
        assert "\n" not in body["message"]
        assert len(body["message"].split()) >= 3
        return body

    def create(self, **more: Any) -> str:
        """A new pack's id."""
        made: str = self.input(action="create", **{"ttl_minutes": 60, **more})["id"]
        return made

    def change(self, pack: str, action: str, **fields: Any) -> Any:
        """A change at the pack's present revision."""
        revision = self.store.get(pack).revision
        return self.input(action=action, id=pack, expected_revision=revision, **fields)

    def section(self, pack: str, key: str = "main", **fields: Any) -> Any:
        return self.change(pack, "upsert_section", section_key=key, **{"section_title": "Main", **fields})

    def ref(self, pack: str, key: str = "ref", start: int = 5, end: int = 7, **fields: Any) -> Any:
        place = {"section_key": "main", "path": "src/app.py", **fields}
        return self.change(pack, "upsert_ref", ref_key=key, line_start=start, line_end=end, **place)

    def pack_with_ref(self, start: int = 5, end: int = 7, **fields: Any) -> str:
        """A pack with one section and one ref."""
        pack = self.create()
        self.section(pack)
        self.ref(pack, "ref", start, end, **fields)
        return pack

    def state(self, pack: str, index: int = 0) -> Any:
        """The state of one ref, as a library caller sees it."""
        return problem_record(self.cases.packs.verifier.verify(NamedPack(id=pack)).refs[index])

    @property
    def cases(self) -> UseCases:
        """The use cases over the same ports."""
        return UseCases(self.ports, self.max_source_bytes)


@pytest.fixture
def desk() -> Desk:
    """A desk with one file of a hundred lines."""
    return Desk()


@pytest.fixture
def new_desk() -> type[Desk]:
    """Desks with other files or settings."""
    return Desk
