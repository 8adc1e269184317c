"""`packs export`: a rendered pack as a file, and how a command writes a file that may be there already."""

from __future__ import annotations

import os
import re
from argparse import Namespace

from context_pack.packs.model import Pack
from context_pack_adapters.cli.arguments import argument, command, flag, one_of
from context_pack_adapters.cli.shell import Shell, WrongUsage
from context_pack_adapters.files.folder import write_named


@command(
    argument("pack", metavar="ID|NAME", help="the pack"),
    argument("-o", "--output", metavar="FILE|DIR", help="the file, its folder, or - for stdout"),
    one_of(
        flag("--html", "write a self-contained HTML page"), flag("--compact", "leave out the code excerpts")
    ),
    flag("--force", "replace an existing file"),
)
def export(options: Namespace, shell: Shell) -> None:
    """Write a rendered pack to a file.

    The file is Markdown, whole, with the code as it is now; with --html it is one page that needs no network,
    with the code in colours, the diagrams drawn and the state of every ref. A file named *.html is
    such a page too. An existing file is left alone, unless --force says otherwise.

    Examples:
      context-pack packs export auth                  writes auth.md
      context-pack packs export auth --html           writes auth.html
      context-pack packs export auth -o docs/login.md      or docs/login.html
      context-pack packs export auth -o docs          writes docs/auth.md, if docs is a folder
      context-pack packs export auth -o -             writes to stdout
    """
    named = (options.output or "").lower().endswith((".html", ".htm")) and not os.path.isdir(options.output)
    if named and options.compact:
        raise WrongUsage("--compact goes with Markdown; name a file that ends with .md")
    html = options.html or named
    with shell.workspace() as workspace:
        pack = workspace.packs.get(options.pack)
        if html:
            text = workspace.packs.export_html(pack)
        else:
            text = workspace.packs.document(pack, mode="compact" if options.compact else "full") + "\n"
    if options.output == "-":
        shell.terminal.raw(text)
        return
    path = destination(options.output or "", f"{file_stem(pack)}{'.html' if html else '.md'}")
    write(path, text.encode("utf-8", "backslashreplace"), replace=options.force)
    shell.terminal.line(path)


def file_stem(pack: Pack) -> str:
    """A file name for the pack that is safe everywhere: from its name, else its id."""
    words = re.sub(r"[^A-Za-z0-9._-]+", "-", pack.name or "").strip(".-_")
    return words or pack.id


def destination(output: str, name: str) -> str:
    """The file to write: `output`, or `name` in the folder that it is, or here.

    Raises:
        Usage: it is spelled like a folder, and there is none.
    """
    if not output or os.path.isdir(output):
        return os.path.join(output, name)
    if not os.path.basename(output):
        raise WrongUsage(f"there is no folder {output}; make it first, or name a file")
    return output


def write(path: str, data: bytes, *, replace: bool) -> None:
    """Write a file whole; an existing one only if it may be replaced, and then in one step.

    Raises:
        Usage: the file is there and may not be replaced.
        OSError: it cannot be written; names `path`, and leaves what was there.
    """
    try:
        written = write_named(path, data, replace)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    if not written:
        raise WrongUsage(f"{path} exists; --force replaces it")
