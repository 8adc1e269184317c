"""The page of a pack: complete, self-contained, legible; who draws its diagrams, and if that fails."""

from __future__ import annotations

import re
import sys
from base64 import b64decode
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser
from re import findall

import pytest
from html_pages import FULL, at, pack, page, ref
from hypothesis import given, settings
from hypothesis import strategies as st
from pygments.styles import get_style_by_name

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import LineRange
from context_pack.packs.difference import ChangeKind, Difference
from context_pack.packs.model import CodeLocation, Diagram, Pack, Ref, Section
from context_pack.packs.states import Resolution, State
from context_pack_adapters.about import install_command
from context_pack_adapters.page.diagrams import INSTALL, PROCESS, Drawing, Undrawn, draw
from context_pack_adapters.page.markup import DARK, LIGHT
from context_pack_adapters.page.page import POLICY

VOID = {"meta", "link", "br", "hr", "img", "source"}


class Structure(HTMLParser):
    """A page as a parser sees it; fails on an element that is not closed where it should be."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(markup)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def values(self, name: str) -> list[str]:
        """Every value of an attribute."""
        return [value for _, key, value in self.attributes if key == name]


ONE = pack(Section("flow", "Flow", None, (ref("loose", title="Entry"),)))
STYLE = re.search("<style>(.*?)</style>", page(pack()), re.DOTALL)
SHEET = STYLE[1] if STYLE else ""


def card(markup: str) -> str:
    """The first ref of a page."""
    return markup[markup.index("<article") : markup.index("</article>")]


@pytest.mark.clause("HTML-01")
def test_the_page_is_one_well_formed_document_with_nothing_outside_it() -> None:
    markup = page(FULL)
    structure = Structure(markup)
    assert markup.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">' in markup
    assert POLICY == (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    forbidden = {"script", "iframe", "object", "embed", "form", "input", "base", "svg"}
    assert not {tag for tag, _ in structure.tags} & forbidden
    assert not [name for _, name, _ in structure.attributes if name.startswith("on")]
    assert all(value.startswith("data:image/svg+xml;base64,") for value in structure.values("src"))
    assert {value for value in structure.values("href") if not value.startswith("#")} == {"data:,"}
    assert "url(" not in SHEET
    assert "@import" not in SHEET


@pytest.mark.clause("HTML-02")
def test_the_head_shows_the_facts_of_the_pack_that_are_there() -> None:
    markup = page(FULL)
    for words in (
        "<title>A title · context pack</title>",
        "<h1>A title</h1>",
        '<p class="brief">A brief</p>',
        '<li class="badge draft">draft</li>',
        "</span> 3 exact</span>",
        '<li class="chip">one</li>\n<li class="chip">two</li>',
        "<code>pk_abcdefgh</code> · my-pack · revision 7 · 3 refs, 1 diagram ·",
        '<time datetime="2026-03-02T12:00:00Z">2026-03-02 12:00 UTC</time> (12d left)',
    ):
        assert words in markup
    bare = page(pack())
    assert "<h1>Untitled</h1>" in bare
    assert "This pack has no sections yet." in bare
    assert 'class="brief"' not in bare
    assert 'class="chip"' not in bare


@pytest.mark.clause("HTML-02")
def test_parts_stand_in_the_order_of_their_author_in_contents_and_page() -> None:
    markup = page(FULL, at(State.MOVED))
    contents, body = markup[markup.index("<nav") : markup.index("</nav>")], markup[markup.index("<main") :]
    parts = ["flow", "flow.loose", "flow.beta", "flow.alpha", "flow.graph.D", "rest"]
    assert re.findall('href="#([^"]+)"', contents) == parts
    assert contents.count('title="moved"') == 3
    order = ["How <strong>it</strong> goes.", 'id="flow.loose"', "<h3>zeta</h3>", 'id="flow.beta"']
    places = [
        body.index(words) for words in (*order, "<h3>alpha</h3>", 'id="flow.alpha"', 'id="flow.graph.D"')
    ]
    assert places == sorted(places)


@pytest.mark.clause("HTML-03")
@pytest.mark.parametrize("state", State)
def test_a_ref_shows_its_state_and_the_top_lists_what_must_be_looked_at_again(state: State) -> None:
    markup = page(ONE, at(state))
    assert re.search(rf'"badge {state}"><span aria-hidden="true">\S</span> {state}</span>', card(markup))
    top = markup[: markup.index("<nav")]
    assert f"1 {state}</span>" in top
    assert ("line_42" in card(markup)) is (state not in (State.STALE, State.AMBIGUOUS, State.UNKNOWN))
    attention = state in (State.CHANGED, State.STALE, State.AMBIGUOUS, State.UNKNOWN)
    assert ('class="warning"' in card(markup)) is attention
    assert (f'<a href="#flow.loose">Entry</a> <b>{state}</b>' in top) is attention
    assert ("Look at again: 1 ref<" in top) is attention


@pytest.mark.clause("HTML-03")
@pytest.mark.parametrize("kind", [ChangeKind.BODY, ChangeKind.COMMENTS])
def test_the_top_lists_statements_whose_code_changed_in_more_than_looks(kind: ChangeKind) -> None:
    named = ref("entry", spellings=("src/app.py:42-45",))
    says = "Everything begins in `src/app.py:42-45`, <once>."
    diff = Difference(1, 4, kind, ("@@ -1 +1 @@", "-a", "+b"), kind is ChangeKind.COMMENTS)
    here = CodeLocation(RelativePath("src/app.py"), LineRange(42, 42))
    markup = page(pack(Section("flow", "Flow", f"{says}\n\nNobody checks this.", (named,))),
                  lambda _: Resolution(State.CHANGED, here, "changed", "b", difference=diff))  # fmt: skip
    top = markup[: markup.index("<nav")]
    assert ("To be read again: 1 statement<" in top) is (kind is ChangeKind.BODY)
    assert ('<a href="#flow.entry">entry</a> <b>changed</b>' in top) is (kind is ChangeKind.BODY)
    assert "&lt;once&gt;" in markup
    assert "1 claim, 1 statement without code" in top


@pytest.mark.clause("HTML-03", "AN-10")
def test_a_changed_ref_opens_its_diff_and_a_stale_one_what_it_was() -> None:
    diff = Difference(1, 4, ChangeKind.BODY, ("@@ -1 +1 @@", "-a < 1", "+a < 2"))
    here = CodeLocation(RelativePath("src/app.py"), LineRange(42, 42))
    changed = card(page(ONE, lambda _: Resolution(State.CHANGED, here, "changed", "a < 2", difference=diff)))
    assert "1 of 4 lines, body" in changed
    assert '<details class="code diff" open><summary>What changed since it was anchored' in changed
    assert '<span class="gi">+a &lt; 2' in changed
    assert changed.index("code diff") < changed.index("1 line, as of now")
    former = "def gone(x):\n    return x < 1"
    stale = card(page(ONE, lambda _: Resolution(State.STALE, reason="file not found", former=former)))
    assert "<strong>Stale:</strong> file not found" in stale
    assert '<details class="code former" open>' in stale
    assert re.sub("<[^>]+>", "", stale).rstrip().endswith("def gone(x):\n    return x &lt; 1")
    assert "lines 3-4, 8-9" in card(page(ONE, at(State.AMBIGUOUS)))


@pytest.mark.clause("HTML-03", "HTML-14")
def test_a_ref_names_its_place_as_editors_take_it_and_where_it_stood() -> None:
    moved = card(page(ONE, at(State.MOVED, CodeLocation(RelativePath("lib/a <b>.py"), LineRange(1, 4)))))
    assert '<code class="place">lib/a &lt;b&gt;.py:1-4</code>' in moved
    assert "moved from <code>src/app.py:42-45</code>" in moved
    assert 'id="flow.loose-L-4"' in moved
    assert 'id="flow.loose-L-5"' not in moved
    assert "moved from" not in page(ONE)
    assert re.search(r"\.place\{[^}]*user-select:all", SHEET)


@pytest.mark.clause("HTML-14")
def test_backticks_of_brief_and_reasons_are_code_and_wide_blocks_have_a_shadow() -> None:
    diagram = Diagram("dia", "D", "no diagram", "see `A`")
    one = ref("one", why="calls `a<b>()` and ``x`y``, *not* [l](x) ` alone")
    markup = page(pack(Section("flow", "Flow", None, (one,), (diagram,)), brief="begin at `pay` <b>"))
    assert "calls <code>a&lt;b&gt;()</code> and <code>x`y</code>, *not* [l](x) ` alone" in markup
    assert "see <code>A</code>" in markup
    assert "begin at <code>pay</code> &lt;b&gt;" in markup
    assert re.search(
        r"\.highlight pre,\.prose table,\.drawing\{.*?no-repeat local.*?no-repeat scroll", SHEET, re.S
    )


@pytest.mark.clause("HTML-04")
def test_every_id_is_unique_and_every_link_leads_to_one() -> None:
    sections = (
        Section("a-b", "One", None, (ref("cd"), ref("x1"))),
        Section("aa", "Two", None, (ref("b-cd"), ref("cd"))),
        Section("aa-cd", "Three", None, (ref("x-1"),), (Diagram("x-1", "D", "pie"),)),
    )
    structure = Structure(page(pack(*sections), at(State.CHANGED)))
    ids = structure.values("id")
    assert len(ids) == len(set(ids))
    assert {value[1:] for value in structure.values("href") if value.startswith("#")} <= set(ids)
    assert set(structure.values("aria-labelledby")) <= set(ids)


LINE = st.text(
    alphabet=st.sampled_from("<>&\"'=/!-; abcx`*_[](){}#|\\\u202e\u00a0")
    | st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]),
    max_size=40,
)
HOSTILE = LINE | st.sampled_from(
    [
        "</title><script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "' onmouseover='alert(1)",
        "</style><svg onload=alert(1)>",
        "<!--",
        "{{ 7 * 7 }}{% raw %}",
        "</pre></code></details></article>",
    ]
)
PATHS = HOSTILE.map(lambda value: re.sub(r"[\\/:]|^\.+$", "_", value).strip() or "p")


def filled(value: Callable[[], str], path: str, source: str) -> tuple[Pack, Callable[[Ref], Resolution]]:
    """A pack with text in every field, and code that no lexer knows."""
    here = RelativePath(path + "/file.unknown-language")
    one = Ref("ref-a", here, LineRange(1, 2), title=value(), why=value().replace("`", "'"), group=value())
    two = Ref("ref-b", RelativePath("x/" + path), LineRange(1, 1), title=value())
    diagram = Diagram("diagram", value(), "no diagram: " + value(), value().replace("`", "'"))
    sections = Section("flow", value(), None, (one,), (diagram,)), Section("rest", value(), None, (two,))
    shown = pack(*sections, title=value(), brief=value().replace("`", "'"), tags=(value(),), name=value())

    def resolve(which: Ref) -> Resolution:
        if which.key == "ref-b":
            return Resolution(State.STALE, reason=value())
        place = CodeLocation(RelativePath("moved/" + path), LineRange(3, 4))
        return at(State.MOVED, place, f"1\n2\n{source}\n4")(which)

    return shown, resolve


PLAIN_TAGS = Structure(page(*filled(lambda: "plain text", "plain", "plain source"))).tags


@pytest.mark.slow
@pytest.mark.clause("HTML-04")
@settings(max_examples=60)
@given(st.data())
def test_no_field_path_or_source_line_changes_the_structure_of_the_page(data: st.DataObject) -> None:
    def value() -> str:
        drawn = data.draw(HOSTILE).strip()
        return (drawn if len(drawn) > 2 else drawn + "abc").removeprefix("pk_")

    shown, resolve = filled(value, data.draw(PATHS), data.draw(LINE).replace("\n", " "))
    assert Structure(page(shown, resolve)).tags == PLAIN_TAGS


@pytest.mark.clause("HTML-04")
def test_hostile_texts_are_shown_as_they_were_written() -> None:
    words = "</title><script>alert('1')</script> & \"more\" {{ 7 * 7 }}"
    shown = "".join(Structure(page(*filled(lambda: words, "a<b>&c", "</code><script>"))).words)
    assert shown.count(words) >= 10
    assert "a<b>&c/file.unknown-language" in shown
    assert "</code><script>" in shown


COLOURS = [
    dict(re.findall(r"--([\w-]+):(#\w{6});", scheme)) for scheme in SHEET.split("prefers-color-scheme")[:2]
]
PAIRS = [
    *((ink, ground) for ink in ("ink", "soft", "link") for ground in ("page", "sheet")),
    *((name, f"{name}-bg") for name in ("good", "calm", "plain", "warn", "bad")),
    *((name, ground) for name in ("good", "calm", "plain", "warn", "bad") for ground in ("page", "sheet")),
    ("ink", "mark"),
]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, as WCAG defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.clause("HTML-14")
@pytest.mark.parametrize("colours, style", [*zip(COLOURS, (LIGHT, DARK), strict=True)], ids=["light", "dark"])
def test_every_text_has_enough_contrast_in_both_schemes(colours: dict[str, str], style: str) -> None:
    ratios = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in PAIRS}
    for token, rule in get_style_by_name(style):
        if rule["color"] and str(token) != "Token.Text.Whitespace":
            ratios[str(token), "sheet"] = contrast(f"#{rule['color']}", colours["sheet"])
    assert {pair: round(ratio, 2) for pair, ratio in ratios.items() if ratio < 4.5} == {}


@pytest.mark.clause("HTML-14")
def test_dark_mode_applies_to_screens_and_not_to_print() -> None:
    assert COLOURS[0].keys() == COLOURS[1].keys()
    assert (
        SHEET.count("prefers-color-scheme")
        == SHEET.count("@media screen and (prefers-color-scheme:dark)")
        == 2
    )
    assert "@media print" in SHEET
    assert '<meta name="color-scheme" content="light dark">' in page(FULL)


FLOW = "flowchart LR\n  A[Read bytes] --> B{Whole?}\n  B -- yes --> C[(Store)]"
BROKEN = "flowchart LR\n  A --> --> B[[["
HOG = (
    f"flowchart LR\n{' & '.join(f'a{i}' for i in range(1500))} --> {' & '.join(f'b{i}' for i in range(1500))}"
)
KINDS = {
    "flowchart": FLOW,
    "sequence": "sequenceDiagram\n  A->>B: hello\n  B-->>A: world",
    "pie": 'pie title Refs\n  "exact" : 30\n  "moved" : 5',
}


def shown(source: str, title: str = "Flow") -> str:
    """The page of one diagram, from its figure on."""
    markup = page(pack(Section("flow", "Flow", None, (), (Diagram("graph", title, source),))))
    return markup[markup.index("<figure") :]


@pytest.mark.clause("HTML-09")
def test_diagrams_are_drawn_with_their_words_and_size() -> None:
    drawings = dict(zip(KINDS, draw(list(KINDS.values())), strict=True))
    for kind, drawing in drawings.items():
        assert isinstance(drawing, Drawing), (kind, drawing)
        assert min(drawing.size) > 20, kind
        assert "<text" in drawing.svg
    flow = drawings["flowchart"]
    assert isinstance(flow, Drawing)
    assert all(words in flow.svg for words in ("Read bytes", "Whole?", "yes", "Store"))


@pytest.mark.clause("HTML-09")
def test_a_figure_holds_the_picture_and_the_source() -> None:
    markup = shown(FLOW, 'A <b> & "q"')
    (data,) = findall(r'<img src="data:image/svg\+xml;base64,([^"]+)"', markup)
    assert b64decode(data).startswith(b"<svg")
    assert unescape(markup).count(FLOW) == 1
    assert 'alt="A &lt;b&gt; &amp; &#34;q&#34;; its Mermaid source follows"' in markup
    assert "Not drawn" not in markup


@pytest.mark.clause("HTML-01")
@pytest.mark.parametrize(
    "source",
    [
        'flowchart LR\n  A["<img src=x onerror=alert(1)><script>alert(2)</script>"] --> B',
        '%%{init: {"themeCSS":"@import url(https://evil.example/x.css);"}}%%\nflowchart LR\n  A-->B',
        'flowchart LR\n  A --> B\n  click A "javascript:alert(1)"',
        'flowchart LR\n  A@{ img: "https://evil.example/x.png", label: "L" } --> B',
    ],
)
def test_a_hostile_diagram_is_at_most_an_image(source: str) -> None:
    structure = Structure(
        "<main>" + shown(source).partition("</main>")[0].removesuffix("</section>\n") + "</main>"
    )
    assert not {tag for tag, _ in structure.tags} & {"svg", "script", "style", "object", "iframe"}
    assert all(value.startswith("data:image/svg+xml;base64,") for value in structure.values("src"))
    assert {value[:1] for value in structure.values("href")} == {"#"}


@pytest.mark.clause("HTML-09")
def test_a_broken_diagram_shows_its_source_and_why() -> None:
    markup = shown(BROKEN)
    assert "<strong>Not drawn:</strong> Diagram parse error" in markup
    assert '<details class="code source" open>' in markup
    assert BROKEN in unescape(markup)
    assert "<img" not in markup


@pytest.mark.clause("HTML-09")
@pytest.mark.parametrize("bad", [BROKEN, pytest.param(HOG, marks=pytest.mark.slow)], ids=["broken", "hog"])
def test_a_diagram_that_cannot_be_drawn_fails_alone(bad: str) -> None:
    answers = draw([FLOW, bad, KINDS["pie"]])
    assert [type(answer) for answer in answers] == [Drawing, Undrawn, Drawing]


@pytest.mark.clause("HTML-09")
def test_without_the_drawing_package_the_note_says_how_to_get_it() -> None:
    without = [*PROCESS[:-1], "import sys; sys.modules['mmdr'] = None; " + PROCESS[-1]]
    assert draw([FLOW, FLOW], process=without) == [Undrawn(INSTALL)] * 2
    assert install_command("html") in INSTALL


@pytest.mark.clause("HTML-09")
def test_a_process_that_hangs_is_ended_and_one_that_cannot_start_is_survived() -> None:
    hanging = (sys.executable, "-c", "import time; time.sleep(600)")
    assert {type(each) for each in draw([FLOW, FLOW], seconds=0.5, process=hanging)} == {Undrawn}
    assert [type(each) for each in draw([FLOW], process=("/no/such/program",))] == [Undrawn]
