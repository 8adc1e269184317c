"""Making and refreshing contexts: what changes, what never changes, and that no word of a person is lost."""

from __future__ import annotations

import re
from typing import Any

import pytest
from attrs import define, field
from context_trees import PROJECT, Asked, Files, disk_contexts, refresher
from hypothesis import given, settings
from hypothesis import strategies as st
from inmemory import FixedClock

from context_pack.contexts.model import Context, read_context
from context_pack.contexts.ports import Projects
from context_pack.contexts.refresh import FolderOutcome, RefreshRequest
from context_pack.kernel.ports import Reason
from context_pack.kernel.yaml_documents import dump

SRC = "src/.context.yaml"


@define
class Desk:
    """A project, refreshed at times that the test chooses."""

    files: Files = field(factory=lambda: Files(PROJECT))
    clock: FixedClock = field(factory=FixedClock)
    ports: Projects = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.ports = disk_contexts(self.files.root)

    def refresh(self, **order: Any) -> dict[str, FolderOutcome]:
        project = self.ports.open(None)
        assert not isinstance(project, Reason)
        self.clock.advance(minutes=1)
        outcomes = refresher(self.ports, self.clock).refresh(project, RefreshRequest(**order))
        assert [each.scope for each in outcomes] == sorted(each.scope for each in outcomes)
        return {outcome.scope: outcome for outcome in outcomes}

    def results(self, **order: Any) -> dict[str, str]:
        return {scope: outcome.result for scope, outcome in self.refresh(**order).items()}

    def text(self, path: str = SRC) -> str:
        return self.files[path].decode()

    def edit(self, old: str, new: str, path: str = SRC) -> None:
        assert self.text(path).count(old) >= 1, self.text(path)
        self.files[path] = self.text(path).replace(old, new, 1)

    def record(self, path: str = SRC) -> dict[str, Any]:
        verdict = read_context(self.text(path).encode())
        assert isinstance(verdict, Context), verdict
        return dict(verdict.record)


@pytest.fixture
def desk() -> Desk:
    """A project whose contexts were just made."""
    made = Desk()
    assert set(made.results().values()) == {"made"}
    return made


def without_dates(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith(("fingerprint:", "last_updated:"))]


@pytest.mark.clause("CX-30")
def test_init_makes_only_what_is_missing() -> None:
    desk = Desk()
    desk.files[SRC] = "mine: and no context\n"
    desk.files["docs/.context.yaml"] = (
        "version: 1\nlast_updated: a\nfingerprint: b\nscope: docs\nsummary: s\nmaintenance: m\n"
    )
    before = (desk.text(), desk.text("docs/.context.yaml"))
    results = desk.results(only_missing=True)
    assert (results["src"], results["docs"], results["billing"]) == ("left", "unchanged", "made")
    assert (desk.text(), desk.text("docs/.context.yaml")) == before


@pytest.mark.clause("CX-32")
def test_a_second_refresh_changes_nothing(desk: Desk) -> None:
    before = dict(desk.files)
    assert set(desk.results().values()) == {"unchanged"}
    assert desk.files == before


@pytest.mark.clause("CX-32")
def test_a_changed_source_updates_date_fingerprint_and_derived_fields_only(desk: Desk) -> None:
    before, old = desk.text(), desk.record()
    desk.files["src/cart.ts"] = "export function remove(item: string): void {}\n"
    assert desk.results() == {
        ".": "unchanged",
        "billing": "unchanged",
        "docs": "unchanged",
        "src": "updated",
        "src/core": "unchanged",
    }
    new = desk.record()
    assert new["exports"] == ["function remove(item: string): void", "const VERSION: string"]
    assert new["fingerprint"] != old["fingerprint"]
    assert new["last_updated"] > old["last_updated"]
    same = set(old) - {"exports", "interfaces", "files", "fingerprint", "last_updated", "derived_fields"}
    assert {name: new[name] for name in same} == {name: old[name] for name in same}
    gone = set(without_dates(before)) - set(without_dates(desk.text()))
    assert {line for line in gone if not re.fullmatch(r"- [a-z]+ [0-9a-f]{8}", line)} == {
        "  purpose: Defines add",
        "- 'function add(item: string, count = 1): number'",
    }


@pytest.mark.clause("CX-33")
@pytest.mark.parametrize("stale", [True, False])
def test_a_hand_edited_derived_field_is_never_derived_again(desk: Desk, stale: bool) -> None:
    desk.edit("purpose: Defines add", "purpose: Adds to the cart, mind the rounding")
    if stale:
        desk.files["src/cart.ts"] = "export function remove(): void {}\n"
    assert desk.refresh()["src"].released == ("files",)
    assert "mind the rounding" in desk.text()
    assert "files" not in desk.record()["derived_fields"]
    desk.files["src/new.ts"] = "export const NEW = 1;\n"
    assert desk.refresh()["src"].released == ()
    assert "mind the rounding" in desk.text()
    assert "const NEW" in desk.record()["exports"]


