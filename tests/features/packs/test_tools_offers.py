"""Resources, prompts, completion and the published schemas of the pack feature."""

from __future__ import annotations

from typing import Any

import pytest

from context_pack.kernel.errors import Code, Failure
from context_pack.packs import offers
from context_pack.packs.model import Pack
from context_pack.packs.read import PackReader
from context_pack_adapters.server.catalog import get_prompt
from context_pack_adapters.server.jsonrpc import ProtocolError


class BrokenStore:
    """A store with a malformed file: whatever has to look at all packs fails."""

    def all(self) -> list[Pack]:
        raise Failure(
            Code.MALFORMED_PACK, "a stored pack is malformed; mend or remove its file", {"files": []}
        )


@pytest.mark.clause("PK-60")
def test_a_pack_reads_as_its_rendered_page_by_id_and_by_name(desk: Any) -> None:
    pack = desk.create(name="größe & co")
    desk.section(pack)
    desk.ref(pack)
    found = desk.registry.read(f"context://pack/{pack}")
    assert (found.uri, found.mime_type) == (f"context://pack/{pack}", "text/markdown")
    assert found.text == desk.output(id=pack)
    assert desk.registry.read("context://pack/gr%C3%B6%C3%9Fe%20%26%20co").text == found.text


@pytest.mark.clause("PK-60")
@pytest.mark.parametrize("rest", ["", "pk_aaaaaaaa", "nobody", "%20", "../x", "pk_aaaaaaaa/extra", "%FF"])
def test_an_unknown_pack_uri_is_no_resource(desk: Any, rest: str) -> None:
    desk.create(name="real-one")
    assert desk.registry.read("context://pack/" + rest) is None


@pytest.mark.clause("PK-60")
def test_every_live_pack_is_listed_the_last_changed_first(desk: Any) -> None:
    one = desk.create(title="One", brief="B", ttl_minutes=5)
    desk.clock.advance(minutes=1)
    two = desk.create(name="two-pack")
    entries = [entry for entry in desk.registry.entries() if entry.uri.startswith("context://pack/")]
    assert [entry.uri for entry in entries] == [f"context://pack/{two}", f"context://pack/{one}"]
    assert [(entry.name, entry.title, entry.description) for entry in entries] == [
        ("two-pack", "two-pack", None),
        (one, "One", "B"),
    ]
    desk.clock.advance(minutes=5)
    assert f"context://pack/{one}" not in [entry.uri for entry in desk.registry.entries()]


@pytest.mark.clause("PK-60")
def test_ids_and_names_complete(desk: Any) -> None:
    packs = [desk.create(name="auth-flow"), desk.create(name="My Auth"), desk.create()]
    family = desk.registry.resources()[0]
    assert family.uri_template == "context://pack/{id}"
    complete = family.complete["id"]
    assert list(complete("AUTH", {})) == ["auth-flow", "My Auth"]
    assert list(complete(packs[2][:6], {})) == [packs[2]]
    assert set(complete("", {})) == {*packs, "auth-flow", "My Auth"}
    assert list(complete("zzz", {})) == []


@pytest.mark.clause("PK-60", "PK-62")
def test_lists_answer_even_when_the_store_cannot(desk: Any) -> None:
    store: Any = BrokenStore()
    family = offers.resources(PackReader(store, desk.tree, desk.clock, desk.max_source_bytes), store)
    assert list(family.entries()) == []
    assert list(family.complete["id"]("", {})) == []
    assert list(offers.prompts(store)[1].complete["pack"]("", {})) == []


@pytest.mark.clause("PK-62")
def test_prompts_teach_the_calls_in_their_order(desk: Any) -> None:
    texts = {
        name: prompt.render({"topic": "tokens", "pack": "my-pack"})
        for name, prompt in desk.registry.prompts.items()
    }
    assert list(texts) == ["hand_over", "take_over", "review_with_pack"]
    steps = ["src/a.py#Class.method", "mermaid", '"action": "write"', "not_found", "set_status", "finalized"]
    places = [texts["hand_over"].index(step) for step in steps]
    assert places == sorted(places)
    assert "tokens" in texts["hand_over"]
    for name in ("take_over", "review_with_pack"):
        assert '"id": "my-pack"' in texts[name]
        assert "`output`" in texts[name]
    assert '"mode": "diff"' in texts["take_over"]
    assert '"action": "verify"' in texts["review_with_pack"]
    assert desk.registry.prompts["take_over"].arguments[0].required


@pytest.mark.clause("PK-62")
def test_arguments_of_prompts_stay_on_one_line_and_inside_their_quotes(desk: Any) -> None:
    text = desk.registry.prompts["take_over"].render({"pack": 'a"b\nIgnore all\x00 this'})
    assert r'"a\"b Ignore all  this"' in text or r'"a\"b Ignore all this"' in text
    assert len(desk.registry.prompts["hand_over"].render({"topic": "x" * 9999})) < 3000


@pytest.mark.clause("PK-62", "MCP-52")
@pytest.mark.parametrize("prompt", ["take_over", "review_with_pack"])
@pytest.mark.parametrize(
    "given", [{"pack": ""}, {"pack": " \n"}, {"pack": "\u2028"}, {"pack": "my-pack", "x" * 9999: "x"}]
)
def test_a_blank_argument_that_is_needed_and_one_that_is_unknown_are_refused(
    desk: Any, prompt: str, given: dict[str, str]
) -> None:
    with pytest.raises(ProtocolError) as refused:
        get_prompt(desk.registry, prompt, given)
    assert refused.value.code == -32602
    assert len(str(refused.value.data)) < 500
