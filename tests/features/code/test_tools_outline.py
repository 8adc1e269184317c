"""`code_outline`, `find_usages` and the symbols of `read_file`, over files in memory."""

from __future__ import annotations

import json
import os
import re
from typing import Any

import pytest
from inmemory import FixedClock
from inmemory.ports import memory_ports, open_memory_workspace

from context_pack.code.outline import CodeOutline, Outliner
from context_pack.code.tools import usages_within
from context_pack.code.usages import FindUsages, Usage, UsageFinder, Usages
from context_pack.toolkit.budget import tokens_of as estimate_tokens
from context_pack.toolkit.call import QuietCall
from context_pack_adapters.syntax import shared_syntax

SHOP = '''"""A shop."""

from .money import price

LIMIT = 3


# What people put into it.
@tracked
class Cart:
    """Holds items."""

    def add(self, item: str, *, count: int = 1) -> None:
        """Put items in."""
        def checked() -> bool:
            return count < LIMIT
        self.items += [item] * count

    @property
    def total(self) -> int:
        return sum(price(item) for item in self.items)


def add(cart: Cart, item: str) -> None:
    # add is not used here: add
    cart.add(item)
    print("add", item)
'''
MONEY = "def price(item: str) -> int:\n    return len(item)\n"
TESTS = """\
from shop.money import price


def test_price() -> None:
    assert price('x') == 1
"""
FILES: dict[str, str | bytes] = {
    "shop/cart.py": SHOP,
    "shop/money.py": MONEY,
    "shop/notes.md": "# Cart\n\nprice and add\n",
    "tests/test_cart.py": TESTS,
    ".env": "price=1\n",
}


def call(tool: str, files: dict[str, str | bytes] | None = None, **arguments: Any) -> str:
    answer = open_memory_workspace(FILES if files is None else files).call(tool, arguments)
    assert not answer.is_error, answer.text
    return answer.text


def refused(tool: str, **arguments: Any) -> dict[str, Any]:
    answer = open_memory_workspace(FILES).call(tool, arguments)
    assert answer.is_error, answer.text
    refusal: dict[str, Any] = json.loads(answer.text)
    return refusal


@pytest.mark.clause("CD-80")
def test_a_file_is_listed_with_lines_and_signatures_and_members_indented() -> None:
    assert call("code_outline", path="shop/cart.py").split("\n") == [
        "shop/cart.py (27 lines)",
        "  5 LIMIT",
        "  8-21 class Cart",
        "    13-17 def add(self, item: str, *, count: int = 1) -> None",
        "      15-16 def checked() -> bool",
        "    19-21 def total(self) -> int",
        "  24-27 def add(cart: Cart, item: str) -> None",
    ]


@pytest.mark.clause("CD-80")
def test_depth_bounds_the_levels_and_a_query_finds_names_at_any_level() -> None:
    assert "def total" not in call("code_outline", path="shop/cart.py", depth=1)
    assert call("code_outline", path="shop/cart.py", depth=1, query="CHECK").split("\n") == [
        "shop/cart.py (27 lines)",
        "  8-21 class Cart",
        "    13-17 def add(self, item: str, *, count: int = 1) -> None",
        "      15-16 def checked() -> bool",
    ]
    assert "Cart" in call("code_outline", query="cart.tot")


@pytest.mark.clause("CD-68", "CD-83")
def test_an_outline_that_waited_too_long_says_what_it_lacks() -> None:
    ports = memory_ports(FILES, FixedClock(), os.urandom, ())
    outliner = Outliner(ports.source, shared_syntax(), lambda: 9.0)
    late = outliner.outline(CodeOutline(), QuietCall(request_id=1, waited=6.0))
    assert [each.path for each in late.outlines] == ["shop/cart.py"]
    assert (late.left, late.timed_out) == (2, True)
    assert not outliner.outline(CodeOutline(), QuietCall(waited=6.0)).left


@pytest.mark.clause("CD-82")
def test_a_folder_lists_its_files_by_path_without_constants() -> None:
    assert call("code_outline").split("\n") == [
        "shop/cart.py (27 lines)",
        "  8-21 class Cart",
        "  24-27 def add(cart: Cart, item: str) -> None",
        "shop/money.py (2 lines)",
        "  1-2 def price(item: str) -> int",
        "tests/test_cart.py (5 lines)",
        "  4-5 def test_price() -> None",
    ]
    assert call("code_outline", path="./shop/") == call("code_outline", path="shop")
    assert "tests/" not in call("code_outline", path="shop")
    assert "LIMIT" in call("code_outline", query="limit")


