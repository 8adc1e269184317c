"""The adapters: code that touches disk, network and processes; also the entry point of the library.

Importing it loads nothing: `open_workspace` arrives when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from context_pack_adapters.library import Workspace, open_workspace

__all__ = ["Workspace", "open_workspace"]


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name in __all__:
        from context_pack_adapters import library

        return getattr(library, name)
    raise AttributeError(f"module 'context_pack_adapters' has no attribute {name!r}")
