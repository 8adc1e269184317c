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


@frozen
class Described:
    """A collection with what is known of it."""

    collection: Collection
    documents: int
    description: str | None
    version: str | None


class DocumentShelf:
    """Collections and documents, each as the disk is now."""

    def __init__(self, ports: DocumentPorts) -> None:
        self.ports = ports
        self.catalogue = ports.sources.catalogue
        self.syncing = Syncing(ports)
        self.bring_up_to_date = self.syncing.bring_up_to_date

    def current(self, name: str, check: Check = lambda: None) -> tuple[Collection, IndexFreshness]:
        """The collection of that alias or id, brought up to date as far as that is quick."""
        catalogue = self.catalogue()
        found = self.find(name, catalogue)
        return found, self.bring_up_to_date([found], check, catalogue.problems)

    def find(self, name: str, catalogue: Catalogue | None = None) -> Collection:
        """The collection of that alias or id.

        Raises:
            Failure: `not_found`, with the nearest names.
        """
        known = (catalogue or self.catalogue()).collections
        wanted = name.strip()
        if wanted in known:
            return known[wanted]
        for collection in known.values():
            if collection.id == wanted:
                return collection
        raise _missing(f'Collection "{without_login(name)}" not found.', name, known, "collections")

    def chosen(self, names: Iterable[str], catalogue: Catalogue | None = None) -> list[Collection]:
        """The collections of these names, or all of them without any."""
        catalogue = catalogue or self.catalogue()
        found = [self.find(name, catalogue) for name in names] or catalogue.collections.values()
        return list(dict.fromkeys(found))

    def collections(self) -> list[Described]:
        """Every configured collection."""
        with self.ports.index.reading() as snapshot:
            counts = snapshot.counts()
            found = []
            for collection in self.catalogue().collections.values():
                facts = snapshot.corpus_facts(collection.id) or {}
                described = collection.description
                if described is None:
                    described = facts.get("description")
                count = counts.get(collection.id, 0)
                found.append(Described(collection, count, described, facts.get("version")))
            return found

    def documents(
        self, collection: Collection, limit: int | None = None, offset: int = 0
    ) -> tuple[Sequence[Summary], int]:
        """A page of the documents of a collection, in the order of their ids, and how many there are."""
        with self.ports.index.reading() as snapshot:
            total = snapshot.counts().get(collection.id, 0)
            return snapshot.summaries(collection.id, offset, limit), total

    def document(
        self, collection: Collection, name: str, called: str = "", stale: bool = False
    ) -> IndexEntry:
        """One document with its text; `called` is what the caller calls the collection.

        A `stale` index may not have it yet, which is then said too.

        Raises:
            Failure: `not_found`, with the nearest names.
        """
        with self.ports.index.reading() as snapshot:
            for spelled in (name, name.strip().removeprefix("./")):
                entry = snapshot.entry(collection.id, spelled)
                if entry is not None:
                    return entry
            known = [summary.key for summary in snapshot.summaries(collection.id)]
        sentence = f'Document "{name}" not found in collection "{called or collection.alias}".'
        if stale:
            sentence += " The collection is still being indexed: try again in a moment."
        raise _missing(sentence, name, known, "documents in it yet" if stale else "documents in it")

    def outline(self, entry: IndexEntry, max_depth: int) -> list[Heading]:
        """The headings of a document down to a level."""
        found = headings(entry.text, entry.key)
        return [heading for heading in found if heading.level <= max_depth]

    def section(self, entry: IndexEntry, wanted: str, subsections: bool) -> DocumentSection:
        """One section of a document.

        Raises:
            Failure: `invalid_data` for an empty heading, `not_found` with the nearest headings.
        """
        if not wanted_heading(wanted):
            raise invalid("'section' must not be blank: give the text of a heading", "section")
        found = find_section(entry.key, entry.text, wanted, subsections)
        if found is not None:
            return found
        known = [heading.text for heading in headings(entry.text, entry.key) if heading.text]
        sentence = f'Section "{wanted}" not found in document "{entry.key}".'
        raise _missing(sentence, wanted_heading(wanted), known, "headings in it")


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


def wanted_heading(section: str) -> str:
    """The heading text a caller asks for: trimmed, without leading hashes."""
    return section.strip().lstrip("#").strip()


def find_section(document: str, text: str, section: str, subsections: bool) -> DocumentSection | None:
    """The section whose heading is the given text, or else the first whose heading holds it.

    `Parent > Heading` is a heading below another, for those that a document has several times.
    """
    marks = headings(text, document)
    numbers = _matching(marks, wanted_heading(section))
    if not numbers:
        return None
    heading, later = marks[numbers[0]], marks[numbers[0] + 1 :]
    ends = (each.line for each in later if not subsections or each.level <= heading.level)
    after = next(ends, None)
    lines = text.split("\n")
    end = len(lines) - text.endswith("\n") if after is None else after - 1
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


NEAREST = 5
CUTOFF = 0.4
MOST_CHARS = 500


def _missing(sentence: str, word: str, known: Iterable[str], noun: str) -> Failure:
    """The failure that something is not there, with the nearest names: a path goes by its end too."""
    spelled: dict[str, str] = {}
    for name in known:
        spelled.setdefault(name.casefold(), name)
        spelled.setdefault(name.casefold().rpartition("/")[2], name)
    names = list(dict.fromkeys(spelled.values()))
    close = get_close_matches(word.casefold()[:MOST_CHARS], spelled, NEAREST * 2, CUTOFF)
    nearest = list(dict.fromkeys(spelled[name] for name in close))[:NEAREST]
    if nearest:
        more = f"Did you mean: {', '.join(nearest)}?"
    elif names:
        more = f"There are: {', '.join(names[:NEAREST])}{', …' if len(names) > NEAREST else ''}"
    else:
        more = f"There are no {noun}."
    return Failure(Code.NOT_FOUND, f"{sentence} {more}")


def sync_all(
    shelf: DocumentShelf,
    collections: Iterable[Collection],
    *,
    fetch: bool = True,
    report: Report = lambda _, __, ___: None,
    stop: Stop = lambda: False,
    check: Check = lambda: None,
) -> list[Outcome]:
    """Bring these collections up to date; what fails in one does not keep the others."""
    outcomes = []
    for collection in collections:
        if stop():
            break
        outcomes.append(shelf.syncing.sync(collection, fetch=fetch, report=report, stop=stop, check=check))
    forget_unnamed(shelf)
    return outcomes


def forget_unnamed(shelf: DocumentShelf) -> None:
    """Drop what the index has of this project's collections that are configured no more."""
    catalogue, project = shelf.catalogue(), shelf.ports.sources.project
    if catalogue.problems:
        return  # a file that cannot be read names nothing, and that is no reason to forget everything
    configured = {collection.id for collection in catalogue.collections.values()}
    with shelf.ports.index.reading() as snapshot:
        gone = [
            corpus
            for corpus in snapshot.counts()
            if corpus not in configured and (snapshot.corpus_facts(corpus) or {}).get("project") == project
        ]
    for corpus in gone:
        shelf.ports.index.forget(corpus)
