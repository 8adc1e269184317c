"""Source files in snippets: exact lines for every language that is scanned, and order for whatever is not."""

from __future__ import annotations

import pytest
from hanging import never_hanging
from hypothesis import given, settings
from hypothesis import strategies as st

from context_pack.kernel.lines import split_lines
from context_pack.memory.domain.code_entries import code_entry
from context_pack.memory.domain.snippets import MOST_LINES, MOST_SNIPPETS, SCANNED, snippets_of

PYTHON = '''\
"""What it is for."""
import os

@decorated
class Store(Base):
    """Keeps."""

    size = 1

    @property
    def name(self) -> str:
        return "a"

    class Inner:
        def deep(self): ...


async def load(
    path: str,
) -> None:
    def inner(): ...
    await inner()


if os.name == "posix":
    def only_here(): ...
'''
TYPESCRIPT = """\
import x from 'y'

/** Logs people in. */
@Injectable({ a: 1 })
export class AuthService<T> extends Base<T> {
  private key = /[}]/;

  // makes one
  constructor(private readonly users: Users) {
    super();
  }

  async login(name: string): Promise<void> {
    if (name) { return; }
    items.map((x) => { return x; });
  }
  refresh = async (e: Event) => {
    again();
  }
}

export const helper = async (a: number, b = { x: 1 }) => {
  return `a ${ { a: 1 }.a } }`;
};
export default function main() {
  return /}/.test("x");
}
interface Options {
  a: string;
}
module.exports.thing = function (a) {
  return 1;
}
"""
GO = """\
package main

import (
	"fmt"
)

// Server serves.
type Server struct {
	a int
}

// Serve goes on.
func (s *Server) Serve(ctx Context, f func(int) error) (int, error) {
	for i := range x {
	}
	return 0, nil
}

func Make() func(int) error {
	fmt.Println("{")
}
"""
RUST = """\
use std::fmt;

/// A thing.
#[derive(Debug)]
pub struct Thing<'a> {
    x: &'a str,
}

impl<'a> Display for Thing<'a> {
    /// Shows it.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match x { 'a' => {}, _ => {} }
    }
}
pub(crate) async fn run<T: Into<String>>(x: T) -> Result<(), E> where T: Clone {
    Ok(())
}
"""
JAVA = """\
package a.b;

/** Finds. */
@Service
public class Finder extends Base implements Other {
    private int x = 0;
    @Override
    public List<String> find(Map<String, List<Integer>> m) throws IOException, Bad {
        if (a) { }
        return "}";
    }
    interface Inner { void f(); }
}
"""
C = """\
#include <stdio.h>
#define X(a) { \\
  a }
struct point {
  int a;
};

/* makes one */
struct point *
make(int x)
{
  if (x) { return '{'; }
  return 0;
}
"""
CPP = """\
namespace a { namespace b {
template <class T>
class Box : public Base {
 public:
  Box() : x(1) {}
  int get() const noexcept { return x; }
};
int Box<int>::bar(std::map<int, int> m) {
  return 1'000;
}
}}
"""
CSHARP = """\
namespace X.Y {
  /// <summary>doc</summary>
  public class Foo : IBar {
    public int X { get; set; }
    public async Task<int> Run(int a, string b = "}") {
      using (var x = y) { }
    }
  }
}
"""
RUBY = """\
# Says things.
class Foo < Bar
  attr_reader :x

  # Says one.
  def say(a)
    if a
      1
    end
  end
end
module M
  def x
  end
end
"""
PHP = "<?php\nclass Foo {\n    public function bar(int $a): string {\n        return '}';\n    }\n}\n"
KOTLIN = (
    "class Foo(val x: Int) : Bar(x) {\n    suspend fun load(id: String): Int {\n        return x\n    }\n}\n"
)
SWIFT = "struct V: View {\n  func go(_ a: Int) -> Int {\n    guard a > 1 else { return 0 }\n  }\n}\n"
SHELL = '#!/bin/sh\nfirst() {\n  echo "}"\n}\nfunction second {\n  echo 1\n}\n'

