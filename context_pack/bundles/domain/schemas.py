"""The JSON Schemas of a bundle: `jsonschema` checks entities by them, as draft 2020-12.

A schema is a foreign file: `$ref` finds files of the bundle and nothing else, `regex` searches for patterns,
because it can be stopped, and all checking of a load is bounded, so that no schema hangs the server. What is
wrong with a schema is told in `flaws`, and its entities are loaded all the same.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import Any
from urllib.parse import quote, unquote, urldefrag, urljoin

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import canonical_json, single_line

HOME = "https://bundle.invalid/"
MOST_RULES = 200_000
"""Keywords that are looked at for one value: some seconds. A schema that needs more is given up."""
MOST_KEYWORDS = 20_000
MOST_PROBLEMS = 20
MOST_FLAWS = 3
PATTERN_SECONDS = 0.2
LONGEST_PATTERN = 5_000
LONG_LIST = 500
TOO_LONG = "checking by it takes too long; nothing more is checked"
# What jsonschema stumbles over when a schema is none, or refers to what is none.
_STUMBLES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class TooLong(Exception):
    """The schemas of a load ask for more work than it may cost."""


class SchemaBudget:
    """Counts the keywords that are looked at; now and then asks whether the load is still wanted."""

    def __init__(self, check: Callable[[], None]) -> None:
        self.left, self._check = MOST_RULES, check

    def spend(self, count: int = 1) -> None:
        """Count keywords.

        Raises:
            TooLong: there were too many.
        """
        self.left -= count
        if self.left % 16 == 0:
            self._check()
        if self.left < 0:
            raise TooLong


class Schemas:
    """The schema files of a bundle, as values by path; `flaws` is what is wrong with each."""

    def __init__(self, documents: Mapping[str, Any], check: Callable[[], None] = lambda: None) -> None:
        self._budget = SchemaBudget(check)
        self.flaws = {path: list(self._faults(value)) for path, value in documents.items()}
        self._sound = {path: _bare(value) for path, value in documents.items() if not self.flaws[path]}
        for path, value in self._sound.items():
            lost = [
                ref for ref in dict.fromkeys(refs_in(value)) if looked_up(self.resolver(path), ref) is None
            ]
            self.flaws[path] += [f"$ref {clipped(ref)} leads to nothing in the bundle" for ref in lost]

    def resolver(self, path: str) -> Any:
        """What finds the references of a file."""
        return self._registry.resolver(base_uri=HOME + quote(path))

    def checker(self, path: str) -> SchemaChecker | None:
        """Checks entities by the schema in a file; None if that is none."""
        known = path in self._sound
        return SchemaChecker(HOME + quote(path), self._registry, self._budget) if known else None

    @cached_property
    def _registry(self) -> Any:
        """Each file by its place, and by its `$id`."""
        from referencing import Registry
        from referencing.jsonschema import DRAFT202012

        found: dict[str, Any] = {}
        for path, value in self._sound.items():
            resource = DRAFT202012.create_resource({key: part for key, part in value.items() if key != "$id"})
            found[HOME + quote(path)] = resource
            if "$id" in value:
                found.setdefault(urldefrag(value["$id"])[0], resource)
        return Registry().with_resources(found.items()).crawl()

    def _faults(self, schema: Any) -> Iterator[str]:
        """Why a value is no schema, by the standard's own."""
        from jsonschema import Draft202012Validator

        if not isinstance(schema, Mapping):
            yield "$ must be an object"
            return
        if sum(map(len, _objects_in(schema))) > MOST_KEYWORDS:
            yield "$ is too large to be checked"
            return
        if not all(_is_uri(part["$id"]) for part in _objects_in(schema) if isinstance(part.get("$id"), str)):
            yield "an $id is no URI"
            return
        checker = SchemaChecker(Draft202012Validator.META_SCHEMA["$id"], None, self._budget)
        yield from [*islice(checker.problems(schema), MOST_FLAWS), *checker.flaws]


