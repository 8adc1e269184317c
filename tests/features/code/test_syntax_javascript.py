"""JavaScript, TypeScript and components as the syntax adapter reads them."""

from __future__ import annotations

from syntax_outline import imports, outline, parsed, spanned

JAVASCRIPT = r"""#!/usr/bin/env node
/* Sold under terms. */
// Tools of the shop.
'use strict';
const fs = require('fs'), { join } = require("path");
var Base = require('./base').Base;

// Most of them.
const MOST = 10;
var first = 1, run = function () { return 2; };

/**
 * Says it.
 */
exports.say = function said(word) {
  // import ghost from 'ghost'
  const text = `function ghost() {
    ${word.map((each) => { return `deep ${each}`; })}
    require('ghost')
  }`;
  return /function ghost\(\) { '/.test(text);
};
exports.quiet = async (word) => word;
module.exports.many = function* () { };

function Old(size) {
  this.grow = function (by) { return by; };
}
Old.prototype.shrink = function () { };
Old.make = () => new Old(1);

module.exports = {
  alpha() { },
  beta: function (x) { return x; },
  'a-b': () => 3,
  get delta() { return 1; },
  size: 4,
};

(function () {
  function inner() { }
  window.onload = function () { };
})();

const Kept = class extends Base {
  static count = 0;
  tick = (x) => { this.x = x; };
  #hidden() { }
  static async *walk() { }
  'with blank'() { }
  [Symbol.iterator]() { }
};

describe('it', () => {
  it('works', function () { });
});
const page = <p title="it's">function ghost() {'{'} {run(() => 1)} // no comment</p>;
"""
TYPESCRIPT = r"""/** Orders. */
import React, { useState as state, type FC } from "react";
import type { Order } from './order';
import * as all from "./all";
import old = require("./old");
import "./style.css";
export * from './more';
export { a as b } from "./some";
type Far = import('./far').Far;

/** What there is. */
export interface Shop<T = any> extends Base<T>, Other {
  readonly name: string;
  sell(order: Order): void;
  new (x: number): Shop;
}
export type Pair<A, B = A> = [A, B];
export const enum Kind { One, Two = "two" }
declare function outside(x: number): string;
declare const VERSION: string;
export declare class Gone { go(): void; }

function over(a: string): void;
function over(a: any) { }

/**
 * The desk.
 */
@Component({ selector: `desk` })
export abstract class Desk<T extends object> extends Base implements Shop<T> {
  @Input() value = 3;
  handler = async (event: Event): Promise<void> => { };
  /** Makes one. */
  constructor(private readonly a: A) { super(); }
  @Output()
  @Other()
  protected get size(): number { return 1; }
  abstract area(scale: number): number;
  private static async find<U>(this: Desk<U>, ...names: string[]): Promise<U | undefined> {
    const near = (x: U): x is U => true;
    return undefined;
  }
}

export const LIMIT = 10;
export const make = <T,>(x: T): T => x;
export const api = {
  get: async (path: string) => fetch(path),
  put(path: string) { },
};
namespace Space {
  export function inSpace() { }
}
export default function App({ a }: Props) {
  return <Desk<string> title="don't">it's {make(() => import("./lazy"))} // text</Desk>;
}
"""
VUE = """<template><p>function ghost() {}</p></template>
<script lang="ts">
import Base from "./Base.vue"
export default { data() { return {}; }, methods: { save(): void { } } }
</script>
<!-- <script>import "./ghost"</script> -->
<script setup lang="ts">
import { ref } from 'vue'
const count = ref<number>(0)
function grow(by: number) { count.value += by }
</script>
"""


def test_definitions_of_javascript_have_names_lines_and_signatures() -> None:
    assert outline("javascript", JAVASCRIPT) == [
        "8-9@9 constant MOST | const MOST | Most of them.",
        "10-10@10 constant first | first",
        "10-10@10 function run | run = function ()",
        "12-22@15 function say | exports.say = function said(word) | Says it.",
        "23-23@23 function quiet | exports.quiet = async (word)",
        "24-24@24 function many | module.exports.many = function* ()",
        "26-28@26 function Old | function Old(size)",
        "27-27@27 method Old.grow | this.grow = function (by)",
        "29-29@29 method Old.shrink | Old.prototype.shrink = function ()",
        "30-30@30 method Old.make | Old.make = ()",
        "33-33@33 method alpha | alpha()",
        "34-34@34 method beta | beta: function (x)",
        "35-35@35 method a-b | 'a-b': ()",
        "36-36@36 method delta | get delta()",
        "41-41@41 function inner | function inner()",
        "45-52@45 class Kept | const Kept = class extends Base",
        "47-47@47 method Kept.tick | tick = (x)",
        "48-48@48 method Kept.#hidden | #hidden()",
        "49-49@49 method Kept.walk | static async *walk()",
        "50-50@50 method Kept.with blank | 'with blank'()",
        "51-51@51 method Kept.[Symbol.iterator] | [Symbol.iterator]()",
        "57-57@57 constant page | const page",
    ]


