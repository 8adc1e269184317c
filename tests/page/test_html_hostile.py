"""A page is deaf to whatever its texts try, and never costs more than its content."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import FrameType

import pytest
from hanging import never_hanging
from html_pages import NOW, Structure, at, pack, page, ref
from hypothesis import given, settings
from hypothesis import strategies as st

from context_pack.kernel.lines import LineRange
from context_pack.kernel.paths import RelativePath
from context_pack.packs.domain.model import CodeLocation, Diagram, Pack, Ref, Section
from context_pack.packs.domain.states import Resolution, State
from context_pack_adapters.page.page import MOST_NAMED, PackView, render_html, render_parts

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
        "-->",
        "]]>",
        "&lt;script&gt;",
        "javascript:alert(1)",
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
    shown = pack(
        Section("flow", value(), None, (one,), (diagram,)),
        Section("rest", value(), None, (two,)),
        title=value(),
        brief=value(),
        tags=(value(),),
        name=value(),
    )

    def resolve(which: Ref) -> Resolution:
        if which.key == "ref-b":
            return Resolution(State.STALE, reason=value())
        return at(
            State.MOVED, CodeLocation(RelativePath("moved/" + path), LineRange(3, 4)), f"1\n2\n{source}\n4"
        )(which)

    return shown, resolve


PLAIN_TAGS = Structure(page(*filled(lambda: "plain text", "plain", "plain source"))).tags


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
    words = "</title><script>alert('1')</script> & \"more\""
    shown = Structure(page(*filled(lambda: words, "a<b>&c", "</code><script>")))
    assert "".join(shown.words).count(words) >= 10
    assert "a<b>&c/file.unknown-language" in "".join(shown.words)
    assert "</code><script>" in "".join(shown.words)


@pytest.mark.clause("HTML-13")
def test_pieces_can_be_written_while_the_page_is_made() -> None:
    many = pack(Section("flow", "Flow", None, tuple(ref(f"r{number}") for number in range(50))))
    view = PackView(many, at(State.EXACT), NOW)
    pieces = list(render_parts(view))
    assert "".join(pieces) == render_html(view)
    assert len(pieces) > 50
    assert max(map(len, pieces[1:])) < 30_000


@pytest.mark.clause("HTML-13")
def test_an_html_page_is_made_in_linear_time() -> None:
    def steps(refs: int) -> int:
        """How many functions are called for the page: the same on every machine."""
        made = tuple(ref(f"r{number}", start=1, end=20) for number in range(refs))
        shown = pack(Section("flow", "Flow", None, made))
        count = 0

        def called(frame: FrameType, event: str, argument: object) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(called)
        try:
            page(shown, at(State.CHANGED))
        finally:
            sys.setprofile(before)
        return count

    steps(10)  # what is loaded or remembered once is left out
    with never_hanging():
        small, large = steps(20), steps(320)
    assert 0 < small < large < small * 16 * 1.5


@pytest.mark.clause("HTML-13")
def test_a_pack_of_very_many_parts_names_only_sections_in_its_contents() -> None:
    many = tuple(ref(f"r{number}", start=1, end=1) for number in range(MOST_NAMED + 1))
    shown = page(pack(Section("flow", "Flow", None, many)), at(State.CHANGED))
    assert shown[shown.index("<nav") : shown.index("</nav>")].count("href=") == 1
    assert "<li>and 1 more</li>" in shown
