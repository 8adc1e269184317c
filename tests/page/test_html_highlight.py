"""Code coloured without changing a character of it."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel import languages
from context_pack_adapters.page.highlight import FAMILIES, LONGEST_LINE, MOST_CHARS, highlighted
from context_pack_adapters.page.markup import text
from context_pack_adapters.page.page import style_sheet
from context_pack_adapters.page.prose import prose

SPAN = re.compile(r'<span class="([a-z])">([^<>]*)</span>')
PYTHON = 'def f(x):\n    """Doc\n    more"""\n    return f"{x}\\n" + str(1)  # why\n\n@wraps\nclass A: ...'
SOURCES = st.text(alphabet=st.sampled_from("def class=(){}[]<>\"'`#/*\\\n\r\t $@:;&|0aé\u2028")) | st.text()


def plain(line: str) -> str:
    """A line of markup without its elements; fails if there is any other element than ours."""
    bare = SPAN.sub(lambda match: match[2], line)
    assert "<" not in bare
    assert ">" not in bare
    return unescape(bare)


@pytest.mark.clause("HTML-07")
def test_known_languages_are_coloured() -> None:
    lines = highlighted(PYTHON, "python")
    assert lines[0] == '<span class="k">def</span> <span class="f">f</span>(x):'
    assert '<span class="c"># why</span>' in lines[3]
    assert [plain(line) for line in lines] == PYTHON.split("\n")


@pytest.mark.clause("HTML-07")
def test_a_token_over_several_lines_is_closed_and_opened_on_each() -> None:
    lines = highlighted(PYTHON, "python")
    assert lines[1] == '    <span class="s">&quot;&quot;&quot;Doc</span>'
    assert lines[2] == '<span class="s">    more&quot;&quot;&quot;</span>'


@pytest.mark.clause("HTML-07")
@pytest.mark.parametrize("language", ["", "text", "no-such-language", "csv"])
def test_an_unknown_language_is_plain(language: str) -> None:
    assert highlighted("def <a>\n&", language) == ["def &lt;a&gt;", "&amp;"]


@pytest.mark.clause("HTML-04", "HTML-07")
@given(
    SOURCES, st.sampled_from(["python", "javascript", "html", "rust", "bash", "yaml", "markdown", "php", "c"])
)
def test_colouring_changes_no_line_and_adds_only_our_elements(code: str, language: str) -> None:
    lines = highlighted(code, language)
    assert [plain(line) for line in lines] == [unescape(text(line)) for line in code.split("\n")]
    assert {found for line in lines for found, _ in SPAN.findall(line)} <= set(FAMILIES.values())


@pytest.mark.clause("HTML-05")
def test_a_lone_carriage_return_does_not_split_a_line() -> None:
    assert highlighted("a = 1\rb = 2\nc", "python")[1:] == ["c"]
    assert "\r" not in "".join(highlighted("a = 1\rb = 2\nc", "python"))


@pytest.mark.clause("HTML-13")
@pytest.mark.parametrize("code", ["x" * (LONGEST_LINE + 1), "if x:\n" * (MOST_CHARS // 6 + 1)])
def test_code_that_is_too_large_to_colour_is_shown_plain(code: str) -> None:
    assert "<span" not in "".join(highlighted(code, "python"))


def test_every_family_has_a_colour_and_every_colour_a_family() -> None:
    assert set(FAMILIES.values()) - {""} == set(re.findall(r"^pre \.(\w+)\{", style_sheet(), re.MULTILINE))


def test_most_languages_of_the_kernel_have_a_lexer() -> None:
    endings = (
        "py ts tsx rs go java kt c cpp cs swift rb php sh sql html css json yml toml xml md vue proto tf bzl"
    )
    paths = ["Dockerfile", "Makefile", *(f"a.{ending}" for ending in f"{endings} jsonl svelte vb".split())]
    code = '# x\n// y\n/* z */ "s" 1\nclass A\n[a]\nkey = "v"\n<p a="b">\n- x: y\n'
    bare = [path for path in paths if "<span" not in "".join(highlighted(code, languages.language_of(path)))]
    assert bare == []


@pytest.mark.clause("HTML-08")
def test_a_description_is_markdown_without_html_and_images() -> None:
    shown = prose(
        "A **bold** `x<y` word.\n\n- one\n\n```python\ndef f(): ...\n```\n\n<b>no</b> ![i](http://h/x.png) "
        "[l](javascript:x)\n\n# Title\n\n| a |\n|---|\n| b |\n"
    )
    assert "<strong>bold</strong> <code>x&lt;y</code>" in shown
    assert "<li>one</li>" in shown
    assert '<span class="k">def</span>' in shown
    assert "<td>b</td>" in shown
    assert "&lt;b&gt;no&lt;/b&gt;" in shown
    assert "![i](http://h/x.png)" in shown
    assert not re.search(r"<(?:img|a|b|h[1-4]|script)\b", shown)


@pytest.mark.clause("HTML-08")
def test_links_of_a_description_work() -> None:
    shown = prose(
        "[a](https://x.example/y?z=1&q) <mailto:me@x.example> [b](../docs/b.md#c) [d][1]\n\n[1]: http://r.example"
    )
    assert re.findall('<a href="([^"]*)" rel="noreferrer">', shown) == [
        "https://x.example/y?z=1&amp;q",
        "mailto:me@x.example",
        "../docs/b.md#c",
        "http://r.example",
    ]


@pytest.mark.clause("HTML-08")
@pytest.mark.parametrize(
    "address",
    [
        *(
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "java&#9;script:alert(1)",
            "&#106;avascript:alert(1)",
        ),
        *("java%0ascript:x", "data:text/html,x", "data:image/png;base64,AA", "vbscript:x", "file:///srv/x"),
        *("//host.example/x", "/srv/x", "ftp://h/x", "x-app:y", "https:host", "view-source:https://h"),
    ],
)
def test_a_link_that_leads_anywhere_else_stays_text(address: str) -> None:
    for written in (f"[l]({address})", f"[l](<{address}>)", f"<{address}>", f"[l][1]\n\n[1]: {address}"):
        assert "<a" not in prose(written), written


@pytest.mark.clause("HTML-05", "HTML-08")
def test_html_entities_cannot_produce_control_characters() -> None:
    shown = prose("a &#x202e; &#13; &#0; \u202e `\u202e`")
    assert "\u202e" not in shown
    assert "\r" not in shown
    assert "⟨U+202E⟩" in shown


@pytest.mark.clause("HTML-13")
def test_a_description_beyond_the_cap_is_shown_as_it_is() -> None:
    assert prose("*a* <b>" * 5_000).startswith('<p class="plain">*a* &lt;b&gt;*a*')


ALLOWED = {"p", "em", "strong", "code", "pre", "span", "ul", "ol", "li", "blockquote", "hr", "br", "h5", "h6"}
ALLOWED |= {"a", "table", "thead", "tbody", "tr", "th", "td"}
TAG = re.compile(r"<\s*/?\s*([^\s>/]*)([^>]*)>")
ATTRIBUTES = re.compile(
    r'(?: (?:class="[a-z]"|tabindex="0"|start="\d+"|style="text-align:(?:left|right|center)"'
    r'|href="(?:[^":<>]*|http://h[^"<>]*)" rel="noreferrer"))*/?'
)


WORDS = (
    "<script> <b\tonclick=x> ![a](b) [a](b) <http://h> [a](javascript:b) [a]:\tb <!-- &lt; ` ``` ~~~ "
    """|\ta\t| |---| *a* ** " ' = \\ x"""
)
PIECES = (*WORDS.split(" "), "\n", "\n\n", "- ", "> ", "# ", "##### ", "    ", "1. ", '~~~ "><x>')


@pytest.mark.clause("HTML-04", "HTML-08")
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_no_description_makes_other_elements_than_the_allowed(description: str) -> None:
    for name, attributes in TAG.findall(prose(description)):
        assert name in ALLOWED
        assert ATTRIBUTES.fullmatch(attributes), attributes
