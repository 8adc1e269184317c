"""What can be asked of packs, as frozen commands; each field carries its JSON Schema and its description.

The same classes serve the tools and an embedder, and check their own fields: a command that exists is valid.
What a single change of a pack's content is, is in `operations`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from attrs import NOTHING, fields, frozen

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.times import MAX_MINUTES
from context_pack.packs import values
from context_pack.packs.model import Status
from context_pack.packs.render import Mode
from context_pack.toolkit.arguments import arg, array, choice, integer, text
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS
from context_pack.toolkit.schema_errors import Schema

T = TypeVar("T")

LEAST_TOKENS, MOST_TOKENS = 500, 200_000
MOST_OPERATIONS = 100
DEFAULT_LIMIT, MOST_LIMIT = 50, 500
LEAST_QUESTION, MOST_QUESTION = 3, 500
DRAFT_TOKENS = 8_000
TEXT_CHARS = 400_000
MOST_LINES = 10_000
"""Of a text that is written: what is in them takes time, and a call has an end."""
ID_CHARS = values.NAME_HIGH + 80
"""An id or a name with room for white space around it."""

ID = (text(1, ID_CHARS, blank=False), "Pack id (pk_…) or name")
NAME = (text(1, ID_CHARS, blank=False), "Pack name")
KEY = text(2, 64, values.KEY_PATTERN)
TITLE = text(0, values.TITLE_CHARS)
WANTED_TITLE = text(1, values.TITLE_CHARS, blank=False)
WHY = text(0, values.WHY_CHARS)
BRIEF = text(0, values.BRIEF_CHARS)
TAGS = array(text(1, values.TAG_CHARS, blank=False), 0, values.TAGS_MOST)
TTL = (integer(1, MAX_MINUTES), "Minutes to live, from now")
STATUS = choice(*Status)
LIST_QUERY = (text(0, 500), "List: text in id, name, title, brief or tags")
LIMIT = (integer(1, MOST_LIMIT), "List: most packs")
OFFSET = (integer(0), "How many to skip")
LIST_OFFSET = (integer(0), "List: packs to skip")
BUDGET = (integer(LEAST_TOKENS, MOST_TOKENS), "Most tokens of a page")
ACTION: Schema = {"type": "string", "maxLength": 40}


def checked(
    schema: Schema, description: str, parse: Callable[[Any, str], Any], *, default: Any = NOTHING
) -> Any:
    """An argument that must also be what `parse` accepts: no schema says "one line" in words."""

    def check(_: Any, attribute: Any, value: Any) -> None:
        if value is not None:
            parse(value, attribute.name)

    made = arg(schema, description, default=default)
    made.validator(check)
    return made


NEW_NAME = (
    text(high=values.NAME_HIGH + 80),
    "Unique, 3-120 characters; never changes",
    values.new_name,
)


def ttl_required(hint: str) -> Failure:
    """The refusal of a call that does not say how long a pack is to live."""
    return Failure(Code.TTL_REQUIRED, f"'ttl_minutes' is required: {hint}", {"field": "ttl_minutes"})


@frozen(kw_only=True)
class Create:
    """Make a new draft pack."""

    action: str = arg(ACTION, "create", default="create")
    ttl_minutes: int = arg(*TTL)
    name: str | None = checked(*NEW_NAME, default=None)
    title: str | None = checked(TITLE, "Title", values.one_line, default=None)
    brief: str | None = checked(BRIEF, "What it is for", values.one_line, default=None)
    tags: tuple[str, ...] | None = checked(TAGS, "Tags", values.tags, default=None)


@frozen(kw_only=True)
class Write:
    """Make a pack of a Markdown text, or put the text in place of what a draft says."""

    action: str = arg(ACTION, "write", default="write")
    text: str = arg(text(1, TEXT_CHARS, blank=False), "write: the pack as Markdown, places named in it")
    id: str | None = arg(*ID, default=None)
    name: str | None = arg(*NAME, default=None)
    ttl_minutes: int | None = arg(*TTL, default=None)
    expected_revision: int | None = arg(integer(), "The revision you last saw", default=None)

    def __attrs_post_init__(self) -> None:
        if self.text.count("\n") > MOST_LINES:
            raise invalid(f"'text' has more than {MOST_LINES} lines; make several packs of it", "text")


@frozen(kw_only=True)
class Draft:
    """Make a draft pack that answers a question, or shows what a diff or a stack trace is about."""

    action: str = arg(ACTION, "draft", default="draft")
    query: str | None = arg(text(LEAST_QUESTION, MOST_QUESTION, blank=False), "The question", default=None)
    ttl_minutes: int = arg(*TTL)
    name: str | None = checked(*NEW_NAME, default=None)
    max_tokens: int = arg(integer(LEAST_TOKENS, MOST_TOKENS), "draft: most tokens", default=DRAFT_TOKENS)
    diff: str | None = arg(
        text(1, TEXT_CHARS, blank=False), "draft: a base revision, or a diff's text", default=None
    )
    trace: str | None = arg(text(1, TEXT_CHARS, blank=False), "draft: a stack trace", default=None)

    def __attrs_post_init__(self) -> None:
        if [self.query, self.diff, self.trace].count(None) != 2:
            raise invalid("give one of 'query', 'diff' and 'trace'", "query")
        if self.query is not None and len(" ".join(self.query.split())) < LEAST_QUESTION:
            raise invalid(f"'query' must have at least {LEAST_QUESTION} characters", "query")


@frozen(kw_only=True, slots=False)
class NamedPack:
    """One pack, by id or by name; the id wins, and may be a name."""

    id: str | None = arg(*ID, default=None)
    name: str | None = arg(*NAME, default=None)


@frozen(kw_only=True, slots=False)
class PackAtRevision(NamedPack):
    """One pack as the caller last saw it."""

    expected_revision: int = arg(integer(), "The revision you last saw")


@frozen(kw_only=True)
class Get(NamedPack):
    """Read a pack's metadata."""

    action: str = arg(ACTION, "get", default="get")


