"""What can be asked of contexts, as frozen commands; each field carries its schema and its description."""

from __future__ import annotations

from attrs import frozen

from context_pack.toolkit.arguments import arg, array, text

PATH_CHARS = 4096
NAME_CHARS = 200
MOST_NAMES = 200

SCOPE = (text(0, PATH_CHARS), "Folder below the root: src/core, or . for the root")
PATH = (text(0, PATH_CHARS), "Another root, in the project or allowed")


@frozen(kw_only=True)
class QueryContext:
    """Read one context."""

    scope: str = arg(*SCOPE)
    filter: tuple[str, ...] | None = arg(
        array(text(0, NAME_CHARS), 0, MOST_NAMES), "Fields to return; all when absent", default=None
    )
    path: str | None = arg(*PATH, default=None)


@frozen(kw_only=True)
class CheckFreshness:
    """Compare one context with its folder."""

    scope: str = arg(*SCOPE)
    path: str | None = arg(*PATH, default=None)


@frozen(kw_only=True)
class ListContexts:
    """Read which folders have contexts."""

    path: str | None = arg(*PATH, default=None)
