"""Shapes of code that real projects use and grammars stumble over."""

from __future__ import annotations

from syntax_outline import imports, outline, parsed

from context_pack_adapters.syntax.tree_sitter_syntax import TreeSitterSyntax


def test_kotlin_annotations_hide_no_class_constant_or_property() -> None:
    text = """\
/** Marks. */
@Target(A.CLASS, A.FIELD)
@Retention(A.BINARY)
annotation class Marked

@Marked
enum class Level { LOW, HIGH }

/** Most. */
@Marked
const val MOST = 1

class Cart {
  val size: Int
    get() = 1
}
"""
    assert outline("kotlin", text) == [
        "1-4@4 class Marked | annotation class Marked | Marks.",
        "6-7@7 enum Level | enum class Level",
        "9-11@11 constant MOST | const val MOST | Most.",
        "13-16@13 class Cart | class Cart",
        "14-15@14 method Cart.size | val size: Int",
    ]
    assert parsed("kotlin", text).error_line is None


def test_swift_computed_properties_operators_and_top_constants_are_definitions() -> None:
    text = """\
let most = 1
public struct Cart {
    let kept: Int
    /// How many.
    public var size: Int {
        get { 1 }
    }
    subscript(i: Int) -> Int { i }
    deinit { close() }
    static func == (a: Cart, b: Cart) -> Bool { true }
}
extension Shop.Cart where T: Sells { var more: Int { 2 } }
protocol Sells { associatedtype Item }
"""
    assert outline("swift", text) == [
        "1-1@1 constant most | let most",
        "2-11@2 struct Cart | public struct Cart",
        "4-7@5 method Cart.size | public var size: Int | How many.",
        "8-8@8 method Cart.subscript | subscript(i: Int) -> Int",
        "9-9@9 method Cart.deinit | deinit",
        "10-10@10 method Cart.== | static func == (a: Cart, b: Cart) -> Bool",
        "12-12@12 method Shop.Cart.more | var more: Int",
        "13-13@13 interface Sells | protocol Sells",
        "13-13@13 type Sells.Item | associatedtype Item",
    ]
    assert parsed("swift", text).error_line is None


def test_csharp_properties_with_a_body_and_indexers_are_definitions() -> None:
    text = """\
class Cart {
    public int Plain { get; set; }
    /// <summary>Counts.</summary>
    public int Count { get { return 1; } }
    public bool IsEmpty => Count == 0;
    public int this[int i] => i;
}
"""
    assert outline("csharp", text) == [
        "1-7@1 class Cart | class Cart",
        "3-4@4 method Cart.Count | public int Count | <summary>Counts.</summary>",
        "5-5@5 method Cart.IsEmpty | public bool IsEmpty",
        "6-6@6 method Cart.this | public int this[int i]",
    ]
    assert parsed("csharp", text).error_line is None


def test_java_elements_of_annotations_are_methods() -> None:
    text = """\
@interface Marked {
  /** Says. */
  String value() default "x";
}
"""
    assert outline("java", text) == [
        "1-4@1 interface Marked | @interface Marked",
        '2-3@3 method Marked.value | String value() default "x" | Says.',
    ]
    assert parsed("java", text).error_line is None


def test_rust_items_in_macros_with_parentheses_and_associated_types_are_found() -> None:
    text = """\
trait Sells {
    /// What.
    type Item: Clone;
}
cfg_unix!(
    impl Cart {
        fn add(&self) -> u8 { 1 }
    }
);
"""
    assert outline("rust", text) == [
        "1-4@1 trait Sells | trait Sells",
        "2-3@3 type Sells.Item | type Item: Clone | What.",
        "7-7@7 method Cart.add | fn add(&self) -> u8",
    ]
    assert parsed("rust", text).error_line is None


def test_lua_functions_in_tables_and_top_constants_are_found() -> None:
    text = """\
local MOST = 10
local log = require "log"
return {
  -- Answers.
  GET = function(self, id)
    return id
  end,
}
"""
    assert outline("lua", text) == [
        "1-1@1 constant MOST | local MOST",
        "4-7@5 method GET | GET = function(self, id) | Answers.",
    ]
    assert parsed("lua", text).error_line is None


def test_scala_givens_hold_their_methods() -> None:
    text = """\
given intOrd: Ordering[Int] with
  def compare(a: Int, b: Int): Int = 1
"""
    assert outline("scala", text) == [
        "1-2@1 class intOrd | given intOrd: Ordering[Int] with",
        "2-2@2 method intOrd.compare | def compare(a: Int, b: Int): Int",
    ]
    assert parsed("scala", text).error_line is None


