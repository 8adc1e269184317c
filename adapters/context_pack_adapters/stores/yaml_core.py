"""YAML files as plain values under the YAML 1.2 core schema, strictly and within bounds.

Timestamps, `yes`, `on`, `12:30` and `1_000` stay text; `null`, `true`, `0o17`, `0x1F` and `1e3` are what core
says. PyYAML only scans and parses (its C parser where there is one): its events are taken one by one with a
stack of our own, so that no input can make this recurse, and every complaint names a line. Keys never appear
twice. An alias stands for the very value it names, never for one around itself, and what aliases add to a
file is bounded. What the values mean is not known here; how strict to be is said by `Rules`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from context_pack.kernel.text import has_half_characters
from context_pack_adapters.stores.yaml_values import Anchors, Malformed, Pairs, at, core_scalar

__all__ = ["CORE", "Malformed", "Rules", "core_scalar", "decoded", "load"]

MAX_DEPTH = 100
MOST_TRIED = 20_000_000
"""Characters that are read again for lines with tabs that mean nothing."""
_BLANK_WITH_TAB = re.compile(r"[ \t]*\t[ \t]*(?=\r?\n|\Z)")
T = TypeVar("T")
_BOM = b"\xef\xbb\xbf"
_TAG = "tag:yaml.org,2002:"
_TAGS = {int: _TAG + "int", float: _TAG + "float", bool: _TAG + "bool", type(None): _TAG + "null"}


class Rules(NamedTuple):
    """Options of the reader: how strict it is.

    `plain` refuses tags, anchors and aliases. `text_keys` refuses keys that core takes for something else
    than text (otherwise such a key is its text, as JSON would have it). `finite` refuses infinity and NaN.
    `resolve` says what a plain scalar means.
    """

    max_depth: int = MAX_DEPTH
    plain: bool = False
    text_keys: bool = False
    finite: bool = True
    resolve: Callable[[str], Any] = core_scalar


CORE = Rules()


def load(data: bytes | str, rules: Rules = CORE) -> Any:
    """The value of the one document in `data`.

    Raises:
        Malformed: it is not UTF-8, not YAML, not one document, or breaks one of the rules.
    """
    import yaml

    text = data if isinstance(data, str) else decoded(data)
    try:
        value = tolerant(text, lambda readable, pairs: _Reader(readable, rules, pairs).document())
    except yaml.YAMLError as error:
        raise _explained(error, text) from None
    # Only an escape can spell half a character, and only PyYAML's slow parser lets it through.
    if "\\u" in text and has_half_characters(value):
        raise Malformed("half a character (a lone surrogate)")
    return value


def tolerant(text: str, work: Callable[[str, Pairs], T]) -> T:
    """What `work` makes of a text as PyYAML can read it; it differs in no place that `work` may look up.

    A tab on a blank line means nothing, but libyaml takes it for indentation; so it is made a space.
    """
    import yaml

    pairs = Pairs(text)
    readable = pairs.text
    for _ in range(MOST_TRIED // (len(text) + 1) + 1):
        try:
            return work(readable, pairs)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            at = 0 if mark is None else readable.rfind("\n", 0, mark.index) + 1
            blank = _BLANK_WITH_TAB.match(readable, at)
            if mark is None or blank is None:
                raise
            readable = readable[:at] + " " * len(blank[0]) + readable[blank.end() :]
    return work(readable, pairs)


def decoded(data: bytes) -> str:
    """The text that the bytes spell in UTF-8, without a byte order mark.

    Raises:
        Malformed: they spell none.
    """
    try:
        return data.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed("not UTF-8", data.count(b"\n", 0, error.start) + 1) from None


def _explained(error: Any, text: str) -> Malformed:
    """Only the parser's own words, never its excerpt of the file."""
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        return Malformed(f"not valid YAML: {problem}", mark.line + 1, mark.column + 1)
    position = getattr(error, "position", None)
    if position is None:
        return Malformed(f"not valid YAML: {problem}")
    return Malformed(
        f"not valid YAML: {problem}", text.encode("utf-8", "replace").count(b"\n", 0, position) + 1
    )


