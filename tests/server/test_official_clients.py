"""Official clients of both languages and of old and new make play one plan on the real server.

What only a fixture can show (progress, a stream, a call that timed out) the Python client asks of the fixture
server in each of its modes. Every client models and validates what it gets, so a field that is missing,
misnamed or of the wrong type fails there; what it then holds is compared here. The plan is data, and the
script of a client only knows which of its functions serves which method, so all are asked exactly the same.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp.client.stdio
import mcp_types as types
import pytest
from filelock import FileLock
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from stdio_client import PRIVATE, environment
from waiting import PATIENCE

# A server that takes longer to end would be killed, and one that is not reaped at once left behind.
mcp.client.stdio.PROCESS_TERMINATION_TIMEOUT = PATIENCE


@asynccontextmanager
async def connected(mode: str, server: StdioServerParameters, **options: Any) -> AsyncIterator[Client]:
    """A client of a fresh server process."""
    with anyio.fail_after(PATIENCE):
        async with Client(stdio_client(server), mode=mode, **options) as client:
            yield client


HERE = Path(__file__).parent
SDK_1, CLIENT_2 = "@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0"
FETCH_SECONDS = 300
PACK = "referee-pack"
URI = f"context://pack/{PACK}"
SOURCE = "def greet(name):\n    return f'hello {name}'\n"

Step = tuple[str, str, dict[str, Any]]


def change(step: str, revision: int, action: str, **fields: Any) -> Step:
    """A change of the pack."""
    given = {"action": action, "name": PACK, "expected_revision": revision, **fields}
    return step, "tools/call", {"name": "input", "arguments": given}


def completion(step: str, ref: dict[str, str], argument: str, typed: str) -> Step:
    """A completion of what was typed so far."""
    return step, "completion/complete", {"ref": ref, "argument": {"name": argument, "value": typed}}


NEW_PACK = {"action": "create", "name": PACK, "title": "Réferee", "ttl_minutes": 60}
PLACE = {"path": "src/greet.py", "line_start": 1, "line_end": 2}
STEPS: list[Step] = [
    ("tools", "tools/list", {}),
    ("created", "tools/call", {"name": "input", "arguments": NEW_PACK}),
    change("section", 1, "upsert_section", section_key="core", section_title="Core"),
    change("ref", 2, "upsert_ref", section_key="core", ref_key="greet", **PLACE),
    change("conflict", 1, "set_meta", title="Late"),
    ("list", "tools/call", {"name": "output", "arguments": {}}),
    ("shown", "tools/call", {"name": "output", "arguments": {"name": PACK}}),
    ("resources", "resources/list", {}),
    ("templates", "resources/templates/list", {}),
    ("read", "resources/read", {"uri": URI}),
    ("stats", "resources/read", {"uri": "context://stats"}),
    ("prompts", "prompts/list", {}),
    ("prompt", "prompts/get", {"name": "take_over", "arguments": {"pack": PACK}}),
    completion("names", {"type": "ref/prompt", "name": "take_over"}, "pack", "refe"),
    completion("ids", {"type": "ref/resource", "uri": "context://pack/{id}"}, "id", "pk_"),
    ("no tool", "tools/call", {"name": "nope", "arguments": {}}),
    ("no resource", "resources/read", {"uri": "context://pack/pk_aaaaaaaa"}),
    ("no prompt", "prompts/get", {"name": "nope", "arguments": {}}),
    change("shorter", 3, "upsert_ref", section_key="core", ref_key="greet", **{**PLACE, "line_end": 1}),
    ("read again", "resources/read", {"uri": URI}),
]
PING: Step = ("ping", "ping", {})

Said = dict[str, Any]


def plan(folder: Path, *, legacy: bool) -> dict[str, Any]:
    """The steps, and how to start the real server; only the legacy era has `ping`."""
    (folder / "src").mkdir()
    (folder / "src" / "greet.py").write_text(SOURCE, "utf-8")
    server = {
        "command": sys.executable,
        "args": ["-m", "context_pack"],
        "cwd": str(folder),
        "env": {name: environment()[name] for name in ("PYTHONPATH", PRIVATE)}
        | {"CONTEXT_PACK_LOG": "error"},
    }
    return {"server": server, "steps": [*STEPS, *([PING] if legacy else [])]}


def python_2(mode: str) -> Callable[[Path], Said]:
    """The official Python client that the tests depend on."""

    def run(folder: Path) -> Said:
        return asyncio.run(_played(mode, plan(folder, legacy=mode == "legacy")))

    return run


async def _played(mode: str, given: dict[str, Any]) -> Said:
    said: Said = {}
    async with connected(mode, StdioServerParameters(**given["server"])) as client:
        info = client.server_info
        server_info = info and info.model_dump(by_alias=True)
        said["hello"] = {"version": client.protocol_version, "server": server_info}
        said["instructions"] = client.instructions
        table = _functions(client)
        for key, method, params in given["steps"]:
            try:
                result = await table[method](params)
                said[key] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
            except MCPError as caught:
                said[key] = {"error": {"code": caught.code, "message": caught.error.message}}
    return said


async def _ping(client: Client) -> Any:
    with pytest.warns(MCPDeprecationWarning):  # the newest revision has no ping
        return await client.send_ping()


def _functions(client: Client) -> dict[str, Callable[[dict[str, Any]], Awaitable[Any]]]:
    refs: dict[str, Any] = {
        "ref/prompt": types.PromptReference,
        "ref/resource": types.ResourceTemplateReference,
    }
    return {
        "ping": lambda _: _ping(client),
        "tools/list": lambda _: client.list_tools(),
        "tools/call": lambda given: client.call_tool(given["name"], given["arguments"]),
        "resources/list": lambda _: client.list_resources(),
        "resources/templates/list": lambda _: client.list_resource_templates(),
        "resources/read": lambda given: client.read_resource(given["uri"]),
        "prompts/list": lambda _: client.list_prompts(),
        "prompts/get": lambda given: client.get_prompt(given["name"], given["arguments"]),
        "completion/complete": lambda given: client.complete(
            refs[given["ref"]["type"]](**given["ref"]), given["argument"]
        ),
    }


def node_packages(pin: str) -> Path:
    """A `node_modules` folder with this package, fetched once; where it cannot be had, the test is skipped.

    `REFEREE_CACHE` names another folder for it than the user's cache.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "context-pack-tests"
    place = Path(os.environ.get("REFEREE_CACHE") or cache) / f"npm-{pin.replace('/', '-').replace('@', '')}"
    if shutil.which("npm") is None:
        pytest.skip("npm is not on this machine")
    place.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{place}.lock"):  # several test processes may want the same one
        if not place.is_dir():
            half = place.with_suffix(".half")  # renamed when it is whole
            command = ["npm", "install", "--prefix", str(half), "--ignore-scripts", "--fetch-retries=1", pin]
            done = subprocess.run(command, capture_output=True, timeout=FETCH_SECONDS, check=False)
            if done.returncode:
                pytest.skip(f"{pin} could not be fetched: {done.stderr[:300]!r}")
            half.rename(place)
    return place / "node_modules"


