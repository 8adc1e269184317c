"""context-pack: the context a coding agent needs, kept true.

The public surface of the library. Importing it touches nothing: no file, no thread, no output. Types come
from `results` and `open_workspace` from the adapters, both loaded when a name of theirs is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from context_pack.results import *  # noqa: F403
    from context_pack_adapters import Workspace as Workspace
    from context_pack_adapters import open_workspace as open_workspace


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    home: Any
    if name in ("Workspace", "open_workspace"):
        from context_pack.__main__ import use_same_tree

        use_same_tree()
        import context_pack_adapters as home
    elif name[:1].isupper():  # a type; the import system asks here for modules, too
        import context_pack.results as home
    else:
        raise AttributeError(f"module 'context_pack' has no attribute {name!r}")
    return getattr(home, name)