class _Reader:
    """Builds plain values from the parser's events, with a stack of its own."""

    def __init__(self, text: str, rules: Rules, pairs: Pairs) -> None:
        import yaml

        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        get = loader(text).get_event
        self._next = (lambda: pairs.restored(get())) if pairs else get
        self._yaml = yaml
        self._rules = rules
        self._anchors = Anchors(rules.max_depth)

    def document(self) -> Any:
        """The one document of the stream."""
        yaml = self._yaml
        self._next()
        if not isinstance(self._next(), yaml.DocumentStartEvent):
            raise Malformed("it is empty")
        value = self._value()
        self._next()
        after = self._next()
        if not isinstance(after, yaml.StreamEndEvent):
            raise at(after, "more than one document")
        return value

    def _value(self) -> Any:
        """The next value, with everything in it."""
        yaml = self._yaml
        scalar, mapping, sequence = yaml.ScalarEvent, yaml.MappingStartEvent, yaml.SequenceStartEvent
        root: list[Any] = []
        stack: list[_Open] = []
        place = _Open(root, None)
        while not root:
            event = self._next()
            kind = type(event)
            if kind is scalar:
                if place.wants_key:
                    self._take_key(event, place)
                else:
                    place.put(self._scalar(event))
            elif kind is mapping or kind is sequence:
                self._check_collection(event, place, len(stack))
                stack.append(place)
                place = _Open(None, {}, event.anchor) if kind is mapping else _Open([], None, event.anchor)
            elif kind is yaml.AliasEvent:
                place.put(self._alias(event, place, len(stack)))
            else:
                done, place = place, stack.pop()
                value = done.items if done.fields is None else done.fields
                if done.anchor is not None:
                    self._anchors.close(done.anchor, value)
                place.put(value)
        return root[0]

    def _take_key(self, event: Any, place: _Open) -> None:
        """Remember the key of the value that comes next."""
        assert place.fields is not None
        key: str = event.value
        if event.tag is not None or event.anchor is not None or self._rules.text_keys:
            value = self._scalar(event)
            if self._rules.text_keys and not isinstance(value, str):
                raise at(event, "a key is not text")
        if key in place.fields:
            raise at(event, "a key appears twice")
        place.key, place.wants_key = key, False

    def _alias(self, event: Any, place: _Open, depth: int) -> Any:
        if self._rules.plain:
            raise at(event, "an alias: write the value out")
        if place.wants_key:
            raise at(event, "an alias as a key: write the key out")
        return self._anchors.follow(event, depth)

    def _check_collection(self, event: Any, place: _Open, depth: int) -> None:
        """Refuse a list or mapping that may not begin here."""
        if event.tag is not None or event.anchor is not None:
            if self._rules.plain:
                raise at(event, "a tag or an anchor: plain values only")
            wanted = "map" if type(event) is self._yaml.MappingStartEvent else "seq"
            if event.tag not in (None, "!", _TAG + wanted):
                raise at(event, "a tag that the core schema does not have for this value")
            if event.anchor is not None:
                self._anchors.open(event.anchor)
        if place.wants_key:
            raise at(event, "a key is not text")
        if depth >= self._rules.max_depth:
            raise at(event, f"nested deeper than {self._rules.max_depth} levels")

    def _scalar(self, event: Any) -> Any:
        """The value of a scalar."""
        if event.tag is not None or event.anchor is not None:
            return self._marked(event)
        return self._resolved(event) if event.implicit[0] else event.value

    def _resolved(self, event: Any) -> Any:
        try:
            value = self._rules.resolve(event.value)
        except Malformed as fault:
            raise at(event, fault.reason) from None
        return self._checked(event, value)

    def _checked(self, event: Any, value: Any) -> Any:
        if type(value) is float and self._rules.finite and not math.isfinite(value):
            raise at(event, "a number that is not finite")
        return value

    def _marked(self, event: Any) -> Any:
        """A scalar with a tag or an anchor."""
        if self._rules.plain:
            raise at(event, "a tag or an anchor: plain values only")
        if event.tag in ("!", _TAG + "str") or (event.tag is None and not event.implicit[0]):
            value = event.value
        else:
            value = self._resolved(event)
            if event.tag == _TAG + "float" and type(value) is int:
                value = self._checked(event, _as_float(value))
            if event.tag is not None and _TAGS.get(type(value)) != event.tag:
                raise at(event, "a tag that the core schema does not have for this value")
        if event.anchor is not None:
            self._anchors.close(event.anchor, value)
        return value


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


class _Open:
    """A list or mapping that is being filled."""

    __slots__ = ("anchor", "fields", "items", "key", "wants_key")

    def __init__(
        self, items: list[Any] | None, fields: dict[str, Any] | None, anchor: str | None = None
    ) -> None:
        self.items = items
        self.fields = fields
        self.anchor = anchor
        self.key = ""
        self.wants_key = fields is not None

    def put(self, value: Any) -> None:
        """Add a value at its place."""
        if self.fields is None:
            assert self.items is not None
            self.items.append(value)
        else:
            self.fields[self.key] = value
            self.wants_key = True
