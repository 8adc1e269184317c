"""How the page looks: enough contrast, in both schemes."""

from __future__ import annotations

import re

import pytest
from html_pages import FULL, page

from context_pack.packs.domain.states import State
from context_pack_adapters.page.highlight import FAMILIES
from context_pack_adapters.page.page import style_sheet

LIGHT, DARK = (
    dict(re.findall(r"--([\w-]+): (#\w+);", scheme))
    for scheme in style_sheet().split("prefers-color-scheme", 1)
)


def luminance(colour: str) -> float:
    """The relative luminance of #rrggbb, as WCAG defines it."""
    parts = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


PAIRS = [
    *((ink, ground) for ink in ("ink", "soft", "link") for ground in ("page", "sheet", "sunk")),
    *((name, f"{name}-bg") for name in ("good", "calm", "plain", "warn", "bad")),
    *((name, ground) for name in set(FAMILIES.values()) - {""} for ground in ("sunk", "mark")),
    *((name, ground) for name in ("good", "calm", "plain", "warn", "bad") for ground in ("page", "sheet")),
    ("ink", "plain-bg"),
    ("ink", "mark"),
    ("soft", "mark"),
]


@pytest.mark.clause("HTML-14")
@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_every_text_has_enough_contrast_in_both_schemes(colours: dict[str, str]) -> None:
    weak = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in PAIRS}
    assert {pair: round(ratio, 2) for pair, ratio in weak.items() if ratio < 4.5} == {}


@pytest.mark.clause("HTML-14")
def test_dark_mode_applies_to_screens_and_not_to_print() -> None:
    sheet = style_sheet()
    assert LIGHT.keys() == DARK.keys()
    assert "@media screen and (prefers-color-scheme:dark)" in sheet
    assert "@media print" in sheet
    assert '<meta name="color-scheme" content="light dark">' in page(FULL)


def test_every_state_has_a_colour_of_its_badge_its_card_and_its_line_in_the_contents() -> None:
    for state in State:
        rules = (f".badge.{state.value}{{", f".{state.value}{{--edge", f".toc .{state.value}{{")
        assert all(rule in style_sheet() for rule in rules)