def test_javascript_imports_package_and_head() -> None:
    assert imports("javascript", JAVASCRIPT) == [
        "5 fs",
        "5 path",
        "6 ./base",
    ]
    found = parsed("javascript", JAVASCRIPT)
    assert (found.package, found.heads, found.error_line) == (
        "",
        ("Sold under terms.", "Tools of the shop."),
        None,
    )


def test_javascript_comments_and_strings_are_distinguished_from_code() -> None:
    comments, strings = spanned("javascript", JAVASCRIPT)
    assert comments == [
        "#!/usr/bin/env node",
        "/* Sold under terms. */",
        "// Tools of the shop.",
        "// Most of them.",
        "/**\n * Says it.\n */",
        "// import ghost from 'ghost'",
    ]
    assert strings == [
        "'use strict'",
        "'fs'",
        '"path"',
        "'./base'",
        "`function ghost() {\n    ${word.map((each) => { return `deep ${each}`; })}\n    "
        "require('ghost')\n  }`",
        "'a-b'",
        "'with blank'",
        "'it'",
        "'works'",
        '"it\'s"',
        "'{'",
    ]


def test_definitions_of_typescript_have_names_lines_and_signatures() -> None:
    assert outline("tsx", TYPESCRIPT) == [
        "9-9@9 type Far | type Far",
        "11-16@12 interface Shop | export interface Shop<T = any> extends Base<T>, Other | What there is.",
        "14-14@14 method Shop.sell | sell(order: Order): void",
        "17-17@17 type Pair | export type Pair<A, B = A>",
        "18-18@18 enum Kind | export const enum Kind",
        "19-19@19 function outside | declare function outside(x: number): string",
        "20-20@20 constant VERSION | declare const VERSION: string",
        "21-21@21 class Gone | export declare class Gone",
        "21-21@21 method Gone.go | go(): void",
        "23-23@23 function over | function over(a: string): void",
        "24-24@24 function over | function over(a: any)",
        "26-43@30 class Desk | export abstract class Desk<T extends object> extends Base implements "
        "Shop<T> | The desk.",
        "32-32@32 method Desk.handler | handler = async (event: Event): Promise<void>",
        "33-34@34 method Desk.constructor | constructor(private readonly a: A) | Makes one.",
        "35-37@37 method Desk.size | protected get size(): number",
        "38-38@38 method Desk.area | abstract area(scale: number): number",
        "39-42@39 method Desk.find | private static async find<U>(this: Desk<U>, ...names: string[]): "
        "Promise<U | undefined>",
        "40-40@40 function Desk.find.near | const near = (x: U): x is U",
        "45-45@45 constant LIMIT | export const LIMIT",
        "46-46@46 function make | export const make = <T,>(x: T): T",
        "47-50@47 constant api | export const api",
        "48-48@48 method api.get | get: async (path: string)",
        "49-49@49 method api.put | put(path: string)",
        "52-52@52 function inSpace | export function inSpace()",
        "54-56@54 function App | export default function App({ a }: Props)",
    ]


def test_typescript_imports_package_and_head() -> None:
    assert imports("tsx", TYPESCRIPT) == [
        "2 react React useState FC",
        "3 ./order Order",
        "4 ./all",
        "5 ./old",
        "6 ./style.css",
        "7 ./more",
        "8 ./some",
        "9 ./far",
        "55 ./lazy",
    ]
    found = parsed("tsx", TYPESCRIPT)
    assert (found.package, found.heads, found.error_line) == ("", ("Orders.",), None)


def test_typescript_comments_and_strings() -> None:
    comments, strings = spanned("tsx", TYPESCRIPT)
    assert comments == [
        "/** Orders. */",
        "/** What there is. */",
        "/**\n * The desk.\n */",
        "/** Makes one. */",
    ]
    assert strings == [
        '"react"',
        "'./order'",
        '"./all"',
        '"./old"',
        '"./style.css"',
        "'./more'",
        '"./some"',
        "'./far'",
        '"two"',
        "`desk`",
        '"don\'t"',
        '"./lazy"',
    ]


def test_definitions_in_a_vue_component_have_their_lines() -> None:
    assert outline("vue", VUE) == [
        "4-4@4 method data | data()",
        "4-4@4 method save | save(): void",
        "9-9@9 constant count | const count",
        "10-10@10 function grow | function grow(by: number)",
    ]


def test_vue_imports_package_and_head() -> None:
    assert imports("vue", VUE) == [
        "3 ./Base.vue Base",
        "8 vue ref",
    ]
    found = parsed("vue", VUE)
    assert (found.package, found.heads, found.error_line) == ("", (), None)


def test_vue_comments_and_strings() -> None:
    comments, strings = spanned("vue", VUE)
    assert comments == []
    assert strings == [
        '"./Base.vue"',
        "'vue'",
    ]


def test_a_component_in_a_wrapper_is_a_function() -> None:
    item = "const Item = React.memo(({ name }) => <li>{name}</li>);\n"
    box = "export const Box = forwardRef(function Box(p) {\n});\n"
    for language in ("jsx", "tsx"):
        assert outline(language, f"{item}{box}const rows = list.map((each) => each);\n") == [
            "1-1@1 function Item | const Item = React.memo(({ name })",
            "2-3@2 function Box | export const Box = forwardRef(function Box(p)",
            "4-4@4 constant rows | const rows",
        ]
