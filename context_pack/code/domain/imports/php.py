"""Imports of PHP: `require` and `include` of literal files, and `use` by the PSR-4 map of composer.json.

A file may be named by itself or from `__DIR__` and `dirname(…)`. A class is looked for where the nearest
composer.json maps its namespace; without such a map, from where the file's own namespace begins. The traits
of a class count where they lead to a file. Text outside `<?php … ?>` is no code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from context_pack.code.domain.imports.namespaces import origin
from context_pack.code.domain.imports.tree import (
    Found,
    Imports,
    TreeView,
    first_file,
    folder_of,
    join,
    nearest,
    within,
)
from context_pack.kernel.lexing import (
    BLOCK_COMMENT,
    FILL,
    closed_string,
    comment,
    interpolated,
    lexer,
    literal,
    opaque,
    string,
)

MOST_PARTS = 100
_SLASH = "\\"
_LABEL = re.compile(r"\w+")


def _heredoc_end(text: str, opening: re.Match[str]) -> int:
    label = _LABEL.findall(opening[0])[-1]
    found = re.compile(rf"^[ \t]*+{label}\b", re.MULTILINE).search(text, opening.end())
    return -1 if found is None else found.end()


_PHP = lexer(
    opaque(r"\?>(?s:.*?)(?:<\?(?:php\b|=)|\Z)"),
    comment(r"(?://|#(?!\[))(?:[^\n?]|\?(?!>))*+"),
    comment(BLOCK_COMMENT),
    opaque(r"<<<[ \t]*+[\"']?[A-Za-z_]\w*+[\"']?\r?\n", _heredoc_end),
    closed_string("'", r"[^'\\]|\\(?s:.)"),
    string(r'"(?:[^"\\{$]|\\(?s:.)|\{(?!\$)|\$(?!\{))*+"'),
    opaque(r'"', interpolated('"', "{$", "${")),
    opaque(r"`", interpolated("`", "{$", "${")),
)
_OPEN = re.compile(r"<\?(?:php\b|=)", re.IGNORECASE)
_REQUIRE = re.compile(
    r"(?<![\w$>:\\])(?:require|include)(?:_once)?\b\s*+\(?+\s*+"
    r"(?:(?P<here>__DIR__)\s*+\.\s*+|dirname\s*+\(\s*+(?P<from>__FILE__|__DIR__)\s*+(?:,\s*+(?P<up>\d)\s*+)?+\)\s*+\.\s*+)?+"
    r"(?:\"(?P<double>\0++)\"|'(?P<single>\0++)')\s*+(?=[);,\0]|\Z)",
    re.IGNORECASE,
)
_SCOPE = re.compile(
    r"[{}]|(?<![\w$>:\\])(?P<word>use|namespace)\s++(?P<what>[\w\\][^;{}()]*+)(?P<group>\{[^{}]*+\})?+", re.I
)
_ALIAS = re.compile(r"\s+as\s+(\w+)\s*\Z", re.IGNORECASE)
_NAME = re.compile(r"\\?[^\W\d]\w*+(?:\\\w++)*+")
_MEMBER = re.compile(r"\A(?:function|const)\s+", re.IGNORECASE)


@frozen
class Required:
    """One required file; `up` is how many folders above the file it starts, None where that is not said."""

    name: str
    up: int | None


@frozen
class Head:
    """What a file says about itself and others."""

    namespace: tuple[str, ...]
    files: tuple[Required, ...]
    classes: tuple[str, ...]
    traits: tuple[str, ...] = ()


def parse(text: str) -> Head:
    """The namespace, the required files and the used classes of a file."""
    opening = _OPEN.search(text)
    if opening is None:
        return Head((), (), ())
    start = opening.end()
    code = FILL * start + _PHP.mask(text[start:])
    files = tuple(dict.fromkeys(_files(text, code)))
    namespace, classes, traits = _names(code)
    return Head(namespace, files, classes, traits)


def _files(text: str, code: str) -> Iterator[Required]:
    for match in _REQUIRE.finditer(code):
        group = "double" if match["double"] is not None else "single"
        up = None
        if match["here"] or match["from"]:
            above = int(match["up"] or 1)
            up = 0 if match["here"] else above if match["from"].upper() == "__DIR__" else above - 1
        name = literal(text, *match.span(group))
        if group == "single" or "$" not in name:
            yield Required(name, up)


def _names(code: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The first namespace, what is used outside of classes and functions, and the traits of classes."""
    namespace: tuple[str, ...] | None = None
    here: tuple[str, ...] = ()
    used: dict[str, None] = {}
    traits: dict[str, None] = {}
    aliases: dict[str, str] = {}
    depth = outer = at = 0
    while (match := _SCOPE.search(code, at)) is not None:
        at = match.end()
        if match[0] in "{}":
            depth += 1 if match[0] == "{" else -1
        elif match["word"].lower() == "namespace":
            own = tuple(part for part in match["what"].strip().split("\\") if part)
            namespace = own if namespace is None else namespace
            here, aliases = own, {}
            braced = match["group"] is not None or code[at : at + 1] == "{"
            outer = depth + 1 if braced else depth
            at = match.end("what")
        elif depth <= outer:
            for alias, name in _used(match["what"], match["group"]):
                used[name] = None
                aliases[alias.lower()] = name
        else:
            traits.update(dict.fromkeys(_full(name, here, aliases) for name in _traits(match["what"])))
    return namespace or (), tuple(used), tuple(traits)


