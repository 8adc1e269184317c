"""What taking over costs, with a pack and with the same text as a plain file: a trial without any model.

  python benches/quality/takeover.py --repo FOLDER --from REVISION --to REVISION --text HANDOVER.md
  python benches/quality/takeover.py --checkouts FOLDER     # the three hand-overs beside this script

The text is written as a pack over the tree of the older commit; then the tree becomes the newer one. Printed
are the characters that a writer sends and reads back, the bytes that a reader reads until all places are
known and until it is known what must be read again, and how well the flags judge. The plain reader reads
every file that the text names (places), and the text with `git diff` of these files (what changed).

What is true is computed without the pack: a definition is looked for in the newer tree by its path, which
git follows, and its qualified name, by its whole text, or by its name where the lines are alike. Whether
only comments, white space or type hints changed is asked of Pygments' tokens and, for Python, of `ast`;
renamed locals count as a change here, so that claims about them count as missed, never as rightly passed.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

import pygments.lexers
from pygments.token import Comment, String, Whitespace

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]

from context_pack import open_workspace  # noqa: E402
from context_pack.kernel.languages import language_of  # noqa: E402
from context_pack.kernel.syntax import Definition, NotParsed  # noqa: E402
from context_pack_adapters.syntax import shared_syntax  # noqa: E402

HANDOVERS = Path(__file__).with_name("handovers")
TRIALS = (
    ("minijinja", "2.0.0", "2.24.0", "minijinja-2.0.0.md"),
    ("click", "8.1.0", "8.2.0", "click-8.1.0.md"),
    ("chi", "v5.0.2", "v5.1.0", "chi-5.0.2.md"),
)
"""Repository, the two revisions, two to three years apart, and the text about the older one."""
LIFE_MINUTES = 60
ALL = 2_000_000
ALIKE = 0.4
"""How much of its lines a definition of the same name elsewhere must share to be the same one."""
PLACE = re.compile(r"`([^`\s]+)`|(?<![\w/])([\w./-]+\.\w+(?:#[\w:.]+|:\d+(?:-\d+)?))")


class Place(NamedTuple):
    """A place as the pack has it at the older commit."""

    spelling: str
    path: str
    start: int
    end: int


class Tree(NamedTuple):
    """The texts of a revision by path."""

    files: Mapping[str, str]

    def lines(self, path: str, start: int, end: int) -> str:
        """Some lines of a file, without white space around them."""
        return "\n".join(self.files[path].split("\n")[start - 1 : end])

    def definitions(self, path: str) -> Sequence[Definition]:
        """The definitions of a file."""
        language = language_of(path)
        if language is None or path not in self.files:
            return ()
        parsed = shared_syntax().parse(language, self.files[path])
        return parsed.definitions if not isinstance(parsed, NotParsed) else ()


class Truth(NamedTuple):
    """What became of a place: where it is now, if anywhere, and whether it changed in more than looks."""

    places: Sequence[tuple[str, int, int]]
    change: str
    """`same`, `cosmetic`, `changed` or `gone`."""


def git(repo: Path, *arguments: str) -> bytes:
    """What git prints."""
    return subprocess.run(["git", "-C", str(repo), *arguments], check=True, capture_output=True).stdout


def tree_of(repo: Path, revision: str) -> Tree:
    """The text files of a revision."""
    files: dict[str, str] = {}
    with tarfile.open(fileobj=io.BytesIO(git(repo, "archive", revision))) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isreg() else None
            if content is not None:
                with suppress(UnicodeDecodeError):
                    files[member.name] = content.read().decode("utf-8")
    return Tree(files)


def lay(tree: Tree, folder: Path, before: Tree | None = None) -> None:
    """Make the folder hold the tree in place of the one before."""
    for path in set(before.files) - set(tree.files) if before is not None else ():
        (folder / path).unlink()
    for path, text in tree.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8", newline="")


def renames(repo: Path, old: str, new: str) -> dict[str, str]:
    """Old paths and the new ones that git takes them for."""
    rows = git(repo, "diff", "-M40%", "--name-status", "--diff-filter=R", old, new).decode().splitlines()
    return {old: new for _, old, new in (row.split("\t") for row in rows)}


def truth_of(place: Place, old: Tree, new: Tree, moved: Mapping[str, str]) -> Truth:
    """What became of a place between two trees."""
    text = old.lines(place.path, place.start, place.end)
    path = moved.get(place.path, place.path)
    names = {d.qualified for d in old.definitions(place.path) if (d.start, d.end) == (place.start, place.end)}
    places = [(path, d.start, d.end) for d in new.definitions(path) if d.qualified in names]
    if not places:
        same_text = [(name, body.find(text)) for name, body in new.files.items() if text in body]
        starts = [(name, new.files[name].count("\n", 0, at) + 1) for name, at in same_text]
        places = [(name, start, start + place.end - place.start) for name, start in starts]
    if not places:
        last = {_last_name(name) for name in names}
        sources = [name for name in new.files if name.endswith(Path(place.path).suffix)]
        alike = [
            (
                SequenceMatcher(None, text.split("\n"), new.lines(name, d.start, d.end).split("\n")).ratio(),
                name,
                d,
            )
            for name in sources
            if any(word in new.files[name] for word in last)
            for d in new.definitions(name)
            if _last_name(d.qualified) in last
        ]
        places = [(name, d.start, d.end) for ratio, name, d in alike if ratio > ALIKE]
    if not places:
        return Truth((), "gone")
    kinds = [difference(text, new.lines(*each), place.path) for each in places]
    return Truth(places, min(kinds, key=["same", "cosmetic", "changed"].index))


def _last_name(qualified: str) -> str:
    return qualified.replace("::", ".").rpartition(".")[2]


def difference(old: str, new: str, path: str) -> str:
    """Whether two texts are the same, the same but for looks, or not."""
    if old.strip() == new.strip():
        return "same"
    return "cosmetic" if _essence(old, path) == _essence(new, path) else "changed"


def _essence(text: str, path: str) -> object:
    """A text without what cannot change behaviour."""
    if path.endswith(".py"):
        with suppress(SyntaxError):
            return ast.dump(_without_hints(ast.parse(_dedented(text))))
    lexer = pygments.lexers.get_lexer_for_filename(path, stripnl=False)
    kinds = ((kind, value.strip()) for kind, value in lexer.get_tokens(text))
    words = "\0".join(
        value
        for kind, value in kinds
        if value and kind not in Comment and kind not in Whitespace and kind not in String.Doc
    )
    return re.sub(r",\0(?=[)\]}])", "", words)


def _dedented(text: str) -> str:
    lines = text.split("\n")
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[indent:] for line in lines)


def _without_hints(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            node.annotation = ast.Constant(None)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:]
    return tree


def claims_in(text: str) -> Iterator[str]:
    """Paragraphs and list items of a hand-over, each in one line."""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for block in re.split(r"\n\s*\n|\n(?=- )", prose):
        if block.strip() and not block.lstrip().startswith("#"):
            yield " ".join(block.split()).removeprefix("- ")


class Counts(NamedTuple):
    """What one trial counts."""

    claims: int
    changed: int
    flagged: int
    missed: tuple[str, ...]
    cosmetic: tuple[str, ...]
    places: int
    right: int


def judge(text: str, refs: Sequence[Place], now: Mapping[str, Any], truths: Mapping[str, Truth]) -> Counts:
    """Compare the flags of the pack with what is true."""
    changed = flagged = claims = 0
    missed: list[str] = []
    cosmetic: list[str] = []
    by_spelling = {ref.spelling: truths[ref.spelling].change for ref in refs}
    for claim in claims_in(text):
        spellings = {a or b for a, b in PLACE.findall(claim)} & set(by_spelling)
        if not spellings:
            continue
        claims += 1
        kinds = {by_spelling[spelling] for spelling in spellings}
        is_changed, is_flagged = bool(kinds & {"changed", "gone"}), claim[:100] in now["sentences"]
        changed += is_changed
        flagged += is_flagged
        if is_changed and not is_flagged:
            missed.append(claim[:100])
        if is_flagged and not is_changed:
            cosmetic.append(claim[:100])
    right = sum(
        not truth.places if now["places"].get(spelling) is None
        else any(_same_place(now["places"][spelling], place) for place in truth.places)
        for spelling, truth in truths.items()
    )  # fmt: skip
    return Counts(claims, changed, flagged, tuple(missed), tuple(cosmetic), len(truths), right)


def _same_place(shown: tuple[str, int, int], true: tuple[str, int, int]) -> bool:
    """Whether both are in one file and share most of their lines."""
    shared = min(shown[2], true[2]) - max(shown[1], true[1]) + 1
    return shown[0] == true[0] and shared * 2 > max(shown[2] - shown[1], true[2] - true[1]) + 1


def trial(repo: Path, older: str, newer: str, text: str) -> None:
    """Run one take-over and print its figures."""
    old, new = tree_of(repo, older), tree_of(repo, newer)
    moved = renames(repo, older, newer)
    with tempfile.TemporaryDirectory() as place:
        folder, storage = Path(place, "tree"), Path(place, "packs")
        lay(old, folder)
        cache = Path(place, "cache")
        with open_workspace(folder, storage=storage, cache=cache, embedder="fast") as workspace:
            order = {"action": "write", "text": text, "name": "takeover", "ttl_minutes": LIFE_MINUTES}
            written = workspace.call("input", order)
            pack = workspace.packs.get("takeover")
        refs = [
            Place(spelling, ref.path.value, ref.lines.start, ref.lines.end)
            for _, ref in pack.refs
            for spelling in ref.spellings
        ]
        lay(new, folder, old)
        with open_workspace(folder, storage=storage, cache=cache, embedder="fast") as workspace:
            diff = workspace.call("output", {"name": "takeover", "mode": "diff"}, page_tokens=ALL).text
            compact = workspace.call("output", {"name": "takeover", "mode": "compact"}, page_tokens=ALL).text
            checked = workspace.packs.verify("takeover").refs
    truths = {ref.spelling: truth_of(ref, old, new, moved) for ref in refs}
    places: dict[str, tuple[str, int, int] | None] = {}
    for each in checked:
        at = each.resolution.found
        place_now = None if at is None else (at.path.value, at.lines.start, at.lines.end)
        places.update(dict.fromkeys(each.ref.spellings, place_now))
    sentences = {
        re.sub(r" \[[\w-]+\]$", "", " ".join(line.split()).removeprefix("- "))[:100]
        for line in diff.splitlines()
        if line.startswith("- ")
    }
    counts = judge(text, refs, {"sentences": sentences, "places": places}, truths)
    files = sorted({ref.path for ref in refs} & set(new.files))
    targets = sorted({moved.get(ref.path, ref.path) for ref in refs} | {ref.path for ref in refs})
    plain_places = len(text) + sum(len(new.files[path]) for path in files)
    plain_diff = len(text) + len(git(repo, "diff", "-M", older, newer, "--", *targets))
    print(f"{repo.name} {older} to {newer}: {counts.places} places, {counts.claims} claims with code")
    print(f"  written: {len(text):,} characters sent, {len(written.text):,} read back")
    print(f"  until all places are known: pack {len(compact):,} bytes, plain {plain_places:,}")
    print(f"  what must be read again: pack {len(diff):,} bytes, plain {plain_diff:,}")
    print(f"  places right: {counts.right} of {counts.places}")
    share = 1 - len(counts.missed) / counts.changed if counts.changed else 1.0
    print(f"  claims whose code changed: {counts.changed}, flagged {share:.0%}")
    print(f"  claims flagged: {counts.flagged}, of them only cosmetic or unchanged: {len(counts.cosmetic)}")
    for kind, sentences_of in (("missed", counts.missed), ("cosmetic", counts.cosmetic)):
        for sentence in sentences_of:
            print(f"    {kind}: {sentence}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repo", type=Path)
    parser.add_argument("--from", dest="older")
    parser.add_argument("--to", dest="newer")
    parser.add_argument("--text", type=Path)
    parser.add_argument("--checkouts", type=Path, help="a folder with clones of the three repositories")
    options = parser.parse_args()
    if options.checkouts:
        for name, older, newer, text in TRIALS:
            trial(options.checkouts / name, older, newer, (HANDOVERS / text).read_text(encoding="utf-8"))
    elif options.repo and options.older and options.newer and options.text:
        trial(options.repo, options.older, options.newer, options.text.read_text(encoding="utf-8"))
    else:
        parser.error("give --checkouts, or --repo with --from, --to and --text")


if __name__ == "__main__":
    main()
