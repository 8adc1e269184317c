"""Where code is found: by its text, by its definition's name, by likeness, in other files, or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any

import pytest
from attrs import evolve
from inmemory import MemorySourceTree
from pack_history import KeptTexts

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import FileNames, Reason, SourceFile, Unreadable
from context_pack.kernel.text import LineRange
from context_pack.packs import following
from context_pack.packs.anchors import Anchor, Symbol
from context_pack.packs.changes import put_ref
from context_pack.packs.model import Ref
from context_pack.packs.record import from_record, to_record
from context_pack.packs.resolving import STOPPED, TOO_LONG, Resolver
from context_pack.packs.states import Resolution, State
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

    def names(self, go_on: Callable[[], bool] | None = None, /) -> FileNames:
        """As the twin says, counted."""
        self.walks += 1
        return super().names(go_on)

    def read(self, path: RelativePath, max_bytes: int) -> SourceFile | Unreadable:
        """As the twin says, remembered."""
        self.reads.append(str(path))
        return super().read(path, max_bytes)


def resolver(
    files: Mapping[str, str | bytes],
    *refs: Ref,
    time: Callable[[], float] = lambda: 0.0,
    seconds: float = inf,
    kept: Mapping[str, str] | None = None,
) -> Resolver:
    """A resolver over files, with a real parser and the texts that the tests anchored."""
    texts = KeptTexts(KEPT if kept is None else kept)
    tree = CountedTree(files)
    return Resolver(
        tree,
        10**6,
        syntax=shared_syntax(),
        expected=refs,
        excerpts=texts,
        monotonic=time,
        seconds=seconds,
    )


KEPT: dict[str, str] = {}
"""What was anchored, by its digest."""


def anchored(lines: LineRange, path: str = "src/shop.py", text: str = SHOP, key: str = "ref") -> Ref:
    """A ref to these lines of a file, as they are."""
    made = resolver({path: text})
    ref = made.anchored(Ref(key, RelativePath(path), lines))
    assert ref.anchor is not None
    KEPT.update(made.anchored_texts)
    return ref


def around(text: str, code: str) -> LineRange:
    """The lines of a text on which some code stands."""
    start = text[: text.index(code)].count("\n") + 1
    return LineRange(start, start + code.rstrip("\n").count("\n"))


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


@pytest.mark.clause("AN-01")
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


@pytest.mark.clause("AN-01")
def test_an_anchor_of_an_older_pack_is_read_and_becomes_slim_when_written(desk: Any) -> None:
    desk.files["src/shop.py"] = SHOP
    pack = desk.store.get(desk.pack_with_ref(21, 23, path="src/shop.py"))
    ref = anchored(LOAD)
    record = to_record(put_ref(pack, "main", ref))
    kept = record["sections"][0]["refs"][0]["anchor"]
    assert list(kept) == ["digest", "lines", "symbol"]
    symbol = {"kind": "function", "name": "load", "signature": "def load(path)", "part": "all"}
    assert kept.pop("symbol") == symbol
    kept |= {"before": ["5-01234567"], "after": [], "first": "f-01234567", "last": "f-01234567"}
    kept |= {"rolling": None, "sketch": "0123", "beside": "0123", "newer": "carried along"}
    old = from_record(record)
    ((_, before),) = old.refs
    assert anchor(before) == evolve(anchor(ref), symbol=None)
    assert set(to_record(old)["sections"][0]["refs"][0]["anchor"]) == {"digest", "lines", "newer"}
    assert became(before, {"src/shop.py": SHOP}).state is State.EXACT
    assert became(before, {"src/shop.py": "# new\n" + SHOP}).state is State.MOVED
    assert became(before, {"lib/rows.py": SHOP}).state is State.MOVED
    ((_, after),) = put_ref(old, "main", ref).refs
    assert after.anchor == ref.anchor


@pytest.mark.clause("AN-06")
@pytest.mark.parametrize("path", ["lib/shop.py", "src/store.py", "other/deep/till.txt"])
def test_a_renamed_file_takes_its_refs_along(path: str) -> None:
    for lines in (PRICE, LOAD):
        found = became(anchored(lines), {"a.py": "x = 1\n", path: SHOP, "z.py": LOAD_TEXT[:20]})
        assert (found.state, place(found)) == (State.MOVED, (path, lines.start, lines.end))


@pytest.mark.clause("AN-06")
def test_code_that_was_cut_out_into_another_file_is_followed_there() -> None:
    rest = SHOP.replace(LOAD_TEXT, "")
    found = became(anchored(LOAD), {"src/shop.py": rest, "src/rows.py": f"import csv\n\n\n{LOAD_TEXT}"})
    assert (found.state, place(found)) == (State.MOVED, ("src/rows.py", 4, 6))
    stub = rest + "def load(path):\n    return rows.load(path)\n"
    found = became(anchored(LOAD), {"src/shop.py": stub, "src/rows.py": LOAD_TEXT})
    assert (found.state, place(found)) == (State.CHANGED, ("src/shop.py", 21, 22))
    assert found.reason == "changed since anchored; the former text also stands in src/rows.py:1-3"


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
def test_a_short_text_counts_only_in_a_file_of_the_same_name() -> None:
    ref = anchored(LineRange(1, 1))
    assert became(ref, {"a.py": "import os\nimport sys\n"}).state is State.STALE
    found = became(ref, {"a.py": "import os\n", "lib/shop.py": "import os\n"})
    assert (found.state, place(found)) == (State.MOVED, ("lib/shop.py", 1, 1))


@pytest.mark.clause("AN-07")
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


@pytest.mark.clause("AN-07")
def test_a_rewritten_moved_definition_is_shown_if_only_one_file_has_it() -> None:
    other = "def load(path):\n    return [row.strip() for row in Path(path).open()]\n"
    files = {"src/shop.py": SHOP.replace(LOAD_TEXT, ""), "lib/rows.py": "x = 1\n" + other}
    found = became(anchored(LOAD), files)
    assert (found.state, place(found)) == (State.CHANGED, ("lib/rows.py", 2, 3))
    found = became(anchored(LOAD), {"lib/rows.py": other})
    assert (found.state, place(found)) == (State.CHANGED, ("lib/rows.py", 1, 2))
    assert became(anchored(LOAD), {**files, "lib/b.py": other}).state is State.STALE


@pytest.mark.clause("AN-07")
def test_a_changed_definition_is_shown_with_the_anchored_extent() -> None:
    new = SHOP.replace("@property", "@cached_property").replace("_name.strip()", "_name.strip().lower()")
    assert place(became(anchored(LineRange(9, 11)), {"src/shop.py": new})) == ("src/shop.py", 9, 11)
    assert place(became(anchored(LineRange(10, 11)), {"src/shop.py": new})) == ("src/shop.py", 10, 11)
    part = anchored(LineRange(15, 17))
    new = SHOP.replace("count > 10", "count > 20").replace('costs."""\n', 'costs."""\n        check(item)\n')
    assert place(became(part, {"src/shop.py": new})) == ("src/shop.py", 16, 18)


@pytest.mark.clause("AN-07")
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
def test_a_deleted_definition_is_not_shown_as_one_that_another_ref_is_about(
    path: str, deleted: str, sibling: str, name: str, new: str
) -> None:
    text = f"{'package shop' if path.endswith('.go') else 'import log'}\n\n{deleted}\n\n{sibling}"
    ref = anchored(around(text, deleted), path, text)
    other = anchored(around(text, sibling), path, text, "other")
    for rest in (text.replace(deleted, ""), text.replace(deleted, "").replace("count", "number")):
        call = resolver({path: rest}, ref, other)
        assert call(ref).state is State.STALE
        assert call(other).found is not None
    renamed = deleted.replace(name, new).replace('"taken", ', '"gone", ')
    found = resolver({path: text.replace(deleted, renamed)}, ref, other)(ref)
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


@pytest.mark.clause("AN-07", "AN-10")
def test_other_code_on_the_old_lines_is_not_shown() -> None:
    other = SHOP.replace(LOAD_TEXT, "def save(data):\n    for row in data:\n        emit(row)\n")
    found = became(anchored(LOAD), {"src/shop.py": other})
    assert (found.state, found.found, found.excerpt) == (State.STALE, None, None)
    assert found.reason == "neither its text nor its definition is found"


@pytest.mark.clause("AN-18")
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
def test_what_a_search_that_stopped_did_not_see_is_unknown_and_not_stale() -> None:
    def late() -> Callable[[], float]:
        return iter([0.0, 0.0, *[99.0] * 100]).__next__

    ref = anchored(LOAD)
    found = resolver({"lib/rows.py": SHOP, "b.py": ""}, ref, time=late(), seconds=3)(ref)
    assert (found.state, found.found, found.reason) == (State.UNKNOWN, None, STOPPED)
    assert resolver({"lib/rows.py": SHOP, "b.py": ""}, ref, time=late())(ref).state is State.MOVED
    here = {"src/shop.py": SHOP.replace("open(path)", "path.open()"), "z.py": LOAD_TEXT}
    found = resolver(here, ref, time=late(), seconds=3)(ref)
    assert (found.state, found.reason) == (State.CHANGED, "changed since anchored")


class TroubledTree(CountedTree):
    """A source tree with a file that cannot be read just now."""

    trouble = "src/shop.py"

    def read(self, path: RelativePath, max_bytes: int) -> SourceFile | Unreadable:
        """As the twin says, but for one file."""
        return Unreadable(path, Reason.IO) if str(path) == self.trouble else super().read(path, max_bytes)


@pytest.mark.clause("AN-18")
def test_a_file_that_cannot_be_read_just_now_makes_a_ref_unknown() -> None:
    ref = anchored(LOAD)
    tree = TroubledTree({"src/shop.py": SHOP})
    found = Resolver(tree, 10**6, syntax=shared_syntax(), excerpts=KeptTexts(KEPT))(ref)
    assert (found.state, found.reason) == (State.UNKNOWN, "the file cannot be read")
    tree = TroubledTree({"lib/a.py": "pass\n", "lib/b.py": SHOP})
    tree.trouble = "lib/b.py"
    found = Resolver(tree, 10**6, syntax=shared_syntax(), excerpts=KeptTexts(KEPT))(ref)
    assert (found.state, found.reason) == (State.UNKNOWN, "not found, and lib/b.py could not be read")


AUTH = """\
import jwt


