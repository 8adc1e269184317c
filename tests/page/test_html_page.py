"""The page of a pack: complete, self-contained, with the state of every ref."""

from __future__ import annotations

import re

import pytest
from html_pages import FULL, Structure, at, pack, page, ref

from context_pack.kernel.lines import LineRange
from context_pack.kernel.paths import RelativePath
from context_pack.packs.domain.bodies import Body, Style
from context_pack.packs.domain.model import CodeLocation, Diagram, Section
from context_pack.packs.domain.states import Resolution, State
from context_pack_adapters.page.page import POLICY, style_sheet


@pytest.mark.clause("HTML-01")
def test_the_page_is_one_well_formed_document_with_nothing_outside_it() -> None:
    shown = page(FULL)
    structure = Structure(shown)
    assert shown.startswith("<!DOCTYPE html>\n<html lang=")
    assert f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">' in shown
    assert not {tag for tag, _ in structure.tags} & {
        "script",
        "iframe",
        "object",
        "embed",
        "form",
        "input",
        "base",
    }
    assert not [name for _, name, _ in structure.attributes if name.startswith("on")]
    for name in ("src", "srcset"):
        assert all(value.startswith("data:image/svg+xml;base64,") for value in structure.values(name))
    assert {value[:1] for value in structure.values("href")} == {"#", "d"}
    assert [value for value in structure.values("href") if not value.startswith("#")] == ["data:,"]
    assert "url(" not in style_sheet()
    assert "@import" not in style_sheet()


