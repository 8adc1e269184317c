"""`context_record` and `context_search` over a real project: what an agent records and finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from inmemory.ports import open_memory_workspace

from context_pack import open_workspace
from context_pack.app import build
from context_pack.composition import UseCases
from context_pack.kernel.errors import Code, Failure
from context_pack.memory.notes import notes_in
from context_pack.memory.record import ContextRecord, Recorder
from context_pack.toolkit.call import QuietCall
from context_pack_adapters.disk_ports import open_ports
from context_pack_adapters.settings import read_settings

TTL = "def expiry(now):\n    return now + 60\n\n\ndef other():\n    return 1\n"
RULE = "An hour is the expiry of a token"


class Project:
    """The tools over a folder; each opening is a session of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root / "project"
        self.root.mkdir(exist_ok=True)
        variables = {"CONTEXT_PACK_EMBEDDER": "fast", "CONTEXT_PACK_CACHE": str(root / "cache")}
        self.ports = open_ports(read_settings(variables, str(self.root)))
        self.registry = build(self.ports)

    @property
    def recorder(self) -> Recorder:
        return UseCases(self.ports).recorder

    def call(self, tool: str = "context_record", **arguments: Any) -> tuple[Any, bool]:
        answer = self.registry.call(tool, arguments, QuietCall())
        return json.loads(answer.text), answer.is_error


@pytest.fixture
def project(tmp_path: Path) -> Project:
    opened = Project(tmp_path)
    (opened.root / "ttl.py").write_text(TTL)
    return opened


@pytest.mark.clause("ME-01")
def test_a_session_lists_and_forgets_what_it_recorded(project: Project, tmp_path: Path) -> None:
    first, _ = project.call(type="rule", content=RULE, module="auth")
    project.call(type="issue", content="The clock of one machine runs ahead")
    listed, _ = project.call(action="list")
    assert [row["type"] for row in listed["discoveries"]] == ["issue", "rule"]
    assert project.call(action="list", module="auth")[0]["discoveries"] == listed["discoveries"][1:]
    later = Project(tmp_path)
    empty, _ = later.call(action="list")
    assert (empty["discoveries"], "in this session" in empty["message"]) == ([], True)
    told, is_error = later.call(action="forget", id=first["id"])
    assert is_error
    assert "another session" in json.dumps(told)
    assert project.call(action="forget", id=first["id"]) == ({"forgotten": first["id"]}, False)
    assert [each.type.value for each in project.recorder.store.all()] == ["issue"]


@pytest.mark.clause("ME-01", "ME-07")
def test_the_beginning_of_an_id_names_a_discovery(project: Project) -> None:
    recorded, _ = project.call(type="rule", content=RULE)
    assert len(recorded["id"]) == 8
    corrected, _ = project.call(type="rule", content="Two hours are the expiry of a token", id=recorded["id"])
    assert (corrected["id"], corrected["merged"]) == (recorded["id"], True)
    found, _ = project.call("context_search", query="expiry of a token")
    assert found["results"][0]["id"] == recorded["id"]
    assert project.call(action="forget", id="00000000-nothing")[1]


@pytest.mark.clause("ME-08")
@pytest.mark.parametrize("place", [{"symbol": "expiry"}, {"lines": "1-2"}])
def test_a_discovery_shows_what_changed_and_is_accepted(project: Project, place: dict[str, str]) -> None:
    recorded, _ = project.call(type="rule", content=RULE, path="ttl.py", **place)
    (project.root / "ttl.py").write_text("import os\n\n\n" + TTL.replace("60", "3600"))
    recorder = project.recorder
    (known,) = recorder.store.all()
    assert known.code is not None
    (state,) = recorder.places.states([known.code])
    assert (state.state, state.lines) == ("changed", "4-5")
    assert state.diff is not None
    assert {"-    return now + 60", "+    return now + 3600"} <= set(state.diff.split("\n"))
    accepted = recorder.accept(recorded["id"])
    assert accepted.code is not None
    assert (recorder.places.states([accepted.code])[0].state, accepted.content) == ("exact", RULE)
    (project.root / "ttl.py").unlink()
    with pytest.raises(Failure) as gone:
        recorder.accept(recorded["id"])
    assert gone.value.code is Code.STALE_REF


@pytest.mark.clause("ME-06")
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Tokens live short, see ttl.py#expiry.", ("ttl.py", None, "expiry")),
        ("The `expiry()` in `ttl.py` is in seconds.", ("ttl.py", None, "expiry")),
        ("Look at ttl.py:5-6 before you add more.", ("ttl.py", "5-6", None)),
        ("Everything about time is in ttl.py only.", (None, None, None)),
        ("Nothing is in gone.py:1-2 any more.", (None, None, None)),
    ],
)
def test_a_note_for_agents_is_a_rule_about_the_code_it_names(
    project: Project, text: str, place: tuple[str | None, str | None, str | None]
) -> None:
    (note,) = notes_in(f"# Project\n\n- {text}\n", "AGENTS.md")
    command = project.recorder.of_note(note)
    path, lines, symbol = place
    assert command == ContextRecord("rule", text, path=path, lines=lines, symbol=symbol)
    assert (project.recorder.record(command).discovery.code is None) == (place[0] is None)