def check(token, key):
    claims = jwt.decode(token, key)
    if claims["exp"] < now():
        raise Expired(claims["exp"])
    return claims["sub"]


def renew(token):
    return jwt.encode(check(token, KEY), KEY)
"""
CHECK = AUTH[AUTH.index("def check") : AUTH.index("\n\n\ndef renew") + 1]


@pytest.mark.clause("AN-06")
@pytest.mark.parametrize("part", [CHECK, "".join(f"{line}\n" for line in CHECK.split("\n")[1:4])])
def test_a_copy_elsewhere_does_not_hide_a_change_at_home(part: str) -> None:
    lines = around(AUTH, part)
    ref = anchored(lines, "v1/auth.py", AUTH)
    edited = AUTH.replace("raise Expired(", "raise TooOld(")
    found = became(ref, {"v1/auth.py": edited, "v2/auth.py": AUTH})
    assert (found.state, place(found)) == (State.CHANGED, ("v1/auth.py", lines.start, lines.end))
    assert found.reason == f"changed since anchored; the former text also stands in v2/auth.py:{lines}"
    assert found.change.startswith("changed since anchored: 1 of ")
    gone = became(
        ref, {"v1/auth.py": edited.replace(CHECK.replace("Expired", "TooOld"), ""), "v2/auth.py": AUTH}
    )
    assert (gone.state, place(gone)) == (State.MOVED, ("v2/auth.py", lines.start, lines.end))
    assert became(ref, {"v2/auth.py": AUTH}).state is State.MOVED


@pytest.mark.clause("AN-06")
def test_lines_without_a_definition_stay_at_home_while_a_block_there_is_alike() -> None:
    notes = (
        "# Deploy\n\nRun the migrations before the workers start.\nThen restart both of the web servers.\n"
    )
    ref = anchored(LineRange(3, 4), "docs/deploy.md", notes)
    edited = notes.replace("both of the", "all three")
    found = became(ref, {"docs/deploy.md": edited, "old/deploy.md": notes})
    assert (found.state, place(found)) == (State.CHANGED, ("docs/deploy.md", 3, 4))
    assert "old/deploy.md:3-4" in (found.reason or "")
    found = became(ref, {"docs/deploy.md": "# Deploy\n\nSee the other page.\n", "old/deploy.md": notes})
    assert (found.state, place(found)) == (State.MOVED, ("old/deploy.md", 3, 4))


TWINS = """\
class Cat:
    def feed(self, food):
        self.hunger -= food.weight * FACTOR
        return self.hunger


