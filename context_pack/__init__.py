"""context-pack: the context a coding agent needs, kept true.

The public surface of the library. Importing it touches nothing: no file, no thread, no output; a name is
loaded when it is first used. Types come from `results`, `open_workspace` and `Workspace` from the adapters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.4.0"

if TYPE_CHECKING:
    from context_pack.results import *  # noqa: F403
    from context_pack_adapters.library import Workspace as Workspace
    from context_pack_adapters.library import open_workspace as open_workspace

_OF_ADAPTERS = ("Workspace", "open_workspace")


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name in _OF_ADAPTERS:
        from context_pack.__main__ import use_same_tree

        use_same_tree()
        import context_pack_adapters.library as home
    elif name == "__all__":
        return __dir__()
    elif name[:1].isupper():  # a type; the import system asks here for modules, too
        home = _results()
    else:
        raise AttributeError(f"module 'context_pack' has no attribute {name!r}")
    return getattr(home, name)


def __dir__() -> list[str]:
    """The public names, for whoever completes them."""
    return sorted([*_results().__all__, *_OF_ADAPTERS])


def _results() -> Any:
    """The module of the types."""
    import context_pack.results as results

    return results
