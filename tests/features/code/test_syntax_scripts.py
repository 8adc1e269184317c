"""Ruby and PHP as the syntax adapter reads them."""

from __future__ import annotations

from syntax_outline import imports, outline, parsed, spanned

RUBY = """\
# frozen_string_literal: true
require "json"
require_relative("shop/price")
require_relative "shop/" + name
require_relative "shop/#{name}"
autoload :Catalog, "shop/catalog"
load 'tasks.rb', true
obj.require "ghost"

LIMIT = 10

module Shop
  # An order.
  class Order < Base
    def initialize(size, *rest, name:, &block)
      super
    end

    # Makes one.
    def self.make(size) = new(size)

    class << self
      def only; end
    end

    private def hidden; end
    def ==(other) = true
    def name=(value); @name = value; end
    def ok?
    end
  end

  Point = Struct.new(:x, :y) do
    def far; end
  end
end

class Shop::Other
  def top; end
end

HERE = <<~TEXT.strip
  require "ghost"
  def ghost; end
TEXT
WORDS = %w[def ghost]

def free(x)
  lambda { |y| y }
end
__END__
def ghost; end
"""


def test_ruby_definitions_know_singletons_operators_and_here_documents() -> None:
    assert outline("ruby", RUBY) == [
        "10-10@10 constant LIMIT | LIMIT",
        "12-36@12 module Shop | module Shop",
        "13-31@14 class Shop.Order | class Order < Base | An order.",
        "15-17@15 method Shop.Order.initialize | def initialize(size, *rest, name:, &block)",
        "19-20@20 method Shop.Order.make | def self.make(size) | Makes one.",
        "23-23@23 method Shop.Order.only | def only",
        "26-26@26 method Shop.Order.hidden | def hidden",
        "27-27@27 method Shop.Order.== | def ==(other)",
        "28-28@28 method Shop.Order.name= | def name=(value)",
        "29-30@29 method Shop.Order.ok? | def ok?",
        "33-35@33 class Shop.Point | Point = Struct.new(:x, :y)",
        "34-34@34 method Shop.Point.far | def far",
        "38-40@38 class Shop.Other | class Shop::Other",
        "39-39@39 method Shop.Other.top | def top",
        "42-42@42 constant HERE | HERE",
        "46-46@46 constant WORDS | WORDS",
        "48-50@48 function free | def free(x)",
    ]


def test_ruby_imports_are_the_literal_ones() -> None:
    assert imports("ruby", RUBY) == [
        "2 json",
        "3 relative shop/price",
        "6 shop/catalog",
        "7 tasks.rb",
    ]
    _, strings = spanned("ruby", RUBY)
    assert [each for each in strings if "ghost" in each] == [
        '"ghost"',
        '\n  require "ghost"\n  def ghost; end\nTEXT',
        "%w[def ghost]",
        "\ndef ghost; end\n",
    ]


PHP = r"""<p>use App\Ghost; function ghost() {}</p>
<?php
declare(strict_types=1);

namespace App\Models;

use App\Price;
use App\Rules\{Fixed, Deep\Free as F};
use App\Old, App\Older as O;
use function App\Helpers\money;

require __DIR__ . '/helpers.php';
require_once(dirname(__DIR__, 2) . "/config.php");
include 'partial.php';
require $dynamic;
require "$dynamic/x.php";
const LIMIT = 3;

/** An order. */
#[Entity]
final class Order extends Base implements Named
{
    use Tags, \Vendor\Kit;
    const NAME = 'function ghost() {}';

    /** Makes one. */
    public function __construct(private int $size) {}
    #[Pure] public static function make(int ...$sizes): static { return new self(1); }
    abstract protected function later(): void;
}
interface Named { public function name(): string; }
trait Tags { public function tags() { return function () use ($x) { return $x; }; } }
enum Suit: string { case A = 'a'; public function label(): string { return 'x'; } }
function &free(array $names = []): ?int { return null; }
$text = <<<HTML
function ghost() { require 'ghost.php'; }
HTML;
?>
require 'ghost.php';
<?php require 'late.php'; ?>
"""


def test_php_definitions_are_found_between_markup() -> None:
    assert outline("php", PHP) == [
        "17-17@17 constant LIMIT | const LIMIT",
        "19-30@21 class Order | final class Order extends Base implements Named | An order.",
        "26-27@27 method Order.__construct | public function __construct(private int $size) | Makes one.",
        "28-28@28 method Order.make | public static function make(int ...$sizes): static",
        "29-29@29 method Order.later | abstract protected function later(): void",
        "31-31@31 interface Named | interface Named",
        "31-31@31 method Named.name | public function name(): string",
        "32-32@32 trait Tags | trait Tags",
        "32-32@32 method Tags.tags | public function tags()",
        "33-33@33 enum Suit | enum Suit: string",
        "33-33@33 method Suit.label | public function label(): string",
        "34-34@34 function free | function &free(array $names = []): ?int",
    ]


def test_php_imports_tell_names_groups_traits_and_files_apart() -> None:
    assert imports("php", PHP) == [
        r"7 use App\Price",
        r"8 group App\Rules Fixed Deep\Free as F",
        r"9 use App\Old",
        r"9 use App\Older O",
        r"10 use App\Helpers\money",
        "12 built /helpers.php __DIR__",
        "13 built /config.php dirname(__DIR__, 2)",
        "14 file partial.php",
        "23 trait Tags",
        r"23 trait \Vendor\Kit",
        "40 file late.php",
    ]
    assert parsed("php", PHP).package == "App\\Models"
    assert spanned("php", PHP)[1][-2].startswith("<<<HTML\nfunction ghost")
