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
from context_pack.kernel.errors import Code, Failure, invalid

T = TypeVar("T")


class Contexts:
    """The contexts of the project's folders; each method raises `Failure` where the tools would refuse.

    `scope` is a folder relative to the project, `path` another project than the opened one.
    """

    def __init__(self, cases: UseCases) -> None:
        self._cases = cases.contexts

    def list(self, *, path: str | None = None) -> FolderListing:
        """Every folder that has, or should have, a context: `entries` with `scope` and `state`."""
        return answered(self._cases.queries.list(ListContexts(path=path)))

    def query(
        self, scope: str, *, fields: Sequence[str] | None = None, path: str | None = None
    ) -> ContextPart:
        """The context of a folder as a mapping (`context`), whole or only these fields."""
        if isinstance(fields, str):  # a type checker takes one text for a sequence of them
            raise invalid("'fields' must be a list of texts", "fields")
        command = QueryContext(scope=scope, filter=None if fields is None else tuple(fields), path=path)
        return answered(self._cases.queries.query(command))

    def check(self, scope: str, *, path: str | None = None) -> CheckedContext:
        """Whether the context of a folder is still true: `freshness.state`."""
        return answered(self._cases.queries.check(CheckFreshness(scope=scope, path=path)))

    def refresh(
        self,
        scope: str | None = None,
        *,
        only_missing: bool = False,
        method: Method | None = None,
        agents: bool = False,
        path: str | None = None,
    ) -> Sequence[FolderOutcome]:
        """Make what is missing and bring the rest up to date; what people wrote stays.

        Args:
            scope: only this folder.
            only_missing: leave alone what is there.
            method: how folders are fingerprinted from now on.
            agents: also write a short block into `AGENTS.md`.
        """
        project = answered(opened(self._cases.queries.projects, path))
        order = RefreshRequest(scope, only_missing, method, agents)
        return answered(self._cases.refresher.refresh(project, order))


def answered(answer: T | RefusedQuery) -> T:
    """Return the answer, or raise a refusal as a failure.

    Raises:
        Failure: `not_found`, when the project or the scope was refused.
    """
    if isinstance(answer, RefusedQuery):
        raise Failure(Code.NOT_FOUND, answer.error, {} if answer.reason is None else {"hint": answer.reason})
    return answer
