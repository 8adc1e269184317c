"""Rust as the syntax adapter reads it."""

from __future__ import annotations

from syntax_outline import imports, outline, parsed, spanned

RUST = r"""//! The shop.
#![allow(dead_code)]

use std::{collections::HashMap, fmt::{self, Display as Shown}};
pub(crate) use crate::orders::*;
use ::outer::x;
extern crate alloc as memory;
#[cfg(test)]
#[path = "other.rs"]
mod tests;
mod r#type;
mod inline {
    use super::Shop;
    /// Deep down.
    pub fn deep() { mod nowhere { } }
}

/// Most of them.
pub const MOST: usize = 10;
static mut COUNT: &str = r#"fn ghost() { "use ghost; "#;

/// Keeps orders.
/// In order.
#[derive(Debug, Clone)]
#[serde(rename = "x")]
pub struct Shop<'a, T: Clone = u8> where T: Send {
    orders: Vec<&'a T>,
}
pub struct Unit;
struct Pair(u8, pub u16);
pub enum Kind { One, Two { a: u8 }, Three(u8) = 3 }
union Bits { a: u32, b: f32 }
type Orders<T> = Vec<Box<dyn Fn(T) -> T + 'static>>;

pub trait Sell: Sized {
    const RATE: u8;
    type Money;
    /// Sells.
    fn sell(&self, order: &str) -> Result<Self::Money, Error>;
    fn twice(&self) { }
}

impl<'a, T: Clone> Sell for Shop<'a, T> where T: Send {
    const RATE: u8 = 1;
    type Money = u8;
    #[inline] fn sell(&self, order: &str) -> Result<u8, Error> {
        fn helper(c: char) -> bool { c == '{' || c == '\'' }
        let close = |x: u8| x + 1;
        Ok(close(0))
    }
}
impl fmt::Display for crate::Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, "{{ use ghost; fn ghost() {{}}") }
}
impl Pair {
    /// Makes one.
    pub const unsafe extern "C" fn new() -> Self { Pair(1, 2) }
    with_rt! { async fn later<T>(self) -> Vec<T> { vec![] } }
}

cfg_if! {
    if #[cfg(unix)] {
        mod unix;
        /// On these.
        pub use self::unix::open;
    } else if #[cfg(windows)] {
        mod windows;
    } else {
        pub fn open() { }
    }
}

/* block /* nested */ fn ghost() {} */
/// Says it.
#[macro_export]
macro_rules! say {
    ($x:expr) => { fn ghost() { use ghost::a; } };
}

extern "C" { fn outside(x: i32) -> i32; }

#[tokio::main]
async fn main() {
    println!("use ghost; {}", b"fn ghost() {");
    quote! { fn ghost() { } };
}
"""


def test_definitions_of_rust_have_names_lines_and_signatures() -> None:
    assert outline("rust", RUST) == [
        "12-16@12 module inline | mod inline",
        "14-15@15 function inline.deep | pub fn deep() | Deep down.",
        "15-15@15 module inline.deep.nowhere | mod nowhere",
        "18-19@19 constant MOST | pub const MOST: usize | Most of them.",
        "20-20@20 constant COUNT | static mut COUNT: &str",
        "22-28@26 struct Shop | pub struct Shop<'a, T: Clone = u8> where T: Send | Keeps orders.\nIn order.",
        "29-29@29 struct Unit | pub struct Unit",
        "30-30@30 struct Pair | struct Pair(u8, pub u16)",
        "31-31@31 enum Kind | pub enum Kind",
        "32-32@32 struct Bits | union Bits",
        "33-33@33 type Orders | type Orders<T>",
        "35-41@35 trait Sell | pub trait Sell: Sized",
        "36-36@36 constant Sell.RATE | const RATE: u8",
        "37-37@37 type Sell.Money | type Money",
        "38-39@39 method Sell.sell | fn sell(&self, order: &str) -> Result<Self::Money, Error> | Sells.",
        "40-40@40 method Sell.twice | fn twice(&self)",
        "44-44@44 constant Shop.RATE | const RATE: u8",
        "45-45@45 type Shop.Money | type Money",
        "46-50@46 method Shop.sell | fn sell(&self, order: &str) -> Result<u8, Error>",
        "47-47@47 function Shop.sell.helper | fn helper(c: char) -> bool",
        "53-53@53 method Pair.fmt | fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result",
        '56-57@57 method Pair.new | pub const unsafe extern "C" fn new() -> Self | Makes one.',
        "58-58@58 method Pair.later | async fn later<T>(self) -> Vec<T>",
        "69-69@69 function open | pub fn open()",
        "73-78@76 macro say | macro_rules! say | block /* nested */ fn ghost() {}\nSays it.",
        "80-80@80 function outside | fn outside(x: i32) -> i32",
        "82-86@83 function main | async fn main()",
    ]


def test_rust_imports_package_and_head() -> None:
    assert imports("rust", RUST) == [
        "4 use std::{collections::HashMap, fmt::{self, Display as Shown}}",
        "5 use crate::orders::*",
        "6 use ::outer::x",
        "7 crate alloc",
        "10 mod tests other.rs",
        "11 mod r#type",
        "13 use super::Shop",
        "63 mod unix",
        "65 use self::unix::open",
        "67 mod windows",
    ]
    found = parsed("rust", RUST)
    assert (found.package, found.heads, found.error_line) == ("", ("The shop.",), None)


def test_rust_comments_and_strings() -> None:
    comments, strings = spanned("rust", RUST)
    assert comments == [
        "//! The shop.\n",
        "/// Deep down.\n",
        "/// Most of them.\n",
        "/// Keeps orders.\n",
        "/// In order.\n",
        "/// Sells.\n",
        "/// Makes one.\n",
        "/// On these.\n",
        "/* block /* nested */ fn ghost() {} */",
        "/// Says it.\n",
    ]
    assert strings == [
        '"other.rs"',
        'r#"fn ghost() { "use ghost; "#',
        '"x"',
        "'{'",
        "'\\''",
        '"{{ use ghost; fn ghost() {{}}"',
        '"C"',
        '"C"',
        '"use ghost; {}"',
        'b"fn ghost() {"',
    ]
