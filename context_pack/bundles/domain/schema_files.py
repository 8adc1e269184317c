"""The schema files of a bundle as one closed world: `$ref` finds what is in it, and nothing anywhere else.

Every file is known by its place in the bundle and, if it says so, by its `$id`. A relative `$ref` is looked
for where the standard says (against the `$id`) and where people mean it (beside the file). Nothing is ever
fetched: what is not in the world is a reference to nothing.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any
from urllib.parse import quote, unquote, urljoin

from context_pack.bundles.domain.patterns import Patterns
from context_pack.bundles.domain.problems import FORBIDDEN, clipped, problem_words
from context_pack.bundles.domain.schema_rules import validator_class
from context_pack.bundles.domain.steps import COST, MOST_FOR_SCHEMA, Steps, TooCostly, cost_of, is_too_deep
from context_pack.kernel.paths import RelativePath

HOME = "https://bundle.invalid/"
_STANDARD = "https://json-schema.org/draft/2020-12/schema"
MOST_FLAWS = 3
REFERRING = ("$ref", "$dynamicRef")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
# Places that hold values, not schemas; and those that hold schemas by name.
_VALUES = frozenset({"const", "enum", "default", "examples"})
_NAMED = frozenset({"properties", "patternProperties", "$defs", "dependentSchemas"})


def uri_of(path: str) -> str:
    """The URI of a schema file of the bundle."""
    return HOME + quote(path)


def refs_in(schema: Any) -> Iterator[str]:
    """Every `$ref` in a schema, in the order of the file."""
    if isinstance(schema, list):
        for item in schema:
            yield from refs_in(item)
    elif isinstance(schema, Mapping):
        for key, value in schema.items():
            if key in REFERRING and isinstance(value, str):
                yield value
            elif key not in _VALUES:
                yield from refs_in(value)


def file_of(ref: str, path: str) -> RelativePath | None:
    """The file of the bundle that a `$ref` in the file at `path` means; None if it means none.

    Raises:
        Failure: the reference leaves the bundle.
    """
    place = _plain(ref)
    if not place or place.startswith("//") or _SCHEME.match(place):
        return None
    if place.startswith("/"):
        return RelativePath.parse(unquote(place))
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(place)))
    return RelativePath.parse(joined)


class SchemaWorld:
    """These schema files, as values by path.

    `flaws` is what is wrong with each file, by path. One that is no schema at all is not part of the world; a
    `$ref` that leads to nothing is told, and then left out, so that the rest of its schema still counts.
    """

    def __init__(self, documents: Mapping[str, Any], check: Callable[[], None] = lambda: None) -> None:
        self.steps = Steps()
        self.steps.begin(check)
        self.flaws = {path: list(schema_flaws(value, self.steps)) for path, value in documents.items()}
        sound = {path: _usable(value, ()) for path, value in documents.items() if not self.flaws[path]}
        registry = _registry(sound)
        lost = {path: _lost_refs(value, registry, path) for path, value in sound.items()}
        for path, refs in lost.items():
            self.flaws[path] += [f"$ref {clipped(ref)} leads to nothing in the bundle" for ref in refs]
        self.documents = {path: _usable(value, lost[path]) for path, value in sound.items()}
        self.registry = _registry(self.documents)

    def resolver(self, path: str) -> Any:
        """The resolver for references of the file at that path."""
        return self.registry.resolver(base_uri=uri_of(path))


def _usable(schema: Any, lost: Collection[str]) -> Any:
    """A schema as the library can use it for us: without references to nothing and without `$schema`.

    In a bundle, draft 2020-12 is meant, whatever a file declares; and the library would leave our rules for
    its own wherever it meets a declaration. For a field that is ruled out by `false` it forgets the place.
    Each subschema says first what a visit of it costs.
    """
    if isinstance(schema, list):
        return [_usable(item, lost) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    usable: dict[str, Any] = {COST: cost_of(schema)}
    for key, value in schema.items():
        if key == COST or (isinstance(value, str) and _is_useless(key, value, lost)):
            continue
        if key in _NAMED and isinstance(value, Mapping):
            usable[key] = {
                name: FORBIDDEN if inner is False else _usable(inner, lost) for name, inner in value.items()
            }
        else:
            usable[key] = value if key in _VALUES else _usable(value, lost)
    return usable


def _is_useless(key: str, value: str, lost: Collection[str]) -> bool:
    """Whether a `$schema`, reference or `$id` must be removed before the library uses the schema."""
    return key == "$schema" or (key in REFERRING and value in lost) or (key == "$id" and not _is_uri(value))


def _is_uri(text: str) -> bool:
    try:
        urljoin(HOME, text)
    except ValueError:
        return False
    return True


def schema_flaws(schema: Any, steps: Steps) -> Iterator[str]:
    """Why a value is no schema, by the standard's own schema; the first few reasons."""
    if not isinstance(schema, Mapping):
        yield "$ must be: object"
        return
    try:
        steps.begin_value(schema, MOST_FOR_SCHEMA)
        make = validator_class(Patterns(steps), steps)
        standard = make({"$ref": _STANDARD}, registry=_standard())
        for error in islice(standard.iter_errors(schema), MOST_FLAWS):
            yield problem_words(error)
    except TooCostly:
        yield "$ is too large to be checked"
    except BaseException as error:
        if not is_too_deep(error):
            raise
        yield "$ is nested too deep to be checked"