@pytest.mark.clause("CD-83")
def test_an_outline_over_its_budget_says_first_what_is_missing() -> None:
    many: dict[str, str | bytes] = {
        f"a/{name}.py": "".join(f"def name_of_{name}_{number}(): ...\n" for number in range(20))
        for name in "abcdefgh"
    }
    text = call("code_outline", many, max_tokens=400)
    assert text.startswith("[cut at maxTokens 400: 6 more files not shown; narrow path, query or depth")
    assert estimate_tokens(text) <= 400 + 50
    one = call("code_outline", {"a.py": "def f(): ...\n" * 500}, path="a.py", max_tokens=200)
    assert one.startswith("[cut at maxTokens 200: more definitions not shown;")
    assert estimate_tokens(one) <= 200 + 50


@pytest.mark.clause("CD-83")
def test_a_file_larger_than_the_budget_leaves_room_for_the_others_of_its_folder() -> None:
    files: dict[str, str | bytes] = {
        "a.js": "function a() {}\n" * 900,
        "b.py": "def b(): ...\n",
        "c.js": "function c() {}\n" * 900,
        "d.py": "def d(): ...\n",
    }
    text = call("code_outline", files, max_tokens=400)
    assert text.startswith("[cut at maxTokens 400: more definitions not shown; narrow path")
    assert estimate_tokens(text) <= 400 + 50
    heads = [line for line in text.split("\n")[1:] if not line.startswith(" ")]
    shown = text.count("function a()")
    assert heads[0] == f"a.js (900 lines, {900 - shown} more definitions)"
    assert [head.partition(" ")[0] for head in heads] == ["a.js", "b.py", "c.js", "d.py"]


@pytest.mark.clause("CD-83")
def test_unparsed_files_have_a_reason_and_missing_ones_are_refused() -> None:
    text = call("code_outline", path="shop/notes.md")
    assert text.startswith("shop/notes.md (3 lines, there is no grammar for markdown)")
    assert refused("code_outline", path="shop/x.rs") == {"error": "File not found", "path": "shop/x.rs"}
    assert refused("code_outline", path=".env")["error"] == "Permission denied"
    assert refused("code_outline", path="../x")["error"] == "Path traversal not allowed"
    assert (
        call("code_outline", query="nothing")
        == "No definitions whose name contains 'nothing' in the project."
    )
    texts = open_memory_workspace({"texts/a.md": "# A\n"})
    assert texts.call("code_outline", {"path": "texts"}).text == "No definitions in texts."


@pytest.mark.clause("CD-83")
def test_what_can_be_read_of_a_broken_file_is_listed_with_the_reason() -> None:
    broken: dict[str, str | bytes] = {"a.py": "def f():\n    return 1\n\n" + ")))]]]}}}\n" * 20}
    assert call("code_outline", broken, path="a.py").split("\n") == [
        "a.py (23 lines, its grammar cannot read it)",
        "  1-2 def f()",
    ]
    read = json.loads(call("read_file", broken, path="a.py", symbol="f"))["file"]
    assert read["content"] == "def f():\n    return 1\n"


@pytest.mark.clause("CD-85")
def test_usages_are_identifiers_outside_comments_and_strings() -> None:
    assert call("find_usages", name="price").split("\n") == [
        "price: 1 definition, 4 uses",
        "defined shop/money.py:1: def price(item: str) -> int",
        "shop/cart.py",
        "  3: from .money import price",
        "  21 in Cart.total: return sum(price(item) for item in self.items)",
        "tests/test_cart.py",
        "  1: from shop.money import price",
        "  5 in test_price: assert price('x') == 1",
        "Not parsed, with matching lines: shop/notes.md (1)",
    ]


@pytest.mark.clause("CD-85")
def test_uses_in_tests_and_examples_come_behind_those_of_the_code() -> None:
    uses = dict.fromkeys(("_examples/a.py", "a_test.py", "examples/b.py", "shop/z.py", "z.py"), "pay()\n")
    lines = call("find_usages", {"pay.py": "def pay(): ...\n", **uses}, name="pay").split("\n")
    files = [line for line in lines[2:] if not line.startswith(" ")]
    assert files == ["shop/z.py", "z.py", "_examples/a.py", "a_test.py", "examples/b.py"]


