"""Make a .tar.gz package of a folder's documents, with a manifest that names each of them and its SHA-256.

The same documents make the same bytes. The source may be a folder, a manifest.json, or a collection by name.
The exit code is 1 when a document failed; the package then holds the others.

Examples:
  context-pack docs pack ./docs --name handbook --version 1.2 -o handbook-1.2.tar.gz
  context-pack docs pack handbook --dry-run
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from context_pack_adapters.commands.docs import (
    DONE,
    FAILED,
    open_documents,
    plan_body,
    show_failed,
    show_plan,
)
from context_pack_adapters.commands.shell import Shell, Usage
from context_pack_adapters.settings import working_directory

if TYPE_CHECKING:
    from context_pack.documents.domain.model import Collection
    from context_pack_adapters.workspace.documents import Documents


def configure(parser: ArgumentParser) -> None:
    """What to pack, and as what."""
    parser.add_argument("source", metavar="SOURCE", help="a folder, a manifest.json or a collection")
    parser.add_argument("-o", "--output", metavar="FILE", help="the package (default: NAME-VERSION.tar.gz)")
    parser.add_argument("--name", metavar="NAME", help="its name (default: the manifest's, or the folder's)")
    parser.add_argument(
        "--version", metavar="VERSION", help="its version (default: the manifest's, or 0.0.0)"
    )
    parser.add_argument("--description", metavar="TEXT", help="what it holds")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be packed")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Write the package, whole or not at all."""
    from context_pack.documents.domain.model import About
    from context_pack_adapters.bootstrap import package_of
    from context_pack_adapters.commands.packs_export import write

    documents = open_documents(shell)
    collection = _collection(documents, options.source)
    if options.dry_run:
        body = plan_body(collection, documents.shelf.syncing.look(collection))
        shell.terminal.json({"dryRun": True, **body}) if options.json else show_plan(shell, body)
        return FAILED if body["failed"] else DONE
    with documents.shelf.ports.sources.open(collection, fetch=True) as source:
        survey = source.survey()
        assert survey is not None
        about = About(
            options.name or survey.about.name or collection.where.name,
            options.version or survey.about.version or "0.0.0",
            options.description or survey.about.description,
        )
        target = Path(working_directory(), options.output or f"{about.name}-{about.version}.tar.gz")
        if not target.parent.is_dir():
            raise Usage(f"the folder for {target.name} does not exist; make it first")
        if os.path.lexists(target) and not options.force:  # before anything is packed
            raise Usage(f"{target.name} is there already; --force replaces it")
        data, packed, failed = package_of(about, source, survey)
        write(str(target), data, replace=options.force)
    every = (*survey.failed, *failed)
    if options.json:
        told = [{"document": one.document, "reason": one.reason} for one in every]
        body = {"package": str(target), "documents": packed, "bytes": len(data), "failed": told}
        shell.terminal.json(body)
    else:
        shell.terminal.line(f"{target.name}: {packed} documents, {len(data)} bytes")
        show_failed(shell, every)
    return FAILED if every else DONE


def _collection(documents: Documents, source: str) -> Collection:
    """The collection of that name, or one made of the place."""
    known = documents.shelf.catalogue().collections
    if source in known:
        return known[source]
    place = source if "://" in source else os.path.join(working_directory(), os.path.expanduser(source))
    return documents.shelf.ports.sources.resolve("package", place)
