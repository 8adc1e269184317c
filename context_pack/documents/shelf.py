"""Collections and documents by alias or id, sections by heading, and the sync of several collections.

A section runs from its heading to the line before the next heading of the same or a higher level, or before
any heading where subsections are left out. Whatever is not there is answered with the nearest names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from attrs import frozen

from context_pack.documents.model import Catalogue, Collection, Outcome
from context_pack.documents.places import without_login
from context_pack.documents.ports import Check, DocumentPorts
from context_pack.documents.sync import IndexFreshness, Syncing
from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.retrieval.headings import Heading, headings
from context_pack.retrieval.model import IndexEntry, Summary
from context_pack.retrieval.ports import Stop
from context_pack.retrieval.upkeep import Report

NOTHING_CONFIGURED = (
    "no collections are configured: add one with 'context-pack docs add NAME PLACE' "
    'or in context.json, {"collections": {"docs": {"url": "./docs"}}}'
)
NEAREST, LEAST_ALIKE = 5, 0.4
MOST_CHARS = 500


@frozen
class Described:
    """A collection with what is known of it."""

    collection: Collection
    documents: int
    description: str | None
    version: str | None


@frozen
class DocumentSection:
    """One section: its heading, and its text verbatim at lines `start` to `end`."""

    heading: str
    level: int
    content: str
    start: int
    end: int
    others: tuple[int, ...] = ()
    """The lines of further headings that say the same."""


class DocumentShelf:
    """Collections and documents, each as the disk is now."""

    def __init__(self, ports: DocumentPorts) -> None:
        self.ports = ports
        self.catalogue = ports.sources.catalogue
        self.syncing = Syncing(ports)
        self.bring_up_to_date = self.syncing.bring_up_to_date

    def find(self, name: str, catalogue: Catalogue | None = None) -> Collection:
        """The collection of that alias or id.

        Raises:
            Failure: `not_found`, with the nearest names.
        """
        collections = (catalogue or self.catalogue()).collections
        wanted = name.strip()
        for alias, collection in sorted(collections.items(), key=lambda item: item[0] != wanted):
            if wanted in (alias, collection.id):  # an alias wins over another one's id
                return collection
        raise _missing(f'Collection "{without_login(name)}" not found.', name, collections, "collections")

    def chosen(self, names: Iterable[str], catalogue: Catalogue | None = None) -> list[Collection]:
        """The collections of these names, or all of them without any."""
        catalogue = catalogue or self.catalogue()
        collections = [self.find(name, catalogue) for name in names] or catalogue.collections.values()
        return list(dict.fromkeys(collections))

    def current(self, name: str, check: Check = lambda: None) -> tuple[Collection, IndexFreshness]:
        """The collection of that alias or id, brought up to date as far as that is quick."""
        catalogue = self.catalogue()
        collection = self.find(name, catalogue)
        return collection, self.bring_up_to_date([collection], check, catalogue.problems)

    def document(
        self, collection: str, name: str, check: Check = lambda: None
    ) -> tuple[Collection, IndexEntry, IndexFreshness]:
        """One document with its text, in its collection, which is brought up to date first.

        Raises:
            Failure: `not_found`, with the nearest names; a stale index may not have it yet, which is said.
        """
        its_collection, freshness = self.current(collection, check)
        with self.ports.index.reading() as snapshot:
            for spelled in (name, name.strip().removeprefix("./")):
                entry = snapshot.entry(its_collection.id, spelled)
                if entry is not None:
                    return its_collection, entry, freshness
            names = [summary.key for summary in snapshot.summaries(its_collection.id)]
        sentence, noun = f'Document "{name}" not found in collection "{collection}".', "documents in it"
        if freshness.stale:
            sentence += " The collection is still being indexed: try again in a moment."
            noun += " yet"
        raise _missing(sentence, name, names, noun)

    def collections(self) -> list[Described]:
        """Every configured collection."""
        described = []
        with self.ports.index.reading() as snapshot:
            counts = snapshot.counts()
            for collection in self.catalogue().collections.values():
                facts = snapshot.corpus_facts(collection.id) or {}
                words, count = collection.description, counts.get(collection.id, 0)
                words = facts.get("description") if words is None else words
                described.append(Described(collection, count, words, facts.get("version")))
        return described

    def documents(
        self, collection: Collection, limit: int | None = None, offset: int = 0
    ) -> tuple[Sequence[Summary], int]:
        """A page of the documents of a collection, in the order of their ids, and how many there are."""
        with self.ports.index.reading() as snapshot:
            total = snapshot.counts().get(collection.id, 0)
            return snapshot.summaries(collection.id, offset, limit), total

    def sync_all(
        self,
        collections: Iterable[Collection],
        *,
        report: Report = lambda _, __, ___: None,
        stop: Stop = lambda: False,
        check: Check = lambda: None,
    ) -> list[Outcome]:
        """Bring these collections up to date; what fails in one does not keep the others.

        What the index has of collections that are configured no more is dropped.
        """
        outcomes = []
        for collection in collections:
            if stop():
                break
            outcomes.append(self.syncing.sync(collection, report=report, stop=stop, check=check))
        self._forget_unnamed()
        return outcomes

    def _forget_unnamed(self) -> None:
        catalogue, project = self.catalogue(), self.ports.sources.project
        if catalogue.problems:
            return  # a file that cannot be read names nothing, and that is no reason to forget everything
        configured = {collection.id for collection in catalogue.collections.values()}
        with self.ports.index.reading() as snapshot:
            unnamed = snapshot.counts().keys() - configured
            facts = {corpus: snapshot.corpus_facts(corpus) or {} for corpus in unnamed}
        for corpus in unnamed:
            if facts[corpus].get("project") == project:
                self.ports.index.forget(corpus)


def outline(entry: IndexEntry, max_depth: int) -> list[Heading]:
    """The headings of a document down to a level."""
    return [heading for heading in headings(entry.text, entry.key) if heading.level <= max_depth]


def find_section(entry: IndexEntry, section: str, subsections: bool) -> DocumentSection:
    """The section whose heading is the given text, or else the first whose heading holds it.

    `Parent > Heading` is a heading below another, for those that a document has several times.

    Raises:
        Failure: `invalid_data` for an empty heading, `not_found` with the nearest headings.
    """
    wanted = section.strip().lstrip("#").strip()
    if not wanted:
        raise invalid("'section' must not be blank: give the text of a heading", "section")
    marks = headings(entry.text, entry.key)
    numbers = _matching(marks, wanted)
    if not numbers:
        sentence = f'Section "{section}" not found in document "{entry.key}".'
        raise _missing(sentence, wanted, [mark.text for mark in marks if mark.text], "headings in it")
    heading, later = marks[numbers[0]], marks[numbers[0] + 1 :]
    ends = (mark.line for mark in later if not subsections or mark.level <= heading.level)
    after = next(ends, None)
    lines = entry.text.split("\n")
    end = len(lines) - entry.text.endswith("\n") if after is None else after - 1
    content = "\n".join(lines[heading.line - 1 : end]).removesuffix("\r")
    others = tuple(marks[number].line for number in numbers[1:])
    return DocumentSection(heading.text, heading.level, content, heading.line, end, others)


def _matching(marks: Sequence[Heading], wanted: str) -> list[int]:
    """The numbers of the headings that are a text; else of those below the ones it names; else the first."""
    paths: list[str] = []
    above: list[Heading] = []
    for heading in marks:
        above = [*(each for each in above if each.level < heading.level), heading]
        paths.append("".join(f" > {each.text.casefold()}" for each in above))
    name = wanted.casefold()
    below = "".join(f" > {part.strip()}" for part in name.split(">"))
    equal = [number for number, each in enumerate(marks) if each.text.casefold() == name]
    nested = [number for number, path in enumerate(paths) if ">" in name and path.endswith(below)]
    holding = [number for number, each in enumerate(marks) if name in each.text.casefold()]
    return equal or nested or holding[:1]


def _missing(sentence: str, word: str, names: Iterable[str], noun: str) -> Failure:
    """The failure that something is not there, with the nearest names: a path goes by its end too."""
    by_spelling: dict[str, str] = {}
    for name in names:
        by_spelling.setdefault(name.casefold(), name)
        by_spelling.setdefault(name.casefold().rpartition("/")[2], name)
    # Twice as many, as a path may be near by its whole and by its end.
    near = get_close_matches(word.casefold()[:MOST_CHARS], by_spelling, 2 * NEAREST, LEAST_ALIKE)
    nearest = list(dict.fromkeys(by_spelling[each] for each in near))[:NEAREST]
    others = list(dict.fromkeys(by_spelling.values()))
    if nearest:
        more = f"Did you mean: {', '.join(nearest)}?"
    elif others:
        more = f"There are: {', '.join(others[:NEAREST])}{', …' if len(others) > NEAREST else ''}"
    else:
        more = f"There are no {noun}."
    return Failure(Code.NOT_FOUND, f"{sentence} {more}")