@pytest.mark.clause("CD-85")
def test_a_qualified_name_is_searched_by_its_last_part() -> None:
    lines = call("find_usages", name="Cart.add").split("\n")
    assert lines[0] == "Cart.add: 1 definition, 2 uses"
    assert lines[1].startswith("defined shop/cart.py:13 Cart.add: ")
    assert "  24 in add: def add(cart: Cart, item: str) -> None" in lines
    assert "  26: cart.add(item)" in lines


@pytest.mark.clause("CD-85")
@pytest.mark.parametrize(
    ("path", "text", "name", "defined", "uses"),
    [
        ("a.php", "<?php\nfunction f($user) {\n  return $user;\n}\n", "$user", 0, 2),
        ("a.js", "class A {\n  #age = 1;\n  old() { return this.#age; }\n}\n", "A.#age", 0, 2),
        ("a.cpp", "bool operator==(A a, B b) { return true; }\n", "operator==", 1, 0),
        ("a.cpp", "class A {\n  ~A();\n};\nA::~A() {}\n", "A::~A", 1, 1),
        ("a.rb", "class A\n  def size=(n)\n    @n = n\n  end\nend\n", "A#size=", 1, 0),
        ("a.rb", "class A\n  def ok?\n    @n\n  end\nend\nA.new.ok?\n", "A#ok?", 1, 1),
        ("a.rs", "fn r#type() {}\nfn g() {\n    r#type();\n}\n", "r#type", 1, 1),
    ],
)
def test_names_with_signs_are_found_as_they_are_written(
    path: str, text: str, name: str, defined: int, uses: int
) -> None:
    said = call("find_usages", {path: text}, name=name).split("\n")[0]
    found = [int(number) for number in re.findall(r" (\d+) (?:definition|use)", said)]
    assert found == [defined, uses], said


@pytest.mark.clause("CD-85")
def test_uses_are_limited_and_counted_and_a_path_narrows_them() -> None:
    lines = call("find_usages", name="price", limit=1).split("\n")
    assert lines[1] == "[1 of 4 uses shown; narrow path, or go on with offset 1]"
    assert lines[3:5] == ["shop/cart.py", "  3: from .money import price"]
    assert lines[-1] == lines[1]
    last = call("find_usages", name="price", limit=3, offset=3).split("\n")
    assert last[1] == "[1 of 4 uses shown; narrow path]"
    assert last[-1] == call("find_usages", name="price").split("\n")[-1]
    beyond = call("find_usages", name="price", offset=9).split("\n")
    assert beyond[1] == "[0 of 4 uses shown; offset 9 is past the last]"
    assert "shop/" not in call("find_usages", name="price", path="tests")
    assert "tests/" not in call("find_usages", name="price", path="shop/cart.py")


@pytest.mark.clause("CD-85")
def test_usages_of_a_common_name_fit_the_page_and_are_read_to_the_end() -> None:
    definitions = tuple(Usage(f"m{number}.py", 1, "load", "def load()") for number in range(300))
    uses = tuple(Usage(f"m{number}.py", 5, "", "load()") for number in range(300))
    offset: int | None = 0
    seen: list[str] = []
    while offset is not None:
        usages = Usages("load", definitions, uses[offset:], len(uses), {}, True, offset, 500)
        text = usages_within(usages, 4_000)
        assert len(text) <= 4_000
        lines = text.split("\n")
        assert (definitions[0].path in lines[2]) == (offset == 0)
        seen += [line for line in lines if line.endswith(": load()")]
        found = re.search(r"offset (\d+)]", lines[1])
        assert found is None or lines[-1] == lines[1]
        offset = None if found is None else int(found[1])
    assert len(seen) == 300
    files: dict[str, str | bytes] = {"m.py": "def load():\n    return 1\n\n\n" * 60}
    assert "[50 of 60 definitions shown; narrow path]" in call("find_usages", files, name="load")


@pytest.mark.clause("CD-68", "CD-85")
def test_usages_say_that_the_time_was_over_and_a_command_looks_into_every_file() -> None:
    files: dict[str, str | bytes] = {f"m{number}.py": "load()\n" for number in range(5)}
    ports = memory_ports(files, FixedClock(), os.urandom, ())
    seconds = iter(range(0, 1_000, 3))
    assert ports.search is not None
    finder = UsageFinder(ports.source, ports.syntax, ports.search(), lambda: next(seconds))
    usages = finder.find(FindUsages("load"), QuietCall(request_id=1))
    assert (usages.total, usages.unsearched, usages.complete) == (3, 2, False)
    told = usages_within(usages, 4_000).split("\n")
    assert told[1] == "[3 of at least 3 uses shown; narrow path]"
    assert told[2] == "[the time was over before 2 more files could be searched; narrow path]"
    usages = finder.find(FindUsages("load"), QuietCall())
    assert (usages.total, usages.unsearched, usages.complete) == (5, 0, True)


