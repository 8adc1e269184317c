"""Imports of Python: every `import` statement, wherever in the file it stands.

A name is looked for as an interpreter started in the root, or in its `src/`, would find it; then in the
folders above the importing file that are no packages, which is how scripts and nested projects import. The
packages on the way to a module do not count; a package counts itself when it is imported as such, or when a
name is taken from it that is no module of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import define, field, frozen

from context_pack.code.domain.imports.tree import (
    Found,
    TreeView,
    Unparsable,
    ancestors,
    depth_of,
    folder_of,
    join,
    within,
)
from context_pack.kernel.syntax import Parsed

ENDINGS = (".py", ".pyi")
_LIBRARY_NAMES = """
    abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop
    base64 bdb binascii bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs
    codeop collections colorsys compileall compression concurrent configparser contextlib
    contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis
    distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput
    fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip
    hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools
    json keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap
    modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode
    operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform plistlib
    poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat
    queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select
    selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3
    sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess
    sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap this
    threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle
    turtledemo types typing unicodedata unittest urllib uu uuid venv warnings wave weakref
    webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo
"""
STANDARD_LIBRARY = frozenset(_LIBRARY_NAMES.split())
"""The top-level names of every supported version: the running interpreter must not decide what a project's
imports mean. They are not looked for in folders that are merely above the importing file."""


@frozen
class Statement:
    """One import: `names` are what is taken from the module, None for a plain `import`."""

    level: int
    module: str
    names: tuple[str, ...] | None

    @property
    def written(self) -> str:
        """The module as it was written, with its leading dots."""
        return "." * self.level + self.module


def statements(parsed: Parsed) -> Iterator[Statement]:
    """The import statements of a text, in order; blanks between the parts of a name do not count."""
    for each in parsed.imports:
        name = "".join(each.specifier.replace("\\", " ").split())
        module = name.lstrip(".")
        yield Statement(len(name) - len(module), module, None if each.how == "import" else each.names)


def resolve(parsed: Parsed, path: str, view: TreeView) -> Found:
    """Where the imports lead from the file at `path`.

    Raises:
        Unparsable: the text is no Python.
    """
    if parsed.error_line is not None:
        raise Unparsable(parsed.error_line)
    finder = _Finder(view, folder_of(path))
    for statement in statements(parsed):
        if statement.names is None:
            yield statement.module, finder.module(statement.module)
        elif statement.level or statement.module != "__future__":
            yield from finder.taken(statement)


@define
class _Finder:
    """Looks for modules from one folder."""

    view: TreeView
    here: str
    _tops: dict[str, tuple[str, ...]] = field(factory=dict, init=False)

    def module(self, dotted: str) -> str | None:
        """The file of an absolute module or package."""
        parts = dotted.split(".")
        return next((file for base in self._bases(parts[0]) if (file := self._file(base, parts))), None)

    def taken(self, statement: Statement) -> Iterator[tuple[str, str | None]]:
        """What each name of a `from` import leads to: a module, or the file it is defined in."""
        packages = self._packages(statement)
        own = self._own_file(statement)
        dotted = statement.written if statement.written.endswith(".") else f"{statement.written}."
        for name in statement.names or ():
            inner = next((file for package in packages if (file := self._file(package, [name]))), None)
            if name == "*" or inner is None:
                # A package without a file of its own can be there and still not have the name.
                whole = name != "*" and (packages or not statement.module)
                yield f"{dotted}{name}" if whole else statement.written, own
            else:
                yield name, inner

    def _packages(self, statement: Statement) -> list[str]:
        """The folders that the module may stand for."""
        parts = statement.module.split(".") if statement.module else []
        bases = self._bases(parts[0]) if not statement.level else self._up(statement.level)
        return [folder for base in bases if (folder := self._folder(base, parts)) is not None]

    def _own_file(self, statement: Statement) -> str | None:
        """The file of the module itself."""
        if not statement.level:
            return self.module(statement.module)
        for base in self._up(statement.level):
            if not statement.module:
                return self._initial(base)
            if file := self._file(base, statement.module.split(".")):
                return file
        return None

    def _up(self, level: int) -> tuple[str, ...]:
        """The folder that so many dots stand for; none above the root."""
        base = join(self.here, "../" * (level - 1))
        return () if base is None else (base,)

    def _bases(self, top: str) -> tuple[str, ...]:
        """The folders in which a top-level name is there, in the order of looking."""
        known = self._tops.get(top)
        if known is None:
            known = self._tops[top] = tuple(base for base in self._searched(top) if self._has(base, top))
        return known

    def _searched(self, top: str) -> Iterator[str]:
        yield ""
        yield "src"
        if top in STANDARD_LIBRARY:
            return
        for folder in ancestors(self.here):
            if folder and self._initial(folder) is None:
                yield folder
                yield within(folder, "src")

    def _has(self, base: str, top: str) -> bool:
        files = self.view.files(base)
        return top in self.view.folders(base) or any(top + ending in files for ending in ENDINGS)

    def _folder(self, base: str, parts: Sequence[str]) -> str | None:
        """The folder of a package, with or without a file of its own."""
        is_there = depth_of(self.view, base, parts) == len(parts)
        return "/".join(filter(None, (base, *parts))) if is_there else None

    def _file(self, base: str, parts: Sequence[str]) -> str | None:
        """The file of a module or package below a folder; a package wins over a module of its name."""
        folder = self._folder(base, parts[:-1])
        if folder is None:
            return None
        last = parts[-1]
        if last in self.view.folders(folder) and (file := self._initial(within(folder, last))):
            return file
        files = self.view.files(folder)
        return next((within(folder, last + ending) for ending in ENDINGS if last + ending in files), None)

    def _initial(self, folder: str) -> str | None:
        """The file that makes a folder a regular package."""
        files = self.view.files(folder)
        names = (f"__init__{ending}" for ending in ENDINGS)
        return next((within(folder, name) for name in names if name in files), None)
