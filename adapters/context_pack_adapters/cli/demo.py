"""The command `demo`: a pack over this very project, and statements that follow an edit before one's eyes.

The places are picked by what imports what: the entry point is the file that reaches most of the others, the
definition is of the file that most of the others import. Tests, examples and documentation are never it. The
pack and the edit are made in a copy of these few files in a temporary folder; the project is only read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from context_pack.code.imports import TreeFiles, imports_of, knows_imports
from context_pack.code.roles import Role, role_of
from context_pack.kernel.errors import Failure
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import SourceFile
from context_pack.kernel.syntax import DefinitionKind, Parsed
from context_pack.kernel.text import counted, split_lines
from context_pack.packs.model import Pack
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command
from context_pack_adapters.library import open_workspace
from context_pack_adapters.library.packs import Packs

MOST_FILES, MOST_BYTES = 250, 200_000
LONGEST, LONGEST_README = 40, 16
PACK = """\
# A first look at {name}

A context pack carries what one agent learned about a codebase to the next: statements that name their code, \
and diagrams. The code is shown as it is now; if it moved, the pack follows, and if it changed, it says what \
to read again.

```mermaid
flowchart LR
  agent["an agent that knows"] -->|input| pack[("context pack")]
  code["source files"] -->|live lines| pack
  pack -->|output| reader["the next agent, or you"]
```

## Where to start reading