def _used(what: str, group: str | None) -> Iterator[tuple[str, str]]:
    """The names of one `use`, here and in full; functions and constants have no file of their own name."""
    prefix = what if group is not None else ""
    for part in (group[1:-1] if group is not None else what).split(","):
        written = (prefix + part.strip()).strip()
        alias = _ALIAS.search(written)
        name = _MEMBER.sub("", _ALIAS.sub("", written).strip()).strip("\\ \t\r\n")
        if part.strip() and name:
            yield (alias[1] if alias else name.rpartition("\\")[2]), name


def _traits(what: str) -> Iterator[str]:
    """The names in the `use` of a class."""
    return (name for part in what.split(",") if _NAME.fullmatch(name := part.strip()))


def _full(name: str, here: tuple[str, ...], aliases: Mapping[str, str]) -> str:
    """The full name of a class as it is written in a namespace."""
    if name.startswith("\\"):
        return name.strip("\\")
    first, slash, rest = name.partition("\\")
    if first.lower() == "namespace" and slash:
        return "\\".join((*here, rest))
    known = aliases.get(first.lower())
    return f"{known}{slash}{rest}" if known is not None else "\\".join((*here, name))


def resolve(head: Head, path: str, view: TreeView) -> Imports:
    """The files that the names lead to."""
    here = folder_of(path)
    found = Found()
    for required in head.files:
        found.add(required.name, first_file(view, _places(required, here)))
    if head.classes or head.traits:
        maps = _psr4(here, view)
        start = origin(here, head.namespace)
        for name in (*head.classes, *head.traits):
            candidates = [*_mapped(name, maps)]
            if not maps:
                spelled = start.spelled(tuple(name.split("\\")))
                candidates += [within(start.folder, "/".join(parts)) + ".php" for parts in spelled if parts]
            file = first_file(view, candidates)
            if file is not None or name in head.classes:  # a trait of elsewhere was imported, and told, there
                found.add(name, file)
    return found.imports()


def _places(required: Required, here: str) -> Iterator[str]:
    starts = [here, ""] if required.up is None else [join(here, "../" * required.up)]
    for start in starts:
        place = None if start is None else join(start, required.name)
        if place and (required.up is not None or not required.name.startswith("/")):
            yield place


def _mapped(name: str, maps: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Where a class may be, by the longest namespace that is mapped first."""
    end = len(name)
    for _ in range(MOST_PARTS):
        end = name.rfind("\\", 0, end)
        for folder in maps.get(name[: end + 1], ()):
            yield within(folder, name[end + 1 :].replace("\\", "/")) + ".php"
        if end < 0:
            return


def _psr4(here: str, view: TreeView) -> dict[str, list[str]]:
    """The PSR-4 map of the nearest composer.json: folders by namespace with its last backslash."""
    path = nearest(view, here, "composer.json")
    text = None if path is None else view.text(path)
    if path is None or text is None:
        return {}
    try:
        config: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    found: dict[str, list[str]] = {}
    for section in ("autoload", "autoload-dev"):
        loaded = config.get(section) if isinstance(config, dict) else None
        mapped = loaded.get("psr-4") if isinstance(loaded, dict) else None
        for prefix, folders in mapped.items() if isinstance(mapped, dict) else ():
            for folder in folders if isinstance(folders, list) else [folders]:
                place = join(folder_of(path), folder) if isinstance(folder, str) else None
                if place is not None:
                    found.setdefault(f"{prefix.rstrip(_SLASH)}{_SLASH}" if prefix else "", []).append(place)
    return found
