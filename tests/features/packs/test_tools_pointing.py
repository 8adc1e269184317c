"""What `upsert_ref` answers: what was anchored, refs by name, and what is near where nothing is."""

from __future__ import annotations

from typing import Any

import pytest

from context_pack.kernel.errors import Failure
from context_pack.packs.definitions import find_definition
from context_pack.packs.resolving import Resolver
from context_pack_adapters.syntax import shared_syntax

SHOP = '''\
class Shop:
    """Sells."""

    def price(self, item):
        return item.price


class Till:
    def price(self, item):
        return 0


def load(path):
    return open(path).read()
'''


@pytest.fixture
def shop(new_desk: Any) -> tuple[Any, str]:
    """A desk with a real parser and a pack with one section."""
    desk = new_desk(
        {"src/shop.py": SHOP, "src/rows.py": "def rows():\n    return []\n", "docs/a.md": "# A\n"}
    )
    pack = desk.create()
    desk.section(pack)
    return desk, pack


def upsert(desk: Any, pack: str, **fields: Any) -> Any:
    """The ref that an `upsert_ref` answers."""
    return desk.change(pack, "upsert_ref", section_key="main", ref_key="ref", **fields)["changed"]


def refused(desk: Any, pack: str, **fields: Any) -> Any:
    """The error of an `upsert_ref`."""
    call = {"action": "upsert_ref", "id": pack, "expected_revision": desk.store.get(pack).revision}
    return desk.refused("input", **call, section_key="main", ref_key="ref", **fields)


@pytest.mark.clause("PK-68")
@pytest.mark.parametrize(
    ("path", "lines", "warning"),
    [
        ("src/shp.py", (1, 2), "src/shp.py does not exist; did you mean src/shop.py?"),
        ("shop.py", (1, 2), "shop.py does not exist; did you mean src/shop.py?"),
        ("zzz/quite-other", (1, 2), "zzz/quite-other does not exist"),
        ("src/shop.py", (40, 42), "lines 40-42 do not exist: src/shop.py has 14 lines"),
        ("docs/a.md", (1, 3), "lines 1-3 do not exist: docs/a.md has 1 line; did you mean 1-1?"),
        (".env", (1, 1), ".env cannot be shown: the path is denied by policy"),
    ],
)
def test_a_ref_to_a_missing_place_suggests_near_ones(
    shop: tuple[Any, str], path: str, lines: tuple[int, int], warning: str
) -> None:
    desk, pack = shop
    ref = upsert(desk, pack, path=path, line_start=lines[0], line_end=lines[1])
    assert (ref["state"], ref["found"], ref["first_line"]) == ("stale", None, None)
    assert ref["warning"] == warning
    operation = {"action": "upsert_ref", "section_key": "main", "ref_key": "two", "path": path}
    (other,) = desk.change(
        pack, "batch", operations=[{**operation, "line_start": lines[0], "line_end": lines[1]}]
    )["changed"]
    assert other.endswith(f" stale: {warning}")


@pytest.mark.clause("PK-69")
@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        ({"path": "src/shop.py", "symbol": "Shop.price"}, (4, 5)),
        ({"path": "src/shop.py", "symbol": "load"}, (13, 14)),
        ({"symbol": "Till.price"}, (9, 10)),
        ({"symbol": "Till"}, (8, 10)),
    ],
)
def test_a_ref_may_name_a_definition(
    shop: tuple[Any, str], fields: dict[str, str], lines: tuple[int, int]
) -> None:
    desk, pack = shop
    ref = upsert(desk, pack, **fields, ref_why="because")
    assert (ref["path"], ref["lines"]) == ("src/shop.py", {"start": lines[0], "end": lines[1]})
    assert (ref["state"], ref["why"]) == ("exact", "because")


