"""Code, Markdown and plain text as HTML: nothing changed, nothing forged, nothing that steers."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel import languages
from context_pack_adapters.page.markup import (
    LONGEST_LINE,
    MOST_CHARS,
    coloured,
    numbered,
    prose,
    visible,
)

SOURCES = st.text(alphabet=st.sampled_from("def class=(){}[]<>\"'`#/*\\\n\r\t $@:;&|0aé\u2028")) | st.text()
LANGUAGES = ["python", "javascript", "html", "rust", "bash", "yaml", "markdown", "php", "c", "diff", "none"]


def text_of(markup: str) -> str:
    """The words of some markup."""
    return unescape(re.sub("<[^>]*>", "", markup))


@pytest.mark.clause("HTML-07")
def test_code_is_coloured_by_its_language_and_numbered_as_in_its_file() -> None:
    shown = numbered("def f(x):\n    return 1", "python", 42, "flow.one")
    assert '<span class="k">def</span>' in shown
    assert '<a id="flow.one-L-43"' in shown
    assert '<a href="#flow.one-L-43"><span class="linenos">43</span></a>' in shown
    paths = ["Dockerfile", "Makefile", "a.jsonl", "a.svelte", "BUILD.bzl"]
    endings = "py ts rs go java kt c cpp cs swift rb php sh sql html css yml toml md"
    paths += [f"a.{ending}" for ending in endings.split()]
    code = '# x\n// y\n/* z */ "s" 1\nclass A\n[a]\nkey = "v"\n<p a="b">\n- x: y\n'
    plain = [path for path in paths if "<span class" not in coloured(code, languages.language_of(path))]
    assert plain == []


@pytest.mark.clause("HTML-07")
@pytest.mark.parametrize(
    "code, language",
    [("def <a>\n&", "no-such-language"), ("x" * (LONGEST_LINE + 1), "c"), ("if x:\n" * MOST_CHARS, "python")],
)
def test_unknown_languages_and_very_large_code_are_plain(code: str, language: str) -> None:
    shown = coloured(code, language)
    assert "<span class" not in shown
    assert text_of(shown).rstrip("\n") == code.rstrip("\n")


@pytest.mark.clause("HTML-04", "HTML-07")
@given(SOURCES, st.sampled_from(LANGUAGES))
def test_colouring_changes_no_line_and_adds_only_spans(code: str, language: str) -> None:
    shown = coloured(code, language)
    assert text_of(shown).removesuffix("\n").removesuffix("\n") == visible(code).removesuffix("\n")
    assert {name for name, _ in re.findall(r"<(\w+)([^>]*)>", shown)} <= {"div", "pre", "code", "span"}


@pytest.mark.clause("HTML-04")
@pytest.mark.parametrize(
    "steering, picture",
    [
        ("\r", "\u240d"),
        ("\x7f", "\u2421"),
        ("\x85", "⟨U+0085⟩"),
        ("\u202e", "⟨U+202E⟩"),
        ("\ud800", "⟨U+D800⟩"),
    ],
)
def test_control_characters_are_shown_as_visible_symbols(steering: str, picture: str) -> None:
    assert visible(f"a{steering}\tb\n") == f"a{picture}\tb\n"
    assert steering not in coloured(f"a = 1{steering}b = 2\n", "python")
    assert steering not in prose(f"a {steering} b &#x{ord(steering):x}; `{steering}`")


@pytest.mark.clause("HTML-08")
def test_a_description_is_markdown_without_html_images_and_large_headings() -> None:
    shown = prose(
        "A **bold** `x<y` word.\n\n- one\n\n```python\ndef f(): ...\n```\n\n<b>no</b> ![i](http://h/x.png) "
        "[l](javascript:x)\n\n# Title\n\n| a |\n|---|\n| b |\n"
    )
    assert "<strong>bold</strong> <code>x&lt;y</code>" in shown
    assert '<pre><code class="language-python"><span class="k">def</span>' in shown
    assert "<td>b</td>" in shown
    assert "&lt;b&gt;no&lt;/b&gt;" in shown
    assert '<a href="http://h/x.png">i</a>' in shown
    assert not re.search(r"<(?:img|b|h[1-4]|script)\b", shown)


@pytest.mark.clause("HTML-08")
def test_links_of_a_description_work_but_for_those_that_run_something() -> None:
    links = "[a](https://x.example/y?z=1&q) <mailto:me@x.example> [b](../docs/b.md#c) [d][1]\n\n[1]: http://r.example"
    assert re.findall('<a href="([^"]*)">', prose(links)) == [
        "https://x.example/y?z=1&amp;q",
        "mailto:me@x.example",
        "../docs/b.md#c",
        "http://r.example",
    ]
    for scheme in ("JaVaScRiPt:x", "&#106;avascript:x", "data:text/html,x", "file:///x"):
        for written in (f"[l]({scheme})", f"[l](<{scheme}>)", f"<{scheme}>", f"[l][1]\n\n[1]: {scheme}"):
            assert "<a" not in prose(written), written


ALLOWED = {"p", "em", "strong", "code", "pre", "span", "ul", "ol", "li", "blockquote", "hr", "br", "h5", "h6"}
ALLOWED |= {"a", "div", "table", "thead", "tbody", "tr", "th", "td"}
WORDS = (
    "<script> <b\tonclick=x> ![a](b) [a](b) <http://h> [a](javascript:b) [a]:\tb <!-- &lt; ` ``` ~~~ "
    """|\ta\t| |---| *a* ** " ' = \\ x"""
)
PIECES = (*WORDS.split(" "), "\n", "\n\n", "- ", "> ", "# ", "##### ", "    ", "1. ", '~~~ "><x>')


@pytest.mark.clause("HTML-04", "HTML-08")
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_no_description_makes_other_elements_than_the_allowed(description: str) -> None:
    for name, attributes in re.findall(r"<\s*/?\s*([^\s>/]*)([^>]*)>", prose(description)):
        assert name in ALLOWED
        assert " on" not in attributes
        assert '="javascript' not in attributes