@frozen(kw_only=True)
class Verify(NamedPack):
    """Read the state of every ref."""

    action: str = arg(ACTION, "verify", default="verify")
    offset: int = arg(*OFFSET, default=0)


@frozen(kw_only=True)
class Diff(NamedPack):
    """Read what changed between two revisions."""

    action: str = arg(ACTION, "diff", default="diff")
    from_revision: int | None = arg(integer(1), "diff: the older revision", default=None)
    to_revision: int | None = arg(integer(1), "diff: the newer one", default=None)
    offset: int = arg(*OFFSET, default=0)


@frozen(kw_only=True)
class ListPacks:
    """Read which packs there are."""

    action: str = arg(ACTION, "list", default="list")
    status: str | None = arg(STATUS, "Status", default=None)
    query: str | None = arg(text(0, 500), "list: text to look for; draft: the question", default=None)
    limit: int = arg(*LIMIT, default=DEFAULT_LIMIT)
    offset: int = arg(*OFFSET, default=0)


@frozen(kw_only=True)
class SetStatus(PackAtRevision):
    """Finalize a draft, or reopen a finalized pack."""

    action: str = arg(ACTION, "set_status", default="set_status")
    status: str = arg(STATUS, "Status")


@frozen(kw_only=True)
class DeletePack(PackAtRevision):
    """Remove a pack for good."""

    action: str = arg(ACTION, "delete_pack", default="delete_pack")


@frozen(kw_only=True)
class Repair(PackAtRevision):
    """Rewrite path and lines of the refs whose code has moved."""

    action: str = arg(ACTION, "repair", default="repair")


@frozen(kw_only=True)
class Accept(PackAtRevision):
    """Anchor changed refs anew where they are found now."""

    action: str = arg(ACTION, "accept", default="accept")
    refs: tuple[str, ...] | None = arg(
        array(text(1, 130), 1, 1000), "accept: ref keys or section/ref; else all", default=None
    )


@frozen(kw_only=True)
class Rename(PackAtRevision):
    """Give a section, or a ref of it, another key; for the library and the command line."""

    section_key: str = arg(KEY, "Section key")
    new_key: str = arg(KEY, "Key from now on")
    ref_key: str | None = arg(KEY, "Ref key; without it the section is renamed", default=None)


OPERATION: Schema = {
    "type": "object",
    "properties": {"action": {"type": "string"}},
    "required": ["action"],
    "additionalProperties": True,
}
"""One operation of a batch; its other fields are checked, per action, by the rules of that action."""


@frozen(kw_only=True)
class Batch(PackAtRevision):
    """Several operations as one change: one revision, all or nothing."""

    action: str = arg(ACTION, "batch", default="batch")
    operations: tuple[dict[str, Any], ...] = arg(
        array(OPERATION, 1, MOST_OPERATIONS),
        "batch: actions with their own fields",
    )


@frozen(kw_only=True)
class RenderPack(NamedPack):
    """Read a pack with its code."""

    status: str | None = arg(STATUS, "Only this status; another is refused", default=None)
    mode: str | None = arg(
        choice(*Mode), "compact leaves out the code; diff shows only what changed", default=None
    )
    max_tokens: int = arg(*BUDGET, default=DEFAULT_MAX_TOKENS)
    cursor: str | None = arg(text(1, 4096), "Goes on after a truncated page", default=None)


@frozen(kw_only=True)
class ListText:
    """Read which packs there are, as Markdown."""

    status: str | None = arg(STATUS, "Only this status", default=None)
    query: str | None = arg(*LIST_QUERY, default=None)
    limit: int = arg(*LIMIT, default=DEFAULT_LIMIT)
    offset: int = arg(*LIST_OFFSET, default=0)
    max_tokens: int = arg(*BUDGET, default=DEFAULT_MAX_TOKENS)


@frozen(kw_only=True)
class Output(RenderPack):
    """Everything `output` takes: with id, name or cursor it renders, else it lists."""

    query: str | None = arg(*LIST_QUERY, default=None)
    limit: int = arg(*LIMIT, default=DEFAULT_LIMIT)
    offset: int = arg(*LIST_OFFSET, default=0)


def by_action(*kinds: type[T]) -> dict[str, type[T]]:
    """Commands by the actions that they stand for."""
    every: Any = kinds
    return {fields(kind).action.default: kind for kind in every}
