"""Packs for library callers: the pack use cases under their contract names, with packs as values.

A change takes the pack as it was last seen, which carries its id and revision, and returns the pack as it now
is, so that calls chain. Where a method has `expected_revision`, which says what the pack must still be
at, it may also be named by its id or name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Concatenate, ParamSpec

import attrs

from context_pack.kernel.errors import invalid
from context_pack.kernel.paging import Page
from context_pack.packs import commands, operations
from context_pack.packs.claims import Remark, remarks_on
from context_pack.packs.commands import NamedPack, PackAtRevision
from context_pack.packs.draft import Drafted
from context_pack.packs.handover import markdown_of
from context_pack.packs.model import Pack
from context_pack.packs.operations import Operation
from context_pack.packs.read import Compared, Repaired, Verified
from context_pack.packs.render import Mode, Rendered
from context_pack.packs.write_text import WrittenText, write_text
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS
from context_pack_adapters.library.asking import Feature, asks, describe

P = ParamSpec("P")
Which = Pack | str
"""A pack as last seen, or its id or name."""


def _change(operation: Callable[P, Operation]) -> Callable[Concatenate[Packs, Pack, P], Pack]:
    """The method that carries out one operation, with the operation's own arguments and words."""

    def change(self: Packs, pack: Pack, /, *args: P.args, **fields: P.kwargs) -> Pack:
        return self.apply(pack, operation(*args, **fields))

    kind: Any = operation
    change.__name__, change.__doc__ = attrs.fields(kind).action.default, kind.__doc__
    change.__qualname__ = f"Packs.{change.__name__}"
    describe(change, kind, pack="as it was last seen.")
    return change


