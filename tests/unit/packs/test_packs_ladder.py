"""The ladder of evidence: text in the file, text in the tree, the definition by name, likeness, nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from attrs import evolve

from context_pack.kernel.lines import LineRange
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import FileNames, SourceFile, Unreadable
from context_pack.packs.domain.anchors import Anchor, Symbol
from context_pack.packs.domain.changes import put_ref
from context_pack.packs.domain.model import Ref
from context_pack.packs.domain.record import from_record, to_record
from context_pack.packs.domain.states import Resolution, State
from context_pack.packs.usecases.resolving import SEARCH_SECONDS, Resolver
from context_pack_adapters.inmemory import MemorySourceTree
from context_pack_adapters.syntax import shared_syntax

SHOP = '''\
import os

RATE = 7


class Shop:
    """Sells."""

    @property
    def name(self):
        return self._name.strip()

    def price(self, item, count=1):
        """What it costs."""
        total = item.price * count
        if count > 10:
            total -= self.discount(total)
        return total + self.tax(total)


def load(path):
    with open(path) as file:
        return parse_rows(file.read())
'''
PRICE = LineRange(13, 18)
LOAD = LineRange(21, 23)
LOAD_TEXT = "".join(line + "\n" for line in SHOP.split("\n")[20:23])


class CountedTree(MemorySourceTree):
    """A source tree that counts its walks and reads."""

    walks = 0

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        super().__init__(files)
        self.reads: list[str] = []

    def names(self) -> FileNames:
        """As the twin says, counted."""
        self.walks += 1
        return super().names()

    def read(self, path: RelativePath, max_bytes: int) -> SourceFile | Unreadable:
        """As the twin says, remembered."""
        self.reads.append(str(path))
        return super().read(path, max_bytes)


def resolver(
    files: Mapping[str, str | bytes], *refs: Ref, time: Callable[[], float] = lambda: 0.0
) -> Resolver:
    """A resolver over files, with a real parser."""
    return Resolver(CountedTree(files), 10**6, syntax=shared_syntax(), monotonic=time, expected=refs)


def anchored(lines: LineRange, path: str = "src/shop.py", text: str = SHOP, key: str = "ref") -> Ref:
    """A ref to these lines of a file, as they are."""
    ref = resolver({path: text}).anchored(Ref(key, RelativePath(path), lines))
    assert ref.anchor is not None
    return ref


def anchor(ref: Ref) -> Anchor:
    """The anchor that a ref has."""
    assert ref.anchor is not None
    return ref.anchor


def became(ref: Ref, files: Mapping[str, str | bytes]) -> Resolution:
    """What became of a ref in these files."""
    return resolver(files, ref)(ref)


def place(found: Resolution) -> tuple[str, int, int]:
    """Where code was found."""
    assert found.found is not None
    return str(found.found.path), found.found.lines.start, found.found.lines.end


@pytest.mark.clause("AN-16")
@pytest.mark.parametrize(
    ("start", "end", "symbol"),
    [
        (13, 18, Symbol("method", "Shop.price", "def price(self, item, count=1)")),
        (12, 19, Symbol("method", "Shop.price", "def price(self, item, count=1)")),
        (15, 17, Symbol("method", "Shop.price", "def price(self, item, count=1)", "3-5")),
        (9, 11, Symbol("method", "Shop.name", "def name(self)")),
        (10, 11, Symbol("method", "Shop.name", "def name(self)", "bare")),
        (9, 18, Symbol("class", "Shop", "class Shop", "4-13")),
        (1, 3, None),
        (12, 12, None),
    ],
)
def test_an_anchor_names_the_innermost_definition_around_its_lines(
    start: int, end: int, symbol: Symbol | None
) -> None:
    assert anchor(anchored(LineRange(start, end))).symbol == symbol


@pytest.mark.clause("AN-16", "AN-01")
def test_an_old_anchor_gains_its_definition_when_anchored_again(desk: Any) -> None:
    desk.files["src/shop.py"] = SHOP
    pack = desk.store.get(desk.pack_with_ref(21, 23, path="src/shop.py"))
    ref = anchored(LOAD)
    record = to_record(put_ref(pack, "main", ref))
    kept = record["sections"][0]["refs"][0]["anchor"]
    assert kept.pop("symbol") == {
        "kind": "function",
        "name": "load",
        "signature": "def load(path)",
        "part": "all",
    }
    assert kept.pop("sketch")
    assert kept.pop("beside")
    old = from_record(record)
    ((_, before),) = old.refs
    assert (anchor(before).symbol, anchor(before).sketch, anchor(before).beside) == (None, None, None)
    assert became(before, {"src/shop.py": SHOP}).state is State.EXACT
    assert became(before, {"src/shop.py": "# new\n" + SHOP}).state is State.MOVED
    assert became(before, {"lib/rows.py": SHOP}).state is State.MOVED
    ((_, after),) = put_ref(old, "main", ref).refs
    assert after.anchor == ref.anchor


@pytest.mark.clause("AN-06")
@pytest.mark.parametrize("path", ["lib/shop.py", "src/store.py", "other/deep/till.txt"])
def test_a_renamed_file_takes_its_refs_along(path: str) -> None:
    for lines in (PRICE, LOAD, LineRange(3, 3)):
        found = became(anchored(lines), {"a.py": "x = 1\n", path: SHOP, "z.py": LOAD_TEXT[:20]})
        assert (found.state, place(found)) == (State.MOVED, (path, lines.start, lines.end))


@pytest.mark.clause("AN-06")
def test_code_that_was_cut_out_into_another_file_is_followed_there() -> None:
    rest = SHOP.replace(LOAD_TEXT, "")
    found = became(anchored(LOAD), {"src/shop.py": rest, "src/rows.py": f"import csv\n\n\n{LOAD_TEXT}"})
    assert (found.state, place(found)) == (State.MOVED, ("src/rows.py", 4, 6))
    stub = rest + "def load(path):\n    return rows.load(path)\n"
    found = became(anchored(LOAD), {"src/shop.py": stub, "src/rows.py": LOAD_TEXT})
    assert (found.state, place(found)) == (State.MOVED, ("src/rows.py", 1, 3))


@pytest.mark.clause("AN-06", "AN-09")
def test_code_in_two_other_files_is_ambiguous_and_listed() -> None:
    files = {"src/shop.py": "pass\n", "a.py": LOAD_TEXT, "b.py": "\n" + LOAD_TEXT}
    found = became(anchored(LOAD), files)
    assert (found.state, found.found, found.excerpt) == (State.AMBIGUOUS, None, None)
    assert found.reason == "ambiguous, lines 1-3 of a.py, 2-4 of b.py"


@pytest.mark.clause("AN-06", "ST-60")
def test_stored_excerpts_do_not_count_as_copies_of_the_code() -> None:
    ref = anchored(LOAD)
    kept = {f"store/excerpts/{anchor(ref).digest}.txt": LOAD_TEXT.removesuffix("\n")}
    found = became(ref, {**kept, "lib/rows.py": SHOP})
    assert (found.state, place(found)[0]) == (State.MOVED, "lib/rows.py")
    assert became(ref, kept).state is State.STALE


@pytest.mark.clause("AN-06")
def test_a_trivial_line_elsewhere_is_not_the_code() -> None:
    ref = anchored(LineRange(1, 1))
    assert became(ref, {"src/shop.py": "pass\n", "a.py": "import os\nimport sys\n"}).state is State.STALE
    beside = became(ref, {"src/shop.py": "pass\n", "a.py": "import os\n\nRATE = 7\n"})
    assert (beside.state, place(beside)) == (State.MOVED, ("a.py", 1, 1))


@pytest.mark.clause("AN-17")
def test_a_changed_definition_is_shown_where_its_name_is() -> None:
    new = SHOP.replace(
        "def price(self, item, count=1):", "async def price(self, item, count: int = 1) -> int:"
    )
    new = new.replace("if count > 10", "if count > self.many").replace(
        "import os\n", "import os\nimport re\n"
    )
    found = became(anchored(PRICE), {"src/shop.py": new, "other.py": "def price():\n    pass\n"})
    assert (found.state, place(found)) == (State.CHANGED, ("src/shop.py", 14, 19))
    assert found.reason == "changed since anchored"


@pytest.mark.clause("AN-17")
def test_a_rewritten_moved_definition_is_shown_if_only_one_file_has_it() -> None:
    other = "def load(path):\n    return [row.strip() for row in Path(path).open()]\n"
    files = {"src/shop.py": SHOP.replace(LOAD_TEXT, ""), "lib/rows.py": "x = 1\n" + other}
    found = became(anchored(LOAD), files)
    assert (found.state, place(found)) == (State.CHANGED, ("lib/rows.py", 2, 3))
    found = became(anchored(LOAD), {"lib/rows.py": other})
    assert (found.state, place(found)) == (State.CHANGED, ("lib/rows.py", 1, 2))
    assert became(anchored(LOAD), {**files, "lib/b.py": other}).state is State.STALE


@pytest.mark.clause("AN-17")
def test_a_changed_definition_is_shown_with_the_anchored_extent() -> None:
    new = SHOP.replace("@property", "@cached_property").replace("_name.strip()", "_name.strip().lower()")
    assert place(became(anchored(LineRange(9, 11)), {"src/shop.py": new})) == ("src/shop.py", 9, 11)
    assert place(became(anchored(LineRange(10, 11)), {"src/shop.py": new})) == ("src/shop.py", 10, 11)
    part = anchored(LineRange(15, 17))
    new = SHOP.replace("count > 10", "count > 20").replace('costs."""\n', 'costs."""\n        check(item)\n')
    assert place(became(part, {"src/shop.py": new})) == ("src/shop.py", 16, 18)


@pytest.mark.clause("AN-17")
def test_of_several_definitions_of_one_name_the_most_alike_is_shown() -> None:
    twice = "if NEW:\n    def load(path):\n        return None\nelse:\n    def load(path):\n" + "\n".join(
        "    " + line for line in LOAD_TEXT.split("\n")[1:3]
    )
    assert place(became(anchored(LOAD), {"src/shop.py": twice + "\n"})) == ("src/shop.py", 5, 7)


SELL = """\
def sell(item, count):
    stock = find_stock(item.number)
    stock.take(count)
    log.info("taken", item=item, count=count)
    return Receipt(item, total=item.price * count)
