"""What packs offer besides tools: prompts that teach the work with them, and packs as resources.

A live pack is `context://pack/{id}`, rendered as Markdown. The prompts hand over what was learned, take it
over, and review with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import unquote

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.text import single_line
from context_pack.packs.commands import RenderPack
from context_pack.packs.listing import handles, live_packs, names
from context_pack.packs.model import Pack
from context_pack.packs.ports import PackStore
from context_pack.packs.read import PackReader
from context_pack.toolkit.offers import Prompt, PromptArgument, ResourceEntry, ResourceFamily, ResourceText

PREFIX = "context://pack/"
TITLE = "Context pack"
ABOUT = "A context pack as Markdown, with the current code of its references."


def resources(reader: PackReader, store: PackStore) -> ResourceFamily:
    """The resources over a reader and its store."""
    return ResourceFamily(
        prefix=PREFIX,
        uri_template=PREFIX + "{id}",
        name="pack",
        title=TITLE,
        description=ABOUT,
        mime_type="text/markdown",
        entries=lambda: [_entry(pack) for pack in live_packs(store)],
        read=lambda uri: _read(reader, uri),
        complete={"id": lambda typed, _: handles(store, typed)},
    )


def handle_in(uri: str) -> str:
    """The id or name that the URI of a pack spells; empty if it is no such URI."""
    return unquote(uri[len(PREFIX) :]).strip() if uri.startswith(PREFIX) else ""


def _entry(pack: Pack) -> ResourceEntry:
    return ResourceEntry(PREFIX + pack.id, pack.name or pack.id, pack.heading, pack.brief)


def _read(reader: PackReader, uri: str) -> ResourceText | None:
    """The pack of that URI; a name may stand in the id's place."""
    handle = handle_in(uri)
    if not handle:
        return None
    try:
        text = reader.render(RenderPack(id=handle)).text
    except Failure as failure:
        if failure.code is Code.NOT_FOUND:
            return None
        raise
    return ResourceText(uri, text)


HAND_OVER = """\
Hand over what you have learned about {topic} as a context pack, so that the next agent need not ask.
{words}

1. Write one Markdown text. `# Title`, then a section per idea: what it is, what was decided and why, what was
   tried and failed, what is next. What nobody can see in the code is worth most.
2. Every claim about code names its place in the same sentence: `src/a.py#Class.method`, `src/a.py:10-20`, or
   `Class.method` where only one thing is called so. A claim that names its place is flagged when that code
   changes; one without is never checked. No line numbers in words, no place of hundreds of lines.
3. A ```mermaid fence where order or structure matters more than text.
4. Call `input` with {{"action": "write", "name": {name}, "ttl_minutes": 10080, "text": …}}. Correct what it
   lists as `not_found`, and write again with `expected_revision`.
5. Call `input` with {{"action": "set_status", "status": "finalized", …}}, then tell the user the name and id.
"""

TAKE_OVER = """\
Take over the work that the context pack {pack} describes.
{words}

1. Call `output` with {{"id": {pack}}}; when a page ends with `> truncated`, go on with its cursor. It begins
   with what must be read again: sentences whose code changed since they were written.
2. Call `output` with {{"id": {pack}, "mode": "diff"}} for the changes. Believe those sentences only
   after you have looked; the others stand as they were written. Prose without a place was never checked.
3. Say in a few sentences what the pack tells you: the goal, what is decided, what is open, what no longer
   holds.
4. Go on with the work. Where a sentence is still true, `accept` its refs; where not, reopen the pack
   (`set_status` to draft), correct the text with `write`, and finalize it again. `repair` follows moved code.
"""

REVIEW = """\
Review {change} with the context pack {pack}.
{words}

1. Call `output` with {{"id": {pack}}}: what the code promises, and why it is as it is. Follow the cursor to
   the end.
2. Call `input` with {{"action": "verify", "id": {pack}}}: each line is a sentence whose code is not as it was
   when it was written. Look at those places first.
3. Compare the change with every decision and reason in the pack. For each contradiction say: the ref, what
   the pack says, what the code does now, and which of the two should change.
4. Name what the change needs and the pack does not cover. Report by weight, with file and line.
"""

WORDS = """\
Some clients pass only the first word of what the user typed: where the user said more, the user's own words
count."""

MOST_CHARS = 500
PACK = PromptArgument("pack", "Name or id of the pack", required=True)


def prompts(store: PackStore) -> tuple[Prompt, ...]:
    """The prompts; pack names complete from the store."""
    complete = {"pack": lambda typed, _: names(store, typed)}
    return (
        Prompt(
            "hand_over",
            "Hand over with a context pack",
            "Build and finalize a context pack of what was learned, for the next agent.",
            (
                PromptArgument("topic", "What the pack is about; else what the user said"),
                PromptArgument("name", "Name for the new pack, 3-120 characters"),
            ),
            lambda given: HAND_OVER.format(
                topic=_line(given, "topic", "what the user asked for"),
                name=_quoted(given, "name", "my-pack"),
                words=WORDS,
            ),
        ),
        Prompt(
            "take_over",
            "Take over from a context pack",
            "Read a context pack, check that its code references still hold, and go on with the work.",
            (PACK,),
            lambda given: TAKE_OVER.format(pack=_quoted(given, "pack"), words=WORDS),
            complete,
        ),
        Prompt(
            "review_with_pack",
            "Review with a context pack",
            "Review a change against what a context pack says about the code.",
            (PACK, PromptArgument("change", "What to review, e.g. a branch or a file")),
            lambda given: REVIEW.format(
                pack=_quoted(given, "pack"),
                change=_line(given, "change", "the change that the user means, else the current one"),
                words=WORDS,
            ),
            complete,
        ),
    )


def _line(given: Mapping[str, str], name: str, default: str | None = None) -> str:
    """An argument on one line, or its default.

    Raises:
        Failure: `invalid_data` for a blank argument without a default.
    """
    line = single_line(given.get(name) or "")[:MOST_CHARS].strip() or default
    if line is None:
        raise invalid(f"'{name}' must not be blank; say which {name} is meant", name)
    return line


def _quoted(given: Mapping[str, str], name: str, default: str | None = None) -> str:
    """An argument as a JSON string, ready to be put into a call."""
    return json.dumps(_line(given, name, default), ensure_ascii=False)