@pytest.mark.clause("ME-32")
def test_what_people_wrote_has_two_of_the_first_five_places(project: Project) -> None:
    body = "".join(
        f"def token_expiry_{n}():\n    '''The expiry of a token.'''\n    return {n}\n\n\n" for n in range(30)
    )
    (project.root / "tokens.py").write_text(body)
    for content in (RULE, "The expiry of a token is checked by the gateway alone"):
        project.call(type="rule", content=content)
    found, _ = project.call("context_search", query="expiry of a token")
    assert [row["source"] for row in found["results"]].count("discovery") == 2
    only, _ = project.call("context_search", query="who checks auth", type="rule")
    assert [row["content"] for row in only["results"]] == [
        "The expiry of a token is checked by the gateway alone"
    ]


@pytest.mark.clause("ME-51")
def test_a_draft_is_few_places_in_groups_that_say_what_they_do(project: Project) -> None:
    files = {
        "src/renew.py": 'def renew_token(key):\n    """Renew a token that has expired."""\n'
        "    return read_token(key)\n\n\ndef read_token(key):\n    return store[key]\n",
        "tests/test_renew.py": "def test_renew_token():\n    assert renew_token('a token')\n",
    } | {
        f"src/more_{n}.py": f"def more_{n}(token):\n    total = token\n    return total\n" for n in range(20)
    }
    for path, text in files.items():
        (project.root / path).parent.mkdir(exist_ok=True)
        (project.root / path).write_text(text)
    drafted, _ = project.call("input", action="draft", query="renew a token", ttl_minutes=5)
    pack, _ = project.call("input", action="get", id=drafted["payload"]["id"])
    (section,) = pack["payload"]["sections"]
    refs = section["refs"]
    assert len(refs) <= 8
    groups = [ref["group"] for ref in refs]
    assert groups == sorted(groups)
    assert {"2 core", "4 tests"} <= set(groups)
    assert "Renew a token that has expired." in next(
        ref["why"] for ref in refs if ref["title"] == "renew_token"
    )


@pytest.mark.clause("ME-30")
def test_a_written_pack_is_found_by_its_sentences_once(project: Project) -> None:
    text = "# Ends of tokens\n\nThe hour of a token is counted in `ttl.py#expiry`.\n"
    project.call("input", action="write", name="ends", text=text, ttl_minutes=5)
    found, _ = project.call("context_search", query="ends of tokens", sources=["pack"])
    words = "Ends of tokens\nThe hour of a token is counted in `ttl.py#expiry`."
    assert [row["content"] for row in found["results"]] == [words]


SOURCE = 'def feed_zebra():\n    """Give hay to the zebra."""\n    return 1\n'


@pytest.mark.clause("ME-08")
def test_a_discovery_about_code_says_when_it_has_moved_or_changed(tmp_path: Path) -> None:
    zoo = tmp_path / "zoo.py"
    zoo.write_text(SOURCE)
    with open_workspace(tmp_path, storage=tmp_path / "store", embedder="fast") as opened:

        def told() -> dict[str, Any]:
            (hit,) = opened.memory.search("what a zebra eats", type="rule").hits
            code: dict[str, Any] = hit.facts["code"]
            return code

        kept = opened.memory.record("rule", "A zebra eats hay", symbol="feed_zebra").discovery
        assert kept.code is not None
        assert (str(kept.code.path), str(kept.code.lines)) == ("zoo.py", "1-3")
        place = {"path": "zoo.py", "lines": "1-3", "symbol": "feed_zebra"}
        assert told() == {**place, "state": "exact"}
        zoo.write_text("import os\n\n" + SOURCE)
        moved = {"path": "zoo.py", "lines": "3-5"}
        assert told() == {**place, "state": "moved", "now": moved}
        zoo.write_text("import os\n\n" + SOURCE.replace("return 1", "return 2"))
        assert told() | {"reason": ""} == {**place, "state": "changed", "now": moved, "reason": ""}
        assert opened.memory.record("rule", "A zebra eats hay").discovery.code == kept.code
        zoo.unlink()
        assert told()["state"] == "stale"


@pytest.mark.clause("ME-08")
@pytest.mark.parametrize(
    ("place", "field"),
    [
        ({"path": "nowhere.py"}, "path"),
        ({"path": "../zoo.py"}, "path"),
        ({"path": "zoo.py", "lines": "3-9"}, "path"),
        ({"path": "zoo.py", "lines": "3-1"}, "lines"),
        ({"path": "zoo.py", "lines": "all"}, "lines"),
        ({"lines": "1-2"}, "path"),
        ({"symbol": "feed_lion"}, "symbol"),
        ({"path": "zoo.py", "lines": "1-2", "symbol": "feed_zebra"}, "symbol"),
    ],
)
def test_a_discovery_about_code_that_is_not_there_is_refused(place: dict[str, str], field: str) -> None:
    with open_memory_workspace({"zoo.py": SOURCE}) as opened:
        with pytest.raises(Failure) as told:
            opened.memory.record("rule", "A zebra eats hay", **place)
        assert told.value.details["field"] == field
        assert list(opened.memory.discoveries()) == []


@pytest.mark.clause("ME-07")
def test_a_superseded_discovery_is_found_behind_its_successor() -> None:
    with open_memory_workspace({"zoo.py": SOURCE}) as opened:
        memory = opened.memory
        old = memory.record("rule", "A zebra eats hay and only hay").discovery.id
        mid = memory.record("rule", "The zebra gets grass", supersedes=old).discovery.id
        new = memory.record("rule", "What it eats, a zebra may choose itself", supersedes=mid).discovery.id
        found = memory.search("a zebra eats hay and only hay", type="rule").hits
    assert [hit.id for hit in found] == [new, mid, old]