@pytest.mark.clause("CX-33")
def test_a_derived_field_that_a_person_removed_stays_away(desk: Desk) -> None:
    block = re.search(r"^exports:\n(?:- .*\n)+", desk.text(), re.MULTILINE)
    assert block is not None
    desk.edit(block[0], "")
    desk.files["src/new.ts"] = "export const NEW = 1;\n"
    assert desk.refresh()["src"].released == ("exports",)
    for _ in range(2):
        assert "exports" not in desk.record()
        assert "exports" not in desk.record()["derived_fields"]
        desk.refresh()


@pytest.mark.clause("CX-39")
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks_stay(desk: Desk, newline: str, mark: str) -> None:
    desk.files[SRC] = (mark + desk.text().replace("\n", newline)).encode()
    desk.files["src/cart.ts"] = "export function remove(): void {}\n"
    desk.refresh()
    text = desk.text()
    assert text.startswith(f"{mark}version: 1{newline}")
    assert text.count("\n") == text.count(newline)
    assert "function remove(): void" in desk.record()["exports"]


@pytest.mark.clause("CX-35")
@pytest.mark.parametrize("text", ["version: 2\n", "version: 1\nsummary: x\n", "a: [\n", "\xff", "", "- a\n"])
def test_files_that_are_no_version_1_context_are_never_touched(desk: Desk, text: str) -> None:
    desk.files[SRC] = text.encode("latin-1")
    outcome = desk.refresh()["src"]
    assert outcome.result == "left"
    assert outcome.reason is not None
    assert desk.files[SRC] == text.encode("latin-1")


@pytest.mark.clause("CX-33")
def test_adopt_takes_over_fields_that_are_listed_without_a_digest(desk: Desk) -> None:
    desk.files[SRC] = re.sub(r"(?m)^(- \w+) [0-9a-f]{8}$", r"\1", desk.text())
    desk.edit("- dependencies\n", "- dependencies.internal\n- dependencies.external\n")
    desk.edit("summary: Front door.", "summary: Front door of the shop.")
    desk.files["src/cart.ts"] = "export function remove(): void {}\n"
    desk.refresh()
    assert "function remove(): void" not in desk.record()["exports"]
    desk.files["src/cart.ts"] = "export function take(): void {}\n"
    assert desk.refresh(adopt=True)["src"].released == ()
    record = desk.record()
    assert "function take(): void" in record["exports"]
    assert all(" " in each for each in record["derived_fields"][3:])
    desk.files["src/cart.ts"] = "export function give(): void {}\n"
    desk.refresh()
    assert "function give(): void" in desk.record()["exports"]


@pytest.mark.clause("CX-30")
def test_a_scope_bounds_a_refresh_to_its_subtree(desk: Desk) -> None:
    for path in ("src/cart.ts", "src/core/lib.rs", "billing/invoice.py"):
        desk.files[path] = desk.text(path) + "\n"
    assert desk.results(scope="src\\") == {"src": "updated", "src/core": "updated"}
    assert Asked(desk.ports).entries()["billing"]["state"] == "stale"


@pytest.mark.clause("CX-30")
def test_a_small_folder_with_a_context_is_refreshed_when_named(desk: Desk) -> None:
    desk.files[".context.config.yaml"] = "min_tokens: 100000\n"
    desk.files["docs/guide.md"] = "# Other\n"
    assert desk.results() == {".": "updated"}
    assert desk.results(scope="docs") == {"docs": "updated"}
    del desk.files["docs/.context.yaml"]
    assert desk.results(scope="docs") == {}


@pytest.mark.clause("CX-35")
def test_a_file_that_changes_meanwhile_is_not_overwritten() -> None:
    desk = Desk()
    project = desk.ports.open(None)
    assert not isinstance(project, Reason)

    def meanwhile(done: int, _: int, scope: str) -> None:
        if scope == "src":
            desk.files[SRC] = "somebody: was faster\n"

    scanned = desk.ports.open(None)
    assert not isinstance(scanned, Reason)
    outcomes = refresher(desk.ports).refresh(project, RefreshRequest(), progress=meanwhile)
    assert {o.scope: o.result for o in outcomes}["src"] == "left"
    assert desk.text() == "somebody: was faster\n"


# -- whatever a person does to a file, no word is lost

WORD = st.text("abcdefghijklm", min_size=3, max_size=9).map(lambda text: f"W{text}")
LINE = st.lists(WORD, min_size=1, max_size=4).map(" ".join)
EDITS = (
    "comment above",
    "comment behind",
    "comment inside",
    "blank lines",
    "own field",
    "own words",
    "own key",
    "own layout",
    "delete",
    "summary",
)


