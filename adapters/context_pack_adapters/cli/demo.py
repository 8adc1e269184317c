"""The command `demo`: a pack over this very project, and a ref that follows an edit before one's eyes.

The places are picked by what imports what: the entry point is the file that reaches most of the others, the
definition is of the file that most of the others import. Tests, examples and documentation are never it. The
edit is made in a copy of these few files in a temporary folder; the project is only read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click

from context_pack.code.imports.languages import imports_of, knows_imports
from context_pack.code.imports.tree import TreeFiles
from context_pack.code.roles import Role, role_of
from context_pack.kernel.errors import Failure
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import SourceFile
from context_pack.kernel.syntax import Definition, DefinitionKind, Parsed
from context_pack.kernel.text import split_lines
from context_pack.packs.commands import Operation, UpsertDiagram, UpsertRef, UpsertSection
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.cli.pack_calls import ask
from context_pack_adapters.cli.words import way_of
from context_pack_adapters.library.packs import Packs

TTL_MINUTES = 24 * 60
MOST_FILES, MOST_BYTES = 250, 200_000
LONGEST, LONGEST_README, MOST_ARROWS = 40, 16, 12
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
ASIDE = re.compile(
    r"(^|/)(tests?|spec|benches|bench|examples?|_examples|docs?|fixtures?|samples?|scripts)/", re.I
)
_MAIN = re.compile(r"main|run|serve|start|cli|app", re.I)


class SurveyedPlace(NamedTuple):
    """Lines of a file, and what they are."""

    path: str
    start: int
    end: int
    title: str


class ProjectSurvey(NamedTuple):
    """What a newcomer would read first."""

    readme: SurveyedPlace | None
    entry: SurveyedPlace | None
    definition: SurveyedPlace | None
    imports: Mapping[str, Sequence[str]]


@command("demo", walks=True)
@flag("--keep", "Keep the pack in the storage root for a day.")
def demo(app: App, keep: bool) -> None:
    """Build a small pack over this project, and show how a ref follows an edit.

    The pack has the readme, the entry point and the definition that most files rely on. The edit is made in a
    copy of these files in a temporary folder, which is gone afterwards; --keep puts the pack where packs are.

    Examples:
      context-pack demo
      context-pack demo --source-root ~/src/shop
      context-pack demo --keep                        and then: context-pack packs list
    """
    if not os.path.isdir(app.settings.source_root):
        raise click.UsageError(f"{app.settings.source_root} is not a folder; --source-root says where it is")
    survey = look_at(app)
    name = _printable(os.path.basename(app.settings.source_root)) or "this folder"
    if keep:
        pack_id, document = _build(app.workspace.packs, survey, name)
        output.markdown(document)
        output.note(f"\nKept as {pack_id}: context-pack packs show {pack_id}")
        return
    with TemporaryDirectory(prefix="context-pack-demo-") as folder:
        copied = App()
        copied.settings = app.settings._replace(
            source_root=folder, root=os.path.join(folder, ".packs"), cache=os.path.join(folder, ".cache")
        )
        for place in filter(None, survey[:3]):
            target = Path(folder, place.path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_text(app, place.path), "utf-8")
        pack_id, document = _build(copied.workspace.packs, survey, name)
        output.markdown(document)
        edited = survey.definition or survey.entry
        if edited is not None:
            _edit(copied, pack_id, edited, Path(folder, edited.path))
        copied.close()
    output.note("\nNothing was left behind; --keep stores the pack. Next: context-pack --help")


def _edit(app: App, pack_id: str, place: SurveyedPlace, file: Path) -> None:
    """Move the code of a place, then change it, and print what the pack says each time."""
    lines = file.read_text("utf-8").splitlines(keepends=True)
    output.line(("bold", f"\n— In a copy, three lines are written at the top of {place.path}: it follows"))
    file.write_text("\n\n\n" + "".join(lines), "utf-8")
    _print_state(app, pack_id, place)
    middle = [number for number in range(place.start, place.end) if any(map(str.isalpha, lines[number]))]
    if not middle:
        return
    gone = middle[len(middle) // 2]
    output.line(("bold", f"\n— then {lines[gone].strip()!r} is taken out of it: it says what to read again"))
    file.write_text("\n\n\n" + "".join(lines[:gone] + lines[gone + 1 :]), "utf-8")
    _print_state(app, pack_id, place)


def _print_state(app: App, pack_id: str, place: SurveyedPlace) -> None:
    for ref in ask(app, "verify", id=pack_id)["refs"]:
        if ref["path"] == place.path:
            reason = f" ({ref['reason']})" if ref["reason"] else ""
            state = ("blue" if ref["state"] == "moved" else "yellow", ref["state"])
            output.line("  ", state, f"  {ref['section']}/{ref['ref']}  {way_of(ref)}{reason}")


def look_at(app: App) -> ProjectSurvey:
    """The places of a project, the same every time; what may not be read is passed over."""
    paths = sorted(
        (path for paths in app.ports.source.names().paths.values() for path in paths if path.isprintable()),
        key=lambda path: (path.count("/"), path),
    )
    readme = next((path for path in paths if "/" not in path and path.lower().startswith("readme")), None)
    code = [path for path in paths if _is_code(path)][:MOST_FILES]
    texts = {path: text for path in code if (text := _text(app, path))}
    parsed: dict[str, Parsed] = {}
    read = app.ports.syntax.parse_all((language_of(path), text) for path, text in texts.items())
    for path, outcome in zip(texts, read, strict=True):
        if isinstance(outcome, Parsed):
            parsed[path] = outcome
    tree = TreeFiles(
        app.ports.source.names().paths, lambda path: _text(app, path) or None, set(paths).__contains__
    )
    imports = {
        path: [each for each in imports_of(one, path, language_of(path), tree).paths if each in texts]
        for path, one in parsed.items()
    }
    entry = _entry(imports)
    importers = {path: sum(path in each for each in imports.values()) for path in parsed}
    central = sorted((path for path in parsed if path != entry), key=lambda path: -importers[path])
    return ProjectSurvey(
        readme=None if readme is None else _opening(readme, _text(app, readme), LONGEST_README),
        entry=None if entry is None else _start_of(entry, texts[entry], parsed[entry]),
        definition=next(filter(None, (_longest(path, parsed[path]) for path in central)), None),
        imports=imports,
    )


def _is_code(path: str) -> bool:
    hidden = any(part.startswith(".") for part in path.split("/"))
    role = role_of(RelativePath.lenient(path), language_of(path))
    return (
        not hidden and role is not Role.TEST and not ASIDE.search(path) and knows_imports(language_of(path))
    )


def _entry(imports: Mapping[str, Sequence[str]]) -> str | None:
    """The file that reaches most others, of those that are named like an entry or that nobody imports."""
    imported = {each for paths in imports.values() for each in paths}
    candidates = [
        path
        for path in imports
        if path not in imported or role_of(RelativePath.lenient(path), language_of(path)) is Role.ENTRY
    ]

    def rank(path: str) -> tuple[int, bool, int, str]:
        reached, todo = {path}, [path]
        while todo:
            new = set(imports.get(todo.pop(), ())) - reached
            reached |= new
            todo += new
        named = role_of(RelativePath.lenient(path), language_of(path)) is Role.ENTRY
        return -len(reached), not named, path.count("/"), path

    return min(candidates, key=rank, default=None)


def _start_of(path: str, text: str, parsed: Parsed) -> SurveyedPlace:
    """The function of an entry point that starts it, else the first lines of the file."""
    functions = [
        each for each in parsed.definitions if not each.depth and each.kind is DefinitionKind.FUNCTION
    ]
    main = next((each for each in functions if _MAIN.match(each.name)), None)
    if main is None:
        opening = _opening(path, text, LONGEST)
        return opening if opening is not None else SurveyedPlace(path, 1, 1, path)
    return _place(path, main)


def _longest(path: str, parsed: Parsed) -> SurveyedPlace | None:
    """The longest definition of a file that fits."""
    fitting = [
        each
        for each in parsed.definitions
        if not each.depth and each.kind is not DefinitionKind.CONSTANT and each.end - each.start < LONGEST
    ]
    return _place(path, max(fitting, key=lambda each: each.end - each.start)) if fitting else None


def _place(path: str, definition: Definition) -> SurveyedPlace:
    end = min(definition.end, definition.start + LONGEST - 1)
    return SurveyedPlace(path, definition.start, end, definition.qualified)


def _opening(path: str, text: str, most: int) -> SurveyedPlace | None:
    """The first lines of a file, without blank ones at their end."""
    lines = split_lines(text)[:most]
    while lines and not lines[-1].strip():
        lines.pop()
    return SurveyedPlace(path, 1, len(lines), path) if lines else None


def _text(app: App, path: str) -> str:
    """The text of a file that can be shown, or none."""
    try:
        file = app.ports.source.read(RelativePath.parse(path), MOST_BYTES)
    except Failure:  # a name that no ref can carry
        return ""
    return file.text if isinstance(file, SourceFile) else ""


def _build(packs: Packs, survey: ProjectSurvey, name: str) -> tuple[str, str]:
    """The id of the finished pack, and its rendering."""
    pack = packs.create(
        ttl_minutes=TTL_MINUTES,
        title=f"A first look at {name}",
        brief="Made by context-pack demo: where a newcomer would start reading",
        tags=("demo",),
    )
    pack = packs.set_status(packs.apply(pack, *_operations(survey)), "finalized")
    return pack.id, packs.document(pack)


def _operations(survey: ProjectSurvey) -> Iterator[Operation]:
    """The operations that build the pack."""
    readme, entry, definition, imports = survey
    some = readme or entry or definition
    yield UpsertSection(
        section_key="overview", section_title="Overview", section_description=NOTE if some else EMPTY
    )
    if readme is not None:
        what = f"The first lines of {readme.path}"
        yield _ref("overview", "readme", readme, what, "What the project says about itself")
    key, title, mermaid = "how-it-works", "How a pack works", HOW_IT_WORKS
    if entry is not None and imports.get(entry.path):
        key, title, mermaid = "imports", f"What {entry.path} imports", _arrows(entry.path, imports)
    yield UpsertDiagram(section_key="overview", diagram_key=key, title=_printable(title), mermaid=mermaid)
    if entry is None and definition is None:
        return
    yield UpsertSection(section_key="code", section_title="Where to start reading")
    if entry is not None:
        why = "It reaches more of the project than any other file"
        yield _ref("code", "entry-point", entry, "Entry point", why)
    if definition is not None:
        count = sum(definition.path in paths for paths in imports.values())
        why = f"{count} files import {definition.path}" if count else "From the file that defines most"
        yield _ref("code", "definition", definition, f"Definition of {definition.title}", why)


def _ref(section: str, key: str, place: SurveyedPlace, title: str, why: str) -> Operation:
    return UpsertRef(
        section_key=section,
        ref_key=key,
        path=place.path,
        line_start=place.start,
        line_end=place.end,
        ref_title=_printable(title),
        ref_why=why,
    )


def _arrows(entry: str, imports: Mapping[str, Sequence[str]]) -> str:
    """What the entry point imports, and what that imports, as a Mermaid diagram."""
    arrows = [(entry, each) for each in imports[entry]]
    arrows += [(first, each) for first in imports[entry] for each in imports.get(first, ())]
    names = list(dict.fromkeys(path for arrow in arrows[:MOST_ARROWS] for path in arrow))
    lines = ["flowchart LR", *(f'  n{names.index(path)}["{_label(path)}"]' for path in names)]
    arrows = list(dict.fromkeys(arrows[:MOST_ARROWS]))
    return "\n".join([*lines, *(f"  n{names.index(a)} --> n{names.index(b)}" for a, b in arrows)])


def _label(text: str) -> str:
    """A text inside Mermaid quotes."""
    return _printable(text).replace("&", "#amp;").replace('"', "#quot;").replace("<", "#lt;")


def _printable(text: str) -> str:
    """The text as one short printable line, usable as a title."""
    return re.sub(r"\s+", " ", "".join(char if char.isprintable() else " " for char in text)).strip()[:100]
