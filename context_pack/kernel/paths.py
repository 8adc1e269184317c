"""Relative paths and the one policy that says which of them may be read.

A `RelativePath` is proof: it is relative, POSIX-separated, has no empty, `.` or `..` part and no control
character, so that nobody behind it checks again. The policy looks at whole path segments, never at
substrings, and folds what file systems fold (case, width, ignorable characters, trailing dots and spaces,
NTFS streams) before it compares. Nothing here touches a disk: confinement is proved on the opened file.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from fnmatch import translate
from functools import lru_cache
from itertools import pairwise

from attrs import Attribute, field, frozen

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.gitignore import IgnoreFile
from context_pack.kernel.secret_names import is_secret_entry, is_secret_name

MAX_PATH_BYTES = 1024
EXCLUDED_FOLDERS = frozenset({"node_modules", ".git", "dist", "build", ".next", ".context"})
"""Folder names skipped by whole-project walks: build output, dependencies, our own storage."""

TEST_FOLDERS = frozenset({"test", "tests", "__tests__", "spec", "specs", "testing", "e2e", "__mocks__"})
_TEST_NAME = re.compile(r"(?:test_.*|.*[._-](?:test|tests|spec)|conftest)\.[a-z0-9]+")
_TEST_CLASS = re.compile(r".*[a-z0-9](?:Test|Tests|TestCase|Spec|IT)\.(?:java|kt|cs|php|scala|swift)")
_ASIDE = re.compile(
    r"(?:^|/)_?(?:examples?|demos?|samples?|tutorials?|docs?(?:[_-]\w+)?|bench(?:es|marks?)?|fixtures?|testdata"
    r"|scripts?|vendor|third_party|node_modules|generated|dist)/",
    re.IGNORECASE,
)

_HINT = "give the path from the source root, as in src/app.py"
_DRIVE = re.compile(r"[A-Za-z]:")
_PLAIN = re.compile(r"\w[\w.-]*+(?:/\w[\w.-]*+)*+", re.ASCII)
# Line and paragraph separators are refused with the control characters: a path is shown on one line.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def _check(_: object, __: Attribute[str], value: str) -> None:
    """Refuse whatever is not a normal relative path; the way out of the root is named before the rest."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and len(value) <= MAX_PATH_BYTES:
        return
    if not isinstance(value, str):
        raise invalid("'path' must be a string", "path")
    if value.startswith("/") or _DRIVE.match(value):
        raise Failure(Code.ABSOLUTE_PATH, "Absolute paths not allowed", {"field": "path", "hint": _HINT})
    parts = value.split("/")
    if ".." in parts:
        raise Failure(Code.PATH_TRAVERSAL, "Path traversal not allowed", {"field": "path", "hint": _HINT})
    if not value:
        raise invalid("'path' must not be empty; give a path relative to the source root", "path")
    if _UNSAFE.search(value):
        raise invalid("'path' must not hold control characters", "path")
    if "" in parts or "." in parts or "\\" in value:
        raise invalid("'path' must have no empty or '.' part; write it as folder/file", "path")
    if len(value.encode("utf-8")) > MAX_PATH_BYTES:
        raise invalid(f"'path' must have at most {MAX_PATH_BYTES} bytes", "path")


@frozen(order=True)
class RelativePath:
    """A normal path relative to a root, with `/` between its parts; ordered as plain text."""

    value: str = field(validator=_check)

    def __hash__(self) -> int:
        return hash(self.value)

    @classmethod
    def parse(cls, text: str) -> RelativePath:
        """The path that `text` spells exactly; a backslash is a separator.

        Raises:
            Failure: `absolute_path`, `path_traversal` or `invalid_data`.
        """
        return cls(text.replace("\\", "/") if isinstance(text, str) else text)

    @classmethod
    def lenient(cls, text: str) -> RelativePath:
        """As `parse`, but empty and `.` parts are dropped (`./a//b/` is `a/b`)."""
        slashed = text.replace("\\", "/")
        if slashed.startswith("/") or _DRIVE.match(slashed):
            return cls(slashed)
        parts = slashed.split("/")
        if "" in parts or "." in parts:
            slashed = "/".join(part for part in parts if part not in ("", "."))
        return cls(slashed)

    @property
    def parts(self) -> tuple[str, ...]:
        """The segments, outermost first."""
        return tuple(self.value.split("/"))

    @property
    def name(self) -> str:
        """The last segment."""
        return self.value.rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """The extension of the name with its dot; empty for `Makefile` and `.gitignore`."""
        stem, dot, end = self.name.rpartition(".")
        return dot + end if stem.strip(".") and end else ""

    @property
    def parent(self) -> RelativePath | None:
        """The folder the path is in, or None at the root."""
        head = self.value.rpartition("/")[0]
        return RelativePath(head) if head else None

    def __str__(self) -> str:
        return self.value


def module_of(path: RelativePath) -> str:
    """The name of the folder a file is in, `.` at the root."""
    parts = path.parts
    return parts[-2] if len(parts) > 1 else "."


