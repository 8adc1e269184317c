"""Relative paths: what is one, and what each kind of wrong path is called."""

from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import RelativePath

PIECES = st.sampled_from(
    ["a", "b.py", "..", ".", "", "/", "\\", "C:", "~", " ", "é", "\n", "\0", "...", ".. "]
)


def refusal(text: str) -> Failure:
    with pytest.raises(Failure) as caught:
        RelativePath.parse(text)
    return caught.value


@pytest.mark.clause("KN-01")
@pytest.mark.parametrize(
    "text", ["a", "src/app.py", "a b/ü.md", "...", "a..b", "..a/b..", "~", "-x", "x/a:b", "ab:c"]
)
def test_a_normal_relative_path_is_kept_as_it_is(text: str) -> None:
    assert str(RelativePath.parse(text)) == text


@pytest.mark.clause("KN-01")
@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "./a",
        "a/.",
        "a//b",
        "a/",
        "a/./b",
        "a\0b",
        "a\nb",
        "a\tb",
        "a\x7fb",
        "a\x85b",
        "a\u2028b",
        "a\ud800b",
    ],
)
def test_an_abnormal_path_is_invalid_data_on_path(text: str) -> None:
    failure = refusal(text)
    assert (failure.code, failure.details["field"]) == (Code.INVALID_DATA, "path")


@pytest.mark.clause("KN-01")
def test_the_length_of_a_path_is_counted_in_bytes() -> None:
    longest = "é" * 512
    assert str(RelativePath.parse(longest)) == longest
    assert refusal(longest + "x").code is Code.INVALID_DATA


@pytest.mark.clause("KN-02")
@pytest.mark.parametrize(
    "text",
    ["/", "/etc/passwd", "//host/share", "\\\\host\\share", "\\a", "C:\\x", "c:/x", "z:", "C:x", "/../x"],
)
def test_absolute_paths_are_named_as_such(text: str) -> None:
    failure = refusal(text)
    assert (failure.code, failure.message) == (Code.ABSOLUTE_PATH, "Absolute paths not allowed")
    assert failure.details["field"] == "path"


@pytest.mark.clause("KN-03")
@pytest.mark.parametrize(
    "text", ["..", "../x", "a/../b", "a/..", "..\\x", "a\\..\\..\\b", "a/../\0", "./../x"]
)
def test_a_parent_part_is_named_as_traversal(text: str) -> None:
    failure = refusal(text)
    assert (failure.code, failure.message) == (Code.PATH_TRAVERSAL, "Path traversal not allowed")


@pytest.mark.clause("KN-04")
def test_a_backslash_is_a_separator() -> None:
    assert RelativePath.parse("src\\app\\x.py") == RelativePath("src/app/x.py")
    with pytest.raises(Failure):
        RelativePath("src\\app.py")


@pytest.mark.clause("KN-05")
@pytest.mark.parametrize("text", ["./a//b/", "a/b", ".\\a\\.\\b", "a/./b/.", "././a///b"])
def test_a_lenient_path_drops_empty_and_dot_parts(text: str) -> None:
    assert RelativePath.lenient(text) == RelativePath("a/b")


@pytest.mark.clause("KN-05")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", Code.INVALID_DATA),
        ("./.", Code.INVALID_DATA),
        ("/a", Code.ABSOLUTE_PATH),
        ("D:a", Code.ABSOLUTE_PATH),
        ("a/./../b", Code.PATH_TRAVERSAL),
        ("a/\0", Code.INVALID_DATA),
        ("./C:/x", Code.ABSOLUTE_PATH),
    ],
)
def test_a_lenient_path_cannot_leave_the_root(text: str, code: Code) -> None:
    with pytest.raises(Failure) as caught:
        RelativePath.lenient(text)
    assert caught.value.code is code


@pytest.mark.clause("KN-01", "KN-02", "KN-03")
@given(st.lists(PIECES, max_size=6).map("".join) | st.text(max_size=30))
def test_every_text_is_a_contained_path_or_a_failure(text: str) -> None:
    codes: set[Code] = set()
    for read in (RelativePath.parse, RelativePath.lenient):
        try:
            path = read(text)
        except Failure as caught:
            codes.add(caught.code)
            continue
        assert posixpath.normpath(path.value) == path.value
        assert posixpath.normpath(f"/root/{path}").startswith("/root/")
        assert RelativePath.parse(path.value) == RelativePath.lenient(path.value) == path
        assert "/".join(path.parts) == path.value
    assert codes <= {Code.INVALID_DATA, Code.ABSOLUTE_PATH, Code.PATH_TRAVERSAL}


@pytest.mark.clause("KN-01")
def test_a_path_knows_its_parts() -> None:
    path = RelativePath("src/app/main.test.py")
    assert path.parts == ("src", "app", "main.test.py")
    assert (path.name, path.suffix) == ("main.test.py", ".py")
    assert path.parent == RelativePath("src/app")
    assert RelativePath("x").parent is None


@pytest.mark.clause("KN-01")
@pytest.mark.parametrize("name", ["Makefile", ".gitignore", "..a", "x."])
def test_a_name_without_an_extension_has_no_suffix(name: str) -> None:
    assert RelativePath(f"d.d/{name}").suffix == ""


@pytest.mark.clause("KN-01")
def test_paths_order_as_plain_text_and_work_as_keys() -> None:
    paths = [RelativePath(text) for text in ("b", "a/b", "a-b", "a")]
    assert [str(path) for path in sorted(paths)] == ["a", "a-b", "a/b", "b"]
    assert len({RelativePath("a"), RelativePath.parse("a")}) == 1
