"""A small tree with everything that makes searching hard, and a plain second opinion on what it holds.

The opinion shares no code with the search: it splits lines itself, knows by heart which files count, and
asks `regex` line by line.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

import regex
from file_trees import lay
from waiting import until

from context_pack_adapters.files.signature import settled_signature

LONG = "start " + "x" * 700 + " needle " + "y" * 900 + " end foo"

COUNTED: dict[str, bytes] = {
    ".github/workflows/ci.yml": b"name: ci\non: [push]\n# foo in a hidden folder\n",
    ".gitignore": b"*.log\n/top-only.txt\nignored/\n!keep.log\ntemp*\n!temp-kept.txt\n",
    ".hidden": b"foo hidden\n",
    "-dash.txt": b"foo with a dash\n",
    "README.md": b"# Title\n\nfoo bar baz\nFOO BAR\n\n    indented foo\n",
    "bom.txt": b"\xef\xbb\xbffoo first\nsecond foo\n",
    "cr-only.txt": b"foo\rbar\rbaz",
    "crlf.txt": b"foo\r\nbar foo\r\n\r\nfoo bar\r\n  \r\nend",
    "crlf-final.txt": b"a foo\r\nfoo b\r",
    "crlf-short.txt": b"a\r\nb\r\n;\r\n",
    "double-cr.txt": b"foo\r\r\nbar\r\n",
    "mixed.txt": b"unix foo\nwindows foo\r\nlone \r return foo\nend foo",
    "emoji.txt": "\U0001f600 foo \U0001f680 foo\n\U0001f468\u200d\U0001f469 family\n".encode(),
    "empty.txt": b"",
    "blank.txt": b"\n",
    "blanks.txt": b"\n\n \n\t\n\n",
    "late-nul.txt": b"foo before\n" + b"filler line of text\n" * 500 + b"nul \0 here foo\nafter foo\n",
    "long.txt": f"{LONG}\nshort foo\n{LONG}".encode(),
    "no-newline.txt": b"one\ntwo foo",
    "nested/.gitignore": b"*.txt\n!keep.txt\n",
    "nested/keep.txt": b"foo kept in nested\n",
    "nested/deep/.gitignore": b"!back.txt\nkeep.txt\n",
    "nested/deep/back.txt": b"foo taken back\n",
    "nested/source.py": b"def foo():\n    return 'foo'\n\n\nclass Foo_Bar:\n    foo1 = 1\n",
    "keep.log": b"foo kept log\n",
    "temp-kept.txt": b"foo kept temp\n",
    "sub/top-only.txt": b"foo not at the top\n",
    "sub/.ignore": b"!b.log\n",
    "sub/b.log": b"foo unignored by .ignore\n",
    "words.txt": (
        "naïve café größe STRASSE straße Straße ſtop \u212aelvin\nΣΊΣΥΦΟΣ σίσυφος ΣΑΣ\nЖук жук\n"
        "İstanbul ısı I i\n"
        "数据 数据库\n١٢٣ 123 ४५६\nA\u0300 combining\nzero\u200bwidth\n"
        "nbsp\u00a0here\nline\u2028sep foo\nx\u0085y foo\n"
    ).encode(),
    "rare.txt": "\u0558 armenian gap\n\U00011de0 new digit 7\n\u1c89 new letter foo\n".encode(),
    "code.ts": (
        b"import {e} from './x';\nexport interface UserContext {\n  id: number;\n}\nfunction handleAuth() {\n"
        b"  const token = jwt.sign(payload, SECRET);\n  if (a && b || c) { return a[0]; }\n  // TODO: fix\n"
        b"  // FIXME later\n"
        b'  let x = y ? $z : "q";\n  aaaa(); aaab(); abab();\n}\n'
    ),
    "spaces in name (1).txt": b"foo spaced\n",
    "\u00fcml\u00e4ut.txt": "füü foo\n".encode(),
}
"""Every file that a search looks at."""

NOT_COUNTED: dict[str, bytes] = {
    "debug.log": b"foo ignored\n",
    "top-only.txt": b"foo ignored at the top\n",
    "ignored/inside.txt": b"foo ignored folder\n",
    "temporary.txt": b"foo ignored by star\n",
    "nested/dropped.txt": b"foo ignored in nested\n",
    "nested/deep/keep.txt": b"foo ignored again\n",
    "nested/deep/other.txt": b"foo still ignored\n",
    "node_modules/lib/index.js": b"foo\n",
    "sub/node_modules/x.js": b"foo\n",
    ".git/config": b"foo\n",
    "dist/bundle.js": b"foo\n",
    "sub/build/out.js": b"foo\n",
    ".next/page.js": b"foo\n",
    ".context/x.md": b"foo\n",
    ".env": b"foo=secret\n",
    ".env.local": b"foo=secret\n",
    "key.pem": b"foo\n",
    "sub/id_rsa": b"foo\n",
    "binary.bin": b"foo \0 binary\nfoo\n",
    "nul-at-8191.bin": b"x" * 8191 + b"\0foo\n",
    "latin1.txt": "foo größe\n".encode("latin-1"),
    "utf16.txt": "foo\n".encode("utf-16"),
    "half.txt": b"foo \xe2\x82\nfoo\n",
    "large.txt": b"foo line\n" * 116_509,
}
"""Every file that none looks at: ignored, excluded, denied, not text, too large."""


class Line(NamedTuple):
    """A matching line: where, and its text."""

    path: str
    line: int
    column: int
    text: str


def plant(root: Path) -> None:
    """Make the tree, with links that must not be followed, and wait until its times can be relied on."""
    lay(root, {**COUNTED, **NOT_COUNTED})
    outside = root.parent / f"{root.name}-outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("foo outside\n")
    (root / "link.txt").symlink_to("README.md")
    (root / "way-out.txt").symlink_to(outside / "secret.txt")
    (root / "folder-out").symlink_to(outside)
    (root / "circle").symlink_to(".")
    settle(root)


def settle(root: Path) -> None:
    """Wait until every later change of anything in the tree shows in its signature."""
    states = [place.lstat() for place in (root, *root.rglob("*"))]
    until(lambda: all(settled_signature(state, time.time_ns()) is not None for state in states))


def lines_of(data: bytes) -> list[str]:
    """The lines of a file, by the contract's words."""
    lines = data.decode("utf-8").removeprefix("\ufeff").split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line[:-1] if line.endswith("\r") else line for line in lines]


def expected(pattern: str, fold: bool) -> list[Line]:
    """What a search must find, asked of `regex` line by line."""
    searched = regex.compile(pattern, regex.V0 | (regex.IGNORECASE if fold else 0))
    found = []
    for path in sorted(COUNTED):
        for number, text in enumerate(lines_of(COUNTED[path]), start=1):
            match = searched.search(text)
            if match is not None:
                found.append(Line(path, number, match.start() + 1, text))
    return found
