"""Walks through a page as a reader would: its blocks in order, in one folder, with the output that it shows.

Commands run in this process wherever they need no shell, so that a page costs seconds. In what a page shows,
`…` stands for any text, and a line that is nothing else for any lines.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import yaml
from command_line import standing_in
from markdown_it import MarkdownIt

from context_pack_adapters.cli import main

ANY = "…"
NEEDS_A_SHELL = re.compile(r"[|<>&;`]|\$\(")
COMMENT = re.compile(r"\s+# [^'\"]*$")
EXIT_CODE = "; echo $?"
HERE_DOCUMENT = "<< END"
CHANGING = (
    (re.compile(r"pk_[a-z2-7]{8}"), "pk_xxxxxxxx"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"), "0000-00-00T00:00:00Z"),
    (re.compile(r"ttl_remaining: \d+[mhd]"), "ttl_remaining: some"),
)
PARSERS: dict[str, Callable[[str], object]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
}
NOT_RUN = ("pip install", "createdb")


class Block(NamedTuple):
    """A fence: what it is, what it holds, the section it stands in, and the mark in a comment before it."""

    info: str
    text: str
    section: str
    mark: str


def blocks(page: str) -> Iterator[Block]:
    """Every fence of a page; marks are `ci: NAME`, `not run: WHY`, `file: PATH` and `change: PATH`."""
    section, mark = "", ""
    tokens = MarkdownIt("commonmark").parse(page)
    for index, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h2":
            section = tokens[index + 1].content
        elif token.type == "html_block":
            found = re.search(r"<!-- ((?:ci|not run|file|change): .+?) -->", token.content)
            mark = found[1] if found else ""
        elif token.type == "fence":
            yield Block(token.info.strip(), token.content, section, mark)
            mark = ""


class Walk:
    """One reader with one page, in one folder."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        self.folder, self.environ = folder, environ
        self.ran = 0

    def through(self, page: str) -> None:
        """Do what every block says; raises AssertionError where the page is wrong."""
        shown = [*blocks(page), Block("", "", "", "")]
        for block, after in pairwise(shown):
            if block.mark:
                continue
            if block.info == "bash":
                for line in block.text.splitlines():
                    self.succeed(line)
            elif block.info == "console":
                self.converse(block.text)
            elif block.info == "python":
                out = self.python(block.text)
                assert after.info == "text", block.text
                assert_shown(after.text, out, block.text)
            elif block.info in PARSERS:
                assert PARSERS[block.info](block.text)
            else:
                assert block.info == "text", block.info

    def converse(self, text: str) -> None:
        """Commands after `$ `, each with what it prints."""
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            line, _, shown = part.partition("\n")
            if line.endswith(HERE_DOCUMENT):  # what follows is the file
                text, _, shown = shown.partition("END\n")
                line = f"{line}\n{text}END\n"
            if line.endswith(EXIT_CODE):
                code, out = self.run(line.removesuffix(EXIT_CODE))
                out += f"{code}\n"
            else:
                out = self.succeed(line)
            assert_shown(shown, out, line)

    def succeed(self, line: str) -> str:
        """Run a line that must end with 0; what it printed."""
        code, out = self.run(line)
        assert code == 0, f"{line}: {code}\n{out}"
        return out

    def run(self, line: str) -> tuple[int, str]:
        """Run one line as a shell would; its exit code and what it printed."""
        if line.startswith(NOT_RUN):
            return 0, ""
        self.ran += 1
        line = COMMENT.sub("", line)
        words = shlex.split(line)
        if words[0] in {"export", "unset"}:
            name, _, value = words[1].partition("=")
            if words[0] == "unset":
                del self.environ[name]
            else:
                self.environ.setdefault(name, value)
            return 0, ""
        if words[0] == "context-pack" and not NEEDS_A_SHELL.search(line):
            return self.command(words[1:])
        done = subprocess.run(
            line,
            shell=True,
            cwd=self.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def command(self, words: list[str]) -> tuple[int, str]:
        """A command of ours, in this process."""
        with self.place() as out:
            return main(words), out.getvalue()

    def python(self, code: str) -> str:
        """A program, in this process; what it printed."""
        self.ran += 1
        with self.place() as out:
            exec(compile(code, "a page", "exec"), {"__name__": "page"})
            return out.getvalue()

    @contextlib.contextmanager
    def place(self) -> Iterator[io.StringIO]:
        """Be in the reader's folder and environment, with what is printed."""
        out = io.StringIO()
        printed = contextlib.redirect_stdout(out), contextlib.redirect_stderr(out)
        with standing_in(self.folder, self.environ), printed[0], printed[1]:
            yield out


def settled(text: str) -> str:
    """A text with what changes from run to run made equal."""
    for pattern, instead in CHANGING:
        text = pattern.sub(instead, text)
    return text.strip()


def assert_shown(shown: str, seen: str, about: str) -> None:
    """Raises AssertionError unless the output is as shown."""
    lines = [
        r"(?s:.*?)" if line == ANY else re.escape(line).replace(ANY, ".*")
        for line in settled(shown).splitlines()
    ]
    wanted = "\n".join(lines).replace("(?s:.*?)\n", "(?s:.*?)").replace("\n(?s:.*?)", "(?s:.*)")
    assert re.fullmatch(wanted, settled(seen)), f"{about}\nshown:\n{shown}\nseen:\n{seen}"