def typescript(pin: str, script: str, *mode: str) -> Callable[[Path], Said]:
    """An official client in TypeScript, played by a script of ours."""

    def run(folder: Path) -> Said:
        path = folder / "plan.json"
        path.write_text(json.dumps(plan(folder, legacy=mode in ((), ("legacy",)))), "utf-8")
        done = subprocess.run(
            ["node", HERE / "js" / script, node_packages(pin), *mode, path],
            cwd=folder,
            env=environment(HOME=str(folder.parent)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        said: Said = json.loads(done.stdout)
        return said

    return run


LEGACY = "2025-11-25"
MODERN = "2026-07-28"
CLIENTS: dict[str, tuple[str, Callable[[Path], Said]]] = {
    "Python 2, legacy": (LEGACY, python_2("legacy")),
    "Python 2, auto": (MODERN, python_2("auto")),
    "Python 2, 2026-07-28": (MODERN, python_2(MODERN)),
    "TypeScript 1": (LEGACY, typescript(SDK_1, "sdk_1.mjs")),
    "TypeScript 2, legacy": (LEGACY, typescript(CLIENT_2, "client_2.mjs", "legacy")),
    "TypeScript 2, auto": (MODERN, typescript(CLIENT_2, "client_2.mjs", "auto")),
    "TypeScript 2, 2026-07-28": (MODERN, typescript(CLIENT_2, "client_2.mjs", MODERN)),
}


FETCHED = [pytest.param(name, marks=pytest.mark.slow) for name in CLIENTS if name.startswith("TypeScript")]


def text_of(result: Any) -> str:
    """The one text block of a tool's result."""
    (block,) = result["content"]
    assert block["type"] == "text"
    text: str = block["text"]
    return text


@pytest.mark.clause("MCP-10", "MCP-14", "MCP-21", "MCP-22", "MCP-40", "MCP-42", "MCP-50", "MCP-52", "MCP-54")
@pytest.mark.parametrize("client", [*(name for name in CLIENTS if name.startswith("Python")), *FETCHED])
def test_a_client_plays_the_plan_and_holds_what_the_server_said(client: str, tmp_path: Path) -> None:
    version, play = CLIENTS[client]
    said = play(tmp_path)
    assert said["hello"].get("version", version) == version  # TypeScript 1 does not tell
    if client != "Python 2, 2026-07-28":  # a pinned version asks nothing before its first request
        assert said["hello"]["server"]["name"] == "context-pack"
        assert said["instructions"]
    tools = {tool["name"]: tool for tool in said["tools"]["tools"]}
    assert tools["input"]["annotations"]["readOnlyHint"] is False
    assert tools["input"]["outputSchema"]["type"] == "object"
    for step, revision in (("created", 1), ("section", 2), ("ref", 3)):
        assert json.loads(text_of(said[step])) == said[step]["structuredContent"]
        assert said[step]["structuredContent"]["payload"]["revision"] == revision
    pack = said["created"]["structuredContent"]["payload"]
    assert pack["title"] == "Réferee"
    assert said["conflict"]["isError"] is True
    assert json.loads(text_of(said["conflict"]))["code"] == "revision_conflict"
    assert "Réferee" in text_of(said["list"])
    assert "def greet(name):" in text_of(said["shown"])
    assert said["shown"].get("structuredContent") is None
    listed = {resource["uri"] for resource in said["resources"]["resources"]}
    assert {f"context://pack/{pack['id']}", "context://stats"} <= listed
    assert "context://pack/{id}" in str(said["templates"])
    before, after = (said[step]["contents"][0]["text"] for step in ("read", "read again"))
    assert before == text_of(said["shown"])
    assert ("return f" in before, "return f" in after) == (True, False)
    assert json.loads(said["stats"]["contents"][0]["text"])["input"]["calls"] == 4
    assert "take_over" in str(said["prompts"])
    assert json.dumps(PACK) in said["prompt"]["messages"][0]["content"]["text"]
    assert said["names"]["completion"]["values"] == [PACK]
    assert pack["id"] in said["ids"]["completion"]["values"]
    codes = [said[step]["error"]["code"] for step in ("no tool", "no resource", "no prompt")]
    old = version == LEGACY and client != "TypeScript 2, legacy"  # it shows the new code for the old one
    assert codes == [-32602, -32002 if old else -32602, -32602]
    assert "error" not in said.get("ping", {})


FIXTURE = Path(__file__).with_name("fixture_server.py")
SERVER = StdioServerParameters(command=sys.executable, args=[str(FIXTURE)])
MODES = ["legacy", "auto", "2026-07-28"]

Scene = Callable[[Client], Awaitable[None]]


def play(mode: str, scene: Scene, **options: Any) -> None:
    """Run a scene on a connection of its own."""

    async def run() -> None:
        async with connected(mode, SERVER, **options) as client:
            await scene(client)

    asyncio.run(run())


@pytest.mark.clause("MCP-60")
@pytest.mark.parametrize("mode", MODES)
def test_progress_arrives_before_the_result(mode: str) -> None:
    async def scene(client: Client) -> None:
        seen: list[tuple[float, float | None]] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            seen.append((progress, total))

        await client.call_tool("test_tool_with_progress", {}, progress_callback=note)
        assert seen == [(0, 100), (50, 100), (100, 100)]

    play(mode, scene)


@pytest.mark.clause("MCP-82")
@pytest.mark.parametrize("mode", ["auto", "2026-07-28"])
def test_a_modern_client_opens_and_leaves_a_listen_stream(mode: str) -> None:
    async def scene(client: Client) -> None:
        for _ in range(2):
            async with client.listen(
                resources_list_changed=True,
                tools_list_changed=True,
                resource_subscriptions=["test://watched-resource"],
            ) as stream:
                assert stream.honored.resources_list_changed is True
                assert stream.honored.tools_list_changed is None
                assert stream.honored.resource_subscriptions == ["test://watched-resource"]
        assert (await client.list_tools()).tools

    play(mode, scene)


@pytest.mark.clause("MCP-30", "MCP-31")
@pytest.mark.parametrize("mode", MODES)
def test_a_client_can_go_on_after_a_timed_out_call(mode: str) -> None:
    async def scene(client: Client) -> None:
        for _ in range(3):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.02):
                    await client.call_tool("test_tool_with_progress", {})
        result = await client.call_tool("test_simple_text", {})
        assert not result.is_error

    play(mode, scene)
