"""The command `demo`: a small pack over the current folder, from a first look at it."""

from __future__ import annotations

import os
import re
from argparse import Namespace
from collections.abc import Iterator
from tempfile import TemporaryDirectory

from context_pack.packs.commands import Operation, UpsertDiagram, UpsertRef, UpsertSection
from context_pack.packs.model import Pack
from context_pack_adapters.cli.arguments import command, flag
from context_pack_adapters.cli.painting import show_pack
from context_pack_adapters.cli.shell import Shell, WrongUsage
from context_pack_adapters.cli.survey import ProjectSurvey, SurveyedLines, survey

TTL_MINUTES = 24 * 60
MOST_NODES = 12
NOTE = """\
A context pack carries what one agent learned about a codebase to the next: refs to exact lines, why they \
matter, and diagrams. The lines are shown as they are now; if they moved, the pack follows, and if they \
changed, it says so."""
EMPTY = f"""{NOTE}

There is no source file here yet. Run the demo in a project to see its code in the pack."""
HOW_IT_WORKS = """\
flowchart LR
  agent["an agent that knows"] -->|input| pack[("context pack")]
  code["source files"] -->|live lines| pack
  pack -->|output| reader["the next agent, or you"]"""


@command(flag("--keep", "keep the pack in the storage root for a day"))
def demo(options: Namespace, shell: Shell) -> None:
    """Build a small pack over the current folder and print it.

    A few places are found (the readme, the entry point, a definition), anchored, and rendered as any pack is.
    The pack lives in a temporary folder and is gone afterwards, unless --keep puts it where packs are kept.

    Examples:
      context-pack demo
      context-pack demo --source-root ~/src/shop
      context-pack demo --keep                        and then: context-pack packs list
    """
    if not os.path.isdir(shell.settings.source_root):
        raise WrongUsage(
            f"{shell.settings.source_root} is not a folder; --source-root says where the project is"
        )
    if options.keep:
        pack, document = _build(shell)
        show_pack(document, shell.terminal)
        shell.terminal.note(f"\nKept as {pack.id}: context-pack packs show {pack.id}")
        return
    with TemporaryDirectory(prefix="context-pack-demo-") as folder:
        _, document = _build(shell._replace(settings=shell.settings._replace(root=folder, cache=folder)))
    show_pack(document, shell.terminal)
    shell.terminal.note("\nNothing was left behind; --keep stores the pack. Next: context-pack --help")


def _build(shell: Shell) -> tuple[Pack, str]:
    """The finished pack and its rendering."""
    root = shell.settings.source_root
    ports = shell.ports()
    found = survey(ports.source, ports.syntax)
    name = printable(os.path.basename(root)) or "this folder"
    with shell.workspace() as workspace:
        pack = workspace.packs.create(
            ttl_minutes=TTL_MINUTES,
            title=f"A first look at {name}",
            brief="Made by context-pack demo: where a newcomer would start reading",
            tags=["demo"],
        )
        pack = workspace.packs.apply(pack, *_operations(found, name))
        pack = workspace.packs.set_status(pack, "finalized")
        return pack, workspace.packs.document(pack)


def _operations(found: ProjectSurvey, name: str) -> Iterator[Operation]:
    """The operations that build the pack from the survey."""
    places = [place for place in (found.readme, found.entry, found.definition) if place is not None]
    yield UpsertSection(
        section_key="overview", section_title="Overview", section_description=NOTE if places else EMPTY
    )
    if found.readme is not None:
        title = f"The first lines of {found.readme.path}"
        yield _ref("overview", "readme", found.readme, title, "What the project says about itself")
    key, title, mermaid = "how-it-works", "How a pack works", HOW_IT_WORKS
    if found.top:
        key, title, mermaid = "layout", f"Layout of {name}", _layout(found, name)
    yield UpsertDiagram(section_key="overview", diagram_key=key, title=title, mermaid=mermaid)
    if found.entry is None and found.definition is None:
        return
    yield UpsertSection(section_key="code", section_title="Where to start reading")
    if found.entry is not None:
        yield _ref("code", "entry-point", found.entry, "Entry point", "Execution starts here")
    if found.definition is not None:
        title = f"Definition of {found.definition.name}"
        yield _ref("code", "definition", found.definition, title, "From the file that defines most")


def _ref(section: str, key: str, place: SurveyedLines, title: str, why: str) -> Operation:
    """A ref to a place."""
    return UpsertRef(
        section_key=section,
        ref_key=key,
        path=place.path,
        line_start=place.start,
        line_end=place.end,
        ref_title=printable(title),
        ref_why=why,
    )


def _layout(found: ProjectSurvey, name: str) -> str:
    """The top of the folder as a Mermaid diagram."""
    shown = found.top[:MOST_NODES]
    lines = ["flowchart LR", f'  root["{_label(name)}"]']
    lines += [f'  root --> n{index}["{_label(entry)}"]' for index, entry in enumerate(shown)]
    if len(found.top) > len(shown):
        lines.append(f'  root --> more["and {len(found.top) - len(shown)} more"]')
    return "\n".join(lines)


def _label(text: str) -> str:
    """A text inside Mermaid quotes."""
    return printable(text).replace("&", "#amp;").replace('"', "#quot;").replace("<", "#lt;")


def printable(text: str) -> str:
    """The text as one short printable line, usable as a title."""
    return re.sub(r"\s+", " ", "".join(char if char.isprintable() else " " for char in text)).strip()[:100]
