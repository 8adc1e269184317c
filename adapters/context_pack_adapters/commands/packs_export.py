"""Write a rendered pack to a file.

The file is Markdown, whole, with the code as it is now; with --html it is one page that needs no network,
with the code in colours, the diagrams drawn and the state of every ref. An existing file is left alone,
unless --force says otherwise.

Examples:
  context-pack packs export auth                  writes auth.md
  context-pack packs export auth --html           writes auth.html
  context-pack packs export auth -o docs/login.md
  context-pack packs export auth -o docs          writes docs/auth.md, if docs is a folder
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
    parser.add_argument("-o", "--output", metavar="FILE|DIR", help="the file, its folder, or - for stdout")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--html", action="store_true", help="write a self-contained HTML page")
    form.add_argument("--compact", action="store_true", help="leave out the code excerpts")
    parser.add_argument("--force", action="store_true", help="replace an existing file")


def run(options: Namespace, shell: Shell) -> int:
    """Render the pack and write it."""
    suffix, export = FORMS["html" if options.html else "markdown"]
    with shell.workspace() as workspace:
        pack = workspace.packs.get(options.pack)
        text = export(workspace, pack, options)
    if options.output == "-":
        shell.terminal.raw(text)
        return 0
    path = destination(options.output or "", f"{file_stem(pack)}{suffix}")
    write(path, text.encode("utf-8", "backslashreplace"), replace=options.force)
    shell.terminal.line(path)
    return 0


def as_markdown(workspace: Workspace, pack: Pack, options: Namespace) -> str:
    """The pack as one Markdown file."""
    return workspace.packs.document(pack, mode="compact" if options.compact else "full") + "\n"


def as_html(workspace: Workspace, pack: Pack, _: Namespace) -> str:
    """The pack as one HTML page."""
    from context_pack_adapters.html.page import PackView, render_html
    from context_pack_adapters.system import SystemClock

    verified = workspace.packs.verify(pack)
    scopes = workspace.packs.scopes(verified.pack)
    return render_html(PackView.of(verified.pack, verified.refs, SystemClock().now(), scopes))


FORMS: Mapping[str, tuple[str, Export]] = {"markdown": (".md", as_markdown), "html": (".html", as_html)}


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
        raise Usage(f"there is no folder {output}; make it first, or name a file")
    return output


def write(path: str, data: bytes, *, replace: bool) -> None:
    """Write a file whole; an existing one only if it may be replaced, and then in one step.

    Raises:
        Usage: the file is there and may not be replaced.
        OSError: it cannot be written; names `path`, and leaves what was there.
    """
    from context_pack_adapters.disk.named import write_named

    try:
        written = write_named(path, data, replace)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    if not written:
        raise Usage(f"{path} exists; --force replaces it")