@st.composite
def edited(draw: st.DrawFn) -> tuple[list[str], list[tuple[str, str, int]]]:
    """Words, and edits that put them into a file."""
    edits = draw(
        st.lists(st.tuples(st.sampled_from(EDITS), LINE, st.integers(0, 60)), min_size=1, max_size=6)
    )
    return [words for _, words, _ in edits], edits


def edit(text: str, kind: str, words: str, at: int) -> str:
    """A file after a person has edited it somewhere."""
    lines = text.split("\n")[:-1]
    tops = [number for number, line in enumerate(lines) if re.match(r"[a-z]", line)]
    items = [
        number
        for number, line in enumerate(lines)
        if re.match(r"\s*(?:- )?(?:purpose|summary|name): |- ", line)
    ]
    if kind == "comment above":
        lines.insert(tops[at % len(tops)], f"# {words}")
    elif kind == "comment behind":
        place = tops[at % len(tops)]
        lines[place] = (
            lines[place] if "|" in lines[place] or "#" in lines[place] else f"{lines[place]} # {words}"
        )
    elif kind == "comment inside":
        inside = [number for number in items if number not in tops]
        lines.insert(inside[at % len(inside)], f"# {words}")
    elif kind == "blank lines":
        lines.insert(tops[at % len(tops)], "")
    elif kind == "own field":
        name = ("decisions", "constraints", "todos", "events")[at % 4]
        if not any(line.startswith(f"{name}:") for line in lines):
            item = f"- what: {words}\n  why: because" if name == "decisions" else f"- {words}"
            lines[tops[at % len(tops)] : tops[at % len(tops)]] = [f"{name}:", *item.split("\n")]
    elif kind == "own words":
        place = items[at % len(items)]
        head = re.match(r"(\s*(?:- )?(?:[a-z_]+: )?)", lines[place])
        assert head is not None
        lines[place] = f"{head[1]}{words}"
    elif kind == "own key":
        named = [number for number, line in enumerate(lines) if line.startswith("- name: ")]
        if named:
            lines.insert(named[at % len(named)] + 1, f"  note: {words}")
    elif kind == "own layout":
        place = items[at % len(items)]
        lines[place] = re.sub(r"((?:purpose|description|summary): ).*", rf"\1>-\n      {words}", lines[place])
    elif kind == "delete":
        place = items[at % len(items)]
        if lines[place].startswith("- ") and ":" not in lines[place]:
            del lines[place]
    else:
        lines = [f"summary: {words}" if line.startswith("summary:") else line for line in lines]
    return "\n".join(lines) + "\n"


def comment_or_value_words(text: str) -> set[str]:
    return set(re.findall(r"W[a-m]{3,9}\b", text))


@pytest.mark.clause("CX-39")
@settings(max_examples=150)
@given(edited(), st.sampled_from(["\n", "\r\n"]), st.lists(st.sampled_from("abc"), max_size=3))
def test_a_refresh_never_loses_a_word_that_a_person_wrote(
    plan: tuple[list[str], list[tuple[str, str, int]]], newline: str, stales: list[str]
) -> None:
    desk = Desk()
    desk.refresh()
    text = desk.text()
    for kind, words, at in plan[1]:
        changed = edit(text, kind, words, at)
        # An edit that breaks the file is another test's: such a file is never touched.
        text = changed if isinstance(read_context(changed.encode()), Context) else text
    desk.files[SRC] = text.replace("\n", newline)
    written = comment_or_value_words(text)
    comments = re.findall(r"# [W a-m]+", text)
    for number, letter in enumerate(["x", *stales]):
        desk.files["src/cart.ts"] = f"export function {letter}{number}(): void {{}}\n"
        assert desk.results()["src"] == "updated"
        assert written <= comment_or_value_words(desk.text())
        assert re.findall(r"# [W a-m]+", desk.text()) == comments
        assert Asked(desk.ports).ok("check_freshness", scope="src")["state"] == "fresh"


@pytest.mark.clause("CX-39")
@pytest.mark.parametrize("derived", [[], ["files", "dependencies.internal"]])
def test_a_context_that_a_person_wrote_from_scratch_keeps_every_line(derived: list[str]) -> None:
    desk = Desk()
    written = {
        "summary": "Ours",
        "maintenance": "By hand",
        "files": [{"name": "cart.ts", "purpose": "Adds"}],
        "decisions": [{"what": "Few", "why": "So"}],
        "dependencies": {"external": ["none"], "internal": ["./cart"]},
        "testing": ["by eye"],
        "exports": ["add"],
    }
    record = {"version": 1, "last_updated": "then", "fingerprint": "00000000", "scope": "src", **written}
    record |= {"derived_fields": derived} if derived else {}
    desk.files[SRC] = dump(record).encode()
    assert desk.results()["src"] == "updated"
    assert {name: desk.record()[name] for name in written} == written
    if not derived:
        assert without_dates(desk.text()) == without_dates(dump(record))
