"""How well refs follow their code over real history: what is shown is right, and what is there is found.

  python benches/side_by_side/moved.py [--repo FOLDER… [--from COMMIT --to COMMIT]] [--refs N] [--inside]
                                       [--alike SHARE…]

Functions of the older commit, found by the syntax port, are anchored there and looked for in the newer one;
with `--repo` alone, from a near, a middle and a far commit. Without it, the stored history of the tests is
read. Brute force over all files says what is right: `exact` and `moved` must be right always; of `changed`,
at most 1 in 100 may show unrelated code (similarity under 0.2, and the function's name not in it); of those
whose text or uniquely named definition is anywhere in the tree, at least 97 in 100 must be found there. The
thresholds were tuned on the files of one half (by a hash of the path); both halves are printed.

`--inside` anchors the middle third of each function instead of all of it. `--alike` tries other values of
`ladder.LEAST_ALIKE` (with `--inside`, of `LEAST_ALIKE_INSIDE`) and prints one table over all repositories.
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
from itertools import combinations
from pathlib import Path
from zlib import crc32

from attrs import define, field, frozen

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters"), str(ROOT / "tests/support")]

from pack_history import Tally, judge, replayed  # noqa: E402

from context_pack.kernel.languages import language_of  # noqa: E402
from context_pack.kernel.lines import LineRange  # noqa: E402
from context_pack.kernel.paths import RelativePath  # noqa: E402
from context_pack.kernel.syntax import Definition, NotParsed  # noqa: E402
from context_pack.kernel.text import split_lines  # noqa: E402
from context_pack.packs.domain import ladder  # noqa: E402
from context_pack.packs.domain.model import Ref  # noqa: E402
from context_pack.packs.domain.states import Resolution, State  # noqa: E402
from context_pack.packs.usecases.resolving import Resolver  # noqa: E402
from context_pack_adapters.inmemory import MemorySourceTree  # noqa: E402
from context_pack_adapters.syntax import shared_syntax  # noqa: E402

STORED = ROOT / "tests/fixtures/history/service.json"
MOST_CHARS = 400_000
UNRELATED = 0.2
NEAR, MIDDLE, FAR = 0.05, 0.25, 0.6
"""How far back the older commit is, as a share of the first-parent history."""
LEAST_INSIDE = 4
"""Lines from which on a part of a function is anchored."""
TRIED = {False: "LEAST_ALIKE", True: "LEAST_ALIKE_INSIDE"}
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
            size = int(head.split()[2])
            try:
                text = data[at : at + size].decode("utf-8")
            except UnicodeDecodeError:
                text = "\0"
            self.blobs[blob] = None if "\0" in text or len(text) > MOST_CHARS else text
            at += size + 1


def functions(tree: Mapping[str, str]) -> Iterator[tuple[str, Definition]]:
    """Every function of a tree that has a body, by path."""
    texts = [(path, text) for path, text in tree.items() if SYNTAX.knows(language_of(path))]
    parsed = SYNTAX.parse_all((language_of(path), text) for path, text in texts)
    for (path, _), found in zip(texts, parsed, strict=True):
        known = found.partly if isinstance(found, NotParsed) else found
        for each in known.definitions if known is not None else ():
            if each.kind in ladder.CALLABLE and 3 <= each.end - each.start + 1 <= 400:
                yield path, each


@frozen
class Truth:
    """What the newer tree holds: the lines and text of each file, and where each name is defined."""

    lines: Mapping[str, list[str]]
    texts: Mapping[str, str]
    names: Mapping[str, list[str]]

    _places: dict[str, list[tuple[str, int]]] = field(factory=dict, init=False)

    @classmethod
    def of(cls, tree: Mapping[str, str]) -> Truth:
        """By reading everything."""
        names: dict[str, list[str]] = {}
        for path, each in functions(tree):
            names.setdefault(each.qualified, []).append(path)
        lines = {path: split_lines(text) for path, text in tree.items()}
        return cls(lines, {path: "\n" + "\n".join(found) + "\n" for path, found in lines.items()}, names)

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


@define
class Half:
    """What was counted over one half of the files."""

    states: Counter[State] = field(factory=Counter)
    wrong: list[str] = field(factory=list)
    unrelated: list[str] = field(factory=list)
    there: int = 0
    missed: list[str] = field(factory=list)

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
            if ratio < UNRELATED and each.name not in got.excerpt:
                self.unrelated.append(said)
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
            f" {share(len(self.unrelated), changed)} (at most 1), found of those that are there"
            f" {share(self.there - len(self.missed), self.there)} (at least 97)"
        )
        for mistake in [*self.wrong, *self.unrelated[:3], *self.missed[:3]]:
            print(f"      {mistake}")


def share(part: int, whole: int) -> str:
    """A part of a whole in percent."""
    return f"{part} of {whole} = {part / whole:.2%}" if whole else "none"


Halves = Mapping[str, Half]


def halves() -> Halves:
    """Nothing counted yet."""
    return {"tuned on": Half(), "reported": Half()}


def compare(
    old: Mapping[str, str], new: Mapping[str, str], refs: int, inside: bool, counted: Mapping[float, Halves]
) -> None:
    """Anchor functions of the old tree and look for them in the new one, with each threshold."""
    before = Resolver(MemorySourceTree(old), 2 * MOST_CHARS, syntax=SYNTAX)
    found = [
        (path, each, lines)
        for path, each in functions(old)
        if (lines := middle(each) if inside else LineRange(each.start, each.end)) is not None
    ]
    anchored = [
        (before.anchored(Ref(f"ref-{index}", RelativePath(path), lines)), each)
        for index, (path, each, lines) in enumerate(random.Random(1).sample(found, min(refs, len(found))))
    ]
    truth = Truth.of(new)
    for threshold, told in counted.items():
        setattr(ladder, TRIED[inside], threshold)
        after = Resolver(
            MemorySourceTree(new), 2 * MOST_CHARS, syntax=SYNTAX, expected=[ref for ref, _ in anchored]
        )
        for ref, each in anchored:
            half = told["tuned on" if crc32(str(ref.path).encode()) % 2 else "reported"]
            code = split_lines(old[str(ref.path)])[ref.lines.start - 1 : ref.lines.end]
            half.count(ref, each, code, after(ref), truth)


def middle(each: Definition) -> LineRange | None:
    """The middle third of a function, if that is some lines."""
    third = (each.end - each.start + 1) // 3
    return LineRange(each.start + third, each.start + 2 * third - 1) if third >= LEAST_INSIDE else None


def stored(pairs: int) -> None:
    """Measure any lines over so many pairs of versions of the stored history."""
    rng, trees, tally = random.Random(1), list(replayed(STORED)), Tally()
    for old, new in rng.sample(list(combinations(range(len(trees)), 2)), pairs):
        judge(trees[old], trees[new], rng, 5, tally)
    states = ", ".join(f"{count} {state.value}" for state, count in tally.states.most_common())
    print(f"stored history: {sum(tally.states.values())} refs ({states})")
    print(f"  precision of moved {tally.precision:.2%}, other mistakes {len(tally.wrong)} (0)")
    print(f"  recall {tally.recall:.2%} of {tally.once} refs whose code stands once elsewhere (at least 95)")


def table(counted: Mapping[float, Halves]) -> None:
    """Print what was counted with each threshold over all repositories."""
    print("threshold  half      exact, moved right   changed but unrelated   found of those there   stale")
    for threshold, told in counted.items():
        for title, half in told.items():
            sure = half.states[State.EXACT] + half.states[State.MOVED]
            print(
                f"{threshold:9} {title:9} {share(sure - len(half.wrong), sure)}, "
                f"{share(len(half.unrelated), half.states[State.CHANGED])}, "
                f"{share(half.there - len(half.missed), half.there)}, {half.states[State.STALE]}"
            )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repo", type=Path, nargs="+")
    parser.add_argument("--from", dest="old")
    parser.add_argument("--to", dest="new", default="HEAD")
    parser.add_argument("--refs", type=int, default=300)
    parser.add_argument("--inside", action="store_true")
    parser.add_argument("--alike", type=float, nargs="+")
    parser.add_argument("--quick", action="store_true", help="few pairs of the stored history, for CI")
    options = parser.parse_args()
    if options.repo is None:
        stored(40 if options.quick else 200)
        return
    total = {threshold: halves() for threshold in options.alike or ()}
    for repo in options.repo:
        history = GitHistory(repo)
        commits = history.commits()
        olds = (
            [options.old]
            if options.old
            else [commits[-int(len(commits) * far)] for far in (NEAR, MIDDLE, FAR)]
        )
        for old in olds:
            counted, start = total or {getattr(ladder, TRIED[options.inside]): halves()}, time.process_time()
            compare(history.tree(old), history.tree(options.new), options.refs, options.inside, counted)
            took = time.process_time() - start
            print(f"{repo} {old[:10]} to {options.new[:10]}: {took:.1f} s of processor time", flush=True)
            if not total:
                for title, half in next(iter(counted.values())).items():
                    half.told(title)
    if total:
        table(total)


if __name__ == "__main__":
    main()