@pytest.mark.clause("PK-69")
def test_an_unknown_or_ambiguous_symbol_is_refused_with_candidates(
    shop: tuple[Any, str],
) -> None:
    desk, pack = shop
    error = refused(desk, pack, path="src/shop.py", symbol="price")
    assert (error["code"], error["details"]["field"]) == ("invalid_data", "symbol")
    assert "'price' is defined 2 times" in error["message"]
    assert error["details"]["near"] == [
        "Shop.price in src/shop.py, lines 4-5",
        "Till.price in src/shop.py, lines 9-10",
    ]
    assert refused(desk, pack, path="src/shop.py", symbol="laod")["details"]["near"] == ["load"]
    assert refused(desk, pack, path="src/shp.py", symbol="load")["details"]["near"] == ["src/shop.py"]
    assert "nothing called 'nowhere'" in refused(desk, pack, symbol="nowhere")["message"]
    assert "did you mean load?" in refused(desk, pack, symbol="laod")["message"]
    assert refused(desk, pack, symbol="Till.prise")["details"]["near"] == ["Till.price"]
    both = refused(desk, pack, path="src/shop.py", symbol="load", line_start=1, line_end=2)
    assert both["details"]["field"] == "symbol"
    assert refused(desk, pack, path="src/shop.py", line_start=1)["details"]["field"] == "line_end"
    assert desk.store.get(pack).sections[0].refs == ()


@pytest.mark.clause("PK-69")
def test_a_symbol_search_that_timed_out_does_not_claim_absence(shop: tuple[Any, str]) -> None:
    desk, _ = shop
    desk.files["src/till.py"] = "def pay():\n    load('till')\n"
    for looks, found in [(0, "not found"), (8, "found once")]:
        moments = iter([0.0] * (1 + looks) + [99.0] * 100)
        resolver = Resolver(desk.tree, 1_000, syntax=shared_syntax(), monotonic=moments.__next__, seconds=9)
        with pytest.raises(Failure, match=f"'load' was {found} before the time was over"):
            find_definition("load", None, resolver)


OVERLOADS = """\
from typing import overload


@overload
def read(key: int) -> int: ...


@overload
def read(key: str) -> str:
    ...


def read(key):
    return STORE[key]
"""
INTERFACE = """\
export interface Stall {
  name: string;
}

export const Stall = {
  open: (name: string) => ({ name }),
};

export function sell(item: string): void;
export function sell(item: number): void;
export function sell(item: any): void {
  till.add(item);
}
"""
ABSTRACT = "import abc\n\n\nclass Base(abc.ABC):\n    @abc.abstractmethod\n    def pay(self, sum):\n"
ABSTRACT += (
    '        """Pay it."""\n        ...\n\n\nclass Card(Base):\n    def pay(self, sum):\n        bank(sum)\n'
)


@pytest.mark.clause("PK-69")
@pytest.mark.parametrize(
    ("path", "text", "symbol", "lines"),
    [
        ("api.py", OVERLOADS, "read", (13, 14)),
        ("shop.ts", INTERFACE, "Stall", (5, 7)),
        ("shop.ts", INTERFACE, "sell", (11, 13)),
        ("pay.py", ABSTRACT, "pay", (12, 13)),
    ],
)
def test_stubs_and_declarations_are_not_what_a_name_means_where_one_has_a_body(
    shop: tuple[Any, str], path: str, text: str, symbol: str, lines: tuple[int, int]
) -> None:
    desk, pack = shop
    desk.files[path] = text
    for where in ({"path": path}, {}):
        ref = upsert(desk, pack, symbol=symbol, **where)
        assert (ref["path"], ref["lines"]) == (path, {"start": lines[0], "end": lines[1]})


@pytest.mark.clause("AN-01", "AN-06")
def test_a_ref_that_is_put_again_while_its_file_is_away_keeps_its_anchor(shop: tuple[Any, str]) -> None:
    desk, pack = shop
    upsert(desk, pack, path="src/shop.py", line_start=13, line_end=14)
    desk.files["src/elsewhere.py"] = desk.files.pop("src/shop.py")
    upsert(desk, pack, path="src/shop.py", line_start=13, line_end=14, ref_why="Reads all of it")
    state = desk.state(pack)
    assert (state["state"], state["found"]["path"], "change" in state) == ("moved", "src/elsewhere.py", False)