@pytest.mark.clause("HTML-01")
def test_the_policy_lets_a_browser_load_and_run_nothing() -> None:
    rules = dict(rule.strip().split(" ", 1) for rule in POLICY.split(";"))
    assert rules == {
        "default-src": "'none'",
        "style-src": "'unsafe-inline'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


@pytest.mark.clause("HTML-02")
def test_the_html_head_shows_title_status_revision_and_expiry() -> None:
    shown = page(FULL)
    for words in (
        "<title>A title · context pack</title>",
        "<h1>A title</h1>",
        "A brief",
        '<span class="badge draft">draft</span>',
        "<dt>Revision</dt><dd>7</dd>",
        "<code>pk_abcdefgh</code>",
        "<dd>my-pack</dd>",
        '<time datetime="2026-03-02T12:00:00Z">2026-03-02 12:00 UTC</time> (12d left)',
        '<li class="chip">one</li><li class="chip">two</li>',
        "3 refs, 1 diagram",
    ):
        assert words in shown


@pytest.mark.clause("HTML-02", "HTML-04")
def test_code_between_backticks_of_the_brief_is_code() -> None:
    assert '<p class="brief">begin at <code>pay</code> &lt;b&gt;</p>' in page(
        pack(brief="begin at `pay` <b>")
    )


@pytest.mark.clause("HTML-02")
def test_absent_facts_are_left_out() -> None:
    shown = page(pack())
    assert "<h1>Untitled</h1>" in shown
    assert "<dt>Name</dt>" not in shown
    assert 'aria-label="Tags"' not in shown
    assert 'class="brief"' not in shown
    assert "This pack has no sections yet." in shown


@pytest.mark.clause("HTML-02")
def test_parts_stand_in_the_order_of_the_rendered_markdown() -> None:
    shown = page(FULL)
    body = shown[shown.index("<main") :]
    order = ["The flow</a>", "How <strong>it</strong> goes.", 'id="flow-loose"', "<h3>Group: alpha</h3>"]
    order += [
        'id="flow-alpha"',
        "<h3>Group: zeta</h3>",
        'id="flow-beta"',
        "<h3>Diagrams</h3>",
        'id="flow-graph"',
    ]
    places = [body.index(words) for words in [*order, "The rest</a>"]]
    assert places == sorted(places)


@pytest.mark.clause("HTML-02")
def test_the_contents_lead_to_every_section_ref_and_diagram() -> None:
    shown = page(FULL, at(State.MOVED))
    contents = shown[shown.index("<nav") : shown.index("</nav>")]
    assert re.findall('href="#([^"]+)"', contents) == [
        "flow",
        "flow-loose",
        "flow-alpha",
        "flow-beta",
        "flow-graph",
        "rest",
    ]
    assert contents.count('<span class="unseen">moved</span>') == 3


@pytest.mark.clause("HTML-16")
def test_a_ref_names_its_place_as_editors_take_it_and_one_click_marks_it() -> None:
    one = ref("one", "src/a <b>.py", 12, 40)
    moved = at(State.MOVED, CodeLocation(RelativePath("src/new.py"), LineRange(1, 4)))
    section = Section("flow", "Flow", None, (one,))
    assert '<code class="place">src/a &lt;b&gt;.py:12-40</code>' in page(pack(section), at(State.STALE))
    assert '<code class="place">src/new.py:1-4</code>' in page(pack(section), moved)
    assert ".place{user-select:all;" in style_sheet()


@pytest.mark.clause("HTML-16")
def test_backticks_of_a_reason_are_code() -> None:
    why = "calls `a<b>()` and ``x`y``, not ` alone"
    diagram = Diagram("dia", "D", "no diagram", "see `A`")
    shown = page(pack(Section("flow", "Flow", None, (ref("one", why=why),), (diagram,))))
    assert "calls <code>a&lt;b&gt;()</code> and <code>x`y</code>, not ` alone" in shown
    assert "see <code>A</code>" in shown
    assert "`a`" * 2_000 in page(pack(Section("flow", "Flow", None, (ref("one", why="`a`" * 2_000),))))


@pytest.mark.clause("HTML-16")
def test_wide_blocks_show_a_scroll_shadow() -> None:
    sheet = style_sheet()
    assert ".code pre,.prose pre,.prose table,.drawing{" in sheet
    assert "no-repeat local" in sheet
    assert "no-repeat scroll" in sheet


@pytest.mark.clause("HTML-06")
def test_every_id_is_unique_and_every_link_leads_to_one() -> None:
    sections = (
        Section("a-b", "One", None, (ref("cd"), ref("x1"))),
        Section("aa", "Two", None, (ref("b-cd"), ref("cd"))),
        Section("aa-cd", "Three", None, (ref("cd"),), (Diagram("x-1", "D", "pie"),)),
        Section("aa-b", "Four", None, (ref("cd"),)),
    )
    structure = Structure(page(pack(*sections), at(State.CHANGED)))
    ids = structure.values("id")
    assert len(ids) == len(set(ids))
    links = {value[1:] for value in structure.values("href") if value.startswith("#")}
    assert links <= set(ids)
    assert set(structure.values("aria-labelledby")) <= set(ids)


@pytest.mark.clause("HTML-03")
@pytest.mark.parametrize("state", State)
def test_a_card_shows_the_state_of_its_ref(state: State) -> None:
    shown = page(pack(Section("flow", "Flow", None, (ref("loose", title="Entry"),))), at(state))
    card = shown[shown.index("<article") : shown.index("</article>")]
    assert re.search(
        rf'<span class="badge {state}" title="[^"]+"><span aria-hidden="true">\S</span> {state}</span>', card
    )
    assert f"1 {state}</span>" in shown[: shown.index("<nav")]
    has_code = state not in (State.STALE, State.AMBIGUOUS, State.UNKNOWN)
    assert ("<pre" in card) is has_code
    assert ("line_42" in card) is has_code
    wanting = state in (State.CHANGED, State.STALE, State.AMBIGUOUS, State.UNKNOWN)
    assert ('class="warning"' in card) is wanting
    assert (f'<a href="#flow-loose">Entry</a>: {state}' in shown) is wanting


@pytest.mark.clause("HTML-03")
def test_the_warnings_say_what_is_wrong() -> None:
    one = pack(Section("flow", "Flow", None, (ref("loose"),)))
    assert "This code has changed since the ref was anchored." in page(one, at(State.CHANGED))
    assert "Stale ref, no code shown:</strong> file not found" in page(one, at(State.STALE))
    assert "Ambiguous ref, no code shown:</strong> lines 3-4, 8-9" in page(one, at(State.AMBIGUOUS))
    assert "1 ref needs attention" in page(one, at(State.STALE))
    assert "attention</h2>" not in page(one, at(State.MOVED))


@pytest.mark.clause("HTML-03", "AN-10")
def test_a_stale_ref_shows_what_it_was_and_says_that_it_is_gone() -> None:
    one = pack(Section("flow", "Flow", None, (ref("loose"),)))
    former = Body(Style.FENCE, ["def gone(x):", "    return x < 1"], "python", 42)
    shown = page(one, lambda _: Resolution(State.STALE, reason="file not found", former=former))
    assert "<summary>What it was when it was anchored; it is nowhere now</summary>" in shown
    kept = shown[shown.index('<details class="code former">') : shown.index("</article>")]
    assert re.sub("<[^>]+>", "", kept).endswith("def gone(x):\n    return x &lt; 1\n")


@pytest.mark.clause("HTML-03")
def test_moved_code_says_where_it_was() -> None:
    found = CodeLocation(RelativePath("lib/app.py"), LineRange(45, 48))
    shown = page(pack(Section("flow", "Flow", None, (ref("loose"),))), at(State.MOVED, found))
    assert '<code>lib/app.py</code> <span class="was">(moved from <code>src/app.py</code>)</span>' in shown
    assert '<code>45-48</code> <span class="was">(moved from <code>42-45</code>)</span>' in shown
    assert 'id="flow-loose-L45"' in shown
    assert 'id="flow-loose-L44"' not in shown


@pytest.mark.clause("HTML-07")
def test_every_line_of_code_has_its_number_and_a_link_to_itself() -> None:
    shown = page(pack(Section("flow", "Flow", None, (ref("loose"),))))
    lines = re.findall(r'<span class="l" id="([^"]+)"><a href="#([^"]+)" tabindex="-1">(\d+)</a>(.*)', shown)
    assert [(name, link, number) for name, link, number, _ in lines] == [
        (f"flow-loose-L{number}", f"flow-loose-L{number}", str(number)) for number in range(42, 46)
    ]
    assert "4 lines of python" in shown
    assert lines[0][3] == 'line_42 = <span class="n">42</span>'
