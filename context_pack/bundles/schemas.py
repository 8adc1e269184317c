"""The JSON Schemas of a bundle: `jsonschema` checks entities by them, as draft 2020-12.

A schema is a stranger's file. So `$ref` finds files of the bundle and nothing else (`referencing`), patterns
are measured before they are compiled and searched for by `regex`, which can be stopped, a schema has a size,
and the call that loads is asked at every keyword whether it is still wanted: its deadline bounds the rest.
What is wrong with a schema is told in `flaws`, and its entities are loaded all the same.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import Any
from urllib.parse import quote, unquote, urldefrag, urljoin

import regex
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.patterns import check_pattern_size
from context_pack.kernel.text import canonical_json, single_line
from context_pack.toolkit.call import check_call

HOME = "https://bundle.invalid/"
MOST_KEYWORDS = 20_000
MOST_PROBLEMS = 20
MOST_FLAWS = 3
PATTERN_SECONDS = 0.2
LONG_LIST = 500
ENDLESS = "it refers to itself without end; nothing more is checked"
_LIBRARY: Mapping[str, Any] = Draft202012Validator.VALIDATORS
_extend: Any = extend
# What jsonschema stumbles over when a schema is none, or refers to what is none.
_STUMBLES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class Schemas:
    """The schema files of a bundle, as values by path; `flaws` is what is wrong with each."""

    def __init__(self, documents: Mapping[str, Any]) -> None:
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

    def checker(self, path: str) -> SchemaChecker:
        """Checks entities by the schema in a file; where that is none, everything passes."""
        return SchemaChecker(HOME + quote(path), self._registry, path in self._sound)

    @cached_property
    def _registry(self) -> Any:
        """Each file by its place, and by its `$id`."""
        resources: dict[str, Any] = {}
        for path, value in self._sound.items():
            resource = DRAFT202012.create_resource({key: part for key, part in value.items() if key != "$id"})
            resources[HOME + quote(path)] = resource
            if "$id" in value:
                resources.setdefault(urldefrag(value["$id"])[0], resource)
        return Registry().with_resources(resources.items()).crawl()

    def _faults(self, schema: Any) -> Iterator[str]:
        """Why a value is no schema, by the standard's own."""
        if not isinstance(schema, Mapping):
            yield "$ must be an object"
        elif sum(map(len, _objects_in(schema))) > MOST_KEYWORDS:
            yield "$ is too large to be checked"
        elif not all(_is_uri(part.get("$id")) for part in _objects_in(schema)):
            yield "an $id is no URI"
        else:
            checker = SchemaChecker(Draft202012Validator.META_SCHEMA["$id"], Registry())
            yield from [*islice(checker.problems(schema), MOST_FLAWS), *checker.flaws]