EXPECTED = {
    ("a.py", PYTHON): [
        "file  1-2",
        "class Store 4-8",
        "function Store.name 10-12",
        "class Store.Inner 14-14",
        "function Store.Inner.deep 15-15",
        "function load 18-22",
        "function only_here 26-26",
    ],
    ("a.ts", TYPESCRIPT): [
        "file  1-1",
        "class AuthService 3-6",
        "function AuthService.constructor 8-11",
        "function AuthService.login 13-16",
        "function AuthService.refresh 17-19",
        "function helper 22-24",
        "function main 25-27",
        "class Options 28-30",
        "function thing 31-33",
    ],
    ("a.go", GO): ["file  1-5", "class Server 7-10", "function Serve 12-17", "function Make 19-21"],
    ("a.rs", RUST): [
        "file  1-1",
        "class Thing 3-7",
        "class Thing 9-9",
        "function Thing.fmt 10-13",
        "function run 15-17",
    ],
    ("A.java", JAVA): [
        "file  1-1",
        "class Finder 3-6",
        "function Finder.find 7-11",
        "class Finder.Inner 12-12",
    ],
    ("a.c", C): ["file  1-3", "class point 4-6", "function make 8-14"],
    ("a.cpp", CPP): [
        "file  1-1",
        "class Box 2-3",
        "function Box.Box 4-5",
        "function Box.get 6-6",
        "function bar 8-10",
    ],
    ("a.cs", CSHARP): ["file  1-1", "class Foo 2-4", "function Foo.Run 5-7"],
    ("a.rb", RUBY): ["class Foo 1-3", "function Foo.say 5-10", "class M 12-12", "function M.x 13-14"],
    ("a.php", PHP): ["file  1-1", "class Foo 2-2", "function Foo.bar 3-5"],
    ("a.kt", KOTLIN): ["class Foo 1-1", "function Foo.load 2-4"],
    ("a.swift", SWIFT): ["class V 1-1", "function V.go 2-4"],
    ("a.sh", SHELL): ["function first 1-4", "function second 5-7"],
    ("broken.py", "class A:\n    def b(self):\n        return (\n\n    def c(self): pass\nprint 'x'\n"): [
        "class A 1-1",
        "function A.b 2-3",
        "function A.c 5-5",
    ],
    ("notes.md", "# Title\n\nText.\n" + "more\n" * 100): ["file  1-60"],
    ("empty.py", ""): [],
    ("blank.py", "\n\n  \n"): [],
}


@pytest.mark.clause("ME-20")
@pytest.mark.parametrize(("source", "expected"), EXPECTED.items(), ids=[name for name, _ in EXPECTED])
def test_declarations_have_their_exact_lines(source: tuple[str, str], expected: list[str]) -> None:
    found = [f"{each.part} {each.name} {each.start}-{each.end}" for each in snippets_of(*source)]
    assert found == expected


@pytest.mark.clause("ME-20")
def test_a_long_function_is_cut_into_pieces_under_its_name() -> None:
    text = "def long():\n" + "    step()\n" * 150
    found = snippets_of("a.py", text)
    assert [(each.name, each.start, each.end) for each in found] == [
        ("long", 1, 60),
        ("long", 61, 120),
        ("long", 121, 151),
    ]


@pytest.mark.clause("ME-20")
def test_tables_between_functions_are_found_too() -> None:
    text = "def a(): ...\n\nTABLE = {\n    1: 2,\n}\n\ndef b(): ...\n\nX = 1\n"
    found = [(each.name, each.start, each.end) for each in snippets_of("a.py", text)]
    assert found == [("a", 1, 1), ("", 3, 5), ("b", 7, 7)]


