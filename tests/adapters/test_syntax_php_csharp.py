"""PHP and C# as the syntax adapter reads them."""

from __future__ import annotations

from syntax_outline import imports, outline, parsed, spanned

PHP = """\
<html><?php
namespace Shop\\Cart;
use Shop\\{Order, Line as Row};
use function Shop\\total;
/** Holds items. */
#[Entity]
final class Cart extends Base {
    use Sells, Counts { Sells::sum insteadof Counts; }
    /** Adds. */
    public function add(int $count): void { $text = <<<EOT
 function ghost() {}
EOT;
    }
    abstract protected function later();
}
function helper($a) { return "it's"; } // done
require __DIR__ . '/one.php';
include_once(dirname(__FILE__, 2) . "/two.php");
require ('three.php');
?></html>
"""

CSHARP = """\
global using System;
using static Shop.Maths;
using Row = Shop.Line<int>;
namespace Shop.Core {
  /// A cart.
  [Serializable]
  public class Cart<T> : Base where T : new() {
    private string text = @"class Ghost {";
    public Cart(int size) : base(size) { }
    [Test] public async Task<int> Add(T item) => 1;
    interface IInner { void Run(); }
  }
  record Point(int X, int Y);
}
"""


def test_php_definitions_and_imports_are_found_between_markup() -> None:
    assert outline("php", PHP) == [
        "5-15@7 class Cart | final class Cart extends Base | Holds items.",
        "9-13@10 method Cart.add | public function add(int $count): void | Adds.",
        "14-14@14 method Cart.later | abstract protected function later()",
        "16-16@16 function helper | function helper($a)",
    ]
    assert imports("php", PHP) == [
        "2 namespace Shop\\Cart",
        "3 use use Shop\\{Order, Line as Row};",
        "4 use use function Shop\\total;",
        "8 trait use Sells, Counts { Sells::sum insteadof Counts; }",
        "17 built __DIR__ . '/one.php'",
        '18 built dirname(__FILE__, 2) . "/two.php"',
        "19 file three.php",
    ]
    assert parsed("php", PHP).package == "Shop\\Cart"


def test_csharp_definitions_and_usings_are_found() -> None:
    assert outline("csharp", CSHARP) == [
        "5-12@7 class Cart | public class Cart<T> : Base where T : new() | A cart.",
        "9-9@9 method Cart.Cart | public Cart(int size) : base(size)",
        "10-10@10 method Cart.Add | public async Task<int> Add(T item)",
        "11-11@11 interface Cart.IInner | interface IInner",
        "11-11@11 method Cart.IInner.Run | void Run()",
        "13-13@13 class Point | record Point(int X, int Y)",
    ]
    assert imports("csharp", CSHARP) == ["1 System", "2 type Shop.Maths", "3 type Shop.Line<int>"]
    assert parsed("csharp", CSHARP).package == "Shop.Core"
    assert spanned("csharp", CSHARP)[1] == ['@"class Ghost {"']
