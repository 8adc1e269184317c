"""Pack actions in any order against a model made of dictionaries."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from inmemory import FixedClock, MemoryPackStore, MemorySourceTree, SeededIds

from context_pack.app import build
from context_pack.composition import Ports
from context_pack.toolkit.call import QuietCall

pytestmark = pytest.mark.slow

LINES = 30
KEYS = st.sampled_from(["k1", "k2", "k3"])
TEXTS = st.sampled_from(["", "one", "two"])
WORDS = st.sampled_from(["one", "two"])
SLACK = st.sampled_from([0, 0, 0, 0, 1, -1])
"""How far off the revision that a caller names is."""

Model = dict[str, Any]


class Packs(RuleBasedStateMachine):
    """Up to three packs; `model` holds what each must be, as `get` shows it."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FixedClock()
        self.files = {"a.py": "".join(f"line {number}\n" for number in range(1, LINES + 1))}
        store = MemoryPackStore(self.clock, SeededIds())
        self.alarms: list[BaseException] = []
        self.registry = build(
            Ports(self.clock, MemorySourceTree(self.files), store),
            alarm=lambda _, error: self.alarms.append(error),
        )
        self.model: dict[str, Model] = {}

    def call(self, **arguments: Any) -> tuple[str | None, Any]:
        """(error code or None, payload or error) of one `input` call."""
        answer = self.registry.call("input", arguments, QuietCall(1))
        assert self.alarms == []
        body = json.loads(answer.text)
        return (body["code"], body) if answer.is_error else (None, body["payload"])

    def change(
        self, data: st.DataObject, action: str, change: Any, slack: int, content: bool = True, **fields: Any
    ) -> None:
        """Ask for a change, and compare with what `change` makes of a copy of the model."""
        pack = data.draw(st.sampled_from(sorted(self.model)))
        before = self.model[pack]
        code, body = self.call(action=action, id=pack, expected_revision=before["revision"] + slack, **fields)
        if slack:
            assert code == "revision_conflict"
            return
        if content and before["status"] == "finalized":
            assert code == "invalid_state"
            return
        after = json.loads(json.dumps(before))
        expected = change(after)
        assert code == expected
        if expected is None:
            if after != before or action == "touch_ttl":
                after["revision"] += 1
                after["updated"] = self.clock.monotonic()
            self.model[pack] = after
            assert body["revision"] == after["revision"]

    @initialize()
    def start(self) -> None:
        """There is always a pack to work with."""
        self.create(60)

    @precondition(lambda self: len(self.model) < 3)
    @rule(minutes=st.integers(1, 200))
    def create(self, minutes: int) -> None:
        code, body = self.call(action="create", ttl_minutes=minutes)
        assert code is None
        now = self.clock.monotonic()
        self.model[body["id"]] = {
            "title": None,
            "brief": None,
            "tags": [],
            "status": "draft",
            "revision": 1,
            "sections": [],
            "updated": now,
            "expires": now + minutes * 60,
        }

    @precondition(lambda self: self.model)
    @rule(
        data=st.data(),
        slack=SLACK,
        key=KEYS,
        title=WORDS,
        text=st.none() | TEXTS,
        order=st.none() | st.integers(-1, 4),
    )
    def upsert_section(
        self, data: st.DataObject, slack: int, key: str, title: str, text: str | None, order: int | None
    ) -> None:
        def change(pack: Model) -> None:
            sections = pack["sections"]
            section = find(sections, key) or {"key": key, "description": None, "refs": [], "diagrams": []}
            section["title"] = title
            if text is not None:
                section["description"] = text or None
            if section not in sections:
                sections.append(section)
            if order is not None:
                sections.remove(section)
                sections.insert(max(0, order), section)

        fields: dict[str, Any] = {"section_key": key, "section_title": title}
        fields |= {} if text is None else {"section_description": text}
        more: dict[str, Any] = {} if order is None else {"section_order": order}
        self.change(data, "upsert_section", change, slack, **fields, **more)

    @precondition(lambda self: self.model)
    @rule(
        data=st.data(),
        slack=SLACK,
        section=KEYS,
        key=KEYS,
        start=st.integers(1, LINES + 2),
        why=st.none() | TEXTS,
    )
    def upsert_ref(
        self, data: st.DataObject, slack: int, section: str, key: str, start: int, why: str | None
    ) -> None:
        def change(pack: Model) -> str | None:
            found = find(pack["sections"], section)
            if found is None:
                return "not_found"
            ref = {
                "key": key,
                "path": "a.py",
                "lines": {"start": start, "end": start + 1},
                "why": why or None,
            }
            put(found["refs"], ref, keep_why=why is None)
            return None

        fields: dict[str, Any] = {"section_key": section, "ref_key": key, "path": "a.py"}
        fields |= {"line_start": start, "line_end": start + 1} | ({} if why is None else {"ref_why": why})
        self.change(data, "upsert_ref", change, slack, **fields)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), slack=SLACK, section=KEYS, key=KEYS, title=WORDS)
    def upsert_diagram(self, data: st.DataObject, slack: int, section: str, key: str, title: str) -> None:
        def change(pack: Model) -> str | None:
            found = find(pack["sections"], section)
            if found is None:
                return "not_found"
            put(found["diagrams"], {"key": key, "title": title, "mermaid": "graph TD", "why": None})
            return None

        fields: dict[str, Any] = {
            "section_key": section,
            "diagram_key": key,
            "title": title,
            "mermaid": "graph TD",
        }
        self.change(data, "upsert_diagram", change, slack, **fields)

    @precondition(lambda self: self.model)
    @rule(
        data=st.data(),
        slack=SLACK,
        what=st.sampled_from(["section", "ref", "diagram"]),
        section=KEYS,
        key=KEYS,
    )
    def delete_part(self, data: st.DataObject, slack: int, what: str, section: str, key: str) -> None:
        def change(pack: Model) -> str | None:
            found = find(pack["sections"], section)
            parts = pack["sections"] if what == "section" else [] if found is None else found[f"{what}s"]
            part = found if what == "section" else find(parts, key)
            if part is None:
                return "not_found"
            parts.remove(part)
            return None

        fields: dict[str, Any] = {"section_key": section} | (
            {} if what == "section" else {f"{what}_key": key}
        )
        self.change(data, f"delete_{what}", change, slack, **fields)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), slack=SLACK, title=TEXTS, tags=st.none() | st.lists(WORDS, max_size=3))
    def set_meta(self, data: st.DataObject, slack: int, title: str, tags: list[str] | None) -> None:
        def change(pack: Model) -> None:
            pack["title"] = title or None
            if tags is not None:
                pack["tags"] = list(dict.fromkeys(tags))

        more: dict[str, Any] = {} if tags is None else {"tags": tags}
        self.change(data, "set_meta", change, slack, title=title, **more)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), slack=SLACK, minutes=st.integers(1, 300), extend=st.booleans())
    def touch_ttl(self, data: st.DataObject, slack: int, minutes: int, extend: bool) -> None:
        def change(pack: Model) -> None:
            start = pack["expires"] if extend else self.clock.monotonic()
            pack["expires"] = start + minutes * 60

        fields = {"extend_minutes" if extend else "ttl_minutes": minutes}
        self.change(data, "touch_ttl", change, slack, content=False, **fields)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), slack=SLACK, status=st.sampled_from(["draft", "finalized"]))
    def set_status(self, data: st.DataObject, slack: int, status: str) -> None:
        def change(pack: Model) -> str | None:
            if status == "finalized" and pack["status"] == "draft":
                refs = [ref for section in pack["sections"] for ref in section["refs"]]
                if not refs and not any(section["diagrams"] for section in pack["sections"]):
                    return "invalid_state"
                if any(ref["lines"]["end"] > LINES for ref in refs):
                    return "stale_ref"
            pack["status"] = status
            return None

        self.change(data, "set_status", change, slack, content=False, status=status)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), slack=SLACK, key=KEYS, good=st.booleans())
    def batch(self, data: st.DataObject, slack: int, key: str, good: bool) -> None:
        def change(pack: Model) -> str | None:
            if not good:
                return "not_found"
            section = find(pack["sections"], key)
            if section is None:
                section = {"key": key, "title": "one", "description": None, "refs": [], "diagrams": []}
                pack["sections"].append(section)
            section["title"] = "one"
            put(
                section["refs"],
                {"key": "k1", "path": "a.py", "lines": {"start": 1, "end": 2}, "why": None},
                True,
            )
            return None

        operations: list[dict[str, Any]] = [
            {"action": "upsert_section", "section_key": key, "section_title": "one"},
            {
                "action": "upsert_ref",
                "section_key": key,
                "ref_key": "k1",
                "path": "a.py",
                "line_start": 1,
                "line_end": 2,
            },
        ]
        if not good:
            operations.append({"action": "delete_section", "section_key": "nowhere"})
        self.change(data, "batch", change, slack, operations=operations)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), slack=SLACK)
    def delete_pack(self, data: st.DataObject, slack: int) -> None:
        pack = data.draw(st.sampled_from(sorted(self.model)))
        revision = self.model[pack]["revision"] + slack
        code, body = self.call(action="delete_pack", id=pack, expected_revision=revision)
        assert code == ("revision_conflict" if slack else None)
        if not slack:
            assert body == {"id": pack, "deleted": True}
            del self.model[pack]

    @rule(minutes=st.integers(1, 40))
    def time_passes(self, minutes: int) -> None:
        self.clock.advance(minutes=minutes)
        now = self.clock.monotonic()
        for pack in [pack for pack, one in self.model.items() if one["expires"] <= now]:
            del self.model[pack]
            assert self.call(action="get", id=pack)[0] == "not_found"

    @invariant()
    def packs_are_what_the_model_says(self) -> None:
        """Every pack, and nothing but these packs."""
        code, listing = self.call(action="list")
        assert code is None
        order = sorted(self.model, key=lambda pack: (-self.model[pack]["updated"], pack))
        assert [one["id"] for one in listing["packs"]] == order
        for pack, model in self.model.items():
            _, found = self.call(action="get", id=pack)
            assert {name: found[name] for name in ("title", "brief", "tags", "status", "revision")} == {
                name: model[name] for name in ("title", "brief", "tags", "status", "revision")
            }
            for section in found["sections"]:
                for ref in section["refs"]:
                    assert (ref.pop("title"), ref.pop("group")) == (None, None)
            assert found["sections"] == model["sections"]

    @invariant()
    def every_pack_renders_and_verifies(self) -> None:
        """Whatever was done, reading works and agrees about the refs."""
        for pack, model in self.model.items():
            refs = [ref for section in model["sections"] for ref in section["refs"]]
            _, verified = self.call(action="verify", id=pack)
            states = [one["state"] for one in verified["refs"]]
            assert states == ["stale" for ref in refs if ref["lines"]["end"] > LINES]
            assert verified["count"] == len(refs)
            answer = self.registry.call("output", {"id": pack}, QuietCall(1))
            assert not answer.is_error
            assert answer.text.count("> stale ref: ") == states.count("stale")


def find(parts: list[Model], key: str) -> Model | None:
    """The part with that key."""
    return next((part for part in parts if part["key"] == key), None)


def put(parts: list[Model], part: Model, keep_why: bool = False) -> None:
    """Replace the part where it stands, or add it; a reason that was not given stays."""
    old = find(parts, part["key"])
    if old is not None and keep_why:
        part["why"] = old["why"]
    if old is None:
        parts.append(part)
    else:
        parts[parts.index(old)] = part


@pytest.mark.clause("PK-18", "PK-21", "PK-30", "PK-33")
def test_actions_in_any_order_agree_with_the_model() -> None:
    run_state_machine_as_test(Packs, settings=settings(max_examples=40, stateful_step_count=30))