@cache
def _standard() -> Any:
    """The standard's own schema and its parts, as we can use them."""
    from jsonschema_specifications import REGISTRY
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    parts = {
        uri: REGISTRY.contents(uri) for uri in REGISTRY if uri.startswith(_STANDARD.removesuffix("schema"))
    }
    known = ((uri, DRAFT202012.create_resource(_usable(part, ()))) for uri, part in parts.items())
    return Registry().with_resources(known).crawl()


def _lost_refs(schema: Any, registry: Any, path: str) -> list[str]:
    """Every `$ref` that finds nothing in the world."""
    resolver = registry.resolver(base_uri=uri_of(path))
    lost: list[str] = []
    for ref in dict.fromkeys(refs_in(schema)):
        if looked_up(resolver, ref) is None:
            lost.append(ref)
    return lost


def looked_up(resolver: Any, ref: str) -> Any | None:
    """The schema that a `$ref` leads to; None if there is none."""
    from referencing.exceptions import NoSuchResource, Unresolvable

    try:
        return resolver.lookup(ref)
    except (Unresolvable, NoSuchResource):
        return None
    except (AttributeError, LookupError, TypeError, ValueError):
        # How the library meets a pointer into a value that is no schema, and a URI that is none.
        return None
    except BaseException as error:
        if not is_too_deep(error):
            raise
        return None


def _registry(documents: Mapping[str, Any]) -> Any:
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    known = {path: DRAFT202012.create_resource(value) for path, value in documents.items()}
    resources: dict[str, Any] = {uri_of(path): resource for path, resource in known.items()}
    bases = {path: _base(path, value) for path, value in documents.items()}
    for path, resource in known.items():
        resources.setdefault(_plain(bases[path]), resource)
    for path, value in documents.items():
        for ref in refs_in(value):
            standard, beside = _plain(_joined(bases[path], ref)), _plain(_joined(uri_of(path), ref))
            meant = resources.get(standard) or resources.get(beside)
            if meant is not None:
                resources.setdefault(standard, meant)
                resources.setdefault(beside, meant)
    return Registry().with_resources(resources.items()).crawl()  # else each look crawls it all again


def _base(path: str, schema: Mapping[str, Any]) -> str:
    own = schema.get("$id")
    return _joined(uri_of(path), own) if isinstance(own, str) else uri_of(path)


def _joined(base: str, ref: str) -> str:
    """A reference as seen from a place; what is no URI at all leads nowhere, as it stands."""
    try:
        return urljoin(base, ref)
    except ValueError:
        return ref


def _plain(uri: str) -> str:
    return uri.partition("#")[0]
