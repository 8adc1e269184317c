"""context-pack: the context a coding agent needs, kept true.

The public surface of the library. Importing it touches nothing: no file, no thread, no output.
`open_workspace` comes from the adapters, which are loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from context_pack.composition import Ports
    from context_pack.kernel.errors import Code, Failure, Kind
    from context_pack.packs.domain.model import Diagram, Pack, Ref, Section, Status
    from context_pack.packs.domain.states import State
    from context_pack.packs.usecases.commands import (
        DeleteDiagram,
        DeleteRef,
        DeleteSection,
        SetMeta,
        TouchTtl,
        UpsertDiagram,
        UpsertRef,
        UpsertSection,
    )
    from context_pack.results import (
        Answer,
        CheckedContext,
        Compared,
        ContextPart,
        Drafted,
        EntityNeighbours,
        ExportedText,
        FileRead,
        FolderListing,
        FoundInMemory,
        Outlined,
        Page,
        Recorded,
        Rendered,
        Repaired,
        SearchAnswers,
        Searched,
        Usages,
        Verified,
        WrittenDocument,
    )
    from context_pack_adapters import Workspace, open_workspace

__all__ = [
    "Answer",
    "CheckedContext",
    "Code",
    "Compared",
    "ContextPart",
    "DeleteDiagram",
    "DeleteRef",
    "DeleteSection",
    "Diagram",
    "Drafted",
    "EntityNeighbours",
    "ExportedText",
    "Failure",
    "FileRead",
    "FolderListing",
    "FoundInMemory",
    "Kind",
    "Outlined",
    "Pack",
    "Page",
    "Ports",
    "Recorded",
    "Ref",
    "Rendered",
    "Repaired",
    "SearchAnswers",
    "Searched",
    "Section",
    "SetMeta",
    "State",
    "Status",
    "TouchTtl",
    "UpsertDiagram",
    "UpsertRef",
    "UpsertSection",
    "Usages",
    "Verified",
    "Workspace",
    "WrittenDocument",
    "__version__",
    "open_workspace",
]

_ERRORS = frozenset({"Code", "Failure", "Kind"})
_MODELS = frozenset({"Diagram", "Pack", "Ref", "Section", "Status"})
_OPERATIONS = frozenset(name for name in __all__ if name.startswith(("Upsert", "Delete", "SetMeta", "Touch")))
_DOORS = frozenset({"Workspace", "open_workspace"})


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    home: Any
    if name in _ERRORS:
        from context_pack.kernel import errors as home
    elif name in _MODELS:
        from context_pack.packs.domain import model as home
    elif name in _OPERATIONS:
        from context_pack.packs.usecases import commands as home
    elif name == "State":
        from context_pack.packs.domain import states as home
    elif name == "Ports":
        from context_pack import app as home
    elif name in _DOORS:
        from context_pack.__main__ import use_same_tree

        use_same_tree()
        import context_pack_adapters as home
    elif name in __all__:
        from context_pack import results as home
    else:
        raise AttributeError(f"module 'context_pack' has no attribute {name!r}")
    return getattr(home, name)