class SchemaChecker:
    """Checks values by one schema; `flaws` is what showed of the schema meanwhile."""

    def __init__(self, uri: str, registry: Any, sound: bool = True) -> None:
        self.flaws = list[str]()
        self._patterns: dict[str, Any] = {}
        self._given_up = not sound
        own: dict[str, Any] = {
            "$ref": _ref,
            "pattern": self._pattern,
            "patternProperties": self._pattern_properties,
            "additionalProperties": self._additional_properties,
            "uniqueItems": _unique_items,
            # To know what is evaluated, the library searches by `re`, which nothing can stop, and compares
            # each item of a list with each.
            "unevaluatedItems": lambda *_: (),
            "unevaluatedProperties": lambda *_: (),
        }
        watched = {name: _watched(rule) for name, rule in {**_LIBRARY, **own}.items()}
        self._validator = _extend(Draft202012Validator, watched)({"$ref": uri}, registry=registry)

    def problems(self, value: Any) -> list[str]:
        """The first few problems of a value."""
        words: dict[str, None] = {}
        try:
            if not self._given_up:
                for error in islice(self._validator.iter_errors(value), MOST_PROBLEMS):
                    words[clipped(f"{error.json_path}: {error.message}")] = None
        except _STUMBLES as error:
            self._give_up(f"it cannot be used ({type(error).__name__}); nothing more is checked")
        except RecursionError:
            self._give_up(ENDLESS)
        except BaseException as error:
            # A panic is how rpds, below the library, meets the end of Python's stack.
            if type(error).__name__ != "PanicException":
                raise
            self._give_up(ENDLESS)
        return list(words)

    def matches(self, pattern: str, text: str) -> bool | None:
        """Whether a pattern is found in a text; None if that cannot be said, which is told."""
        check_call()
        try:
            if pattern not in self._patterns:
                check_pattern_size(pattern)
                self._patterns[pattern] = regex.compile(pattern)
            compiled = self._patterns[pattern]
            return None if compiled is None else compiled.search(text, timeout=PATTERN_SECONDS) is not None
        except TimeoutError:
            why = f"takes longer than {PATTERN_SECONDS:g} s and is not checked"
        except Failure as failure:
            why = f"cannot be used: {failure.message}"
        except (regex.error, ValueError, OverflowError, RecursionError) as error:
            why = f"cannot be used: {error}"
        self._patterns[pattern] = None
        self.flaws.append(clipped(f"the pattern {clipped(pattern, 120)} {why}"))
        return None

    def _give_up(self, words: str) -> None:
        self._given_up = True
        self.flaws.append(words)

    def _pattern(self, _: Any, pattern: str, value: Any, __: Any) -> Iterator[Any]:
        if isinstance(value, str) and self.matches(pattern, value) is False:
            yield ValidationError(f"{value!r} does not match {pattern!r}")

    def _pattern_properties(self, validator: Any, patterns: Any, value: Any, _: Any) -> Iterator[Any]:
        for pattern, schema in patterns.items() if isinstance(value, dict) else ():
            for name, inner in value.items():
                if self.matches(pattern, name):
                    yield from validator.descend(inner, schema, path=name, schema_path=pattern)

    def _additional_properties(self, validator: Any, rest: Any, value: Any, schema: Any) -> Iterator[Any]:
        known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        for name, inner in value.items() if isinstance(value, dict) else ():
            # Where a pattern cannot say, the field gets the benefit of the doubt.
            if name in known or any(self.matches(pattern, name) is not False for pattern in patterns):
                continue
            if rest is False:
                yield ValidationError(f"{name!r} is not a field that the schema has")
            else:
                yield from validator.descend(inner, rest, path=name)


def _watched(rule: Any) -> Any:
    """A keyword's rule that asks first whether the call is still wanted."""

    def checked(validator: Any, wanted: Any, value: Any, schema: Any) -> Any:
        check_call()
        return rule(validator, wanted, value, schema)

    return checked


def _ref(validator: Any, ref: str, value: Any, schema: Any) -> Iterator[Any]:
    if looked_up(validator._resolver, ref) is not None:  # else it was told when the schemas were read
        yield from _LIBRARY["$ref"](validator, ref, value, schema)


def _unique_items(validator: Any, wanted: bool, value: Any, schema: Any) -> Iterator[Any]:
    """As the library has it, but it would compare each item of a long list with each."""
    if not isinstance(value, list) or len(value) <= LONG_LIST:
        yield from _LIBRARY["uniqueItems"](validator, wanted, value, schema)
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
    inner = schema.values() if isinstance(schema, Mapping) else schema if isinstance(schema, list) else ()
    for each in inner:
        yield from _objects_in(each)


def _is_uri(text: Any) -> bool:
    try:
        urljoin(HOME, text if isinstance(text, str) else "")
    except ValueError:
        return False
    return True


def refs_in(schema: Any) -> Iterator[str]:
    """Every `$ref` in a schema, in the order of the file."""
    return (part["$ref"] for part in _objects_in(schema) if isinstance(part.get("$ref"), str))


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
    try:
        return resolver.lookup(ref)
    except (Unresolvable, *_STUMBLES):
        return None


def clipped(text: str, most: int = 480) -> str:
    """A text on one line of bounded length."""
    line = single_line(text[: 2 * most])
    return line if len(line) <= most else line[: most - 1] + "…"
