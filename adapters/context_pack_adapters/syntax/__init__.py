"""Source code by tree-sitter: grammars, query files, and the `Syntax` port over them."""

from context_pack_adapters.syntax.guarded_syntax import shared_syntax as shared_syntax
