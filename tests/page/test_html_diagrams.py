"""Mermaid sources as pictures: whose colours they wear, who draws them, and what happens when that fails."""

from __future__ import annotations

import subprocess
import sys
from base64 import b64decode
from html import unescape
from re import findall

import pytest

from context_pack.packs.domain.model import Diagram
from context_pack_adapters.page import mermaid
from context_pack_adapters.page.drawing import ENGINE, INSTALL, Undrawn, draw
from context_pack_adapters.page.engine import NOT_INSTALLED
from context_pack_adapters.page.figures import Figure, figure, figures
from context_pack_adapters.page.svg import Picture, harmless
from context_pack_adapters.system import python_environment

FLOW = "flowchart LR\n  A[Read bytes] --> B{Whole?}\n  B -- yes --> C[(Store)]"
BROKEN = "flowchart LR\n  A --> --> B[[["
HOG = (
    f"flowchart LR\n{' & '.join(f'a{i}' for i in range(1500))} --> {' & '.join(f'b{i}' for i in range(1500))}"
)
KINDS = {
    "flowchart": FLOW,
    "sequence": "sequenceDiagram\n  A->>B: hello\n  B-->>A: world",
    "class": "classDiagram\n  class Pack {\n    +str id\n  }\n  Pack *-- Section : holds",
    "state": "stateDiagram-v2\n  [*] --> draft\n  draft --> finalized: readable",
    "entity": "erDiagram\n  PACK ||--o{ SECTION : has",
    "gantt": "gantt\n  dateFormat YYYY-MM-DD\n  section One\n  Design :a1, 2026-01-01, 10d",
    "pie": 'pie title Refs\n  "exact" : 30\n  "moved" : 5',
    "mindmap": "mindmap\n  root((context))\n    packs\n    memory",
    "git": "gitGraph\n  commit\n  branch dev\n  commit",
    "journey": "journey\n  title Day\n  section Work\n    Code: 5: Me",
    "timeline": "timeline\n  title History\n  2024 : one",
    "quadrant": "quadrantChart\n  x-axis Low --> High\n  y-axis Bad --> Good\n  A: [0.3, 0.6]",
}


def one(source: str, title: str = "Flow") -> Figure:
    """The figure of one diagram."""
    (made,) = figures([(Diagram("flow", title, source), "s-flow")])
    return made


def pictures(markup: str) -> list[str]:
    """The SVG texts embedded in some markup."""
    found = findall(r'data:image/svg\+xml;base64,([^" ]+)', markup)
    return [b64decode(data).decode() for data in found]


@pytest.mark.clause("HTML-09")
@pytest.mark.parametrize("kind", KINDS)
def test_every_usual_kind_of_diagram_is_drawn(kind: str) -> None:
    made = one(KINDS[kind])
    assert isinstance(made.light, Picture), made.light
    assert made.light.width > 20
    assert "<text" in made.light.svg


@pytest.mark.clause("HTML-09")
def test_a_drawing_shows_the_words_of_its_source() -> None:
    light = one(FLOW).light
    assert isinstance(light, Picture)
    for words in ("Read bytes", "Whole?", "yes", "Store"):
        assert words in light.svg


@pytest.mark.clause("HTML-09")
def test_a_figure_holds_both_pictures_and_the_source() -> None:
    markup = figure(one(FLOW, 'A <b> & "q"'), 3)
    assert len(pictures(markup)) == 2
    assert (
        '<source media="screen and (prefers-color-scheme: dark)" srcset="data:image/svg+xml;base64,' in markup
    )
    assert unescape(markup).count(FLOW) == 1
    assert 'alt="A &lt;b&gt; &amp; &quot;q&quot;; its Mermaid source follows"' in markup
    assert "Not drawn" not in markup


@pytest.mark.clause("HTML-11")
def test_a_diagram_with_colours_of_its_own_stays_on_light_paper() -> None:
    for own in ("\n  style A fill:#f00", "\n  classDef hot fill:#900\n  class A hot", "\n  A:::hot --> C"):
        assert mermaid.dark(FLOW + own) is None
        assert 'class="drawing paper"' in figure(one(FLOW + own), 3)
    assert mermaid.dark("%%{init: {'theme':'forest'}}%%\n" + FLOW) is None
    assert mermaid.dark("---\nconfig:\n  theme: forest\n---\n" + FLOW) is None
    assert mermaid.dark(KINDS["pie"]) is None
    assert mermaid.dark(FLOW) is not None
    assert 'class="drawing"' in figure(one(FLOW), 3)


@pytest.mark.clause("HTML-11")
@pytest.mark.parametrize("kind", ["journey", "timeline"])
def test_journey_and_timeline_diagrams_have_a_dark_version(kind: str) -> None:
    shown = one(KINDS[kind])
    assert isinstance(shown.light, Picture)
    assert shown.dark is not None
    assert shown.dark.svg != shown.light.svg


@pytest.mark.clause("HTML-11")
def test_the_label_of_an_edge_has_room_around_it() -> None:
    light = one(FLOW).light
    assert isinstance(light, Picture)
    assert findall(r'<rect[^>]*fill="#ffffff"[^>]*stroke="#ffffff"[^>]*stroke-width="8"', light.svg)


