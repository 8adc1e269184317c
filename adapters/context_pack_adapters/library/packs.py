"""Packs for library callers: the pack use cases under their contract names, with packs as values.

A change takes the pack as it was last seen, which carries its id and revision, and returns the pack as it now
is, so that calls chain. A pack may also be named by its id or name; then a change needs `expected_revision`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from inspect import Signature, signature
from typing import Any, Concatenate, ParamSpec

import attrs

from context_pack.composition import UseCases
from context_pack.kernel.errors import invalid
from context_pack.kernel.paging import Page
from context_pack.packs import commands
from context_pack.packs.claims import Remark
from context_pack.packs.commands import (
    DEFAULT_LIMIT,
    DRAFT_TOKENS,
    Draft,
    NamedPack,
    Operation,
    PackAtRevision,
)
from context_pack.packs.draft import Drafted
from context_pack.packs.model import Pack, Scopes
from context_pack.packs.pages import Mode
from context_pack.packs.read import Compared
from context_pack.packs.render import Rendered
from context_pack.packs.verify import Repaired, Verified
from context_pack.packs.write_text import WrittenText, write_text
from context_pack.toolkit.arguments import arguments_of
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS

P = ParamSpec("P")
Which = Pack | str
"""A pack as last seen, or its id or name."""


def _change(operation: Callable[P, Operation]) -> Callable[Concatenate[Packs, Which, P], Pack]:
    """The method that carries out one operation, with the operation's own arguments and words."""

    def change(self: Packs, pack: Which, /, *args: P.args, **fields: P.kwargs) -> Pack:
        return self.apply(pack, operation(*args, **fields))

    kind: Any = operation
    change.__name__ = attrs.fields(kind).action.default
    told = (f"    {name}: {argument.description}" for name, argument, _ in arguments_of(kind))
    change.__doc__ = "\n".join([kind.__doc__, "", "Args:", "    pack: as it was last seen.", *list(told)[1:]])
    ours = signature(change).parameters
    theirs = [each for name, each in signature(kind).parameters.items() if name != "action"]
    change.__signature__ = Signature([ours["self"], ours["pack"], *theirs])  # type: ignore[attr-defined]
    return change


