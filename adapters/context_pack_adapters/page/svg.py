"""Sanitizes SVG: parsed as XML and rebuilt from an allow-list of elements and attributes.

No script, no event handler, no HTML inside, no link, no animation, and no reference that leaves the drawing:
`href` and `url(…)` reach ids of the same drawing only. Links become plain groups. Styles are kept whole or
refused whole: half a style shows half a truth. The page embeds the result as an image, where browsers run and
load nothing, and where ids and styles of one drawing cannot meet those of another or of the page.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from attrs import frozen

SVG = "http://www.w3.org/2000/svg"
_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
_XML_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_ELEMENT_NAMES = """
    svg g defs marker symbol use path rect circle ellipse line polyline polygon text tspan textPath
    title desc style clipPath mask pattern linearGradient radialGradient stop filter feBlend
    feColorMatrix feComposite feDropShadow feFlood feGaussianBlur feMerge feMergeNode feOffset
"""
ELEMENTS = frozenset(_ELEMENT_NAMES.split())
GROUPS = frozenset({"a", "switch"})
_ATTRIBUTE_NAMES = """
    style transform transform-origin d x y x1 y1 x2 y2 cx cy r rx ry fx fy dx dy width height
    points viewBox preserveAspectRatio overflow opacity color display visibility fill fill-opacity
    fill-rule clip-path clip-rule clipPathUnits mask maskUnits maskContentUnits stroke stroke-width
    stroke-opacity stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit
    marker-start marker-mid marker-end refX refY markerWidth markerHeight markerUnits orient offset
    stop-color stop-opacity gradientUnits gradientTransform spreadMethod patternUnits
    patternContentUnits patternTransform filter filterUnits primitiveUnits in in2 result stdDeviation
    flood-color flood-opacity mode operator k1 k2 k3 k4 type values font-family font-size font-style
    font-weight text-anchor text-decoration dominant-baseline alignment-baseline baseline-shift
    letter-spacing word-spacing textLength lengthAdjust rotate startOffset paint-order vector-effect
    shape-rendering data-look data-color-id data-et
"""
ATTRIBUTES = frozenset(_ATTRIBUTE_NAMES.split())
NAMING = frozenset({"id", "class"})
# Anything a declaration could reach out with. A backslash could spell any of these differently.
_REACHES_OUT = re.compile(
    r"\\|@(?!keyframes\b|-webkit-keyframes\b|media\b|supports\b)|expression\s*\(|javascript:|"
    r"(?:image|image-set|src|cross-fade|element|attr|-moz-binding|behavior)\s*\(|url\(\s*+(?![\s\"']*+#)",
    re.IGNORECASE,
)
_CSS_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_DECLARATION = re.compile(r"<[!?](?!--|\[CDATA\[)")
_NUMBERS = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE)
MOST_DEEP = 200
_FROM, _LABEL = "data-merman-source-classes", "edgeLabel"
"""How the drawing engine marks the label of an edge."""


class Unsafe(Exception):
    """The drawing holds something that must not reach a page."""


@frozen
class Picture:
    """A harmless drawing and its natural size in CSS pixels."""

    svg: str
    width: int
    height: int


def harmless(svg: str) -> Picture:
    """The drawing, rebuilt from what is allowed.

    Raises:
        Unsafe: it is no SVG, declares a document type, or has styles that reach outside it.
    """
    if _DECLARATION.search(svg):
        raise Unsafe("the drawing declares more than a drawing needs")
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError as error:
        raise Unsafe("the drawing is not well-formed") from error
    clean = _rebuilt(root, 0)
    if clean is None or clean.tag != "svg":
        raise Unsafe("the drawing is not SVG")
    width, height = _size(clean)
    clean.attrib = {**clean.attrib, "width": str(width), "height": str(height)}
    clean.attrib = {"xmlns": SVG, **dict(sorted(clean.attrib.items()))}
    return Picture(ElementTree.tostring(clean, encoding="unicode"), width, height)


def _rebuilt(element: ElementTree.Element, depth: int, is_label: bool = False) -> ElementTree.Element | None:
    """A copy with the allowed parts only; None when the element itself is not allowed."""
    name = element.tag.removeprefix(f"{{{SVG}}}")
    if depth > MOST_DEEP:
        raise Unsafe("the drawing is nested too deeply")
    if name not in ELEMENTS and name not in GROUPS:
        return None
    copy = ElementTree.Element("g" if name in GROUPS else name)
    for key, value in element.attrib.items():
        _keep(copy, key, value)
    if name == "rect" and is_label:
        # Text may be wider in the reader's font: the line that it stands on must not touch it.
        copy.attrib |= {"stroke": element.get("fill", "none"), "stroke-width": "8"}
    copy.text = _style(element.text or "") if name == "style" else element.text
    for child in element:
        kept = None if name == "style" else _rebuilt(child, depth + 1, _LABEL in element.get(_FROM, ""))
        if kept is not None:
            kept.tail = child.tail
            copy.append(kept)
    return copy


def _keep(copy: ElementTree.Element, key: str, value: str) -> None:
    """Set the attribute if it is allowed."""
    if key in ("href", _XLINK_HREF):
        if copy.tag != "g" and value.startswith("#"):
            copy.set("href", value)
    elif key in NAMING:
        copy.set(key, value)
    elif key in ATTRIBUTES or key == _XML_SPACE:
        copy.set(key, _style(value))


def _style(css: str) -> str:
    """The style, if it reaches nothing outside the drawing."""
    plain = _CSS_COMMENT.sub("", css)
    if _REACHES_OUT.search(plain):
        raise Unsafe("the drawing's styles reach outside it")
    return plain


def _size(root: ElementTree.Element) -> tuple[int, int]:
    """The natural size: of the view box, else of the element itself."""
    box = [float(number) for number in _NUMBERS.findall(root.get("viewBox", ""))]
    if len(box) != 4:
        sizes = [_NUMBERS.match(root.get(side, "")) for side in ("width", "height")]
        box = [0.0, 0.0, *(float(found[0]) if found else 0.0 for found in sizes)]
    width, height = box[2:]
    if not (0 < width < 100_000 and 0 < height < 100_000):
        raise Unsafe("the drawing has no size")
    return max(1, round(width)), max(1, round(height))
