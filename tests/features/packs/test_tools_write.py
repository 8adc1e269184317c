"""A pack written as one Markdown text: its places become refs, its sentences claims that know their code."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import LineRange
from context_pack.packs.changes import new_pack
from context_pack.packs.claims import remarks_on
from context_pack.packs.commands import Rename, Write
from context_pack.packs.handover import markdown_of
from context_pack.packs.model import Diagram, Pack, Ref, Section
from context_pack.packs.write_text import write_text
from context_pack.toolkit.budget import tokens_of

CODE = """\
def read_total(items):
    # every item counts
    total = 0
    for item in items:
        total += item.price
    return total


def discount(total):
    return total * 0.9
"""
TEXT = """\
# How prices are made

Prices are whole cents, for reasons of law.

## Totals

- The sum of all items comes from `src/shop.py#read_total`; it starts at zero.
- `src/shop.py:9-10` gives ten percent, and `read_total()` knows nothing of it.
- See src/shop.py#nothing for taxes.

```mermaid
graph TD
  items --> total
```

## Next

A table of discounts, perhaps.
"""


@pytest.fixture
def shop(new_desk: Any) -> Any:
    """A desk with that code."""
    return new_desk({"src/shop.py": CODE})


def write(desk: Any, text: str = TEXT, **more: Any) -> Any:
    return desk.input(action="write", text=text, name="prices", **more)


@pytest.mark.clause("PK-80")
def test_a_text_becomes_a_pack_and_the_answer_says_what_became_of_its_places(shop: Any) -> None:
    answer = write(shop, ttl_minutes=60)
    pack = answer.pop("id")
    missing = answer.pop("not_found")
    assert answer == {
        "name": "prices",
        "revision": 1,
        "sections": 3,
        "diagrams": 1,
        "claims": 2,
        "without_code": 3,
        "found": {"src/shop.py": "read_total 1-6, shop-py-9-10 9-10"},
    }
    assert list(missing) == ["src/shop.py#nothing"]
    whole = shop.input(action="get", id=pack)
    assert whole["title"] == "How prices are made"
    assert [section["key"] for section in whole["sections"]] == ["how-prices-are-made", "totals", "next"]
    assert whole["sections"][1]["diagrams"][0]["mermaid"] == "graph TD\n  items --> total"
    text = shop.output(id=pack)
    assert "- claims: 2; 3 statements without code\n" in text
    assert "`src/shop.py#read_total` (1-6); it starts" in text
    assert "`read_total()` (src/shop.py:1-6) knows" in text


@pytest.mark.clause("PK-81")
def test_writing_again_keeps_the_anchors_of_what_is_said_as_before(shop: Any) -> None:
    pack = write(shop, ttl_minutes=60)["id"]
    before = {ref.key: ref.anchor for _, ref in shop.store.get(pack).refs}
    shop.files["src/shop.py"] = CODE.replace("total = 0", "total = 1").replace("0.9", "0.8")
    refused = shop.refused("input", action="write", text=TEXT, name="prices")
    assert refused["details"]["field"] == "expected_revision"
    answer = write(shop, TEXT.replace("ten percent", "a fifth"), expected_revision=1)
    assert answer["reanchored"] == [
        "totals/shop-py-9-10 changed src/shop.py:9-10 body, 1 of 2 lines: + return total * 0.8"
    ]
    after = {ref.key: ref.anchor for _, ref in shop.store.get(pack).refs}
    assert after.keys() == before.keys()
    assert after["read_total"] == before["read_total"], "nobody says that it was read again"
    assert after["shop-py-9-10"] != before["shop-py-9-10"]
    error = shop.refused("input", action="write", text=TEXT, name="prices", expected_revision=1)
    assert error["code"] == "revision_conflict"
    assert shop.refused("input", action="write", text=TEXT, name="other")["code"] == "ttl_required"


@pytest.mark.clause("PK-81")
@pytest.mark.parametrize("other", ["`src/shop.py#discount`", "src/shop.py:9-10"])
@pytest.mark.parametrize("reworded", ["First", "Second"])
def test_a_reworded_sentence_takes_no_changed_code_for_another_that_names_it(
    shop: Any, other: str, reworded: str
) -> None:
    text = f"# T\n\n- First `src/shop.py#discount`.\n- Second {other}.\n"
    pack = write(shop, text, ttl_minutes=60)["id"]
    shop.files["src/shop.py"] = CODE.replace("0.9", "0.8")
    text = text.replace(reworded, "Reworded src/shop.py#L9-L10 and")
    write(shop, text, expected_revision=1)
    assert len(shop.input(action="verify", id=pack)["refs"]) == 2
    write(shop, text.replace("- ", "- Now "), expected_revision=2)
    assert "refs" not in shop.input(action="verify", id=pack), "both were read again"


@pytest.mark.clause("PK-81", "PK-82")
def test_the_reason_of_a_ref_that_prose_names_too_is_a_claim_of_its_own(shop: Any) -> None:
    pack = write(shop, "# T\n\n## Law\n\nWords.\n", ttl_minutes=60)["id"]
    place = {"section_key": "law", "ref_key": "rate", "symbol": "discount"}
    shop.change(pack, "upsert_ref", ref_why="because of law", **place)
    text = markdown_of(shop.store.get(pack)).replace("Words.", "Ten percent: `src/shop.py#discount`.")
    assert write(shop, text, expected_revision=2)["claims"] == 2
    shop.files["src/shop.py"] = CODE.replace("0.9", "0.8")
    assert len(shop.input(action="verify", id=pack)["refs"]) == 2
    write(shop, text.replace("Ten", "Some"), expected_revision=3)
    rows = shop.input(action="verify", id=pack)["refs"]
    assert [row.rpartition(" | ")[2] for row in rows] == [
        "Some percent: `src/shop.py#discount`.",
        "because of law",
    ]
    known = json.loads(shop.call("context_for", {"path": "src/shop.py"}).text)["known"]
    assert sorted(each["kind"] for each in known) == ["claim", "ref"]
    diff = shop.output(id=pack, mode="diff")
    assert diff.count("because of law") == diff.count("Some percent") == 1
    shop.change(pack, "accept")
    assert "refs" not in shop.input(action="verify", id=pack)


@pytest.mark.clause("PK-82", "PK-57")
def test_reading_starts_with_the_claims_whose_code_changed(shop: Any) -> None:
    pack = write(shop, ttl_minutes=60)["id"]
    shop.files["src/shop.py"] = "import os\n\n\n" + CODE.replace("total = 0", "total = 1")
    text = shop.output(id=pack)
    assert "[CONTENT]\n> to be read again:\n\n- The sum of all" in text
    assert "- claims: 2 (2 to be read again); 3 statements without code\n" in text
    assert "[totals]: src/shop.py:4-9 body, 1 of 6 lines: + total = 1\n" in text
    assert "`src/shop.py:9-10` (src/shop.py:12-13) gives" in text
    diff = shop.output(id=pack, mode="diff")
    assert diff.count("```diff") == diff.count("\n#### ") == 1
    assert "- The sum of all items comes from" in diff
    checked = shop.input(action="verify", id=pack)
    assert {name: checked[name] for name in ("moved", "changed", "without_code")} == {
        "moved": 1, "changed": 1, "without_code": 3
    }  # fmt: skip
    assert checked["refs"][0].startswith(
        "totals/read_total changed src/shop.py:4-9 body, 1 of 6 lines: + total = 1 | The sum of all items"
    )


@pytest.mark.clause("PK-57")
def test_the_mode_diff_names_a_ref_as_accept_takes_it_whichever_section_has_the_sentence(shop: Any) -> None:
    text = "# T\n\n## Rates\n\nTen percent: `discount()`.\n\n## Law\n\nSee src/shop.py:9-10.\n"
    pack = write(shop, text, ttl_minutes=60)["id"]
    place = {"section_key": "law", "ref_key": "body", "path": "src/shop.py", "line_start": 10, "line_end": 10}
    shop.change(pack, "upsert_ref", **place)
    text = markdown_of(shop.store.get(pack)).replace("Ten percent", "See src/shop.py:10, ten percent")
    write(shop, text, expected_revision=2)
    shop.files["src/shop.py"] = CODE.replace("0.9", "0.8")
    heads = [line for line in shop.output(id=pack, mode="diff").splitlines() if line.startswith("#### ")]
    assert "#### body [law]" in heads
    names = [f"{section.rstrip(']')}/{key}" for key, section in (head[5:].split(" [") for head in heads)]
    assert len(shop.change(pack, "accept", refs=names)["accepted"]) == 2


@pytest.mark.clause("PK-83")
def test_a_pack_written_as_markdown_and_given_back_changes_nothing_and_an_edit_only_what_it_says(
    shop: Any,
) -> None:
    pack = write(shop, ttl_minutes=60)["id"]
    shop.change(
        pack,
        "upsert_section",
        section_key="made",
        section_title="By [hand]",
        section_description="a\n\n### b\n\nc",
    )
    place = {"section_key": "made", "path": "src/shop.py", "line_start": 1, "line_end": 2}
    shop.change(pack, "upsert_ref", ref_key="one", ref_title="One", ref_why="first", group="core", **place)
    shop.change(pack, "upsert_ref", ref_key="two", **place)
    drawn = {"section_key": "made", "diagram_key": "flow", "title": "Flow", "mermaid": "graph TD\n a-->b"}
    shop.change(pack, "upsert_diagram", diagram_why="order", **drawn)
    shop.change(
        pack, "upsert_ref", section_key="totals", ref_key="read_total", symbol="read_total", ref_why="sums"
    )
    before = shop.store.get(pack)
    text = markdown_of(shop.store.get(pack))
    assert write(shop, text, expected_revision=before.revision)["revision"] == before.revision
    edited = text.replace("A table of discounts", "A list of discounts").replace(
        "- why: first", "- why: second"
    )
    write(shop, edited, expected_revision=before.revision)
    steps = shop.input(action="diff", id=pack, from_revision=before.revision)["changes"]
    assert [(step["part"], step["name"], step["details"]) for step in steps] == [
        ("section", "next", "description"),
        ("ref", "made/one", "why"),
    ]


@pytest.mark.clause("PK-82")
def test_a_place_that_stands_where_it_is_named_is_told_no_lines_behind_it(shop: Any) -> None:
    words = "See src/shop.py:3, src/shop.py#L1-L6 and `src/shop.py#discount`"
    pack = write(shop, f"# T\n\n{words}.\n", ttl_minutes=60)["id"]
    assert f"\n{words} (9-10).\n" in shop.output(id=pack)


@pytest.mark.clause("PK-83")
def test_a_text_that_is_written_again_unchanged_finds_what_was_not_there_before(shop: Any) -> None:
    text = "# T\n\nSee `src/shop.py#tax`.\n"
    answer = write(shop, text, ttl_minutes=60)
    assert list(answer["not_found"]) == ["src/shop.py#tax"]
    shop.files["src/shop.py"] += "\n\ndef tax(total):\n    return total * 0.2\n"
    again = write(shop, text, expected_revision=1)
    assert ("not_found" not in again, list(again["found"]), again["revision"]) == (True, ["src/shop.py"], 2)
    assert write(shop, text, expected_revision=2)["revision"] == 2


@pytest.mark.clause("PK-83")
def test_a_ref_to_lines_that_prose_names_too_stays_where_it_is_when_the_text_is_given_back(shop: Any) -> None:
    text = "# T\n\n## First\n\nRead it.\n\n## Second\n\nSee src/shop.py:4-9.\n"
    pack = write(shop, text, ttl_minutes=60)["id"]
    shop.change(
        pack, "upsert_ref", section_key="first", ref_key="own", path="src/shop.py", line_start=4, line_end=9
    )
    before = shop.store.get(pack)
    assert write(shop, markdown_of(before), expected_revision=2)["revision"] == 2
    assert shop.store.get(pack).refs == before.refs
    edited = f"{markdown_of(before)}\n## Third\n\nMore.\n"
    assert write(shop, edited, expected_revision=2)["revision"] == 3
    assert shop.store.get(pack).refs == before.refs


@pytest.mark.clause("PK-83")
def test_a_section_s_places_are_followed_by_refs_that_are_there_once_its_text_is_given_back(
    shop: Any,
) -> None:
    pack = shop.create()
    shop.section(pack, section_description="See src/shop.py:1-6 and `src/shop.py#discount`.")
    shop.ref(pack, "own", 1, 6, path="src/shop.py")
    for _ in range(2):
        write(
            shop, markdown_of(shop.store.get(pack)), id=pack, expected_revision=shop.store.get(pack).revision
        )
        refs = {ref.key: ref.spellings for _, ref in shop.store.get(pack).refs}
        assert refs == {"own": ("src/shop.py:1-6",), "discount": ("src/shop.py#discount",)}
        assert shop.store.get(pack).revision == 4


@pytest.mark.clause("PK-80")
@pytest.mark.parametrize(
    "first", ["#### own\n- path: src/shop.py\n- lines: 9-10", "- Ten percent: src/shop.py:9-10."]
)
def test_a_place_whose_code_has_moved_gets_no_second_ref_where_it_is_now(shop: Any, first: str) -> None:
    pack = write(shop, f"# T\n\nWords.\n\n{first}\n", ttl_minutes=60)["id"]
    shop.files["src/shop.py"] = "import os\n\n\n" + CODE
    text = f"# T\n\n- Made by `src/shop.py#discount`.\n\n{first}\n"
    found = write(shop, text, expected_revision=1)["found"]
    assert len(found["src/shop.py"].split(", ")) == 1, found
    assert "stale" not in shop.input(action="verify", id=pack)


@pytest.mark.clause("PK-80")
def test_a_definition_where_other_code_was_gets_a_ref_of_its_own(shop: Any) -> None:
    shop.files["src/shop.py"] = CODE.partition("\n\n\n")[2]
    pack = write(shop, "# T\n\n- Ten percent: `discount()`.\n", ttl_minutes=60)["id"]
    shop.files["src/shop.py"] = "def tax(total):\n    return total * 0.2\n\n\n" + CODE.partition("\n\n\n")[2]
    text = "# T\n\n- Taxes: `src/shop.py#tax`.\n- Ten percent: `discount()`.\n"
    write(shop, text, expected_revision=1)
    refs = [(ref.key, ref.lines.start) for _, ref in shop.store.get(pack).refs]
    assert refs == [("discount", 1), ("tax", 1)], "the first one has moved to line 5"


@pytest.mark.clause("PK-83")
def test_refs_of_one_key_in_two_sections_stay_two_when_the_text_is_written_back(desk: Any) -> None:
    pack = desk.create()
    for key, line in (("first", 1), ("second", 9)):
        desk.section(pack, key)
        desk.ref(pack, "same", line, line, section_key=key)
    text = markdown_of(desk.store.get(pack)).replace("## Main [second]", "## Second [second]")
    desk.change(pack, "write", text=text)
    assert [ref.lines.start for _, ref in desk.store.get(pack).refs] == [1, 9]


@pytest.mark.clause("PK-21")
def test_places_in_an_upserted_section_are_no_refs_and_the_answer_says_so(shop: Any) -> None:
    pack, words = shop.create(), "See src/shop.py:1-6 and `src/shop.py#discount`."
    note = shop.section(pack, section_description=words)["changed"]["warning"]
    assert note.startswith("the description names 2 places that nobody follows (src/shop.py:1-6, …)")
    assert "upsert_ref" in note
    assert "'write'" in note
    assert "[CONTENT]\n## Main [main]\nSee src/shop.py:1-6 and" in shop.output(id=pack)
    section = {"action": "upsert_section", "section_key": "main", "section_title": "Main"}
    (line,) = shop.change(pack, "batch", operations=[{**section, "section_description": words}])["changed"]
    assert line.startswith("main: the description names 2 places")
    shop.ref(pack, start=1, end=6, path="src/shop.py")
    assert "1 place" in shop.section(pack, section_description=f"Again: {words}")["changed"]["warning"]
    assert "warning" not in shop.section(pack, section_title="Other")["changed"]


@pytest.mark.clause("PK-83")
def test_lint_names_sentences_without_code_line_numbers_and_huge_places(shop: Any) -> None:
    shop.files["src/long.py"] = "x = 1\n" * 300
    text = "# T\n\nNobody checks this.\n\nSee line 7 of `read_total`.\n\nAll of src/long.py:1-250 counts.\n"
    pack = write(shop, text, ttl_minutes=60)["id"]
    remarks = remarks_on(shop.store.get(pack))
    assert [(each.what, each.text) for each in remarks] == [
        ("without_code", "Nobody checks this."),
        ("line_number", "See line 7 of `read_total`."),
        ("huge", "long-py-1-250 src/long.py:1-250 has 250 lines"),
    ]


@pytest.mark.clause("PK-83", "PK-80")
def test_a_name_that_its_code_lost_is_told_after_the_rename_was_accepted(shop: Any) -> None:
    text = "# T\n\nTen percent: `src/shop.py#discount`, in src/shop.py:9-10.\n"
    pack = write(shop, text, ttl_minutes=60)["id"]
    shop.files["src/shop.py"] = CODE.replace("discount", "rebate")
    assert "refs" in shop.input(action="verify", id=pack)
    assert remarks_on(shop.store.get(pack)) == [], "it is to be read again"
    shop.change(pack, "accept")
    (remark,) = remarks_on(shop.store.get(pack))
    assert (remark.what, remark.section) == ("renamed", "t-1")
    assert remark.text.startswith("src/shop.py#discount is src/shop.py#rebate now: Ten percent: ")
    assert "`src/shop.py#discount` (now rebate, 9-10), in src/shop.py:9-10.\n" in shop.output(id=pack)
    shop.files["src/rates.py"] = "import os\n\n\n" + shop.files.pop("src/shop.py")
    found = write(shop, f"{text}\nMore.\n", expected_revision=2)["found"]
    assert list(found) == ["src/rates.py"]
    shop.change(pack, "repair")
    (remark,) = (each for each in remarks_on(shop.store.get(pack)) if each.what == "renamed")
    assert "is src/rates.py#rebate now" in remark.text


@pytest.mark.clause("PK-83")
def test_a_section_or_a_ref_gets_another_key_where_it_stands(shop: Any) -> None:
    pack = write(shop, ttl_minutes=60)["id"]
    rename = shop.cases.packs.writer.rename
    rename(Rename(id=pack, expected_revision=1, section_key="totals", new_key="sums"))
    after = rename(
        Rename(id=pack, expected_revision=2, section_key="sums", ref_key="read_total", new_key="total")
    )
    assert [section.key for section in after.sections] == ["how-prices-are-made", "sums", "next"]
    assert [ref.key for _, ref in after.refs] == ["total", "shop-py-9-10"]
    for wrong in ({"section_key": "sums", "new_key": "next"}, {"section_key": "totals", "new_key": "x1"}):
        with pytest.raises(Failure, match=r"taken|no section"):
            rename(Rename(id=pack, expected_revision=3, **wrong))


@pytest.mark.clause("PK-80")
def test_names_in_backticks_are_places_where_they_are_no_plain_words_and_defined_here(shop: Any) -> None:
    shop.files["src/cart.py"] = "class Cart:\n    def add(self):\n        pass\n\n\ndef _sum():\n    pass\n"
    text = "# T\n\nSee `Cart.add`, `Cart.drop`, `os.path`, `safe_join`, `_sum` and `discount`.\n"
    answer = write(shop, text, ttl_minutes=60)
    assert answer["found"] == {"src/cart.py": "cart-add 2-3, sum 6-7"}
    assert list(answer["not_found"]) == ["Cart.drop"]


@pytest.mark.clause("PK-80")
def test_a_place_in_a_link_keeps_its_address(shop: Any) -> None:
    pack = write(shop, "# T\n\nThe [sum](src/shop.py#L1-L6) is made.\n", ttl_minutes=60)["id"]
    shop.files["src/shop.py"] = "\n" + CODE
    assert "The [sum](src/shop.py#L1-L6) (2-7) is made." in shop.output(id=pack)


@pytest.mark.clause("AN-24")
@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("    # every item counts\n", "", "only comments"),
        ("for item in items", "for item  in  items", "only white space"),
        ("total", "summed", "only names of locals"),
        ("(items)", "(items: list) -> int", "only types or lifetimes"),
    ],
)
def test_a_cosmetic_change_leaves_claims_alone_and_repair_accepts_it(
    shop: Any, old: str, new: str, kind: str
) -> None:
    pack = write(shop, ttl_minutes=60)["id"]
    head, gap, tail = CODE.partition("\n\n\n")
    shop.files["src/shop.py"] = head.replace("(items)", "(items)").replace(old, new) + gap + tail
    if old == "total":
        shop.files["src/shop.py"] = head.replace(" total", f" {new}") + gap + tail
    assert "to be read again" not in shop.output(id=pack)
    (done,) = [one for one in shop.change(pack, "repair")["repaired"] if one["ref"] == "read_total"]
    assert done["accepted"] == kind
    assert "refs" not in shop.input(action="verify", id=pack)


@pytest.mark.clause("AN-24", "AN-05")
@pytest.mark.parametrize(
    ("old", "new", "claim"),
    [
        ("        log(n)", "    log(n)", "Every item is logged: `m.py:4`."),
        ("    def get(self):\n    ", "def get(self):\n", "It is read by `m.py#Box.get`."),
        ("def view():", "@login_required\ndef view():", "Anybody may call `m.py#view`."),
    ],
    ids=["out of a loop", "out of a class", "decorated"],
)  # fmt: skip
def test_code_that_stands_as_it_was_but_means_something_else_is_to_be_read_again(
    new_desk: Any, old: str, new: str, claim: str
) -> None:
    code = """\
