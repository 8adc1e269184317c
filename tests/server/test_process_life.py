"""The end always comes: end of input, signals, a dead parent, a closed output, silence."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from stdio_client import HELLO, PATIENCE, StdioClient, environment
from waiting import until

from context_pack_adapters.server.pump import MAX_UNSENT_BYTES

Spawn = Callable[..., StdioClient]


@pytest.mark.clause("TR-40")
@pytest.mark.parametrize(
    "torn", [b"", b'{"jsonrpc": "2.0", "id": 1, "meth', b"Content-Length: 400\r\n\r\n{", b"Content-Le"]
)
def test_end_of_input_ends_the_process_with_zero_also_in_a_message(spawn: Spawn, torn: bytes) -> None:
    client = spawn()
    client.raw(torn)
    code, errors = client.end()
    assert code == 0
    assert "Traceback" not in errors


@pytest.mark.clause("TR-41")
def test_requests_received_before_end_of_input_are_answered(spawn: Spawn) -> None:
    client = spawn()
    client.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO})
    client.send(
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "output", "arguments": {}}}
    )
    client.close_input()
    assert client.reply(1)["result"]["serverInfo"]["name"] == "context-pack"
    assert not client.reply(2)["result"].get("isError")
    assert client.wait() == 0


@pytest.mark.slow
@pytest.mark.clause("TR-41")
def test_end_of_input_is_noticed_while_replies_are_unread(spawn: Spawn) -> None:
    """So many replies are unread that the server has stopped reading; it waits for no reader for ever."""
    client = spawn(env={"CONTEXT_PACK_LOG": "off", "CONTEXT_PACK_CALL_SECONDS": "1"})
    reply = client.encode(client.request("tools/list"))
    enough = MAX_UNSENT_BYTES // len(reply) + 500
    client.raw(b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"tools/list"}\n' % n for n in range(enough)))
    client.close_input()
    assert client.wait() == 0


@pytest.mark.clause("TR-42")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_stop_signal_ends_the_process_quietly(spawn: Spawn, number: signal.Signals) -> None:
    client = spawn()
    client.initialize()
    client.process.send_signal(number)
    assert client.wait(PATIENCE) == 0
    assert "Traceback" not in client.stderr.read().decode()


@pytest.mark.clause("TR-42")
def test_a_closed_output_ends_the_process_without_a_word(spawn: Spawn) -> None:
    client = spawn(env={"CONTEXT_PACK_LOG": "error"})
    client.initialize()
    client.stdout.close()
    assert client.wait() == 0
    assert client.stderr.read() == b""


@pytest.mark.clause("TR-45")
def test_a_silent_client_ends_the_process_with_one_line_and_code_one(spawn: Spawn) -> None:
    client = spawn(env={"CONTEXT_PACK_INITIALIZE_TIMEOUT_MS": "300"})
    assert client.wait() == 1
    lines = client.stderr.read().decode().splitlines()
    assert len(lines) == 1
    assert "300 ms" in lines[0]


@pytest.mark.clause("TR-45")
def test_endless_garbage_does_not_stop_the_first_message_timeout(tmp_path: Path) -> None:
    """There is always more to read, so that the server never waits."""
    with Path("/dev/zero").open("rb") as zeros:
        ended = subprocess.run(
            [sys.executable, "-m", "context_pack"],
            stdin=zeros,
            capture_output=True,
            cwd=tmp_path,
            env=environment(CONTEXT_PACK_INITIALIZE_TIMEOUT_MS="300"),
            timeout=PATIENCE,
            check=False,
        )
    assert ended.returncode == 1


@pytest.mark.clause("TR-47")
def test_an_idle_server_uses_no_processor_time(client: StdioClient) -> None:
    client.call("output")
    path = Path(f"/proc/{client.process.pid}/stat")

    def ticks() -> int:
        fields = path.read_text().rsplit(") ", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    def used() -> int:
        before = ticks()
        end = time.monotonic() + 1.5
        while (left := end - time.monotonic()) > 0:
            signal.sigtimedwait([], left)
        return ticks() - before

    client.request("ping")
    until(lambda: used() <= 1)  # what is left for after the answers may take a moment


@pytest.mark.clause("TR-48")
def test_a_client_that_never_reads_cannot_stop_the_server_from_reading(spawn: Spawn) -> None:
    """Far more replies than two pipes hold are asked for before the first is read."""
    client = spawn()
    client.initialize()
    count = 20_000
    client.raw(
        b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % n for n in range(1000, 1000 + count))
    )
    seen = [client.read()["id"] for _ in range(count)]
    assert sorted(seen) == list(range(1000, 1000 + count))