@pytest.mark.clause("CD-85")
def test_a_file_at_the_root_is_not_taken_for_others_of_its_name() -> None:
    files: dict[str, str | bytes] = {"a.py": "x = 1\n", "b/a.py": "x = 2\n" * 5_000}
    assert call("find_usages", files, name="x", path="a.py").split("\n") == [
        "x: 1 definition, 0 uses",
        "defined a.py:1: x",
    ]


@pytest.mark.clause("CD-85")
def test_usages_in_a_path_without_searchable_files_are_refused() -> None:
    workspace = open_memory_workspace(
        {**FILES, "large.py": "price = 1\n" * 200_000, "noise.py": b"price\0", "dist/out.py": "price = 1\n"}
    )
    for path, error in (
        ("shop/x.py", "File not found"),
        ("elsewhere", "File not found"),
        (".env", "Permission denied"),
        ("large.py", "File too large"),
        ("noise.py", "Not a text file"),
        ("dist/out.py", "No file is searched there"),
        ("dist", "No file is searched there"),
    ):
        answer = workspace.call("find_usages", {"name": "price", "path": path})
        assert answer.is_error, answer.text
        refusal = json.loads(answer.text)
        assert (refusal["error"], refusal["path"]) == (error, path)
    assert call("find_usages", name="nowhere", path="shop").startswith("nowhere: 0 definitions, 0 uses")


@pytest.mark.clause("CD-87")
def test_a_symbol_is_read_by_its_qualified_name_or_a_unique_end_of_it() -> None:
    for symbol in ("Cart.total", "total", "Cart#total", "Cart::total"):
        read = json.loads(call("read_file", path="shop/cart.py", symbol=symbol))["file"]
        assert read["range"] == {"startLine": 19, "endLine": 21}
        assert read["content"].startswith("    @property\n    def total(")
        assert read["lines"] == 27
    raw: dict[str, str | bytes] = {"a.rs": "fn r#type() {}\n"}
    assert json.loads(call("read_file", raw, path="a.rs", symbol="r#type"))["file"]["range"]["endLine"] == 1
    # The whole qualified name wins over the end of another.
    assert (
        json.loads(call("read_file", path="shop/cart.py", symbol="add"))["file"]["range"]["startLine"] == 24
    )


@pytest.mark.clause("CD-87")
def test_a_symbol_that_is_not_there_or_not_unique_lists_candidates() -> None:
    missing = refused("read_file", path="shop/cart.py", symbol="Cart.totl")
    assert missing["error"] == "No definition is called 'Cart.totl'"
    assert missing["candidates"][0] == {"symbol": "Cart.total", "startLine": 19, "endLine": 21}
    files: dict[str, str | bytes] = {
        "a.py": "class A:\n    def x(self): ...\nclass B:\n    def x(self): ...\n"
    }
    answer = open_memory_workspace(files).call("read_file", {"path": "a.py", "symbol": "x"})
    assert answer.is_error
    several = json.loads(answer.text)
    assert [each["symbol"] for each in several["candidates"]] == ["A.x", "B.x"]
    overloads = "@overload\ndef f(x: int): ...\n@overload\ndef f(x: str): ...\ndef f(x):\n    return x\n"
    read = open_memory_workspace({"a.py": overloads}).call("read_file", {"path": "a.py", "symbol": "f"})
    assert json.loads(read.text)["file"]["range"]["startLine"] == 5  # what does it, of several
    assert "error" in refused("read_file", path="shop/cart.py", symbol="add", startLine=1)
    plain = refused("read_file", path="shop/notes.md", symbol="add")
    assert plain["error"] == "No symbols are known: there is no grammar for markdown"


@pytest.mark.clause("CD-07")
def test_numbered_lines_carry_their_numbers_in_the_file() -> None:
    read = json.loads(call("read_file", path="shop/cart.py", startLine=24, endLine=25, numbered=True))["file"]
    assert read["content"] == (
        "  24: def add(cart: Cart, item: str) -> None:\n  25:     # add is not used here: add\n"
    )
    whole = json.loads(call("read_file", path="shop/money.py", numbered=True))["file"]
    assert whole["content"] == "   1: def price(item: str) -> int:\n   2:     return len(item)\n"
    assert whole["size"] == len(MONEY)
    assert json.loads(call("read_file", {"e.py": ""}, path="e.py", numbered=True))["file"]["content"] == ""