def loop(xs):
    for x in xs:
        n = x
        log(n)

class Box:
    def get(self):
        return self.x

def view():
    return 1
"""
    desk = new_desk({"m.py": code})
    pack = write(desk, text=f"# Claims\n\n{claim}\n", ttl_minutes=60)["id"]
    assert "to be read again" not in desk.output(id=pack)
    desk.files["m.py"] = code.replace(old, new)
    assert "> to be read again" in desk.output(id=pack)


@pytest.mark.clause("AN-14")
def test_a_decorated_definition_of_a_renamed_type_is_still_found(new_desk: Any) -> None:
    code = "class Box:\n    def get(self):\n        return self.content\n"
    desk = new_desk({"m.py": code})
    pack = write(desk, text="# Claims\n\nIt is read by `m.py#Box.get`.\n", ttl_minutes=60)["id"]
    desk.files["m.py"] = code.replace("Box", "Case").replace("    def", "    @cached\n    def")
    assert desk.state(pack)["state"] == "moved"


@pytest.mark.clause("PK-16", "AN-12")
def test_answers_about_thirty_refs_are_short(desk: Any) -> None:
    pack = desk.create()
    desk.section(pack)
    place = {
        "section_key": "main",
        "path": "src/app.py",
        "line_start": 5,
        "line_end": 7,
        "ref_why": "why " * 20,
    }
    many = [{"action": "upsert_ref", "ref_key": f"the-ref-{n}", **place} for n in range(30)]
    assert tokens_of(json.dumps(desk.change(pack, "batch", operations=many))) <= 800
    assert tokens_of(json.dumps(desk.input(action="verify", id=pack))) <= 32


@pytest.mark.clause("PK-80")
def test_many_headings_in_the_same_words_get_keys_of_their_own(shop: Any) -> None:
    chapter = "## Same\n\nsrc/shop.py:{0}-{0}\n\n```mermaid\ngraph TD\n```\n\n```mermaid\ngraph LR\n```\n\n"
    text = "".join(chapter.format(number) for number in (1, 2, 3, 1)) + "## Same 2\n\nWords.\n"
    pack = shop.store.get(write(shop, text, ttl_minutes=60)["id"])
    assert [section.key for section in pack.sections] == ["same", "same-2", "same-3", "same-4", "same-2-2"]
    assert [[ref.lines.start for ref in section.refs] for section in pack.sections] == [[1], [2], [3], [], []]
    assert len({diagram.key for section in pack.sections for diagram in section.diagrams}) == 8
    assert write(shop, markdown_of(pack), expected_revision=1)["revision"] == 1


@pytest.mark.clause("PK-80")
def test_a_text_of_very_many_places_is_answered_within_the_budget(shop: Any) -> None:
    shop.files["src/long.py"] = "".join(f"name_{number} = {number}\n" for number in range(1, 3001))
    text = "".join(f"Say src/long.py:{number}.\n\n" for number in range(1, 3001))
    answer = write(shop, text, ttl_minutes=60)
    assert (answer["claims"], answer["revision"]) == (3000, 1)
    assert answer["found"]["src/long.py"].startswith("long-py-1-1 1-1, long-py-2-2 2-2, ")
    assert "output" in answer["more"]


@pytest.mark.clause("PK-80")
@pytest.mark.parametrize(
    "text", ["".join(f"Say src/long.py:{number}.\n\n" for number in range(1, 3002)), "# One\n" * 10_001]
)
def test_a_text_that_is_too_much_is_refused_with_what_to_do(shop: Any, text: str) -> None:
    error = shop.refused("input", action="write", name="much", text=text, ttl_minutes=60)
    assert (error["code"], error["details"]["field"]) == ("invalid_data", "text")
    assert "make several packs" in error["message"]
    assert shop.store.all() == []


WORDS = (
    st.text("abXY 019é_*`[]()#|<>&!-.:/", max_size=30).map(lambda text: " ".join(text.split())).filter(bool)
)
KEYS = st.sampled_from(["aa", "core", "core-2", "app-py-3-4", "core-diagram", "a_b"])
PLACES = st.sampled_from(["src/app.py:3-4", "`src/app.py:7`", "[it](src/app.py#L9-L12)", "src/gone.py:1"])
BLOCKS = st.one_of(
    st.tuples(WORDS, PLACES).map(lambda pair: f"Of {pair[0]} says {pair[1]}."),
    PLACES.map(lambda place: f"- {place} is one\n- and nothing"),
    st.sampled_from(["### Deeper", "```python\n## no heading\n```", "| a | b |\n|---|---|\n| 1 | 2 |"]),
)
REFS = st.builds(
    lambda key, start, more, title, why, group: Ref(
        key, RelativePath("src/app.py"), LineRange(start, start + more), title, why, group
    ),
    KEYS,
    st.integers(1, 90),
    st.integers(0, 9),
    *[st.none() | WORDS] * 3,
)
SOURCES = st.sampled_from(["graph TD\n a-->b", "pie\n```\n"])
DIAGRAMS = st.builds(Diagram, KEYS, WORDS, SOURCES, st.none() | WORDS)
SECTIONS = st.builds(
    Section,
    KEYS,
    WORDS,
    st.none() | st.lists(BLOCKS, min_size=1, max_size=4).map("\n\n".join),
    st.lists(REFS, max_size=4, unique_by=lambda ref: ref.key),
    st.lists(DIAGRAMS, max_size=3, unique_by=lambda diagram: diagram.key),
)


def words_of(section: Section) -> set[Any]:
    """What the refs of a section say."""
    return {(ref.key, ref.path, ref.lines, ref.title, ref.why, ref.group) for ref in section.refs}


@pytest.mark.clause("PK-83")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.none() | WORDS, st.lists(SECTIONS, min_size=1, max_size=3, unique_by=lambda each: each.key))
def test_any_pack_reads_back_from_its_markdown(desk: Any, title: str | None, sections: list[Section]) -> None:
    def written(text: str, pack: Pack | None = None) -> Pack:
        seen = {"ttl_minutes": 60} if pack is None else {"id": pack.id, "expected_revision": pack.revision}
        return write_text(desk.cases.packs.writer, Write(text=text, **seen)).pack

    made = evolve(new_pack(desk.clock.now(), 60, None), title=title, sections=sections)
    read = written(markdown_of(made))
    assert read.title == title
    for old, new in zip(made.sections, read.sections, strict=True):
        assert (new.key, new.title, new.description, new.diagrams) == (
            old.key, old.title, old.description, old.diagrams
        )  # fmt: skip
        assert words_of(old) <= words_of(new)  # the prose names places of its own
    edited = written(f"{markdown_of(read)}\n## One more\n\nA sentence.\n", read)
    assert edited.sections[:-1] == read.sections
