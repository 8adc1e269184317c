"""Swift, Scala, Lua and shell scripts as the syntax adapter reads them."""

from __future__ import annotations

from syntax_outline import imports, outline, spanned

SWIFT = '''\
import Foundation
/// A cart.
@MainActor
public struct Cart<T>: Sells {
    let text = """
    func ghost() {
    """
    init(size: Int) { }
    /// Adds.
    @discardableResult
    public func add(_ item: T, count: Int = 1) async throws -> Int { return 1 }
}
extension Cart { func more() {} }
protocol Sells { func sell() }
'''

SCALA = '''\
package shop.core
/** A cart. */
@deprecated
class Cart[T](size: Int) extends Base {
  val text = """def ghost = 1"""
  def add(item: T): Int = { 1 }
}
object Shop { def open() = new Cart(1) }
trait Sells { def sell(): Unit }
'''

LUA = """\
local M = {}
local x = require("a.b")
--- Adds.
function M.add(a, b)
  return a
end
function M:sub(a) return a end
local function helper() return 1 end
M.mul = function(a) return a end
"""

SHELL = """\
#!/bin/bash

# Say hello.
function hello() {
  echo "hi # no"
}
main() { cat <<EOF
ghost() {
EOF
}
"""


def test_swift_definitions_have_their_attributes_and_extensions_qualify() -> None:
    assert outline("swift", SWIFT) == [
        "2-12@4 struct Cart | public struct Cart<T>: Sells | A cart.",
        "8-8@8 method Cart.init | init(size: Int)",
        "9-11@11 method Cart.add | public func add(_ item: T, count: Int = 1) async throws -> Int | Adds.",
        "13-13@13 method Cart.more | func more()",
        "14-14@14 interface Sells | protocol Sells",
        "14-14@14 method Sells.sell | func sell()",
    ]
    assert imports("swift", SWIFT) == ["1 Foundation"]


def test_scala_definitions_are_found() -> None:
    assert outline("scala", SCALA) == [
        "2-7@4 class Cart | class Cart[T](size: Int) extends Base | A cart.",
        "6-6@6 method Cart.add | def add(item: T): Int",
        "8-8@8 class Shop | object Shop",
        "8-8@8 method Shop.open | def open()",
        "9-9@9 trait Sells | trait Sells",
        "9-9@9 method Sells.sell | def sell(): Unit",
    ]


def test_lua_functions_belong_to_their_tables() -> None:
    assert outline("lua", LUA) == [
        "1-1@1 constant M | local M",
        "3-6@4 method M.add | function M.add(a, b) | Adds.",
        "7-7@7 method M.sub | function M:sub(a)",
        "8-8@8 function helper | local function helper()",
        "9-9@9 method M.mul | M.mul = function(a)",
    ]
    assert imports("lua", LUA) == ["2 a.b"]


def test_shell_functions_are_found_and_here_documents_are_strings() -> None:
    assert outline("bash", SHELL) == [
        "3-6@4 function hello | function hello() | Say hello.",
        "7-10@7 function main | main()",
    ]
    assert spanned("bash", SHELL)[1] == ['"hi # no"', "ghost() {\n"]
