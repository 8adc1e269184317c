"""context-pack: the context a coding agent needs, kept true.

The public surface of the library. Importing it touches nothing: no file, no thread, no output.
`open_workspace` is the door to the adapters and is loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from context_pack_adapters import Workspace, open_workspace

    from context_pack.kernel.errors import Code, Failure, Kind

__all__ = ["Code", "Failure", "Kind", "Workspace", "__version__", "open_workspace"]

_ERRORS = frozenset({"Code", "Failure", "Kind"})
_DOOR = frozenset({"Workspace", "open_workspace"})


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name in _ERRORS:
        from context_pack.kernel import errors

        return getattr(errors, name)
    if name in _DOOR:
        from context_pack.__main__ import use_same_tree

        use_same_tree()
        import context_pack_adapters

        return getattr(context_pack_adapters, name)
    raise AttributeError(f"module 'context_pack' has no attribute {name!r}")