class Packs(Feature):
    """Packs of anchored code; each method raises `Failure` where the tools would refuse."""

    # -- reading

    def get(self, pack: Which) -> Pack:
        """The pack as it now is."""
        return self.cases.packs.reader.get(_named(pack))

    @asks(commands.ListPacks)
    def list(self, command: commands.ListPacks) -> Page[Pack]:
        """Live packs, the last changed first."""
        return self.cases.packs.lister.list(command)

    def diff(self, pack: Which, from_revision: int | None = None, to_revision: int | None = None) -> Compared:
        """What changed between two revisions: the last two, from one to the present, or between two."""
        command = commands.Diff(id=_handle(pack), from_revision=from_revision, to_revision=to_revision)
        return self.cases.packs.reader.diff(command)

    def pages(
        self, pack: Which, *, mode: str | None = None, max_tokens: int = DEFAULT_MAX_TOKENS
    ) -> Iterator[Rendered]:
        """Markdown with the code in it (`text`) page by page, `full` or `compact` (without the code)."""
        command = commands.RenderPack(id=_handle(pack), mode=mode, max_tokens=max_tokens)
        page = self.cases.packs.reader.render(command)
        yield page
        while page.cursor is not None:
            page = self.cases.packs.reader.render(attrs.evolve(command, mode=None, cursor=page.cursor))
            yield page

    def document(self, pack: Which, *, mode: str = Mode.FULL) -> str:
        """The whole pack as one Markdown text, however long: `full`, `compact` or `diff`."""
        return self.cases.packs.reader.document(_named(pack), mode)

    def export_html(self, pack: Which) -> str:
        """The whole pack as one HTML page that needs no network, with the state of every ref."""
        from context_pack_adapters.page.page import render_html

        verified = self.verify(pack)
        states = {checked.ref: checked.resolution for checked in verified.refs}
        return render_html(verified.pack, states.__getitem__, self.cases.ports.clock.now())

    def markdown(self, pack: Which) -> str:
        """The pack as a Markdown text; given back to `write` unchanged, it changes nothing."""
        return markdown_of(self.get(pack))

    def lint(self, pack: Which) -> Sequence[Remark]:
        """Sentences without code or with a name that it lost, line numbers in prose, huge places."""
        return remarks_on(self.get(pack))

    def expired(self) -> Sequence[Pack]:
        """Packs whose time is over and which can still be restored, the last that expired first."""
        return self.cases.packs.lister.expired()

    def verify(self, pack: Which) -> Verified:
        """The state of every ref; changes nothing."""
        return self.cases.packs.verifier.verify(_named(pack))

    # -- writing

    @asks(commands.Create)
    def create(self, command: commands.Create) -> Pack:
        """A new draft."""
        return self.cases.packs.writer.create(command)

    @asks(commands.Draft)
    def draft(self, command: commands.Draft) -> Drafted:
        """A new pack for a question, a diff or a stack trace; its `tokens` are those of the rendered pack."""
        return self.cases.packs.drafter.draft(command)

    def write(
        self,
        text: str,
        *,
        pack: Pack | None = None,
        name: str | None = None,
        ttl_minutes: int | None = None,
    ) -> WrittenText:
        """Make a pack of a Markdown text, or put the text in place of what a draft says."""
        seen = {} if pack is None else _seen(pack, None)
        return write_text(
            self.cases.packs.writer, commands.Write(text=text, name=name, ttl_minutes=ttl_minutes, **seen)
        )

    def apply(self, pack: Which, *operations: Operation, expected_revision: int | None = None) -> Pack:
        """Carry out operations as one change: one revision, all or nothing.

        Args:
            pack: as it was last seen, which carries its revision.
            operations: `UpsertSection`, `UpsertRef`, `SetMeta`, …
            expected_revision: what a pack that is given by id or name must still be at.
        """
        target = PackAtRevision(**_seen(pack, expected_revision))
        several = operations[0] if len(operations) == 1 else operations
        return self.cases.packs.writer.apply(target, several).pack

    upsert_section = _change(operations.UpsertSection)
    delete_section = _change(operations.DeleteSection)
    upsert_ref = _change(operations.UpsertRef)
    delete_ref = _change(operations.DeleteRef)
    upsert_diagram = _change(operations.UpsertDiagram)
    delete_diagram = _change(operations.DeleteDiagram)
    set_meta = _change(operations.SetMeta)
    touch_ttl = _change(operations.TouchTtl)

    def rename(self, pack: Pack, *, section_key: str, new_key: str, ref_key: str | None = None) -> Pack:
        """Give a section, or a ref of it, another key."""
        seen = _seen(pack, None)
        command = commands.Rename(**seen, section_key=section_key, ref_key=ref_key, new_key=new_key)
        return self.cases.packs.writer.rename(command)

    def set_status(self, pack: Which, status: str, *, expected_revision: int | None = None) -> Pack:
        """Finalize a draft (`finalized`), or reopen a finalized pack (`draft`)."""
        seen = _seen(pack, expected_revision)
        return self.cases.packs.writer.set_status(commands.SetStatus(**seen, status=status))

    def repair(self, pack: Which, *, expected_revision: int | None = None) -> Repaired:
        """Point the refs whose code has moved at it again."""
        return self.cases.packs.verifier.repair(commands.Repair(**_seen(pack, expected_revision)))

    def accept(self, pack: Which, *refs: str, expected_revision: int | None = None) -> Repaired:
        """Anchor changed refs anew where they are found now: those named, or all of them."""
        seen = _seen(pack, expected_revision)
        return self.cases.packs.verifier.accept(commands.Accept(**seen, refs=refs or None))

    def delete(self, pack: Which, *, expected_revision: int | None = None) -> None:
        """Move the pack into the trash."""
        self.cases.packs.writer.delete(commands.DeletePack(**_seen(pack, expected_revision)))

    def restore(self, pack: str, *, ttl_minutes: int) -> Pack:
        """Bring an expired or deleted pack back, by id or name."""
        return self.cases.packs.writer.restore(pack, ttl_minutes)

    def discard(self, pack: str) -> Pack:
        """Remove an expired or deleted pack for good, by id or name."""
        return self.cases.packs.writer.discard(pack)


def _handle(pack: Which) -> str:
    return pack.id if isinstance(pack, Pack) else pack


def _named(pack: Which) -> NamedPack:
    return NamedPack(id=_handle(pack))


def _seen(pack: Which, expected_revision: int | None) -> dict[str, Any]:
    """The arguments that say which pack is meant, and the revision that it must still be at."""
    if expected_revision is None:
        if not isinstance(pack, Pack):
            words = "is required with an id or a name; or pass the pack as you last saw it"
            raise invalid(f"'expected_revision' {words}", "expected_revision")
        expected_revision = pack.revision
    return {"id": _handle(pack), "expected_revision": expected_revision}
