"""Go as the syntax adapter reads it."""

from __future__ import annotations

from syntax_outline import imports, outline, parsed, spanned

GO = r"""// Copyright notice.

// Package shop sells.
//go:build linux
package shop

import "fmt"
import (
	"example.com/shop/orders" // import "ghost"
	m "example.com/money"
	. `raw/path`
	_ "embed"
)

// Most of them.
const Most = 10
const Low, High = 1, iota
const (
	// A is first.
	A Kind = iota
	B
)

var Debug bool
var (
	table = map[string]func(int) int{
		"a": func(x int) int { return x },
	}
	x, y = 1, 2
)

const usage = `usage:
  func ghost() {
  import "ghost"
`

// Shop keeps orders.
type Shop[T comparable] struct {
	sync.Mutex
	orders []T `json:"orders"`
}

// Seller sells.
type Seller interface {
	Sell(ctx context.Context, order *Order) error
	~int | string
}
type Handler func(w http.ResponseWriter, r *http.Request)
type Name = string
type (
	// Kind tells.
	Kind int
	Pair[K any, V any] map[K]V
)

// New makes one.
// It is empty.
func New[T comparable](size int, more ...T) (*Shop[T], error) {
	type local struct{ a int }
	add := func(x int) int { return x + 1 }
	return nil, nil
}

func (s *Shop[T]) Sell(
	order T,
) (err error) {
	return nil
}
func (Kind) String() string { return "k{" }
func (p Pair[K, V]) Len() int { return len(p) }
func external(x int) int

/*
Block says.
*/
func init() { fmt.Println('"', "}", `{`) }
"""


def test_definitions_of_go_have_names_lines_and_signatures() -> None:
    assert outline("go", GO) == [
        "15-16@16 constant Most | const Most | Most of them.",
        "17-17@17 constant Low | const Low, High",
        "17-17@17 constant High | const Low, High",
        "19-20@20 constant A | A Kind | A is first.",
        "21-21@21 constant B | B",
        "24-24@24 constant Debug | var Debug bool",
        "26-28@26 constant table | table",
        "29-29@29 constant x | x, y",
        "29-29@29 constant y | x, y",
        "32-35@32 constant usage | const usage",
        "37-41@38 struct Shop | type Shop[T comparable] struct | Shop keeps orders.",
        "43-47@44 interface Seller | type Seller interface | Seller sells.",
        "45-45@45 method Seller.Sell | Sell(ctx context.Context, order *Order) error",
        "48-48@48 type Handler | type Handler func(w http.ResponseWriter, r *http.Request)",
        "49-49@49 type Name | type Name = string",
        "51-52@52 type Kind | Kind int | Kind tells.",
        "53-53@53 type Pair | Pair[K any, V any] map[K]V",
        "56-62@58 function New | func New[T comparable](size int, more ...T) (*Shop[T], error) | New "
        "makes one.\nIt is empty.",
        "59-59@59 struct New.local | type local struct",
        "64-68@64 method Shop.Sell | func (s *Shop[T]) Sell( order T, ) (err error)",
        "69-69@69 method Kind.String | func (Kind) String() string",
        "70-70@70 method Pair.Len | func (p Pair[K, V]) Len() int",
        "71-71@71 function external | func external(x int) int",
        "73-76@76 function init | func init() | Block says.",
    ]


def test_go_imports_package_and_head() -> None:
    assert imports("go", GO) == [
        "7 fmt",
        "9 example.com/shop/orders",
        "10 example.com/money",
        "11 raw/path",
        "12 embed",
    ]
    found = parsed("go", GO)
    assert (found.package, found.heads, found.error_line) == (
        "shop",
        ("Copyright notice.", "Package shop sells.\ngo:build linux"),
        None,
    )


def test_go_comments_and_strings_are_distinguished_from_code() -> None:
    comments, strings = spanned("go", GO)
    assert comments == [
        "// Copyright notice.",
        "// Package shop sells.",
        "//go:build linux",
        '// import "ghost"',
        "// Most of them.",
        "// A is first.",
        "// Shop keeps orders.",
        "// Seller sells.",
        "// Kind tells.",
        "// New makes one.",
        "// It is empty.",
        "/*\nBlock says.\n*/",
    ]
    assert strings == [
        '"fmt"',
        '"example.com/shop/orders"',
        '"example.com/money"',
        "`raw/path`",
        '"embed"',
        '"a"',
        '`usage:\n  func ghost() {\n  import "ghost"\n`',
        '`json:"orders"`',
        '"k{"',
        "'\"'",
        '"}"',
        "`{`",
    ]
