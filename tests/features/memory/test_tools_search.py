"""`context_search` and `context_record` over the in-memory twins: shapes, filters, edits, failures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from inmemory import FixedClock, SeededIds
from inmemory.ports import memory_ports

from context_pack import open_workspace
from context_pack.app import build
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import RelativePath
from context_pack.memory.discovery import uuid_of
from context_pack.memory.ports import MemoryPorts
from context_pack.ports import Ports
from context_pack.retrieval.model import Scope
from context_pack.retrieval.ports import EmbedderFailed, Kind
from context_pack.retrieval.searching import Searching
from context_pack.toolkit.budget import json_size
from context_pack.toolkit.call import QuietCall
from context_pack.toolkit.registry import Registry
from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.memory.activity import Activity

SERVICE = '''\
"""Logs people in."""


class AuthService:
    def login(self, name: str, password: str) -> str:
        """Check the password and issue a token."""
        return issue_token(name)


def issue_token(name: str) -> str:
    """Sign a web token for a person."""
    return name
'''
BILLING = '''\
"""Invoices."""


def send_invoice(customer: str) -> None:
    """Mail the monthly invoice to a customer."""
'''


class Room:
    """A registry over files in memory, and what is behind it."""

    def __init__(self, files: dict[str, str | bytes]) -> None:
        self.files = files
        self.clock = FixedClock()
        self.ports: Ports = memory_ports(files, self.clock, SeededIds(), ())
        self._registry: Registry | None = None

    @property
    def memory(self) -> MemoryPorts:
        assert self.ports.memory is not None
        return self.ports.memory()

    def with_memory(self, **changes: Any) -> None:
        memory = evolve(self.memory, **changes)
        self.ports = evolve(
            self.ports, memory=lambda: memory, discoveries=memory.discoveries, sessions=memory.sessions
        )

    def call(self, tool: str, **arguments: Any) -> tuple[Any, bool]:
        if self._registry is None:
            self._registry = build(self.ports)
        answer = self._registry.call(tool, arguments, QuietCall())
        return json.loads(answer.text), answer.is_error

    def search(self, query: str, **arguments: Any) -> Any:
        found, is_error = self.call("context_search", query=query, **arguments)
        assert not is_error, found
        return found

    def record(self, kind: str, content: str, **more: Any) -> Any:
        kept, is_error = self.call("context_record", type=kind, content=content, **more)
        assert not is_error, kept
        return kept


@pytest.fixture
def room() -> Room:
    return Room({"src/auth/service.py": SERVICE, "src/billing/invoices.py": BILLING})


COOKIES = "Use JWT tokens stored in httpOnly cookies for auth"
MUTEX = "Implement token refresh with mutex locks to prevent race conditions"
RACE = "Token refresh race condition fixed with mutex lock"


@pytest.mark.clause("ME-32")
@pytest.mark.parametrize("order", list(permutations([0, 1, 2])))
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("How did we handle authentication?", COOKIES),
        ("how does authentication work", COOKIES),
        ("JWT authentication", COOKIES),
        ("token refresh issue", RACE),
    ],
)
def test_the_examples_of_the_specification_find_the_right_discovery_first(
    query: str, first: str, order: tuple[int, ...]
) -> None:
    room = Room({})
    recorded = [("pattern", COOKIES), ("pattern", MUTEX), ("issue", RACE)]
    for number in order:
        room.record(*recorded[number], module="auth")
    results = room.search(query)["results"]
    assert results[0]["content"] == first


@pytest.mark.clause("ME-32")
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("which database do we use", "The db is Postgres"),
        ("where is the configuration read", "config comes from one file"),
        ("what about the repository layout", "One repo for all services"),
        ("authorization rules", "auth is checked at the door"),
    ],
)
def test_short_forms_and_beginnings_meet_their_long_forms_in_a_small_memory(query: str, first: str) -> None:
    room = Room({})
    texts = [
        "The db is Postgres", "config comes from one file", "One repo for all services",
        "auth is checked at the door", "Retries wait twice as long each time",
    ]  # fmt: skip
    for text in texts:
        room.record("decision", text, module="platform")
    assert room.search(query)["results"][0]["content"] == first


@pytest.mark.clause("ME-30", "ME-31")
def test_code_is_found_by_what_it_does_with_its_lines_and_symbol(room: Room) -> None:
    found = room.search("check the password of a person")
    assert found["query"] == "check the password of a person"
    assert isinstance(found["searchTime"], int)
    first = found["results"][0]
    assert first == {
        "id": "src/auth/service.py#L5-L7",
        "type": "code",
        "content": "\n".join(SERVICE.split("\n")[4:7]),
        "module": "auth",
        "path": "src/auth/service.py",
        "startLine": 5,
        "endLine": 7,
        "symbol": "AuthService.login",
        "score": first["score"],
        "source": "code",
    }


@pytest.mark.clause("ME-01", "ME-31")
def test_a_discovery_is_found_in_the_next_call_with_the_promised_fields(room: Room) -> None:
    kept = room.record("pattern", "Use JWT tokens in httpOnly cookies", module="auth")
    assert kept["merged"] is False
    first = room.search("JWT cookies")["results"][0]
    assert first == {
        "id": kept["id"],
        "type": "pattern",
        "content": "Use JWT tokens in httpOnly cookies",
        "module": "auth",
        "session": room.memory.sessions.id,
        "date": "2026-01-02T03:04:05Z",
        "score": first["score"],
        "source": "discovery",
    }
    room.call("context_record", action="forget", id=kept["id"])
    assert room.search("JWT cookies", type="pattern")["results"] == []


@pytest.mark.clause("ME-30")
def test_a_type_a_module_and_sources_narrow_a_search(room: Room) -> None:
    room.record("rule", "Never log a password or token")
    room.record("issue", "The password token expires too early")
    room.record("rule", "Invoices are never changed", module="billing")

    def found(query: str, field: str, **filters: Any) -> set[str]:
        return {each[field] for each in room.search(query, limit=20, **filters)["results"]}

    assert room.search("password token", type="issue")["totalFound"] == 1
    assert found("password token", "type", type="issue") == {"issue"}
    assert found("password token", "source") == {"discovery", "code"}
    for source in ("code", "discovery"):
        assert found("password token", "source", sources=[source]) == {source}
    body, failed = room.call("context_search", query="password", sources=["code"], type="rule")
    assert failed
    assert "add 'discovery' to sources" in str(body)
    first = room.search("password token invoice", module="billing", limit=1)["results"][0]
    assert first["module"] == "billing", "it filters before ranking"
    assert found("invoice", "module", module="billing") == {"billing"}
    nothing = room.search("invoice", module="nowhere")
    assert (nothing["results"], nothing["totalFound"]) == ([], 0)


@pytest.mark.clause("ME-31")
def test_sections_and_refs_of_live_packs_are_found_and_say_where_they_are(room: Room) -> None:
    pack, _ = room.call("input", action="create", ttl_minutes=5, title="How login works")
    pack_id = pack["payload"]["id"]
    section = {"section_key": "flow", "section_title": "Credentials", "section_description": "The handshake"}
    room.call("input", action="upsert_section", id=pack_id, expected_revision=1, **section)
    ref = {"section_key": "flow", "ref_key": "entry", "path": "src/auth/service.py", "line_start": 5}
    more = {"line_end": 7, "ref_title": "Entry point", "ref_why": "gatekeeper of everything"}
    room.call("input", action="upsert_ref", id=pack_id, expected_revision=2, **ref, **more)
    first = room.search("gatekeeper")["results"][0]
    assert {key: first[key] for key in ("source", "type", "pack", "section", "ref")} == {
        "source": "pack",
        "type": "pack",
        "pack": pack_id,
        "section": "flow",
        "ref": "entry",
    }
    assert (first["path"], first["startLine"], first["endLine"], first["module"]) == (
        "src/auth/service.py",
        5,
        7,
        "auth",
    )
    handshake = room.search("handshake credentials")["results"][0]
    assert (handshake["section"], "ref" in handshake) == ("flow", False)
    room.clock.advance(minutes=6)
    assert all(each["source"] != "pack" for each in room.search("gatekeeper", limit=20)["results"])


@pytest.mark.clause("ME-10", "ME-31")
def test_past_sessions_are_found(room: Room, tmp_path: Path) -> None:
    past = Activity(PrivateFolder(tmp_path), room.clock, uuid_of(b"p" * 16))
    past.read(RelativePath("a/zebra.py"))
    past.called("grep_codebase")
    room.with_memory(sessions=Activity(PrivateFolder(tmp_path), room.clock, uuid_of(b"n" * 16)))
    first = room.search("zebra")["results"][0]
    assert (first["source"], first["type"], first["id"], first["session"]) == (
        "session",
        "session",
        past.id,
        past.id,
    )
    assert "a/zebra.py" in first["content"]


@pytest.mark.clause("ME-22")
def test_edits_new_files_and_removals_are_seen_by_the_next_call(room: Room) -> None:
    room.search("invoice")
    room.files["src/zoo/keeper.py"] = "def feed_zebra():\n    '''Give hay to the zebra.'''\n"
    assert room.search("feed the zebra")["results"][0]["path"] == "src/zoo/keeper.py"
    room.files["src/zoo/keeper.py"] = "\n\ndef feed_zebra():\n    '''Give hay to the zebra.'''\n"
    assert room.search("feed the zebra")["results"][0]["startLine"] == 3
    del room.files["src/zoo/keeper.py"]
    assert all(each["path"] != "src/zoo/keeper.py" for each in room.search("zebra hay")["results"])


@pytest.mark.clause("ME-32")
def test_a_total_that_is_a_lower_bound_says_so() -> None:
    room = Room({})
    for number in range(120):
        room.record("rule", f"Widget {number} turns left")
    found = room.search("widget")
    assert found["totalFound"] >= 100
    assert found["totalIsLowerBound"] is True
    room.record("rule", "The gadget is new")
    assert "totalIsLowerBound" not in room.search("gadget")


@pytest.mark.clause("ME-20")
def test_a_long_function_is_shown_whole_and_once_whichever_part_was_found() -> None:
    body = "\n".join(f"    step_{n} = sprocket({n})" if n % 9 else "" for n in range(1, 100))
    text = f"def assemble(machine):\n{body}\n    return flywheel(machine)\n"
    steps = "\n".join(f"    step_{n} = gasket({n})" for n in range(200))
    room = Room({"m/machine.py": text, "m/long.py": f"def endless():\n{steps}\n"})
    for query in ("flywheel", "sprocket", "assemble"):
        (found,) = [each for each in room.search(query)["results"] if each["path"] == "m/machine.py"]
        assert (found["startLine"], found["endLine"]) == (1, 101)
        assert found["content"].startswith("def assemble(machine):\n")
    parts = [each for each in room.search("gasket", limit=20)["results"] if each["path"] == "m/long.py"]
    assert len(parts) > 1, "too long to be shown whole"
    assert all(each["endLine"] - each["startLine"] < 60 for each in parts)


@pytest.mark.clause("ME-44")
def test_code_is_shown_by_its_signature_and_the_lines_of_the_question_within_a_budget() -> None:
    body = "".join(f"    step_{n} = sprocket({n})\n" for n in range(30))
    text = f"def {{}}(machine):\n{body}    return flywheel(machine)\n"
    room = Room({f"m/{name}.py": text.format(name) for name in "abcdefgh"})
    results = room.search("flywheel", limit=20)["results"]
    assert [row["excerpt"] for row in results] == [True] * 8
    assert results[0]["content"].split("\n")[1:] == ["…", "    return flywheel(machine)"]
    for budget in (200, 400):
        answer = room.search("flywheel", limit=20, maxTokens=budget)
        assert json_size(answer) <= budget * 2.5
        best = answer["results"][0]
        assert best["path"] == f"m/{best['symbol']}.py", "the smallest budget still says where it is"
        assert answer["more"].startswith(f"{len(answer['results'])} of 8 results are here; ")


@pytest.mark.clause("ME-34")
@pytest.mark.parametrize("query", ["", "ab", "   ", "\n\t  \n"])
def test_a_query_that_is_too_short_is_refused_in_the_promised_words(room: Room, query: str) -> None:
    assert room.call("context_search", query=query) == (
        {"error": "Query must be at least 3 characters"},
        True,
    )


@pytest.mark.clause("ME-01", "ME-34")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("context_search", {}),
        ("context_search", {"query": "x" * 501}),
        ("context_search", {"query": "abc", "limit": 0}),
        ("context_search", {"query": "abc", "type": "idea"}),
        ("context_record", {"type": "rule"}),
        ("context_record", {"type": "rule", "content": "short"}),
        ("context_record", {"type": "rule", "content": "x" * 1001}),
        ("context_record", {"type": "rule", "content": "long enough \x00 text"}),
        ("context_record", {"type": "rule", "content": "long enough text", "module": "a\nb"}),
    ],
)
def test_faulty_arguments_are_invalid_parameters(room: Room, tool: str, arguments: dict[str, Any]) -> None:
    answer, is_error = room.call(tool, **arguments)
    assert is_error
    assert answer["error"] == "Invalid parameters"
    assert answer["details"][0]["path"].startswith("$")


@pytest.mark.clause("ME-34")
def test_an_empty_project_is_an_error_with_a_fallback() -> None:
    told = {
        "error": "No embeddings found. Run initial session to generate context.",
        "fallback": "Use grep_codebase for text search",
    }
    room = Room({})
    assert room.call("context_search", query="anything") == (told, True)
    room.record("rule", "Now there is something")
    assert room.search("something")["totalFound"] == 1


class Failing:
    """An embedder that never answers."""

    id, dimension, weight = "failing/1", 4, 0.7

    def embed(self, texts: Sequence[str], kind: Kind) -> Any:
        raise EmbedderFailed("API rate limit exceeded")


@pytest.mark.clause("ME-35")
def test_a_failed_embedder_leaves_keyword_search_and_a_warning(room: Room) -> None:
    memory = room.memory
    room.with_memory(
        searching=Searching(memory.index, memory.searching.fast, Failing(), monotonic=room.clock.monotonic)
    )
    room.call("context_record", type="rule", content="Sessions end after an hour")
    found = room.search("password")
    assert found["mode"] == "keyword"
    assert found["warning"] == "API rate limit exceeded"
    assert found["results"][0]["symbol"] == "AuthService.login"
    assert room.call("context_search", query="xylophone quartz") == (
        {"error": "Failed to generate query embedding", "details": "API rate limit exceeded"},
        True,
    )
    assert room.search("password", module="nowhere")["results"] == []


class BrokenStore:
    """Discoveries of which one is malformed."""

    def all(self) -> Any:
        raise Failure(Code.MALFORMED_DISCOVERY, "x.md is malformed: why", {"files": [{"file": "x.md"}]})


@pytest.mark.clause("ME-04", "ME-34")
def test_a_malformed_discovery_fails_the_search_and_names_the_file(room: Room) -> None:
    room.with_memory(discoveries=BrokenStore())
    assert room.call("context_search", query="password") == (
        {
            "error": "Search failed",
            "message": "x.md is malformed: why",
            "fallback": "Try using grep_codebase for text search",
            "files": [{"file": "x.md"}],
        },
        True,
    )


@pytest.mark.clause("ME-34")
def test_an_unreadable_pack_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "auth.py").write_text(SERVICE)
    packs = tmp_path / "s/packs"
    packs.mkdir(parents=True)
    (packs / "pk_aaaaaaaa.md").write_text("no pack at all\n")
    with open_workspace(tmp_path, storage=tmp_path / "s", cache=tmp_path / "c", embedder="fast") as workspace:
        answer = workspace.call("context_search", {"query": "check the password"})
    assert not answer.is_error, answer.text
    found = json.loads(answer.text)
    assert "pk_aaaaaaaa.md" in found["warning"]
    assert found["results"][0]["source"] == "code"


class Worker:
    """A background that only remembers what it was asked to do, and may have failed the last time."""

    def __init__(self, works: bool, failure: str | None = None) -> None:
        self.works = works
        self.failure = failure
        self.started: list[str] = []

    def start(self, task: str) -> bool:
        self.started.append(task)
        return self.works

    def trouble(self, task: str) -> str | None:
        return self.failure

    def wait(self, task: str, seconds: float) -> bool:
        return True


@pytest.mark.clause("ME-22")
def test_many_new_files_are_indexed_by_the_worker_and_progress_is_shown() -> None:
    files: dict[str, str | bytes] = {"old.py": "def g17(): ...\n"}
    room = Room(files)
    room.search("g17")
    files |= {f"m/f{number}.py": f"def g{number}(): ...\n" for number in range(51)}
    room._registry = None
    worker = Worker(works=True)
    room.with_memory(background=worker)
    found = room.search("g17")
    assert found["indexing"]["total"] in (51, 52)  # a file as young as the clock's grain is looked at again
    assert next(iter(found)) == "partial"
    assert "grep_codebase" in found["partial"]
    assert [row["path"] for row in found["results"]] == ["old.py"], "what is already there"
    assert worker.started == ["memory"]
    del files["m/f49.py"], files["m/f50.py"]
    found = room.search("g17")
    assert "indexing" not in found
    assert {row["path"] for row in found["results"]} == {"old.py", "m/f17.py"}
    files["m/new.py"] = "def zebra(): ...\n"
    assert room.search("zebra")["results"][0]["path"] == "m/new.py"
    assert worker.started == ["memory"]


@pytest.mark.clause("ME-22")
def test_a_call_indexes_itself_if_the_worker_does_not_run() -> None:
    room = Room({f"m/f{number}.py": f"def g{number}(): ...\n" for number in range(60)})
    room.with_memory(background=Worker(works=False))
    assert "indexing" not in room.search("g17")


class Slow:
    """A semantic embedder that is never asked for long."""

    id, dimension, weight = "slow/1", 2, 0.7

    def embed(self, texts: Sequence[str], kind: Kind) -> Any:
        import numpy

        return numpy.tile(numpy.array([1.0, 0.0], dtype=numpy.float32), (len(texts), 1))


@pytest.mark.clause("ME-35", "RT-25")
def test_an_answer_shows_embedding_progress_and_starts_the_worker() -> None:
    room = Room({})
    memory, worker = room.memory, Worker(works=True)
    searching = Searching(
        memory.index, memory.searching.fast, Slow(), monotonic=room.clock.monotonic, budget=-1.0
    )
    room.with_memory(searching=searching, background=worker)
    for number in range(101):
        room.record("rule", f"work is done by rule number {number}")
    found = room.search("work")
    assert found["semantic"]["done"] < found["semantic"]["total"]
    assert worker.started == ["memory"]
    worker.failure = "the endpoint is away"
    assert room.search("work")["warning"] == "the endpoint is away"
    searching.fill(Scope(), lambda: False, lambda _: None)
    done = room.search("work")
    assert "semantic" not in done
    assert "warning" not in done
    assert worker.started == ["memory", "memory"], "nothing is left to embed"


class Opinionated(Slow):
    """A semantic embedder to which everything is alike, but for questions that do not name money."""

    unrelated = 0.5

    def embed(self, texts: Sequence[str], kind: Kind) -> Any:
        import numpy

        near = [kind != "query" or "money" in text for text in texts]
        return numpy.array([[1.0, 0.0] if each else [0.0, 1.0] for each in near], dtype=numpy.float32)


@pytest.mark.clause("ME-32")
@pytest.mark.parametrize(
    ("query", "is_found"),
    [("handling of money", True), ("which sums are stored", True), ("quantum entanglement", False)],
)
def test_with_a_model_a_question_that_nothing_is_near_or_has_a_word_of_has_no_results(
    query: str, is_found: bool
) -> None:
    room = Room({})
    memory = room.memory
    model = Opinionated()
    room.with_memory(
        searching=Searching(memory.index, memory.searching.fast, model, monotonic=room.clock.monotonic)
    )
    room.record("rule", "Sums are kept in cents")
    results = room.search(query)["results"]
    assert bool(results) is is_found
