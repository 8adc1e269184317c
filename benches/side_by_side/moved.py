"""How well refs follow their code over real history: what is shown is right, and what is there is found.

  python benches/side_by_side/moved.py [--repo FOLDER… [--from COMMIT --to COMMIT]] [--refs N]
                                       [--inside] [--lost]

Functions of the older commit, found by the syntax port, are anchored there and looked for in the newer one;
without commits, from a near, a middle and a far one; without `--repo`, of this one. Brute force over all
files says what is right:
- `exact` and `moved` must be right always;
- of `changed`, at most 1 in 100 may show unrelated code: similarity under 0.2 and without the function's
  name, or another function, which the file had beside it before;
- of `changed`, at most 2 in 100 may end on a wrong line: what is shown is a definition as the parser sees it,
  or ends with what became of the last line, by itself or in a diff of both files;
- of those whose text or uniquely named definition is anywhere in the tree, 97 in 100 must be found there.
The thresholds were tuned on the files of one half (by a hash of the path); both halves are printed.

`--inside` anchors the middle third of each function instead of all of it, `--lost` does without kept texts.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from types import MappingProxyType
from zlib import crc32

from attrs import define, field, frozen

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters"), str(ROOT / "tests/support")]

from inmemory import MemorySourceTree  # noqa: E402
from kept_texts import KeptTexts  # noqa: E402

from context_pack.kernel.languages import language_of  # noqa: E402
from context_pack.kernel.paths import RelativePath  # noqa: E402
from context_pack.kernel.syntax import Definition, NotParsed  # noqa: E402
from context_pack.kernel.text import (  # noqa: E402
    LineRange,
    split_lines,
)
from context_pack.packs.following import CALLABLE  # noqa: E402
from context_pack.packs.model import Ref  # noqa: E402
from context_pack.packs.resolving import Resolver  # noqa: E402
from context_pack.packs.states import Resolution, State  # noqa: E402
from context_pack_adapters.syntax import shared_syntax  # noqa: E402

MOST_CHARS = 400_000
UNRELATED, SAME_LINE = 0.2, 0.6
NEAR, MIDDLE, FAR = 0.05, 0.25, 0.6
"""How far back the older commit is, as a share of the first-parent history."""
LEAST_INSIDE = 4
"""Lines from which on a part of a function is anchored."""


SYNTAX = shared_syntax()


class GitHistory:
    """The trees of a repository, bare or not, each file of which is read once."""

    def __init__(self, repository: Path) -> None:
        self.repository = repository
        self.blobs: dict[str, str | None] = {}

    def git(self, *arguments: str, given: str = "") -> bytes:
        """What git says."""
        command = ["git", "-C", str(self.repository), *arguments]
        return subprocess.run(command, input=given.encode(), capture_output=True, check=True).stdout

    def commits(self) -> list[str]:
        """The commits, oldest first."""
        return self.git("rev-list", "--first-parent", "--reverse", "HEAD").decode().split()

    def tree(self, commit: str) -> dict[str, str]:
        """The text files of a commit that have a language."""
        rows = self.git("ls-tree", "-r", "-z", commit).decode("utf-8", "replace").split("\0")
        named = [(row.split("\t", 1)[1], row.split()[2]) for row in rows if row.startswith("100")]
        wanted = {path: blob for path, blob in named if language_of(path)}
        self._load([blob for blob in wanted.values() if blob not in self.blobs])
        return {path: text for path, blob in wanted.items() if (text := self.blobs[blob]) is not None}

    def _load(self, blobs: list[str]) -> None:
        data = self.git("cat-file", "--batch", given="".join(f"{blob}\n" for blob in blobs))
        at = 0
        for blob in blobs:
            head, at = data[at : data.index(b"\n", at)], data.index(b"\n", at) + 1
            if head.endswith(b"missing"):  # the copy of the repository is not whole
                self.blobs[blob] = None
                continue
            size = int(head.split()[2])
            try:
                text = data[at : at + size].decode("utf-8")
            except UnicodeDecodeError:
                text = "\0"
            self.blobs[blob] = None if "\0" in text or len(text) > MOST_CHARS else text
            at += size + 1


def definitions(tree: Mapping[str, str]) -> Iterator[tuple[str, Definition]]:
    """Every definition of a tree, by path."""
    texts = [(path, text) for path, text in tree.items() if SYNTAX.knows(language_of(path))]
    parsed = SYNTAX.parse_all((language_of(path), text) for path, text in texts)
    for (path, _), found in zip(texts, parsed, strict=True):
        known = found.partly if isinstance(found, NotParsed) else found
        yield from ((path, each) for each in (known.definitions if known is not None else ()))


def is_function(each: Definition) -> bool:
    """Whether a definition is a function with a body."""
    return each.kind in CALLABLE and 3 <= each.end - each.start + 1 <= 400


def functions(tree: Mapping[str, str]) -> list[tuple[str, Definition]]:
    """Every function of a tree that has a body, by path."""
    return [(path, each) for path, each in definitions(tree) if is_function(each)]


@frozen
class Truth:
    """What the newer tree holds: the lines and text of each file, and where each name is defined."""

    lines: Mapping[str, list[str]]
    texts: Mapping[str, str]
    names: Mapping[str, list[str]]
    extents: Mapping[tuple[str, int], list[Definition]]
    """Definitions by their file and last line."""
    before: Mapping[str, list[str]]
    """The lines of the older files."""
    siblings: Mapping[str, set[str]]
    """The functions of the older files."""

    _places: dict[str, list[tuple[str, int]]] = field(factory=dict, init=False)
    _diffs: dict[tuple[str, str], list[tuple[str, int, int, int, int]]] = field(factory=dict, init=False)

    @classmethod
    def of(cls, old: Mapping[str, str], tree: Mapping[str, str]) -> Truth:
        """By reading everything."""
        names: dict[str, list[str]] = {}
        extents: dict[tuple[str, int], list[Definition]] = {}
        siblings: dict[str, set[str]] = {}
        for path, each in definitions(tree):
            extents.setdefault((path, each.end), []).append(each)
            if is_function(each):
                names.setdefault(each.qualified, []).append(path)
        for path, each in functions(old):
            siblings.setdefault(path, set()).add(each.qualified)
        lines = {path: split_lines(text) for path, text in tree.items()}
        texts = {path: "\n" + "\n".join(found) + "\n" for path, found in lines.items()}
        before = {path: split_lines(text) for path, text in old.items()}
        return cls(lines, texts, names, extents, before, siblings)

    def sibling(self, ref: Ref, each: Definition, got: Resolution) -> str | None:
        """The other definition that is shown in place of one, if the file had it besides that before."""
        assert got.found is not None
        path, lines = str(got.found.path), got.found.lines
        shown = [
            one for one in self.extents.get((path, lines.end), ()) if lines.start in (one.start, one.line)
        ]
        name = shown[0].qualified if shown else each.qualified
        inside = f"{name}.".startswith(f"{each.qualified}.")
        return name if not inside and name in self.siblings.get(str(ref.path), ()) else None

    def ends_right(self, ref: Ref, got: Resolution) -> bool:
        """Whether what is shown is a definition, or ends where the last line went."""
        assert got.found is not None
        path, lines = str(got.found.path), got.found.lines
        if any(lines.start in (one.start, one.line) for one in self.extents.get((path, lines.end), ())):
            return True
        old, new = self.before[str(ref.path)], self.lines[path]
        last = max((at for at in range(ref.lines.start, ref.lines.end + 1) if old[at - 1].strip()), default=0)
        if SequenceMatcher(None, tail(old[:last]), tail(new[: lines.end])).ratio() >= SAME_LINE:
            return True
        for _, i1, i2, j1, j2 in self._steps(str(ref.path), path):
            if i1 < last <= i2:
                if old[i1:i2] == new[j1:j2]:
                    return lines.end == j1 + last - i1
                return j1 <= lines.end <= j2
        return False

    def _steps(self, old: str, new: str) -> list[tuple[str, int, int, int, int]]:
        if (old, new) not in self._diffs:
            matcher = SequenceMatcher(None, self.before[old], self.lines[new], autojunk=False)
            self._diffs[old, new] = list(matcher.get_opcodes())
        return self._diffs[old, new]

    def places(self, code: Sequence[str]) -> list[tuple[str, int]]:
        """Where these lines stand: path and first line."""
        text = "\n" + "\n".join(code) + "\n"
        if text not in self._places:
            self._places[text] = [
                (path, at + 1)
                for path, lines in self.lines.items()
                if text in self.texts[path]
                for at in range(len(lines) - len(code) + 1)
                if lines[at : at + len(code)] == code
            ]
        return self._places[text]

    def unique(self, name: str, home: str) -> str | None:
        """The file that defines a name: its own if it does, else the only other one."""
        paths = self.names.get(name, [])
        return home if home in paths else paths[0] if len(paths) == 1 else None


def tail(lines: Sequence[str]) -> str:
    """The last line with letters, and the braces that follow it."""
    end = max((at for at, line in enumerate(lines) if sum(map(str.isalnum, line)) >= 3), default=0)
    return "\n".join(line.strip() for line in lines[end:])


@define
class Half:
    """What was counted over one half of the files."""

    states: Counter[State] = field(factory=Counter)
    wrong: list[str] = field(factory=list)
    unrelated: list[str] = field(factory=list)
    there: int = 0
    missed: list[str] = field(factory=list)
    ends: list[str] = field(factory=list)

    def count(self, ref: Ref, each: Definition, code: Sequence[str], got: Resolution, truth: Truth) -> None:
        """Judge one ref."""
        self.states[got.state] += 1
        said = f"{ref.path}:{ref.lines} {each.qualified}: {got.state} {got.found} {got.reason or ''}"
        places, place = truth.places(code), got.found
        shown = None if place is None else (str(place.path), place.lines.start)
        if got.state in (State.EXACT, State.MOVED) and (
            shown not in places or got.excerpt != "\n".join(code)
        ):
            self.wrong.append(said)
        if got.state is State.CHANGED and got.excerpt is not None:
            ratio = SequenceMatcher(None, "\n".join(code), got.excerpt, autojunk=False).quick_ratio()
            if ratio >= UNRELATED:
                ratio = SequenceMatcher(None, "\n".join(code), got.excerpt, autojunk=False).ratio()
            sibling = truth.sibling(ref, each, got)
            if sibling or (ratio < UNRELATED and each.name not in got.excerpt):
                self.unrelated.append(f"{said} = {sibling}")
            if not truth.ends_right(ref, got):
                self.ends.append(said)
        defined = truth.unique(each.qualified, str(ref.path))
        if places or defined is not None:
            self.there += 1
            listed = got.state is State.AMBIGUOUS and len(places) > 1
            if not listed and (shown is None or (shown not in places and shown[0] != defined)):
                self.missed.append(said)

    def told(self, title: str) -> None:
        """Print what was counted."""
        sure = self.states[State.EXACT] + self.states[State.MOVED]
        changed = self.states[State.CHANGED]
        states = ", ".join(f"{count} {state.value}" for state, count in self.states.most_common())
        print(f"  {title}: {sum(self.states.values())} refs ({states})")
        print(
            f"    exact and moved right {share(sure - len(self.wrong), sure)} (100), changed but unrelated"
            f" {share(len(self.unrelated), changed)} (at most 1), wrong ends {share(len(self.ends), changed)}"
            f" (at most 2), found of those that are there"
            f" {share(self.there - len(self.missed), self.there)} (at least 97)"
        )
        for mistake in [*self.wrong, *self.unrelated[:3], *self.missed[:3], *self.ends[:3]]:
            print(f"      {mistake}")


def share(part: int, whole: int) -> str:
    """A part of a whole in percent."""
    return f"{part} of {whole} = {part / whole:.2%}" if whole else "none"


Halves = Mapping[str, Half]


def halves() -> Halves:
    """Nothing counted yet."""
    return {"tuned on": Half(), "reported": Half()}


def compare(
    old: Mapping[str, str], new: Mapping[str, str], options: argparse.Namespace, counted: Halves
) -> None:
    """Anchor functions of the old tree and look for them in the new one."""
    anchored, texts = anchors(old, options)
    truth = Truth.of(old, new)
    after = resolver(new, texts if not options.lost else {}, [ref for ref, _ in anchored])
    for ref, each in anchored:
        half = counted["tuned on" if crc32(str(ref.path).encode()) % 2 else "reported"]
        code = split_lines(old[str(ref.path)])[ref.lines.start - 1 : ref.lines.end]
        half.count(ref, each, code, after(ref), truth)


def anchors(
    tree: Mapping[str, str], options: argparse.Namespace
) -> tuple[list[tuple[Ref, Definition]], Mapping[str, str]]:
    """Some functions of a tree as refs, and the texts that are kept of them."""
    before = resolver(tree)
    found = [
        (path, each, lines)
        for path, each in functions(tree)
        if (lines := middle(each) if options.inside else LineRange(each.start, each.end)) is not None
    ]
    some = enumerate(random.Random(1).sample(found, min(options.refs, len(found))))
    refs = [
        (before.anchored(Ref(f"ref-{at}", RelativePath(path), lines)), each)
        for at, (path, each, lines) in some
    ]
    return refs, before.anchored_texts


def resolver(
    tree: Mapping[str, str], texts: Mapping[str, str] = MappingProxyType({}), refs: Sequence[Ref] = ()
) -> Resolver:
    """A resolver over a tree with these kept texts."""
    kept = KeptTexts(dict(texts))
    return Resolver(MemorySourceTree(tree), 2 * MOST_CHARS, syntax=SYNTAX, expected=refs, excerpts=kept)


def middle(each: Definition) -> LineRange | None:
    """The middle third of a function, if that is some lines."""
    third = (each.end - each.start + 1) // 3
    return LineRange(each.start + third, each.start + 2 * third - 1) if third >= LEAST_INSIDE else None


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repo", type=Path, nargs="+", default=[ROOT])
    parser.add_argument("--from", dest="old")
    parser.add_argument("--to", dest="new", default="HEAD")
    parser.add_argument("--refs", type=int, default=300)
    parser.add_argument("--inside", action="store_true")
    parser.add_argument("--lost", action="store_true")
    parser.add_argument("--quick", action="store_true", help="few refs of a near commit, for CI")
    options = parser.parse_args()
    ages: Sequence[float] = (NEAR, MIDDLE, FAR)
    if options.quick:
        options.refs, ages = 40, (NEAR,)
    for repo in options.repo:
        history = GitHistory(repo)
        commits = history.commits()
        olds = [options.old] if options.old else [commits[-int(len(commits) * age)] for age in ages]
        for old in olds:
            counted, start = halves(), time.process_time()
            compare(history.tree(old), history.tree(options.new), options, counted)
            took = time.process_time() - start
            print(f"{repo} {old[:10]} to {options.new[:10]}: {took:.1f} s of processor time", flush=True)
            for title, half in counted.items():
                half.told(title)


if __name__ == "__main__":
    main()