@pytest.mark.clause("HTML-11")
def test_colours_are_given_only_where_the_author_configured_nothing() -> None:
    for own in ("%%{init: {'theme':'forest'}}%%\n" + FLOW, "---\nconfig:\n  theme: forest\n---\n" + FLOW):
        assert mermaid.light(own) == own
    titled = mermaid.light("---\ntitle: T\n---\n" + FLOW)
    assert titled.startswith("---\ntitle: T\n---\n%%{init: ")
    assert isinstance(one("---\ntitle: T\n---\n" + FLOW).light, Picture)


@pytest.mark.clause("HTML-10")
def test_links_are_left_out_and_labels_stay_in_their_nodes() -> None:
    linked = FLOW + '\n  click A "https://evil.example/x" "tip"\n  click B call alert(1)'
    assert "click" not in mermaid.light(linked)
    assert one(linked) == Figure(Diagram("flow", "Flow", linked), "s-flow", one(FLOW).light, one(FLOW).dark)
    assert mermaid.light("mindmap\n  root\n    click here").endswith("click here")


@pytest.mark.parametrize(
    "source, kind",
    [
        (FLOW, "flowchart"),
        ("%% remark\n\n  graph TD", "graph"),
        ("---\ntitle: x\n---\npie", "pie"),
        ("---\nnot closed", ""),
        ("", ""),
        ("stateDiagram-v2", "stateDiagram-v2"),
    ],
)
def test_the_kind_of_a_source_is_its_first_word(source: str, kind: str) -> None:
    assert mermaid.kind(source) == kind


@pytest.mark.clause("HTML-12")
def test_a_broken_diagram_shows_its_source_and_why() -> None:
    markup = figure(one(BROKEN), 4)
    assert "<strong>Not drawn:</strong> Diagram parse error" in markup
    assert '<details class="code" open>' in markup
    assert BROKEN in unescape(markup)
    assert pictures(markup) == []


@pytest.mark.clause("HTML-12")
def test_one_broken_diagram_does_not_keep_others_from_being_drawn() -> None:
    answers = draw([FLOW, BROKEN, KINDS["pie"]])
    assert [type(answer) for answer in answers] == [str, Undrawn, str]


@pytest.mark.clause("HTML-12")
@pytest.mark.slow
def test_a_diagram_that_crashes_the_renderer_fails_alone() -> None:
    answers = draw([FLOW, HOG, KINDS["pie"]])
    assert [type(answer) for answer in answers] == [str, Undrawn, str]


@pytest.mark.clause("HTML-12")
def test_without_the_drawing_package_the_note_says_how_to_get_it() -> None:
    bare = (ENGINE[0], "-S", *ENGINE[1:])  # -S: no installed packages
    child = subprocess.run(bare, input=b"[]", env=python_environment(), check=False)
    assert child.returncode == NOT_INSTALLED
    answers = draw([FLOW, FLOW], engine=bare)
    assert answers == [Undrawn(INSTALL)] * 2
    assert "pip install" in INSTALL


@pytest.mark.clause("HTML-12", "HTML-13")
def test_a_hanging_renderer_process_is_killed() -> None:
    hanging = (sys.executable, "-c", "import time; time.sleep(600)")
    answers = draw([FLOW, FLOW], seconds=0.5, engine=hanging)
    assert len(answers) == 2
    assert all(isinstance(answer, Undrawn) for answer in answers)


@pytest.mark.clause("HTML-12")
def test_diagrams_are_shown_as_source_if_the_renderer_cannot_start() -> None:
    assert [type(answer) for answer in draw([FLOW], engine=("/no/such/program",))] == [Undrawn]


@pytest.mark.clause("HTML-10")
@pytest.mark.parametrize(
    "source",
    [
        'flowchart LR\n  A["<img src=x onerror=alert(1)><script>alert(2)</script>"] --> B',
        '%%{init: {"securityLevel":"loose"}}%%\nflowchart LR\n  A["<a href=\'javascript:x()\'>x</a>"]-->B',
        '%%{init: {"themeCSS":"@import url(https://evil.example/x.css);"}}%%\nflowchart LR\n  A-->B',
        '%%{init: {"fontFamily":"x;}*{background:url(//evil.example/b)}"}}%%\nflowchart LR\n  A-->B',
        'flowchart LR\n  A@{ img: "https://evil.example/x.png", label: "L" } --> B',
        "flowchart LR\n  A --> B\n  style A fill:url(https://evil.example/a.svg)",
        "sequenceDiagram\n  participant A\n  link A: D @ https://evil.example\n  A->>A: <script>x()</script>",
        'classDiagram\n  class A\n  link A "javascript:alert(1)" "t"',
        'gantt\n  dateFormat YYYY-MM-DD\n  T :t1, 2026-01-01, 1d\n  click t1 href "javascript:alert(1)"',
    ],
)
def test_a_hostile_diagram_yields_a_harmless_picture_or_none(source: str) -> None:
    made = one(source)
    for picture in (made.light, made.dark):
        if isinstance(picture, Picture):
            assert harmless(picture.svg) == picture
            for trace in (
                "<script",
                "javascript:",
                "onerror=",
                "evil.example",
                "<foreignObject",
                "<image",
                "<a ",
            ):
                assert trace not in picture.svg
