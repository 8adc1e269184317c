"""Directory contexts for library callers: list, query, check and refresh them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from context_pack.composition import UseCases
from context_pack.contexts.fingerprint import Method
from context_pack.contexts.queries import (
    CheckedContext,
    CheckFreshness,
    ContextPart,
    FolderListing,
    ListContexts,
    QueryContext,
    RefusedQuery,
    opened,
)
from context_pack.contexts.refresh import FolderOutcome, RefreshRequest
from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.library.spelling import listed, spelled

T = TypeVar("T")


class Contexts:
    """Every use case of contexts over the source root; each raises `Failure` where the tools would refuse."""

    def __init__(self, cases: UseCases) -> None:
        if cases.ports.contexts is None:
            raise ValueError("this workspace has no contexts")
        self._cases = cases.contexts

    def list(self, *, path: str | None = None) -> FolderListing:
        """Every folder that has, or should have, a context."""
        return answered(self._cases.queries.list(spelled(ListContexts, path=path)))

    def query(
        self, scope: str, *, fields: Sequence[str] | None = None, path: str | None = None
    ) -> ContextPart:
        """The context of a folder, whole or the fields asked for."""
        chosen = None if fields is None else listed(fields)
        wanted = spelled(QueryContext, scope=scope, filter=chosen, path=path)
        return answered(self._cases.queries.query(wanted))

    def check(self, scope: str, *, path: str | None = None) -> CheckedContext:
        """Whether the context of a folder is still true."""
        return answered(self._cases.queries.check(spelled(CheckFreshness, scope=scope, path=path)))

    def refresh(
        self,
        scope: str | None = None,
        *,
        only_missing: bool = False,
        method: Method | None = None,
        agents: bool = False,
        path: str | None = None,
    ) -> Sequence[FolderOutcome]:
        """Make what is missing and bring the rest up to date; what people wrote stays."""
        project = answered(opened(self._cases.queries.projects, path))
        order = RefreshRequest(scope, only_missing, method, agents)
        return answered(self._cases.refresher.refresh(project, order))


def answered(found: T | RefusedQuery) -> T:
    """Return the answer, or raise a refusal as a failure.

    Raises:
        Failure: `not_found`, when the project or the scope was refused.
    """
    if isinstance(found, RefusedQuery):
        raise Failure(Code.NOT_FOUND, found.error, {} if found.reason is None else {"hint": found.reason})
    return found
