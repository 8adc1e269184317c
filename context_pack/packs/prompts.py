"""Prompts that teach the work with packs: hand over what was learned, take it over, review with it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from context_pack.kernel.errors import invalid
from context_pack.kernel.text import single_line
from context_pack.packs.listing import names
from context_pack.packs.ports import PackStore
from context_pack.toolkit.offers import Prompt, PromptArgument

HAND_OVER = """\
Hand over what you have learned about {topic} as a context pack, so that the next agent need not ask.
{words}

1. Call `input` with {{"action": "create", "name": {name}, "ttl_minutes": 10080, "title": …, "brief": …}}.
   Keep the id, and the revision of every answer: each change needs `expected_revision`.
2. One section per idea (`upsert_section`): what it is, what was decided and why, what is still open.
3. For each claim about code, a ref (`upsert_ref`) to exactly the lines that prove it, with `ref_why`.
   Few lines, the right ones; refs that belong together share a `group`.
4. A Mermaid diagram (`upsert_diagram`) where order or structure matters more than text.
5. Many changes at once: `batch`. When a call answers `revision_conflict`, get the pack and repeat.
6. Call `output` with {{"name": {name}}} and read it as a stranger would; mend what is unclear.
7. Call `input` with {{"action": "set_status", "status": "finalized", …}}. If it names refs that cannot be
   relied on, point them at the right lines and finalize again. Then tell the user the pack's name and id.
"""

TAKE_OVER = """\
Take over the work that the context pack {pack} describes.
{words}

1. Call `input` with {{"action": "verify", "id": {pack}}}. Refs that are `exact`, `moved` or `unanchored` can
   be relied on; for `changed`, `ambiguous`, `stale` and `unknown` ones read the file before you believe it.
2. Call `output` with {{"id": {pack}}} and read all of it; when a page ends with `> truncated`, go on with its
   cursor.
3. Say in a few sentences what the pack tells you: the goal, what is decided, what is open, and which refs no
   longer hold.
4. Go on with the work. If refs have moved and the pack is a draft, `repair` it; if what it says is no longer
   true, reopen it (`set_status` to draft), correct it and finalize it again.
"""

REVIEW = """\
Review {change} with the context pack {pack}.
{words}

1. Call `output` with {{"id": {pack}}}: what the code promises, and why it is as it is. Follow the cursor to
   the end.
2. Call `input` with {{"action": "verify", "id": {pack}}}. A ref that is `changed`, `ambiguous` or `stale` is
   code that the change may have touched: look at those places first.
3. Compare the change with every decision and reason in the pack. For each contradiction say: the ref, what
   the pack says, what the code does now, and which of the two should change.
4. Name what the change needs and the pack does not cover. Report by weight, with file and line.
"""

WORDS = """\
Some clients pass only the first word of what the user typed: where the user said more, the user's own words
count."""

MOST_CHARS = 500
PACK = PromptArgument("pack", "Name or id of the pack", required=True)


def build(store: PackStore) -> tuple[Prompt, ...]:
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