class SchemaChecker:
    """Checks values by one schema; `flaws` is what showed of the schema meanwhile."""

    def __init__(self, uri: str, registry: Any, budget: SchemaBudget) -> None:
        from referencing import Registry

        self.flaws: list[str] = []
        self._patterns: dict[str, Any] = {}
        self._given_up = False
        self._budget = budget
        make = self._validator_class()
        self._validator = make({"$ref": uri}, registry=Registry() if registry is None else registry)

    def problems(self, value: Any) -> list[str]:
        """The first few problems of a value."""
        found: dict[str, None] = {}
        self.begin()
        try:
            if not self._given_up:
                for error in islice(self._validator.iter_errors(value), MOST_PROBLEMS):
                    found[clipped(f"{error.json_path}: {error.message}")] = None
        except TooLong:
            self._give_up(TOO_LONG)
        except _STUMBLES as error:
            self._give_up(f"it cannot be used ({type(error).__name__}); nothing more is checked")
        except BaseException as error:
            # A panic is how rpds, below the library, meets the end of Python's stack.
            if not isinstance(error, RecursionError) and type(error).__name__ != "PanicException":
                raise
            self._give_up("it refers to itself without end; nothing more is checked")
        return list(found)

    def _give_up(self, words: str) -> None:
        self._given_up = True
        self.flaws.append(words)

    def _validator_class(self) -> Any:
        """Draft 2020-12 as the library has it, each keyword counted, with patterns that can be stopped."""
        from jsonschema import Draft202012Validator
        from jsonschema.validators import extend

        library: Mapping[str, Any] = Draft202012Validator.VALIDATORS
        own = {
            "pattern": self._pattern,
            "patternProperties": self._pattern_properties,
            "additionalProperties": self._additional_properties,
            "uniqueItems": _unique_items,
        }

        def counted(rule: Any) -> Any:
            def check(validator: Any, wanted: Any, value: Any, schema: Any) -> Any:
                self._budget.spend()
                return rule(validator, wanted, value, schema)

            return check

        def follow(validator: Any, ref: str, value: Any, schema: Any) -> Iterator[Any]:
            if looked_up(validator._resolver, ref) is not None:  # else it was told when the schemas were read
                yield from library["$ref"](validator, ref, value, schema)

        def unevaluated(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[Any]:
            # The library matches names by `re`, which nothing can stop.
            if not any("patternProperties" in part for part in _objects_in(schema)):
                yield from library["unevaluatedProperties"](validator, wanted, value, schema)

        rules = {**library, **own, "$ref": follow, "unevaluatedProperties": unevaluated}
        make: Any = extend
        return make(Draft202012Validator, {name: counted(rule) for name, rule in rules.items()})

    def begin(self) -> None:
        """Begin with another value."""
        self._budget.left = MOST_RULES

    def spend(self, count: int) -> None:
        """Count other work that the schema causes."""
        self._budget.spend(count)

    def found(self, pattern: str, text: str) -> bool | None:
        """Whether a pattern is found in a text; None if that cannot be said, which is told."""
        import regex

        try:
            if pattern not in self._patterns:
                if len(pattern) > LONGEST_PATTERN:
                    raise ValueError(f"longer than {LONGEST_PATTERN} characters")
                self._patterns[pattern] = regex.compile(pattern)
            compiled = self._patterns[pattern]
            return None if compiled is None else compiled.search(text, timeout=PATTERN_SECONDS) is not None
        except TimeoutError:
            self._budget.spend(MOST_RULES // 20)
            why = f"takes longer than {PATTERN_SECONDS:g} s and is not checked"
        except (regex.error, ValueError, OverflowError, RecursionError) as error:
            why = f"cannot be used: {error}"
        self._patterns[pattern] = None
        self.flaws.append(clipped(f"the pattern {clipped(pattern, 120)} {why}"))
        return None

    def _pattern(self, _: Any, pattern: str, value: Any, __: Any) -> Iterator[Any]:
        from jsonschema import ValidationError

        if isinstance(value, str) and self.found(pattern, value) is False:
            yield ValidationError(f"{value!r} does not match {pattern!r}")

    def _pattern_properties(self, validator: Any, patterns: Any, value: Any, _: Any) -> Iterator[Any]:
        for pattern, schema in patterns.items() if isinstance(value, dict) else ():
            for name, inner in value.items():
                if self.found(pattern, name):
                    yield from validator.descend(inner, schema, path=name, schema_path=pattern)

    def _additional_properties(self, validator: Any, rest: Any, value: Any, schema: Any) -> Iterator[Any]:
        from jsonschema import ValidationError

        known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        for name, inner in value.items() if isinstance(value, dict) else ():
            # Where a pattern cannot say, the field gets the benefit of the doubt.
            if name in known or any(self.found(pattern, name) is not False for pattern in patterns):
                continue
            if rest is False:
                yield ValidationError(f"{name!r} is not a field that the schema has")
            else:
                yield from validator.descend(inner, rest, path=name)


def _unique_items(validator: Any, wanted: bool, value: Any, schema: Any) -> Iterator[Any]:
    """As the library has it, but it would compare each item of a long list with each."""
    from jsonschema import Draft202012Validator, ValidationError

    if not isinstance(value, list) or len(value) <= LONG_LIST:
        yield from Draft202012Validator.VALIDATORS["uniqueItems"](validator, wanted, value, schema)
    elif wanted and len({canonical_json(item) for item in value}) < len(value):
        yield ValidationError("the list has non-unique elements")


def _bare(schema: Any) -> Any:
    """A schema without `$schema`: draft 2020-12 is meant, and the library would change its rules for it."""
    if isinstance(schema, list):
        return [_bare(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        key: _bare(value) for key, value in schema.items() if key != "$schema" or not isinstance(value, str)
    }


def _objects_in(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Every object in a schema, itself first."""
    if isinstance(schema, Mapping):
        yield schema
    for inner in (
        schema.values() if isinstance(schema, Mapping) else schema if isinstance(schema, list) else ()
    ):
        yield from _objects_in(inner)


def _is_uri(text: str) -> bool:
    try:
        urljoin(HOME, text)
    except ValueError:
        return False
    return True


def refs_in(schema: Any) -> Iterator[str]:
    """Every `$ref` in a schema, in the order of the file."""
    for part in _objects_in(schema):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]


def file_of(ref: str, path: str) -> RelativePath | None:
    """The file of the bundle that a `$ref` in the file at `path` means; None if it means none.

    Raises:
        Failure: the reference leaves the bundle.
    """
    place = urldefrag(ref)[0]
    if not place or ":" in place or place.startswith("//"):
        return None
    base = "" if place.startswith("/") else posixpath.dirname(path)
    return RelativePath.parse(posixpath.normpath(posixpath.join(base, unquote(place.lstrip("/")))))


def looked_up(resolver: Any, ref: str) -> Any | None:
    """What a `$ref` leads to; None if it leads to nothing."""
    from referencing.exceptions import Unresolvable

    try:
        return resolver.lookup(ref)
    except (Unresolvable, *_STUMBLES):
        return None


def clipped(text: str, most: int = 480) -> str:
    """A text on one line of bounded length."""
    line = single_line(text[: 2 * most])
    return line if len(line) <= most else line[: most - 1] + "…"