@pytest.mark.clause("ME-20")
def test_pieces_stand_verbatim_at_their_lines_and_carry_symbol_and_path() -> None:
    entry = code_entry("src/auth/service.ts", TYPESCRIPT.replace("\n", "\r\n"), "d", "s")
    lines = split_lines(TYPESCRIPT)
    assert entry.module == "auth"
    assert entry.kind == "typescript"
    for piece in entry.pieces:
        assert piece.text == "\n".join(lines[piece.start - 1 : piece.end])
    login = next(piece for piece in entry.pieces if piece.heading == "AuthService.login")
    assert "AuthService.login" in login.names
    assert "src/auth/service.ts" in login.names


SOURCE = st.lists(
    st.sampled_from(
        [
            *(
                "{",
                "}",
                "(",
                ")",
                ";",
                "\n",
                "\n  ",
                '"',
                "'",
                "`",
                "/*",
                "*/",
                "//",
                "#",
                "=>",
                "\\",
                "<",
                ">",
            ),
            *(
                "class A",
                "function f",
                "def g",
                "end",
                "impl X for",
                "fn h",
                "return",
                "x",
                ":",
                "=",
                "@d",
                "\r",
            ),
        ]
    ),
    max_size=60,
).map(" ".join)


@settings(max_examples=300)
@given(
    SOURCE, st.sampled_from(["x.py", "x.ts", "x.go", "x.rs", "x.c", "x.rb", "x.kt", "x.php", "x.sh", "x.lua"])
)
def test_whatever_a_file_holds_ranges_are_ordered_bounded_and_inside(text: str, path: str) -> None:
    found = snippets_of(path, text)
    count = len(split_lines(text))
    last = 0
    for each in found:
        assert last < each.start <= each.end <= count
        assert each.end - each.start < MOST_LINES
        last = each.end


@pytest.mark.parametrize("path", ["x.ts", "x.c", "x.py", "x.rb", "x.rs"])
@pytest.mark.parametrize(
    "text",
    [
        "{" * 50_000,
        "(" * 50_000,
        "a " * 100_000 + "{",
        "f(" * 20_000 + "{",
        "x:" * 50_000 + "={",
        "class " * 50_000,
    ],
)
def test_no_text_makes_scanning_slow(path: str, text: str) -> None:
    snippets_of(path, text)


def _nested_classes(depth: int) -> str:
    return "".join(f"{' ' * number}class A:\n" for number in range(depth))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param("a.js", "=/[" * 100_000, id="expressions that never end"),
        pytest.param("a.js", "=/" + "[=/]" * 60_000, id="expressions in sets of expressions"),
        pytest.param("a.ts", (":a" * 740 + "function{};\n") * 200, id="names and signs before a function"),
        pytest.param("a.java", "class A{" * 100_000 + "}" * 100_000, id="classes in classes"),
        pytest.param("a.rb", _nested_classes(900) + "\n" * 600_000, id="classes above blank lines"),
        pytest.param("a.rb", _nested_classes(900) + ")\n" * 400_000, id="classes above brackets"),
    ],
)
def test_no_text_makes_scanning_endless(path: str, text: str) -> None:
    with never_hanging():
        assert len(snippets_of(path, text)) <= MOST_SNIPPETS


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.java", "class Abc{" * 3_000 + "}" * 3_000),
        ("a.rb", "".join(f"{' ' * number}class {'A' * 100}\n" for number in range(300))),
        ("a.py", f"class {'A' * 10_000}:\n" + " def a(): ...\n" * 300),
    ],
)
def test_names_grow_no_faster_than_the_text(path: str, text: str) -> None:
    assert sum(len(snippet.name) for snippet in snippets_of(path, text)) < 10 * len(text)


def test_a_long_chain_of_conditions_is_looked_through_to_its_end() -> None:
    chain = "if a:\n    pass\n" + "elif a:\n    pass\n" * 1_500 + "else:\n    def last(): ...\n"
    assert "last" in {snippet.name for snippet in snippets_of("a.py", chain)}


def test_every_language_of_the_table_is_scanned_without_a_fault() -> None:
    from context_pack.kernel.languages import _EXTENSIONS

    for language in SCANNED:
        path = f"x.{_EXTENSIONS[language][0]}"
        assert snippets_of(path, JAVA + RUBY), language
