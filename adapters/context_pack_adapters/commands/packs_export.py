"""Write a rendered pack to a file.

The file is Markdown, whole, with the code as it is now. An existing file is left alone, unless --force says
otherwise.

Examples:
  context-pack packs export auth                  writes auth.md
  context-pack packs export auth -o docs/auth.md
  context-pack packs export auth -o -             writes to stdout
"""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from context_pack_adapters.commands.shell import Shell, Usage

if TYPE_CHECKING:
    from context_pack.packs.domain.model import Pack
    from context_pack_adapters.workspace import Workspace

Export = Callable[["Workspace", "Pack", Namespace], str]


def configure(parser: ArgumentParser) -> None:
    """Which pack, and where to."""
    parser.add_argument("pack", metavar="ID|NAME", help="the pack")
    parser.add_argument("-o", "--output", metavar="FILE", help="the file, or - for stdout; else by the name")
    parser.add_argument("--compact", action="store_true", help="leave out the code excerpts")
    parser.add_argument("--force", action="store_true", help="replace an existing file")


def run(options: Namespace, shell: Shell) -> int:
    """Render the pack and write it."""
    form = "markdown"
    suffix, export = FORMS[form]
    with shell.workspace() as workspace:
        pack = workspace.packs.get(options.pack)
        text = export(workspace, pack, options)
    if options.output == "-":
        shell.terminal.raw(text)
        return 0
    path = options.output or f"{file_stem(pack)}{suffix}"
    write(path, text, replace=options.force)
    shell.terminal.line(path)
    return 0


def as_markdown(workspace: Workspace, pack: Pack, options: Namespace) -> str:
    """The pack as one Markdown file."""
    return workspace.packs.document(pack, mode="compact" if options.compact else "full") + "\n"


FORMS: Mapping[str, tuple[str, Export]] = {"markdown": (".md", as_markdown)}


def file_stem(pack: Pack) -> str:
    """A file name for the pack that is safe everywhere: from its name, else its id."""
    words = re.sub(r"[^A-Za-z0-9._-]+", "-", pack.name or "").strip(".-_")
    return words or pack.id


def write(path: str, text: str, *, replace: bool) -> None:
    """Write a text file; an existing one only if it may be replaced, and then in one step.

    Raises:
        Usage: the file is there and may not be replaced.
    """
    data = text.encode("utf-8", "backslashreplace")
    if not replace:
        try:
            with open(path, "xb") as file:
                file.write(data)
        except FileExistsError:
            raise Usage(f"{path} exists; --force replaces it") from None
        return
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        with open(beside, "xb") as file:
            file.write(data)
        os.replace(beside, path)
    except OSError:
        if os.path.exists(beside):
            os.unlink(beside)
        raise