def is_aside(path: str) -> bool:
    """Whether a file lies beside the project's own code: examples, benchmarks, what others wrote."""
    return _ASIDE.search(path) is not None


def is_test(path: RelativePath) -> bool:
    """Whether a file is a test, or there for tests."""
    folders = (part.lower() for part in path.parts[:-1])
    if not TEST_FOLDERS.isdisjoint(folders):
        return True
    return bool(_TEST_NAME.fullmatch(path.name.lower()) or _TEST_CLASS.fullmatch(path.name))


def _folded(text: str) -> str:
    """Text as a forgiving file system compares it: width, case and ignorable characters do not count."""
    if text.isascii():
        return text.lower()
    wide = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in wide if unicodedata.category(char) != "Cf")


def _spellings(name: str) -> tuple[str, ...]:
    """What a segment may open: itself without trailing dots and spaces, and without an NTFS stream."""
    whole = _folded(name).rstrip(". ")
    return (whole, whole.partition(":")[0].rstrip(". ")) if ":" in whole else (whole,)


@lru_cache(maxsize=50_000)
def _is_secret(name: str) -> bool:
    """Whether one segment is on the table of secrets; every walk asks for every name again.

    Measured: a sync of documents without changes takes 2.5 bare walks of the tree, not 2.8.
    """
    return any(map(is_secret_name, _spellings(name)))


@lru_cache(maxsize=50_000)
def _is_secret_entry(folder: str, name: str, is_folder: bool) -> bool:
    """Whether an entry is on that table because of the folder it is in, or because it is a file."""
    folders, names = _spellings(folder), _spellings(name)
    return any(is_secret_entry(above, spelled, is_folder) for above in folders for spelled in names)


def _for_names(globs: Iterable[str]) -> re.Pattern[str] | None:
    """The globs without a slash, as one pattern for segments."""
    names = [glob.strip("/") for glob in globs if glob and "/" not in glob.rstrip("/")]
    return re.compile("|".join(map(translate, names))) if names else None


def _for_paths(globs: Iterable[str]) -> IgnoreFile | None:
    """The globs with a slash, for whole paths and what is in them."""
    whole = [glob.strip("/") for glob in globs if "/" in glob.rstrip("/")]
    lines = [f"/{glob}{end}" for glob in whole for end in ("", "/**")]
    return IgnoreFile("\n".join(lines)) if lines else None


@frozen
class PathPolicy:
    """Which paths no tool may read: the table of secrets, and `extra` globs of whoever runs the server.

    A glob without `/` is compared with every segment, one with `/` with the whole path (`**` crosses
    folders); what lies inside a denied folder is denied too. For paths from a folder, `lead` is the way to
    it from the source root, of which such a glob may speak too. `allow` are globs of names that the table
    denies and that may be read nevertheless, unless `extra` names them.
    """

    extra: tuple[str, ...] = ()
    lead: str = ""
    allow: tuple[str, ...] = ()
    _names: re.Pattern[str] | None = field(init=False, eq=False, repr=False)
    paths: IgnoreFile | None = field(init=False, eq=False, repr=False)
    """Those of the `extra` globs that speak of whole paths."""
    _allowed: re.Pattern[str] | None = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        extra, allow = (
            [_folded(each).strip().replace("\\", "/") for each in globs] for globs in (self.extra, self.allow)
        )
        object.__setattr__(self, "_names", _for_names(extra))
        object.__setattr__(self, "paths", _for_paths(extra))
        object.__setattr__(self, "_allowed", _for_names(allow))

    def denies_name(self, name: str) -> bool:
        """Whether a path with this segment is denied, wherever the segment stands."""
        if _is_secret(name) and not self._allows(name):
            return True
        return self._names is not None and any(map(self._names.match, _spellings(name)))

    def denies_entry(self, folder: str, name: str, is_folder: bool) -> bool:
        """Whether an entry is denied in a folder of that name, although its name is not denied everywhere."""
        return _is_secret_entry(folder, name, is_folder) and not self._allows(name)

    def denies(self, path: RelativePath, is_folder: bool = False) -> bool:
        """Whether the path must not be read; a folder may have the name of a secret file."""
        parts = path.value.split("/")
        if any(map(self.denies_name, parts)):
            return True
        for depth, (above, name) in enumerate(pairwise(["", *parts]), 1):
            if self.denies_entry(above, name, is_folder or depth < len(parts)):
                return True
        if self.paths is None:
            return False
        way = [_spellings(part) for part in parts]
        lead = [_spellings(part) for part in self.lead.split("/")[:-1]]
        ways = ("/".join(each[end] for each in spelled) for spelled in (way, lead + way) for end in (0, -1))
        return any(self.paths.verdict(spelled, is_folder=True) for spelled in ways)

    def _allows(self, name: str) -> bool:
        return self._allowed is not None and any(map(self._allowed.match, _spellings(name)))
