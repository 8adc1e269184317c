"""Text as markup and the ids of a page."""

from __future__ import annotations

from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel.sentences import counted
from context_pack_adapters.page.markup import Ids, text

HOSTILE = st.text(alphabet=st.sampled_from("<>&\"'/=! abc-\\\x00\r\t\n\u2028\u202e`;#x"))


class Seen(HTMLParser):
    """The tags, attributes and text of some markup, as an HTML parser reads them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(markup: str) -> Seen:
    """Parse the markup."""
    seen = Seen()
    seen.feed(markup)
    seen.close()
    return seen


@pytest.mark.clause("HTML-04")
@given(st.text() | HOSTILE)
def test_no_string_can_become_markup_in_text_or_in_an_attribute(value: str) -> None:
    seen = read(f'<p title="{text(value)}">{text(value)}</p>')
    assert [tag for tag, _ in seen.tags] == ["p"]
    assert [name for name, _ in seen.tags[0][1]] == ["title"]
    assert seen.tags[0][1][0][1] == unescape(text(value))
    assert "".join(seen.texts) == unescape(text(value))


@pytest.mark.clause("HTML-05")
@pytest.mark.parametrize(
    "steering, shown",
    [
        ("\r", "\u240d"),
        ("\x00", "\u2400"),
        ("\x0c", "\u240c"),
        ("\x7f", "\u2421"),
        ("\x85", "⟨U+0085⟩"),
        ("\u2028", "⟨U+2028⟩"),
        ("\u202e", "⟨U+202E⟩"),
        ("\u2066", "⟨U+2066⟩"),
        ("\ud800", "⟨U+D800⟩"),
    ],
)
def test_control_characters_are_shown_as_visible_symbols(steering: str, shown: str) -> None:
    assert text(f"a{steering}b") == f"a{shown}b"


@given(st.text())
def test_text_without_control_characters_is_unchanged(value: str) -> None:
    plain = "".join(
        char for char in value if text(char) in (char, "&lt;", "&gt;", "&amp;", "&quot;", "&#x27;")
    )
    assert unescape(text(plain)) == plain
    text(value).encode()


@pytest.mark.clause("HTML-06")
def test_keys_that_join_to_the_same_id_get_distinct_ids() -> None:
    ids = Ids()
    taken = [ids.take("a-b", "cd"), ids.take("a", "b-cd"), ids.take("a", "b", "cd"), ids.take("a-b-cd-2")]
    assert taken[0] == "a-b-cd"
    assert len(set(taken)) == 4


@given(st.lists(st.lists(st.sampled_from(["a", "b", "a-b", "2", "a-2", "b-3"]), min_size=1, max_size=3)))
def test_ids_are_never_given_twice(parts: list[list[str]]) -> None:
    ids = Ids()
    taken = [ids.take(*keys) for keys in parts]
    assert len(set(taken)) == len(taken)


def test_numbers_agree_with_their_nouns() -> None:
    assert [counted(number, "ref") for number in (0, 1, 2)] == ["0 refs", "1 ref", "2 refs"]
