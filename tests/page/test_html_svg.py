"""Drawings made harmless: whatever is in an SVG, only a picture comes out."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hanging import never_hanging
from hypothesis import given
from hypothesis import strategies as st

from context_pack_adapters.page.svg import ATTRIBUTES, ELEMENTS, NAMING, SVG, Unsafe, harmless

OPEN = f'<svg xmlns="{SVG}" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 30 20">'
XML_SPACE = "{http://www.w3.org/XML/1998/namespace}space"


def cleaned(inside: str) -> str:
    """The harmless form of a drawing with this inside it."""
    return harmless(f"{OPEN}{inside}</svg>").svg


@pytest.mark.clause("HTML-10")
@pytest.mark.parametrize(
    "inside",
    [
        "<script>alert(1)</script>",
        "<script xlink:href='https://evil.example/x.js'/>",
        "<foreignObject><div xmlns='http://www.w3.org/1999/xhtml'><img src='x'/></div></foreignObject>",
        "<image href='https://evil.example/x.png'/>",
        "<iframe src='https://evil.example'/>",
        "<animate attributeName='href' values='javascript:alert(1)'/>",
        "<set attributeName='onload' to='alert(1)'/>",
        "<handler type='text/ecmascript'>alert(1)</handler>",
        "<x:script xmlns:x='http://www.w3.org/1999/xhtml'>alert(1)</x:script>",
        "<feImage href='https://evil.example/x.png'/>",
        "<metadata>evil.example</metadata>",
    ],
)
def test_svg_elements_not_on_the_list_are_removed_with_their_content(inside: str) -> None:
    assert cleaned(inside) == cleaned("")


@pytest.mark.clause("HTML-10")
@pytest.mark.parametrize(
    "attribute",
    [
        "onload='alert(1)'",
        "onclick='alert(1)'",
        "href='https://evil.example/#a'",
        "xlink:href='javascript:alert(1)'",
        "xlink:href='data:text/html,x'",
        "src='https://evil.example'",
        "xml:base='https://evil.example/'",
        "data-points='secret'",
        "formaction='x'",
        "requiredExtensions='x'",
    ],
)
def test_svg_attributes_not_on_the_list_are_removed(attribute: str) -> None:
    assert cleaned(f"<use {attribute}/><rect {attribute} x='1'/>") == cleaned("<use/><rect x='1'/>")


@pytest.mark.clause("HTML-10")
@pytest.mark.parametrize(
    "style",
    [
        "@import url(https://evil.example/x.css);",
        "@IMPORT 'https://evil.example/x.css';",
        "@font-face{font-family:x;src:url(//evil.example/f)}",
        "g{background:url(https://evil.example/b)}",
        "g{background:url( 'https://evil.example/b')}",
        "g{background:u\\72l(https://evil.example/b)}",
        "g{background:URL(//evil.example/b)}",
        "g{background:image-set('https://evil.example/b' 1x)}",
        "g{width:expression(alert(1))}",
        "g{fill:u/**/rl(https://evil.example/b)}",
        "g{fill:url(/**/https://evil.example/b)}",
    ],
)
def test_styles_that_reach_outside_make_the_drawing_unusable(style: str) -> None:
    with pytest.raises(Unsafe):
        cleaned(f"<style>{style}</style>")
    with pytest.raises(Unsafe):
        cleaned(f'<g style="{style}"/>')


@pytest.mark.clause("HTML-10")
@pytest.mark.parametrize("name", ["fill", "stroke", "marker-end", "filter", "clip-path", "mask"])
def test_a_presentation_attribute_reaches_ids_of_the_drawing_only(name: str) -> None:
    assert f'{name}="url(#a)"' in cleaned(f"<path {name}='url(#a)'/>")
    with pytest.raises(Unsafe):
        cleaned(f"<path {name}='url(https://evil.example/x.svg#a)'/>")


@pytest.mark.clause("HTML-10")
def test_svg_drawing_elements_and_styles_are_kept() -> None:
    inside = (
        "<style>#m .a{fill:url(#g)}@keyframes d{to{opacity:0}}</style>"
        '<defs><linearGradient id="g"><stop offset="0" stop-color="#fff" /></linearGradient></defs>'
        '<g id="m" class="a" transform="translate(1,2)"><text x="1" xml:space="preserve" '
        'style="font-size:14px">a &lt; b<tspan dy="1em">c</tspan>d</text></g><use href="#m" />'
    )
    assert inside in cleaned(inside)


@pytest.mark.clause("HTML-10")
def test_a_link_becomes_a_group_that_keeps_its_place() -> None:
    shown = cleaned("<a xlink:href='https://evil.example' transform='translate(3,4)'><rect x='1'/></a>")
    assert '<g transform="translate(3,4)"><rect x="1" /></g>' in shown
    assert "evil" not in shown


@pytest.mark.clause("HTML-10")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "not xml",
        f"{OPEN}<g></svg>",
        "<html xmlns='http://www.w3.org/1999/xhtml'><script/></html>",
        "<svg xmlns='urn:other' viewBox='0 0 1 1'/>",
        f"<!DOCTYPE svg [<!ENTITY a 'b'>]>{OPEN}&a;</svg>",
        f"<?xml-stylesheet href='https://evil.example/x.css'?>{OPEN}</svg>",
        f"<svg xmlns='{SVG}'/>",
        f"<svg xmlns='{SVG}' viewBox='0 0 0 5'/>",
        f"<svg xmlns='{SVG}' viewBox='0 0 1e9 5'/>",
        f"<svg xmlns='{SVG}' viewBox='0 0 nan 5'/>",
        OPEN + "<g>" * 300 + "</g>" * 300 + "</svg>",
        OPEN + "<text>\x01</text></svg>",
    ],
)
def test_text_that_is_no_plain_svg_is_refused(text: str) -> None:
    with pytest.raises(Unsafe):
        harmless(text)


def test_a_sanitized_svg_has_its_natural_size() -> None:
    picture = harmless(f"<svg xmlns='{SVG}' width='100%' viewBox='-4 4 415.6 61.2'/>")
    assert (picture.width, picture.height) == (416, 61)
    assert 'height="61"' in picture.svg
    assert 'width="416"' in picture.svg
    sized = harmless(f"<svg xmlns='{SVG}' width='12px' height='7.6'/>")
    assert (sized.width, sized.height) == (12, 8)


NAMES = st.sampled_from(["g", "a", "script", "style", "rect", "use", "foreignObject", "image", "text", "x"])
KEYS = st.sampled_from(["id", "class", "style", "href", "onload", "fill", "x", "data-look", "src"])
VALUES = st.sampled_from(
    ["a", "#a", "url(#a)", "url(http://e)", "javascript:a", "\\75rl(x)", "a<b", '"', "&", "@import 'x'"]
)


@st.composite
def elements(draw: st.DrawFn, depth: int = 3) -> ElementTree.Element:
    """Any tree of elements, safe ones and others."""
    element = ElementTree.Element(f"{{{SVG}}}{draw(NAMES)}", draw(st.dictionaries(KEYS, VALUES, max_size=3)))
    element.text = draw(VALUES | st.none())
    if depth:
        element.extend(draw(st.lists(elements(depth - 1), max_size=3)))
    return element


@pytest.mark.clause("HTML-10")
@given(st.lists(elements(), max_size=3))
def test_random_svg_trees_leave_only_listed_elements_and_attributes(
    inside: list[ElementTree.Element],
) -> None:
    root = ElementTree.Element(f"{{{SVG}}}svg", {"viewBox": "0 0 10 10"})
    root.extend(inside)
    try:
        shown = harmless(ElementTree.tostring(root, encoding="unicode")).svg
    except Unsafe:
        return
    assert harmless(shown).svg == shown
    for element in ElementTree.fromstring(shown).iter():
        assert element.tag.removeprefix(f"{{{SVG}}}") in ELEMENTS
        for key, value in element.attrib.items():
            assert key in ATTRIBUTES | NAMING | {"href", XML_SPACE}
            assert key != "href" or value.startswith("#")
            assert key in NAMING or ("http" not in value and "\\" not in value)


def test_blanks_in_a_style_url_are_scanned_in_linear_time() -> None:
    style = f"fill:url({' ' * 400_000}#a)"
    with never_hanging():
        picture = harmless(f'<svg xmlns="{SVG}" viewBox="0 0 1 1"><rect style="{style}"/></svg>')
    assert "rect" in picture.svg
