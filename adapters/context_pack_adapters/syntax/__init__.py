"""Source code by tree-sitter: grammars, query files, and the `Syntax` port over them."""

from __future__ import annotations

from functools import cache

from context_pack.kernel.syntax import Syntax


@cache
def shared_syntax() -> Syntax:
    """The `Syntax` of this process: one parser process and one cache for all callers."""
    from context_pack_adapters.syntax.guarded_syntax import GuardedSyntax

    return GuardedSyntax()