def test_objective_c_header_between_lone_macros_is_read() -> None:
    text = """\
#import <A/A.h>
NS_ASSUME_NONNULL_BEGIN

/** A cart. */
@interface Cart : NSObject <Sells>
@property (nonatomic) NSString *name;
/** Adds. */
- (nullable Item *)add:(Item *)item;
@end

NS_ASSUME_NONNULL_END
"""
    assert outline("c", text) == [
        "4-9@5 class Cart | @interface Cart : NSObject | A cart.",
        "7-8@8 method Cart.add | - (nullable Item *)add:(Item *)item | Adds.",
    ]
    assert parsed("c", text).error_line is None


def test_cpp_namespace_behind_a_lone_macro_is_read() -> None:
    text = """\
SHOP_NAMESPACE_BEGIN
namespace detail
{
/// A cart.
class Cart { int size() const { return 1; } };
}
SHOP_NAMESPACE_END
"""
    assert outline("cpp", text) == [
        "4-5@5 class Cart | class Cart | A cart.",
        "5-5@5 method Cart.size | int size() const",
    ]
    assert parsed("cpp", text).error_line is None


def test_typescript_import_types_with_arguments_are_imports() -> None:
    text = """\
const useIt: () => {
    color?: import("./a").Union<import("./b").Color>;
    other?: import("./c").Set<import("./d").Item>[];
};
"""
    assert imports("typescript", text) == ["2 ./a", "2 ./b", "3 ./c", "3 ./d"]


def test_includes_guarded_by_has_include_are_imports() -> None:
    text = """\
#if VERSION > 2 && HAS_INCLUDE(<ranges>)
#  include <ranges>
#endif
#include "a.h"
"""
    assert imports("cpp", text) == ["2 <ranges>", "4 a.h"]


def test_a_header_that_only_imports_modules_is_objective_c() -> None:
    assert imports("c", "@import Shop;\n") == ["1 module @import Shop;"]


def test_declarations_that_kotlin_s_grammar_takes_for_expressions_are_found_by_their_lines() -> None:
    text = """\
/** A node. */
@A(x = 1)
public actual open class Node {
    actual val size = 1
    fun first() {
        fun inner() {}
    }
}

@A
expect class Next

@A
actual val MOST = 1
"""
    assert outline("kotlin", text) == [
        "1-8@3 class Node | public actual open class Node | A node.",
        "5-7@5 method Node.first | fun first()",
        "6-6@6 function Node.first.inner | fun inner()",
        "10-11@11 class Next | expect class Next",
        "13-14@14 constant MOST | actual val MOST",
    ]


def test_definitions_by_value_are_definitions() -> None:
    assert outline("kotlin", "object O {\n    const val A = 1\n}\nclass C {\n    val b = 1\n}\n") == [
        "1-3@1 class O | object O",
        "2-2@2 constant O.A | const val A",
        "4-6@4 class C | class C",
    ]
    assert outline("scala", "object O { var a = 1 }\nlazy val b = 2\nvar c = 3\n") == [
        "1-1@1 class O | object O",
        "1-1@1 constant O.a | var a",
        "2-2@2 constant b | lazy val b",
        "3-3@3 constant c | var c",
    ]
    handlers = "const app = use('/', function handler(req) {\n  return on(1, function done() {})\n})\n"
    assert outline("javascript", handlers) == [
        "1-3@1 constant app | const app",
        "1-3@1 function app.handler | function handler(req)",
        "2-2@2 function app.handler.done | function done()",
    ]


def test_operators_of_cpp_are_named_without_blanks_and_found_in_any_spelling() -> None:
    text = """\
struct A { bool operator == (int o) const; operator bool() const; void operator()(int); };
void f(A a) { a.operator==(1); a.operator ()(2); }
"""
    assert outline("cpp", text)[1:4] == [
        "1-1@1 method A.operator== | bool operator == (int o) const",
        "1-1@1 method A.operator bool | operator bool() const",
        "1-1@1 method A.operator() | void operator()(int)",
    ]
    syntax = TreeSitterSyntax()
    places = {name: syntax.occurrences("cpp", text, name) for name in ("operator==", "operator()")}
    assert places == {"operator==": [16, 107], "operator()": [71, 124]}
