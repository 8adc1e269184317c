"""What bundles offer to a client: three tools."""

from __future__ import annotations

import pytest
from bundle_maker import desk_of

from context_pack.toolkit.registry import describe

TOOLS = ("export_context", "get_context", "export_entity_markdown")


@pytest.mark.clause("BD-53")
@pytest.mark.parametrize("name", TOOLS)
def test_the_tools_only_read_and_say_what_they_answer(name: str) -> None:
    shown = describe(desk_of({}).registry.tools[name])
    assert {hint: shown["annotations"][hint] for hint in shown["annotations"] if hint != "title"} == {
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }
    fields = {"ok", "tool", "data", "bundleId", "meta", "diagnostics", "error"}
    assert set(shown["outputSchema"]["properties"]) == fields
    assert "maximum" not in shown["inputSchema"]["properties"].get("dependencyDepth", {})
    assert not desk_of({}).registry.tools[name].mutates({})
