"""What bundles offer to a client: three tools, and resources."""

from __future__ import annotations

import json

import pytest
from bundle_maker import BundleDesk, bundle_files, desk_of, nodes

from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.offers import ResourceFamily
from context_pack.toolkit.registry import describe

TOOLS = ("export_context", "get_context", "export_entity_markdown")


def family(desk: BundleDesk) -> ResourceFamily:
    """The resources of bundles."""
    (found,) = [one for one in desk.registry.resources() if one.prefix == "context://bundle/"]
    return found


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


@pytest.mark.clause("BD-60")
def test_an_entity_is_a_resource_as_json() -> None:
    files = bundle_files({"Node": [{"id": "a b/ü", "title": "T"}]})
    desk = desk_of(files)
    for uri in ("context://bundle/one/Node/a%20b%2F%C3%BC", "context://bundle/one/Node/a b/ü"):
        found = desk.registry.read(uri)
        assert found is not None
        assert (found.uri, found.mime_type) == (uri, "application/json")
        assert json.loads(found.text) == {
            "entityType": "Node",
            "id": "a b/ü",
            "data": {"id": "a b/ü", "title": "T"},
            "lastModified": "2023-11-14T22:13:20.000Z",
        }
    assert family(desk).uri_template == "context://bundle/{bundle}/{type}/{id}"
    assert list(family(desk).entries()) == []


@pytest.mark.clause("BD-60")
@pytest.mark.parametrize("rest", ["two/Node/a", "one/Other/a", "one/Node/b", "..%2Fone/Node/a"])
def test_a_uri_that_names_nothing_is_not_found(rest: str) -> None:
    with pytest.raises(Failure) as told:
        desk_of(nodes({"a": []})).registry.read(f"context://bundle/{rest}")
    assert told.value.code is Code.NOT_FOUND
