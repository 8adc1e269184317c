"""Mermaid sources as pictures: who draws them, and what happens when that fails."""

from __future__ import annotations

import sys
from base64 import b64decode
from html import unescape
from re import findall

import pytest
from html_pages import Structure, pack, page

from context_pack.packs.model import Diagram, Section
from context_pack_adapters.about import install_command
from context_pack_adapters.page.diagrams import INSTALL, PROCESS, Drawing, Undrawn, draw

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