"""
LEND = SELL.replace("sell", "lend").replace("Receipt(item, total", "Loan(item, pledge")
GO_SELL = """\
func (s *Shop) Sell(item Item, count int) Receipt {
	stock := s.findStock(item.Number)
	stock.Take(count)
	s.log.Info("taken", item, count)
	return Receipt{Item: item, Total: item.Price * count}
}
"""
GO_LEND = GO_SELL.replace("Sell", "Lend").replace("Receipt", "Loan").replace("Total", "Pledge")


@pytest.mark.clause("AN-07")
@pytest.mark.parametrize(
    ("path", "deleted", "sibling", "name", "new"),
    [("shop.py", SELL, LEND, "sell", "vend"), ("shop.go", GO_SELL, GO_LEND, "Sell", "Vend")],
)
def test_a_deleted_definition_is_not_shown_as_its_sibling(
    path: str, deleted: str, sibling: str, name: str, new: str
) -> None:
    head = "package shop\n\n" if path.endswith(".go") else "import log\n\n"
    start = head.count("\n") + 1
    lines = LineRange(start, start + deleted.count("\n") - 1)
    ref = anchored(lines, path, f"{head}{deleted}\n\n{sibling}")
    for rest in (sibling, sibling.replace("count", "number"), f"{sibling}\n\n{sibling}"):
        found = became(ref, {path: head + rest})
        assert (found.state, found.found, found.excerpt) == (State.STALE, None, None)
    renamed = deleted.replace(name, new).replace('"taken", ', '"gone", ')
    found = became(ref, {path: f"{head}{sibling}\n\n{renamed}"})
    assert (found.state, found.excerpt) == (State.CHANGED, renamed.removesuffix("\n"))


@pytest.mark.clause("AN-07")
def test_a_renamed_definition_is_shown_by_its_likeness() -> None:
    new = SHOP.replace("def price(self, item, count=1)", "def cost(self, item, number=1)").replace(
        "RATE = 7", ""
    )
    found = became(anchored(PRICE), {"src/shop.py": new.replace('"""Sells."""', "")})
    assert (found.state, place(found)) == (State.CHANGED, ("src/shop.py", 13, 18))


@pytest.mark.clause("AN-07")
def test_one_changed_value_of_a_line_is_shown() -> None:
    found = became(anchored(LineRange(3, 3)), {"src/shop.py": SHOP.replace("RATE = 7", "RATE = 19")})
    assert (found.state, found.excerpt) == (State.CHANGED, "RATE = 19")


@pytest.mark.clause("AN-08", "AN-10")
def test_other_code_on_the_old_lines_is_not_shown() -> None:
    other = SHOP.replace(LOAD_TEXT, "def save(data):\n    for row in data:\n        emit(row)\n")
    found = became(anchored(LOAD), {"src/shop.py": other})
    assert (found.state, found.found, found.excerpt) == (State.STALE, None, None)
    assert found.reason == "neither its text nor its definition is found"


@pytest.mark.clause("AN-18", "PK-65")
def test_one_walk_finds_every_ref_of_a_call() -> None:
    bodies = [f"def step_{at}(value):\n    return value + {at} * FACTOR_{at}\n" for at in range(20)]
    old = {f"src/s{at}.py": body for at, body in enumerate(bodies)}
    refs = [anchored(LineRange(1, 2), path, text, f"ref-{at}") for at, (path, text) in enumerate(old.items())]
    refs += [evolve(ref, key=f"{ref.key}-2") for ref in refs]
    files = {f"lib/t{at}.py": body for at, body in enumerate(bodies)}
    call = resolver(files, *refs)
    assert {call(ref).state for ref in refs} == {State.MOVED}
    tree = call.tree
    assert isinstance(tree, CountedTree)
    assert tree.walks == 1
    assert sorted(set(tree.reads)) == sorted({*old, *files})
    assert len(tree.reads) == len(old) + len(files)


@pytest.mark.clause("AN-18")
def test_an_incomplete_search_claims_nothing_and_says_so() -> None:
    moments = iter([0.0, *[SEARCH_SECONDS + 1] * 100])
    ref = anchored(LOAD)
    found = resolver({"lib/rows.py": SHOP}, ref, time=lambda: next(moments))(ref)
    assert (found.state, found.reason) == (
        State.STALE,
        "file not found; the search of the tree stopped early",
    )
    moments = iter([0.0, *[SEARCH_SECONDS + 1] * 100])
    here = {"src/shop.py": SHOP.replace("open(path)", "path.open()"), "z.py": LOAD_TEXT}
    found = resolver(here, ref, time=lambda: next(moments))(ref)
    assert found.state is State.CHANGED
    assert found.reason == "changed since anchored; the search of the tree stopped early"