class Dog:
    def feed(self, food):
        self.hunger -= food.weight * FACTOR
        return self.hunger
"""


@pytest.mark.clause("AN-02", "AN-09")
def test_of_equal_texts_the_one_of_the_anchored_name_is_meant() -> None:
    ref = anchored(LineRange(8, 10), "pets.py", TWINS)
    found = became(ref, {"pets.py": f"import food\n\n\n{TWINS}"})
    assert (found.state, place(found)) == (State.MOVED, ("pets.py", 11, 13))
    swapped = TWINS.replace("Cat", "Cow").replace("Dog", "Cat").replace("Cow", "Dog")
    found = became(ref, {"pets.py": swapped})
    assert (found.state, place(found)) == (State.MOVED, ("pets.py", 2, 4))
    found = became(ref, {"lib/pets.py": TWINS})
    assert (found.state, place(found)) == (State.MOVED, ("lib/pets.py", 8, 10))
    edited = TWINS[:-1].removesuffix("hunger") + "hunger + 1\n"
    found = became(ref, {"pets.py": edited})
    assert (found.state, place(found)) == (State.CHANGED, ("pets.py", 8, 10))
    assert found.reason == "changed since anchored; the former text also stands in pets.py:2-4"


FILTERS = "fn get_filters() -> Map {\n    let mut rv = Map::new();\n"
FILTERS += "".join(
    f'    rv.insert("{name}", Filter::new({name}));\n' for name in ("safe", "upper", "lower", "trim")
)
FILTERS += "    rv\n}\n"


@pytest.mark.clause("AN-07")
def test_a_definition_of_the_name_that_is_unlike_loses_against_one_that_is_much_alike() -> None:
    ref = anchored(LineRange(1, 8), "src/defaults.rs", FILTERS)
    built = FILTERS.replace("fn get_filters", "fn build_filters").replace("    rv\n", "    rv.freeze()\n")
    wrapper = "pub fn get_filters() -> Arc<Map> {\n    CACHE.get_or_init(build_filters)\n}\n"
    found = became(ref, {"src/defaults.rs": f"{wrapper}\n{built}"})
    assert (found.state, place(found)) == (State.CHANGED, ("src/defaults.rs", 5, 12))
    found = became(ref, {"src/defaults.rs": wrapper})
    assert (found.state, place(found)) == (State.CHANGED, ("src/defaults.rs", 1, 3))


FUEL = """\
impl Tracker {
    fn track(&self, cost: u64) -> bool {
        self.left.fetch_sub(cost) > cost
    }
}

