"""Whether real code bases can be indexed and searched: one line for each folder.

    python benches/quality/real_trees.py FOLDER…

Each folder is indexed from nothing by the fast embedder, with its private state in a temporary folder. Then
`context_search` is asked for some of its definitions by name, and a pack is drafted. Printed are files,
definitions, files without a grammar (plain), files that their grammar cannot read (unread), seconds, and
failures: searches that ended in an error or found nothing with the name, and files that something else went
wrong with. Exit code 1 if there is one. The folders are no part of this project: registries of packages have
them.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from attrs import define, field

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]

from context_pack.app import build  # noqa: E402
from context_pack.composition import Ports  # noqa: E402
from context_pack.kernel.languages import language_of  # noqa: E402
from context_pack.kernel.syntax import NotParsed, Parsed, Spans, Syntax  # noqa: E402
from context_pack.memory.domain.entries import CODE, PLAIN  # noqa: E402
from context_pack.memory.usecases.indexing import CodeIndexer  # noqa: E402
from context_pack.toolkit.call import QuietCall  # noqa: E402
from context_pack.toolkit.registry import Registry  # noqa: E402
from context_pack_adapters.bootstrap import open_ports  # noqa: E402
from context_pack_adapters.settings import read_settings  # noqa: E402
from context_pack_adapters.syntax.trees import NOT_UNDERSTOOD  # noqa: E402

QUESTIONS = 10
LONG_NAME = 12
"""A definition is asked for by its name if that is long enough to mean one."""


@define
class Counting:
    """A `Syntax` that counts what another one finds, and keeps some names to ask for."""

    inner: Syntax
    definitions: int = 0
    names: list[str] = field(factory=list)

    def knows(self, language: str) -> bool:
        """Whether there is a grammar for a language."""
        return self.inner.knows(language)

    def parse(self, language: str, text: str) -> Parsed | NotParsed:
        """What the other one parses."""
        return self._counted(self.inner.parse(language, text))

    def parse_all(self, texts: Iterable[tuple[str, str]]) -> Iterator[Parsed | NotParsed]:
        """What the other one parses."""
        return map(self._counted, self.inner.parse_all(texts))

    def _counted(self, parsed: Parsed | NotParsed) -> Parsed | NotParsed:
        if isinstance(parsed, Parsed):
            self.definitions += len(parsed.definitions)
            named = [each for each in parsed.definitions if each.end > each.start]
            self.names += [each.name for each in named if len(each.name) >= LONG_NAME][:1]
        return parsed

    def spans(self, language: str, text: str) -> Spans | NotParsed:
        """What the other one says."""
        return self.inner.spans(language, text)

    def occurrences(self, language: str, text: str, name: str) -> Sequence[int] | NotParsed:
        """What the other one says."""
        return self.inner.occurrences(language, text, name)


@define
class Outcome:
    """One line of the table."""

    name: str
    language: str
    files: int
    definitions: int
    plain: int
    unread: int
    seconds: float
    failures: list[str]

    def line(self) -> str:
        """As it is printed."""
        return (
            f"{self.name[:28]:<28} {self.language[:11]:<11} {self.files:>6} {self.definitions:>11} "
            f"{self.plain:>6} {self.unread:>6} {self.seconds:>8.1f} {len(self.failures):>8}"
        )


def called(registry: Registry, tool: str, **arguments: Any) -> tuple[Any, str]:
    """The answer of a tool, and its error if it is one."""
    answer = registry.call(tool, arguments, QuietCall())
    return json.loads(answer.text), answer.text if answer.is_error else ""


def asked(registry: Registry, names: Sequence[str]) -> Iterator[str]:
    """Ask for some of these names; what went wrong."""
    for name in names[:: max(1, len(names) // QUESTIONS)][:QUESTIONS]:
        found, error = called(registry, "context_search", query=name, limit=20)
        if error:
            yield f"context_search {name}: {error}"
        elif not any(name in each["content"] for each in found["results"]):
            yield f"context_search {name}: not found"
    _, error = called(registry, "input", action="draft", query="how are errors handled", ttl_minutes=5)
    if error and "not_found" not in error:
        yield f"draft: {error}"


def tried(folder: Path, private: Path) -> Outcome:
    """Index a folder and ask."""
    settings = read_settings(
        {
            "CONTEXT_PACK_EMBEDDER": "fast",
            "CONTEXT_PACK_ROOT": str(private / "store"),
            "CONTEXT_PACK_CACHE": str(private / "cache"),
        },
        str(folder),
    )
    ports: Ports = open_ports(settings)
    assert ports.memory is not None
    counting = Counting(ports.memory.syntax)
    indexer = CodeIndexer(ports.memory.tree, ports.memory.index, lambda: counting)
    start = perf_counter()
    failures = []
    try:
        indexer.carry_out(indexer.plan())
    except Exception as error:
        failures.append(f"indexing ended with {type(error).__name__}: {error}")
    seconds = perf_counter() - start
    failures += asked(build(ports), counting.names)
    files, facts, failed = ports.memory.index.known(CODE), ports.memory.index.facts(CODE), indexer.failed()
    failures += [f"{path}: {why}" for path, why in failed.items() if why != NOT_UNDERSTOOD]
    spoken = Counter(language_of(path) for path in files if ports.syntax.knows(language_of(path)))
    return Outcome(
        folder.name,
        spoken.most_common(1)[0][0] if spoken else "",
        len(files),
        counting.definitions,
        sum(PLAIN in each for each in facts.values()) - len(failed),
        sum(why == NOT_UNDERSTOOD for why in failed.values()),
        seconds,
        failures,
    )


def main() -> int:
    """Try every folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    print(f"{'folder':<28} {'mostly':<11}  files definitions  plain unread  seconds failures")
    outcomes = []
    for folder in options.folders:
        with tempfile.TemporaryDirectory() as private:
            outcomes.append(tried(folder.resolve(), Path(private)))
        print(outcomes[-1].line(), flush=True)
        for failure in outcomes[-1].failures[:20]:
            print(f"    {failure}")
    together = Outcome(
        f"{len(outcomes)} folders",
        f"{len({each.language for each in outcomes})} languages",
        sum(each.files for each in outcomes),
        sum(each.definitions for each in outcomes),
        sum(each.plain for each in outcomes),
        sum(each.unread for each in outcomes),
        sum(each.seconds for each in outcomes),
        [failure for each in outcomes for failure in each.failures],
    )
    print(together.line())
    return 1 if together.failures else 0


if __name__ == "__main__":
    sys.exit(main())
