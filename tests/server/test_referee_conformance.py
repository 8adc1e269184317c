"""The official conformance suite, both requirement sets, on the fixture server behind the HTTP bridge.

Every scenario that a revision requires must pass, but for those listed here by name: they need a request from
server to client (sampling, elicitation, roots), which this server never makes and does not declare.
"""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import referees
from stdio_client import environment

FIXTURE = Path(__file__).with_name("conformance_server.py")

SAMPLING = "the server asks the client's model for a completion"
ELICITATION = "the server asks the client's user for input"
ROOTS = "the server asks the client for its roots"
INPUT = "the server answers a call with a request for input"
EXCLUDED = {
    "2025-11-25": {
        "tools-call-sampling": SAMPLING,
        "tools-call-elicitation": ELICITATION,
        "elicitation-sep1034-defaults": ELICITATION,
        "elicitation-sep1330-enums": ELICITATION,
    },
    "2026-07-28": {
        "input-required-result-basic-elicitation": ELICITATION,
        "input-required-result-basic-sampling": SAMPLING,
        "input-required-result-basic-list-roots": ROOTS,
        "input-required-result-request-state": INPUT,
        "input-required-result-multiple-input-requests": INPUT,
        "input-required-result-multi-round": INPUT,
        "input-required-result-non-tool-request": INPUT,
        "input-required-result-result-type": INPUT,
        "input-required-result-tampered-state": INPUT,
        "input-required-result-capability-check": INPUT,
    },
}
REQUIRED = {"2025-11-25": 30, "2026-07-28": 37}

VERDICT = re.compile(r"^[✓✗] (\S+): (\d+) passed, (\d+) failed$", re.MULTILINE)
UNSCORED = re.compile(r"^  [✓✗] (\S+) \(\S+\)$", re.MULTILINE)


@contextmanager
def bridged(bridge: Path, folder: Path) -> Iterator[str]:
    """The address of the fixture server behind the bridge."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(bridge), "--port", str(port), "--", sys.executable, str(FIXTURE)]
    with subprocess.Popen(
        command, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        try:
            said = process.stderr.readline().decode()
            assert "http://" in said, said
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()
            process.communicate(timeout=30)


@pytest.mark.slow
@pytest.mark.clause("MCP-20")
@pytest.mark.parametrize("revision", list(EXCLUDED))
def test_every_required_scenario_passes(revision: str, tmp_path: Path) -> None:
    bridge = referees.bridge()
    suite = referees.node_packages(referees.CONFORMANCE) / "@modelcontextprotocol" / "conformance"
    node = referees.node((22, 0))
    with bridged(bridge, tmp_path) as url:
        words = ["server", "--url", url, "--requirements", revision, "-o", str(tmp_path / "results")]
        done = referees.referee([node, suite / "dist" / "index.js", *words], tmp_path)
    unscored = set(UNSCORED.findall(done.stdout))
    verdicts = {
        name: (int(passed), int(failed))
        for name, passed, failed in VERDICT.findall(done.stdout)
        if name not in unscored
    }
    excluded = EXCLUDED[revision]
    assert len(verdicts) == REQUIRED[revision], done.stdout[-2000:] + done.stderr[-2000:]
    assert set(excluded) <= set(verdicts)
    missed = {
        name: counts
        for name, counts in verdicts.items()
        if name not in excluded and (counts[1] or not counts[0])
    }
    assert missed == {}, done.stdout
