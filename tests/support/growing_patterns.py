"""Short regular expressions that become huge when they are compiled, for every tool that takes one."""

from __future__ import annotations

GROWING_PATTERNS = (
    "(((a{1000}){1000}){1000})",
    "(((a{1000}?){1000}?){1000}+)",
    "(((()*){1000}){1000}){1000}",
    "((((((((a|b){9}){9}){9}){9}){9}){9}){9}){9}",
    "(?x)(((a{ 1000 }){ 1000 }) {1000}) # (",
    "[[:alpha:][](((a{1000}){1000}){1000})]",
    "(?#[)(((a{1000}){1000}){1000})(?#])",
    "\\[(((a{1000}){1000}){1000})]",
    "a{4000000000}",
    "a{" + "9" * 5000 + "}",
)
