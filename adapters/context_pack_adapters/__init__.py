"""The half of context-pack that touches the world, and the embedded door to the whole.

Importing it loads nothing: `open_workspace` and the in-memory twins arrive when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from context_pack_adapters.workspace import Workspace, open_memory_workspace, open_workspace

__all__ = ["Workspace", "open_memory_workspace", "open_workspace"]


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name in __all__:
        from context_pack_adapters import workspace

        return getattr(workspace, name)
    raise AttributeError(f"module 'context_pack_adapters' has no attribute {name!r}")