{places}
"""
EMPTY = "There is no source file here yet. Run the demo in a project to see its code in the pack."
ASIDE = re.compile(
    r"(^|/)(tests?|spec|benches|bench|examples?|_examples|docs?|fixtures?|samples?|scripts)/", re.I
)
_MAIN = re.compile(r"main|run|serve|start|cli|app", re.I)


class SurveyedPlace(NamedTuple):
    """Lines of a file, and what they are."""

    path: str
    start: int
    end: int
    what: str


@command("demo", walks=True)
def demo(app: App) -> None:
    """Build a small pack over this project, and show how it follows an edit.

    The pack has the readme, the entry point and the definition that most files rely on. It is made, and the
    edit too, in a copy of these files in a temporary folder, which is gone afterwards.

    Examples:
      context-pack demo
      context-pack demo --source-root ~/src/shop
    """
    places = survey(app)
    name = re.sub(r"[^\w.-]+", " ", os.path.basename(app.settings.source_root)).strip() or "this folder"
    statements = [f"- `{place.path}:{place.start}-{place.end}`: {place.what}." for place in places]
    text = PACK.format(name=name, places="\n".join(statements) or EMPTY)
    with TemporaryDirectory(prefix="context-pack-demo-") as folder:
        for place in places:
            target = Path(folder, place.path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_text(app, place.path), "utf-8")
        with open_workspace(folder, cache=Path(folder, ".cache")) as workspace:
            packs = workspace.packs
            pack = packs.set_status(packs.write(text, name="first-look", ttl_minutes=60).pack, "finalized")
            output.markdown(packs.document(pack))
            if places:
                _edit(packs, pack, places[-1], Path(folder, places[-1].path))
    output.note("\nNothing was left behind. Next: context-pack packs draft, or context-pack --help")


def _edit(packs: Packs, pack: Pack, place: SurveyedPlace, file: Path) -> None:
    """Move the code of a place, then change it, and print what the pack says each time."""
    lines = file.read_text("utf-8").splitlines(keepends=True)
    output.line(("bold", f"\n— In a copy, three lines are written at the top of {place.path}: it follows"))
    file.write_text("\n\n\n" + "".join(lines), "utf-8")
    for checked in packs.verify(pack).refs:
        ref, now = checked.ref, checked.resolution.found
        if ref.path.value == place.path and now is not None:
            way = f"  {ref.path}:{ref.lines} → {now.path}:{now.lines}"
            output.line("  ", ("blue", checked.resolution.state.value), way)
    middle = [number for number in range(place.start, place.end) if any(map(str.isalpha, lines[number]))]
    if middle:
        gone = middle[len(middle) // 2]
        then = f"\n— then {lines[gone].strip()!r} is taken out of it: it says what to read again"
        output.line(("bold", then))
        file.write_text("\n\n\n" + "".join(lines[:gone] + lines[gone + 1 :]), "utf-8")
        output.markdown(packs.document(pack, mode="diff"))


def survey(app: App) -> list[SurveyedPlace]:
    """What a newcomer would read first, the same every time; what may not be read is passed over."""
    names = app.ports.source.names().paths
    paths = sorted(
        (path for group in names.values() for path in group if path.isprintable()),
        key=lambda path: (path.count("/"), path),
    )
    code = [path for path in paths if _is_code(path)][:MOST_FILES]
    texts = {path: text for path in code if (text := _text(app, path))}
    read = app.ports.syntax.parse_all((language_of(path), text) for path, text in texts.items())
    parsed = {path: one for path, one in zip(texts, read, strict=True) if isinstance(one, Parsed)}
    tree = TreeFiles(names, lambda path: _text(app, path) or None)
    imports = {
        path: [each for each in imports_of(one, path, language_of(path), tree).paths if each in texts]
        for path, one in parsed.items()
    }
    places = []
    readme = next((path for path in paths if "/" not in path and path.lower().startswith("readme")), None)
    if readme is not None and (end := _opening(_text(app, readme), LONGEST_README)):
        places.append(SurveyedPlace(readme, 1, end, "what the project says about itself"))
    entry = _entry(imports)
    if entry is not None:
        what = "the entry point, which reaches most of the project"
        functions = [each for each in parsed[entry].definitions if each.kind is DefinitionKind.FUNCTION]
        main = next((each for each in functions if not each.depth and _MAIN.match(each.name)), None)
        start, end = (1, _opening(texts[entry], LONGEST)) if main is None else (main.start, main.end)
        places.append(SurveyedPlace(entry, start, min(end, start + LONGEST - 1), what))
    importers = {path: sum(path in each for each in imports.values()) for path in parsed}
    for path in sorted((path for path in parsed if path != entry), key=lambda path: -importers[path]):
        fitting = [
            each
            for each in parsed[path].definitions
            if not each.depth and each.kind is not DefinitionKind.CONSTANT and each.end - each.start < LONGEST
        ]
        if fitting:
            longest = max(fitting, key=lambda each: each.end - each.start)
            others = counted(importers[path], "other")
            what = f"definition of {longest.qualified}, in a file that is imported by {others}"
            return [*places, SurveyedPlace(path, longest.start, longest.end, what)]
    return places


def _is_code(path: str) -> bool:
    hidden = any(part.startswith(".") for part in path.split("/"))
    is_aside = _role(path) is Role.TEST or ASIDE.search(path)
    return not hidden and not is_aside and knows_imports(language_of(path))


def _role(path: str) -> Role:
    return role_of(RelativePath.lenient(path), language_of(path))


def _entry(imports: Mapping[str, Sequence[str]]) -> str | None:
    """The file that reaches most others, of those that are named like an entry or that nobody imports."""
    imported = {each for paths in imports.values() for each in paths}

    def rank(path: str) -> tuple[int, bool, int, str]:
        reached, todo = {path}, [path]
        while todo:
            new = set(imports.get(todo.pop(), ())) - reached
            reached |= new
            todo += new
        return -len(reached), _role(path) is not Role.ENTRY, path.count("/"), path

    candidates = [path for path in imports if path not in imported or _role(path) is Role.ENTRY]
    return min(candidates, key=rank, default=None)


def _opening(text: str, most: int) -> int:
    """The last of the first lines of a file that is not blank."""
    return max((number for number, line in enumerate(split_lines(text)[:most], 1) if line.strip()), default=0)


def _text(app: App, path: str) -> str:
    """The text of a file that can be shown, or none."""
    try:
        file = app.ports.source.read(RelativePath.parse(path), MOST_BYTES)
    except Failure:  # a name that no ref can carry
        return ""
    return file.text if isinstance(file, SourceFile) else ""
