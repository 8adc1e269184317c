"""Where code is found: by its text, by its definition's name, by likeness, in other files, or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf

import pytest
from inmemory import MemorySourceTree
from kept_texts import KeptTexts

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Reason, SourceFile, Unreadable
from context_pack.kernel.text import LineRange
from context_pack.packs.anchors import Symbol
from context_pack.packs.model import Ref
from context_pack.packs.resolving import STOPPED, Resolver
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


def resolver(
    files: Mapping[str, str | bytes],
    *refs: Ref,
    time: Callable[[], float] = lambda: 0.0,
    seconds: float = inf,
    kept: Mapping[str, str] | None = None,
) -> Resolver:
    """A resolver over files, with a real parser and the texts that the tests anchored."""
    texts = KeptTexts(KEPT if kept is None else kept)
    return Resolver(
        MemorySourceTree(files),
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


def became(ref: Ref, files: Mapping[str, str | bytes]) -> Resolution:
    return resolver(files, ref)(ref)


def place(found: Resolution) -> tuple[str, int, int]:
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
    ref = anchored(LineRange(start, end))
    assert ref.anchor is not None
    assert ref.anchor.symbol == symbol


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
def test_a_deleted_definition_is_not_shown_as_its_sibling_but_a_renamed_one_is_followed(
    path: str, deleted: str, sibling: str, name: str, new: str
) -> None:
    text = f"{'package shop' if path.endswith('.go') else 'import log'}\n\n{deleted}\n\n{sibling}"
    ref = anchored(around(text, deleted), path, text)
    other = anchored(around(text, sibling), path, text, "other")
    for rest in (text.replace(deleted, ""), text.replace(deleted, "").replace("count", "number")):
        call = resolver({path: rest}, ref, other)
        assert call(ref).state is State.STALE
        assert call(other).found is not None
        assert resolver({path: rest}, ref)(ref).state is State.STALE
    part = anchored(LineRange(ref.lines.start + 2, ref.lines.end), path, text)
    assert resolver({path: text.replace(deleted, "")}, part)(part).state is State.STALE
    renamed = deleted.replace(name, new).replace('"taken", ', '"gone", ')
    found = resolver({path: text.replace(deleted, renamed)}, ref, other)(ref)
    assert (found.state, found.excerpt) == (State.CHANGED, renamed.removesuffix("\n"))


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


class TroubledTree(MemorySourceTree):
    """A source tree with a file that cannot be read just now."""

    trouble = "src/shop.py"

    def read(self, path: RelativePath, max_bytes: int) -> SourceFile | Unreadable:
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
    assert found.reason == "changed since anchored"
    assert found.change.startswith("changed since anchored: 1 of ")
    gone = became(
        ref, {"v1/auth.py": edited.replace(CHECK.replace("Expired", "TooOld"), ""), "v2/auth.py": AUTH}
    )
    assert (gone.state, place(gone)) == (State.MOVED, ("v2/auth.py", lines.start, lines.end))
    assert became(ref, {"v2/auth.py": AUTH}).state is State.MOVED


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