fn cost_of(step: &Step) -> u64 {
    match step {
        Step::Push
        | Step::Pop => 0,
        _ => 1,
    }
}

fn last() {}
"""


@pytest.mark.clause("AN-07")
def test_changed_lines_end_where_their_last_line_went() -> None:
    ref = anchored(LineRange(2, 13), "fuel.rs", FUEL)
    found = became(ref, {"fuel.rs": FUEL.replace("Push\n", "Push\n        | Step::Swap\n")})
    assert (found.state, place(found)) == (State.CHANGED, ("fuel.rs", 2, 14))
    inside = anchored(LineRange(8, 11), "fuel.rs", FUEL)
    longer = FUEL.replace("=> 0,\n", "=> 0,\n        Step::Call => 5,\n        Step::Jump => 2,\n")
    found = became(inside, {"fuel.rs": longer})
    assert (found.state, place(found)) == (State.CHANGED, ("fuel.rs", 8, 13))
    found = became(inside, {"fuel.rs": FUEL.replace("_ => 1,", "other => other.weight(),")})
    assert (found.state, place(found)) == (State.CHANGED, ("fuel.rs", 7, 13))


@pytest.mark.clause("AN-06")
def test_other_refs_say_where_a_file_went_in_which_a_method_was_renamed() -> None:
    ref, other = anchored(PRICE), anchored(LOAD, key="other")
    new = SHOP.replace("def price(self, item, count=1)", "def cost(self, item, count=1)")
    call = resolver({"lib/store.py": "import re\n" + new, "z.py": "pass\n"}, ref, other)
    assert (call(ref).state, place(call(ref))) == (State.CHANGED, ("lib/store.py", 14, 19))
    assert became(ref, {"lib/store.py": new}).state is State.STALE
    short = anchored(LineRange(3, 3), key="short")
    call = resolver({"lib/store.py": "import re\n" + new, "z.py": "RATE = 7\n"}, short, other)
    assert (call(short).state, place(call(short))) == (State.MOVED, ("lib/store.py", 4, 4))


SCHEME = """\
func (c *context) Scheme() string {
	if c.IsTLS() {
		return "https"
	}
	return "http"
}
"""


@pytest.mark.clause("AN-07")
def test_a_method_whose_type_was_renamed_is_found_by_its_bare_name() -> None:
    old = f"package echo\n\n{SCHEME}"
    ref = anchored(LineRange(3, 8), "context.go", old)
    renamed = old.replace("*context", "*Context")
    found = became(ref, {"context.go": renamed})
    assert (found.state, place(found)) == (State.CHANGED, ("context.go", 3, 8))
    unlike = "package echo\n\nfunc (p *Proxy) Scheme() string {\n	return p.target.URL.Scheme\n}\n"
    assert became(ref, {"context.go": unlike}).state is State.STALE


@pytest.mark.clause("AN-19")
def test_without_the_kept_text_code_is_found_by_its_digest_and_its_name() -> None:
    ref = anchored(LOAD)

    def lost(files: Mapping[str, str]) -> Resolution:
        return resolver(files, ref, kept={})(ref)

    assert lost({"src/shop.py": SHOP}).state is State.EXACT
    assert place(lost({"src/shop.py": "# new\n" + SHOP})) == ("src/shop.py", 22, 24)
    assert place(lost({"lib/shop.py": SHOP})) == ("lib/shop.py", 21, 23)
    found = lost({"src/shop.py": SHOP.replace("open(path)", "path.open()")})
    assert (found.state, place(found), found.difference) == (State.CHANGED, ("src/shop.py", 21, 23), None)
    assert lost({"src/shop.py": SHOP.replace("load", "fetch")}).state is State.STALE


@pytest.mark.clause("AN-18")
def test_a_lost_text_in_a_file_too_long_to_hash_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(f"statement_{number}()\n" for number in range(4_000))
    ref = anchored(LineRange(1, 2_000), "a.py", text)
    monkeypatch.setattr(following, "MOST_HASHED", 10_000_000)
    found = resolver({"a.py": "# new\n" + text}, ref, kept={})(ref)
    assert (found.state, found.reason) == (State.UNKNOWN, TOO_LONG)
    assert became(ref, {"a.py": "# new\n" + text}).state is State.MOVED


@pytest.mark.clause("AN-18")
def test_large_files_of_equal_lines_are_searched_to_their_end() -> None:
    text = "    pass\n" * 30_000
    ref = anchored(LineRange(1, 2_000), "a.py", "first()\n" + text)
    assert became(ref, {"a.py": text + "first()\n" + text}).state is State.MOVED
    assert became(ref, {"a.py": text}).state in (State.CHANGED, State.STALE)


@pytest.mark.clause("AN-10")
def test_a_stale_ref_still_knows_what_it_was() -> None:
    found = became(anchored(LOAD), {"src/shop.py": "pass\n"})
    assert found.state is State.STALE
    assert found.former is not None
    assert "\n".join(found.former.lines) == LOAD_TEXT.removesuffix("\n")
    assert (found.former.first, found.former.language) == (21, "python")
