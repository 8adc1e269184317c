"""Drafts and what is searched: a draft answers a question and must not be found as its own answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from inmemory import FixedClock, SeededIds
from inmemory.ports import memory_ports

from context_pack.app import build
from context_pack.toolkit.call import QuietCall

ORDERS = {
    f"src/carrier{number}.py": (
        f'def ship_order_{number}(order):\n    """Ship the order by carrier {number}."""\n    return order\n'
    )
    for number in range(6)
}


class Shop:
    """A registry over the files of a shop."""

    def __init__(self, files: Mapping[str, str] = ORDERS) -> None:
        self._registry = build(memory_ports(files, FixedClock(), SeededIds(), ()))

    def call(self, tool: str, **arguments: Any) -> Any:
        answer = self._registry.call(tool, arguments, QuietCall())
        assert not answer.is_error, answer.text
        return json.loads(answer.text)

    def search(self, query: str) -> Any:
        return self.call("context_search", query=query, limit=20)

    def draft(self, query: str, **more: Any) -> Any:
        return self.call("input", action="draft", query=query, ttl_minutes=60, **more)["payload"]

    def change(self, pack: Any, action: str, **arguments: Any) -> Any:
        return self.call(
            "input", action=action, id=pack["id"], expected_revision=pack["revision"], **arguments
        )["payload"]


@pytest.fixture
def shop() -> Shop:
    shop = Shop()
    shop.call("context_record", type="rule", content="No order leaves unpaid")
    return shop


@pytest.mark.clause("ME-50")
def test_generated_text_of_a_draft_is_not_searchable(shop: Shop) -> None:
    pack = shop.draft("xylophone order", name="xylophone-orders")
    assert {section["key"] for section in pack["sections"]} == {"code", "memory"}
    assert shop.search("xylophone")["results"] == []


@pytest.mark.clause("ME-50")
def test_drafting_again_and_again_changes_no_search_and_no_draft(shop: Shop) -> None:
    question = "how do we ship an order by carrier"
    before = shop.search(question)
    drafts = [shop.draft(question) for _ in range(5)]
    after = shop.search(question)
    assert (after["totalFound"], after["results"]) == (before["totalFound"], before["results"])
    assert drafts[0]["sections"] == drafts[-1]["sections"]


@pytest.mark.clause("ME-50")
def test_hand_written_text_in_a_draft_is_searchable(shop: Shop) -> None:
    pack = shop.draft("xylophone order")
    first, second = (ref["key"] for ref in pack["sections"][0]["refs"][:2])
    titled = {"section_key": "code", "ref_key": first, "path": "src/carrier0.py", "line_start": 1}
    why = "the gatekeeper of everything"
    pack = shop.change(pack, "upsert_ref", **titled, line_end=3, ref_title="Entry", ref_why=why)
    found = shop.search("gatekeeper")["results"]
    assert [(each["pack"], each["ref"]) for each in found] == [(pack["id"], first)]
    titled |= {"ref_key": second, "path": "src/carrier1.py"}
    why = 'found for "xylophone order", score 0.50'
    pack = shop.change(pack, "upsert_ref", **titled, line_end=3, ref_title="Quartermaster", ref_why=why)
    assert [each["ref"] for each in shop.search("quartermaster")["results"]] == [second]
    assert shop.search("xylophone")["results"] == []
    section = {"section_key": "memory", "section_title": "Memory"}
    description = pack_description(shop, pack) + "\nAsk the harbourmaster."
    pack = shop.change(pack, "upsert_section", **section, section_description=description)
    (hit,) = shop.search("harbourmaster")["results"]
    assert hit["content"] == "Ask the harbourmaster."
    pack = shop.change(pack, "set_meta", title="Zeppelins and ships")
    found = shop.search("zeppelins")["results"]
    assert {each["section"] for each in found} == {"code", "memory"}
    assert not any("No order leaves" in each["content"] for each in found)


def pack_description(shop: Shop, pack: Any) -> str:
    whole = shop.call("input", action="get", id=pack["id"])["payload"]
    (told,) = (each["description"] for each in whole["sections"] if each["key"] == "memory")
    return str(told)


@pytest.mark.clause("ME-50")
def test_a_ref_of_another_pack_is_called_by_its_title_and_code_comes_before_it(shop: Shop) -> None:
    pack = shop.call("input", action="create", ttl_minutes=60, title="Walrus")["payload"]
    pack = shop.change(pack, "upsert_section", section_key="walrus", section_title="Walrus")
    place = {"section_key": "walrus", "path": "src/carrier0.py", "line_start": 1, "line_end": 3}
    shop.change(pack, "upsert_ref", **place, ref_key="one", ref_title="Tusk", ref_why="a walrus is fed here")
    (section,) = shop.draft("where is the walrus fed")["sections"]
    assert [(ref["key"], ref["title"], ref["path"]) for ref in section["refs"]] == [
        ("tusk", "Tusk", "src/carrier0.py")
    ]
    refs = shop.draft("ship the order by carrier 0 walrus")["sections"][0]["refs"]
    assert [ref["title"] for ref in refs if ref["path"] == "src/carrier0.py"] == ["ship_order_0"]


def padded(name: str, inside: str) -> str:
    """A function of many lines around one of them."""
    filler = "".join(f"    step_{n} = {n}\n" for n in range(20))
    return f"def {name}(key):\n{filler}    {inside}\n{filler}"


TOKENS = {
    "src/keys.py": 'def renew_token(key):\n    """Renew a token that has expired."""\n    return key\n',
    "src/night.py": "from keys import renew_token\n\n\n" + padded("nightly", "renew_token(key)"),
    "src/short.py": "class Door:\n    def knock(self, key):\n        return renew_token(key)\n",
    "tests/test_keys.py": "def test_it():\n    assert renew_token(1)\n",
}


def refs_of(pack: Any) -> list[tuple[str, str, str]]:
    return [
        (ref["path"], f"{ref['lines']['start']}-{ref['lines']['end']}", ref["why"].rpartition(": ")[2])
        for section in pack["sections"]
        for ref in section["refs"]
    ]


@pytest.mark.clause("ME-51")
def test_a_draft_of_what_happens_shows_who_calls_the_best_definitions() -> None:
    refs = refs_of(Shop(TOKENS).draft("what happens when a token has expired"))
    assert ("src/night.py", "24-26", "uses renew_token") in refs
    assert ("src/short.py", "2-3") in [ref[:2] for ref in refs]
    assert not any(path.startswith("tests/") and why.startswith("uses") for path, _, why in refs)


@pytest.mark.clause("ME-51")
def test_other_drafts_and_names_that_are_everywhere_show_no_callers() -> None:
    lines = "".join(f"def work_{n}(key):\n    return renew_token(key)\n\n\n" for n in range(201))
    for shop, question in (
        (Shop(TOKENS), "how is a token renewed that has expired"),
        (Shop(TOKENS | {"src/many.py": lines}), "what happens when a token has expired"),
    ):
        assert not any(why.startswith("uses") for _, _, why in refs_of(shop.draft(question)))


@pytest.mark.clause("ME-51")
def test_beside_the_best_code_comes_only_what_calls_it_or_is_called_by_it() -> None:
    said = '    """Sell the boat to its buyer."""\n'
    files = {f"src/boat{n}.py": f"def sell_boat_{n}(buyer):\n{said}    return buyer\n" for n in range(5)}
    files["src/market.py"] = f"def open_market(buyer):\n{said}    sell_boat_0(buyer)\n    log(buyer)\n"
    files["tests/test_boat.py"] = f"def test_sale():\n{said}    assert sell_boat_0(1)\n"
    refs = {path: why for path, _, why in refs_of(Shop(files).draft("sell the boat to its buyer"))}
    beside = {path: why for path, why in refs.items() if "call" in why}
    assert len(refs) - len(beside) == 3
    assert set(beside) <= {"src/market.py", "tests/test_boat.py", "src/boat0.py"}
    assert beside["tests/test_boat.py"].startswith("calls sell_boat_0")


@pytest.mark.clause("ME-51")
def test_a_definition_of_many_lines_is_whole_where_it_fits() -> None:
    lines = "".join(f"    total_{n} = count + {n}\n" for n in range(180))
    ledger = f'def balance(count):\n    """The balance of the ledger."""\n{lines}    return ledger\n'
    shop = Shop({"src/ledger.py": ledger})
    assert ("src/ledger.py", "1-183") in [ref[:2] for ref in refs_of(shop.draft("the balance of the ledger"))]
    small = refs_of(shop.draft("the balance of the ledger", max_tokens=1_000))
    assert small
    assert ("src/ledger.py", "1-183") not in [ref[:2] for ref in small]
