"""What the contract shows happens: its exchanges run against the server, its tables match the code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import contract
from stdio_client import StdioClient

from context_pack.kernel.errors import KIND_OF, Kind

EXCHANGE = re.compile(r"^```exchange\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANYTHING = "…"


def exchanges() -> list[str]:
    """Every exchange of the contract, for parametrization."""
    return EXCHANGE.findall(contract())


def differences(shown: Any, seen: Any, path: str = "$") -> Iterator[str]:
    """Where what was seen is not what was shown."""
    if shown == ANYTHING:
        return
    if isinstance(shown, dict | list) and isinstance(seen, str):
        seen = json.loads(seen)
    if isinstance(shown, dict) and isinstance(seen, dict):
        for name in shown.keys() - seen.keys() - {ANYTHING}:
            yield f"{path}.{name} is missing"
        if ANYTHING not in shown:
            for name in seen.keys() - shown.keys():
                yield f"{path}.{name} is not shown"
        for name in shown.keys() & seen.keys():
            yield from differences(shown[name], seen[name], f"{path}.{name}")
    elif isinstance(shown, list) and isinstance(seen, list):
        if len(shown) != len(seen):
            yield f"{path} has {len(seen)} items, not {len(shown)}"
        for place, (one, other) in enumerate(zip(shown, seen, strict=False)):
            yield from differences(one, other, f"{path}[{place}]")
    elif shown != seen or type(shown) is not type(seen):
        yield f"{path} is {seen!r}, not {shown!r}"


def by_id(messages: list[Any]) -> dict[str, Any]:
    """Replies by their id; a batch by the id of its first member."""
    return {
        json.dumps((message[0] if isinstance(message, list) else message)["id"]): message
        for message in messages
    }


@pytest.mark.parametrize("exchange", exchanges())
def test_an_exchange_of_the_contract_happens_as_shown(exchange: str, tmp_path: Path) -> None:
    lines = exchange.splitlines()
    assert all(line.startswith(("→ ", "← ")) for line in lines)
    sent = "".join(line[2:] + "\n" for line in lines if line.startswith("→ "))
    shown = [json.loads(line[2:]) for line in lines if line.startswith("← ")]
    replies: list[Any] = []
    with StdioClient(tmp_path) as client:
        client.raw(sent.encode())
        while len(replies) < len(shown):
            replies += [message for message in [client.read()] if "method" not in message]
        client.close_input()
        with pytest.raises(EOFError):
            client.read()
    seen, wanted = by_id(replies), by_id(shown)
    assert seen.keys() == wanted.keys()
    assert [fault for name in wanted for fault in differences(wanted[name], seen[name])] == []


def test_the_contract_shows_exchanges() -> None:
    assert len(exchanges()) >= 4


@pytest.mark.clause("KN-32")
def test_the_error_table_is_the_closed_table_of_the_code() -> None:
    rows = dict(re.findall(r"^\| `([a-z_]+)` \| ((?:`[a-z_]+`(?:, )?)+) \|$", contract(), re.MULTILINE))
    written = {kind: set(re.findall(r"`([a-z_]+)`", rows.get(kind, ""))) for kind in Kind}
    assert written == {kind: {code for code, of in KIND_OF.items() if of is kind} for kind in Kind}
