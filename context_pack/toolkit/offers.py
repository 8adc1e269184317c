"""What a feature offers besides tools: resources, prompts, and completion of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import field, frozen

Completer = Callable[[str, Mapping[str, str]], Iterable[str]]
"""(typed prefix, other arguments) -> values, best first."""


def best_first(values: Iterable[str], typed: str) -> list[str]:
    """Those that begin with what was typed, then those that hold it; case does not matter."""
    start = typed.casefold()
    holding = [value for value in values if start in value.casefold()]
    return sorted(holding, key=lambda value: not value.casefold().startswith(start))


@frozen
class ResourceEntry:
    """One listed resource."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str = "text/markdown"


@frozen
class ResourceText:
    """A resource's content."""

    uri: str
    text: str
    mime_type: str = "text/markdown"


@frozen
class ResourceFamily:
    """Resources under one URI prefix, e.g. `context://pack/`.

    `read` gets the whole URI and returns None for one that is not there.
    """

    prefix: str
    uri_template: str | None
    name: str
    title: str
    description: str
    mime_type: str
    entries: Callable[[], Sequence[ResourceEntry]]
    read: Callable[[str], ResourceText | None]
    complete: Mapping[str, Completer] = field(factory=dict)


@frozen
class PromptArgument:
    """One argument of a prompt."""

    name: str
    description: str
    required: bool = False


@frozen
class Prompt:
    """A prompt that teaches the work; `render` gives the text of the user's message."""

    name: str
    title: str
    description: str
    arguments: Sequence[PromptArgument]
    render: Callable[[Mapping[str, str]], str]
    complete: Mapping[str, Completer] = field(factory=dict)