class Packs:
    """Packs of anchored code; each method raises `Failure` where the tools would refuse.

    `pack` is a pack as it was last seen, or its id or name.
    """

    def __init__(self, cases: UseCases) -> None:
        self._cases = cases.packs
        self._clock = cases.ports.clock

    # -- reading

    def get(self, pack: Which) -> Pack:
        """The pack as it now is."""
        return self._cases.reader.get(NamedPack(id=_handle(pack)))

    def list(
        self,
        *,
        status: str | None = None,
        query: str | None = None,
        limit: int = DEFAULT_LIMIT,
        offset: int = 0,
    ) -> Page[Pack]:
        """Live packs, the last changed first.

        Args:
            status: only `draft` or `finalized` ones.
            query: only those whose name, title, brief or tags contain it.
            limit: at most so many.
            offset: how many to skip.
        """
        command = commands.ListPacks(status=status, query=query, limit=limit, offset=offset)
        return self._cases.lister.list(command)

    def diff(self, pack: Which, from_revision: int | None = None, to_revision: int | None = None) -> Compared:
        """What changed between two revisions: the last two, from one to the present, or between two."""
        return self._cases.reader.diff(
            commands.Diff(id=_handle(pack), from_revision=from_revision, to_revision=to_revision)
        )

    def render(
        self,
        pack: Which,
        *,
        status: str | None = None,
        mode: str | None = None,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        cursor: str | None = None,
    ) -> Rendered:
        """One page of Markdown with the code in it: `text`, and the `cursor` that leads to the next.

        Args:
            status: refuse a pack of another status.
            mode: `full`, or `compact` without the code.
            max_tokens: how large a page may be.
            cursor: that of the page before.
        """
        command = commands.RenderPack(
            id=_handle(pack), status=status, mode=mode, max_tokens=max_tokens, cursor=cursor
        )
        return self._cases.reader.render(command)

    def pages(
        self, pack: Which, *, mode: str | None = None, max_tokens: int = DEFAULT_MAX_TOKENS
    ) -> Iterator[Rendered]:
        """Every page, one after the other."""
        page = self.render(pack, mode=mode, max_tokens=max_tokens)
        yield page
        while page.cursor is not None:
            page = self.render(pack, max_tokens=max_tokens, cursor=page.cursor)
            yield page

    def document(self, pack: Which, *, mode: str = Mode.FULL) -> str:
        """The whole pack as one Markdown text, however long."""
        return self._cases.reader.document(NamedPack(id=_handle(pack)), mode)

    def export_html(self, pack: Which) -> str:
        """The whole pack as one HTML page that needs no network, with the state of every ref."""
        from context_pack_adapters.page.page import PackView, render_html

        verified = self.verify(pack)
        scopes = self.scopes(verified.pack)
        return render_html(PackView.of(verified.pack, verified.refs, self._clock.now(), scopes))

    def scopes(self, pack: Which) -> Scopes:
        """How the contexts of the folders that the pack's sections name stand."""
        return self._cases.reader.scopes(self.get(pack))

    def markdown(self, pack: Which) -> str:
        """The pack as a Markdown text; given back to `write` unchanged, it changes nothing."""
        return self._cases.reader.markdown(NamedPack(id=_handle(pack)))

    def lint(self, pack: Which) -> Sequence[Remark]:
        """Sentences without code behind them, line numbers in prose, places that are huge."""
        return self._cases.reader.lint(NamedPack(id=_handle(pack)))

    def expired(self) -> Sequence[Pack]:
        """Packs whose time is over and which can still be restored, the last that expired first."""
        return self._cases.lister.expired()

    def verify(self, pack: Which) -> Verified:
        """The state of every ref; changes nothing."""
        return self._cases.verifier.verify(NamedPack(id=_handle(pack)))

    # -- writing

    def create(
        self,
        *,
        ttl_minutes: int,
        name: str | None = None,
        title: str | None = None,
        brief: str | None = None,
        tags: Sequence[str] = (),
    ) -> Pack:
        """A new draft.

        Args:
            ttl_minutes: how long it lives.
            name: what to call it; no other pack that lives may have it.
            title: its heading.
            brief: a sentence or two on what it is for.
            tags: words to find it by.
        """
        command = commands.Create(
            ttl_minutes=ttl_minutes, name=name, title=title, brief=brief, tags=tuple(tags)
        )
        return self._cases.writer.create(command)

    def write(
        self,
        text: str,
        *,
        pack: Which | None = None,
        name: str | None = None,
        ttl_minutes: int | None = None,
        expected_revision: int | None = None,
    ) -> WrittenText:
        """Make a pack of a Markdown text, or put the text in place of what a draft says."""
        seen = pack.revision if isinstance(pack, Pack) else None
        command = commands.Write(
            text=text,
            id=None if pack is None else _handle(pack),
            name=name,
            ttl_minutes=ttl_minutes,
            expected_revision=seen if expected_revision is None else expected_revision,
        )
        return write_text(self._cases.writer, command)

    def rename(
        self,
        pack: Which,
        *,
        section_key: str,
        new_key: str,
        ref_key: str | None = None,
        expected_revision: int | None = None,
    ) -> Pack:
        """Give a section, or a ref of it, another key."""
        seen = _seen(pack, expected_revision)
        command = commands.Rename(**seen, section_key=section_key, ref_key=ref_key, new_key=new_key)
        return self._cases.writer.rename(command)

    def draft(
        self,
        query: str | None = None,
        *,
        ttl_minutes: int,
        name: str | None = None,
        max_tokens: int = DRAFT_TOKENS,
        diff: str | None = None,
        trace: str | None = None,
    ) -> Drafted:
        """A new pack for a question, a diff (its text, or a base revision) or a stack trace.

        Its `tokens` are those of the rendered pack.
        """
        command = Draft(
            query=query, ttl_minutes=ttl_minutes, name=name, max_tokens=max_tokens, diff=diff, trace=trace
        )
        return self._cases.drafter.draft(command)

    def apply(self, pack: Which, *operations: Operation, expected_revision: int | None = None) -> Pack:
        """Carry out operations as one change: one revision, all or nothing.

        Args:
            pack: as it was last seen, which carries its revision.
            operations: `UpsertSection`, `UpsertRef`, `SetMeta`, …
            expected_revision: what a pack that is given by id or name must still be at.
        """
        target = PackAtRevision(**_seen(pack, expected_revision))
        return self._cases.writer.apply(target, operations[0] if len(operations) == 1 else operations).pack

    upsert_section = _change(commands.UpsertSection)
    delete_section = _change(commands.DeleteSection)
    upsert_ref = _change(commands.UpsertRef)
    delete_ref = _change(commands.DeleteRef)
    upsert_diagram = _change(commands.UpsertDiagram)
    delete_diagram = _change(commands.DeleteDiagram)
    set_meta = _change(commands.SetMeta)
    touch_ttl = _change(commands.TouchTtl)

    def set_status(self, pack: Which, status: str, *, expected_revision: int | None = None) -> Pack:
        """Finalize a draft (`finalized`), or reopen a finalized pack (`draft`)."""
        seen = _seen(pack, expected_revision)
        return self._cases.writer.set_status(commands.SetStatus(**seen, status=status))

    def repair(self, pack: Which, *, expected_revision: int | None = None) -> Repaired:
        """Point the refs whose code has moved at it again."""
        return self._cases.verifier.repair(commands.Repair(**_seen(pack, expected_revision)))

    def restore(self, pack: str, *, ttl_minutes: int) -> Pack:
        """Bring an expired pack back, by id or name."""
        return self._cases.writer.restore(pack, ttl_minutes)

    def discard(self, pack: str) -> Pack:
        """Remove an expired pack for good, by id or name."""
        return self._cases.writer.discard(pack)

    def accept(self, pack: Which, *refs: str, expected_revision: int | None = None) -> Repaired:
        """Anchor changed refs anew where they are found now: those named, or all of them."""
        seen = _seen(pack, expected_revision)
        return self._cases.verifier.accept(commands.Accept(**seen, refs=refs or None))

    def delete(self, pack: Which, *, expected_revision: int | None = None) -> None:
        """Remove the pack for good."""
        self._cases.writer.delete(commands.DeletePack(**_seen(pack, expected_revision)))


def _handle(pack: Which) -> str:
    return pack.id if isinstance(pack, Pack) else pack


def _seen(pack: Which, expected_revision: int | None) -> dict[str, Any]:
    """The arguments that say which pack is meant, and the revision that it must still be at."""
    if expected_revision is None:
        if not isinstance(pack, Pack):
            words = "is required with an id or a name; or pass the pack as you last saw it"
            raise invalid(f"'expected_revision' {words}", "expected_revision")
        expected_revision = pack.revision
    return {"id": _handle(pack), "expected_revision": expected_revision}
