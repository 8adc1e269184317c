"""`output`: the list, the layout of a pack against golden files, and what stands in place of missing code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

HANDLER = "".join(f"// {number}\n" for number in range(1, 42))
HANDLER += "pub async fn validate_token(token: &str) -> Result<Claims> {\n"
HANDLER += "".join(f"    step_{number}();\n" for number in range(43, 67)) + "}\n"


@pytest.fixture
def golden(checkout: Path) -> Path:
    """The folder of golden pages."""
    return checkout / "tests" / "golden" / "packs"


def compare(text: str, path: Path, regenerate: bool) -> None:
    """The text is the golden file's."""
    if regenerate:
        path.write_text(text + "\n", "utf-8")
    assert text + "\n" == path.read_text("utf-8")


@pytest.mark.clause("PK-43", "PK-44")
def test_a_page_has_the_promised_layout(new_desk: Any, golden: Path, regenerate: bool) -> None:
    desk = new_desk({"src/auth/handler.rs": HANDLER})
    pack = desk.create(name="auth-pack", title="Auth", tags=["auth", "api"], brief="Authentication flow")
    desk.section(
        pack, "section-key", section_title="Section Title", section_description="Section description"
    )
    place = {"section_key": "section-key", "path": "src/auth/handler.rs", "group": "core"}
    desk.ref(
        pack,
        "ref-key",
        42,
        67,
        **place,
        ref_title="Ref Title",
        ref_why="Main entry point for token validation",
    )
    desk.change(pack, "set_status", status="finalized")
    desk.clock.advance(minutes=27, seconds=30)
    compare(desk.output(name="auth-pack"), golden / "layout.md", regenerate)


@pytest.mark.clause("PK-43", "PK-44")
def test_a_page_shows_everything_a_pack_holds(new_desk: Any, golden: Path, regenerate: bool) -> None:
    code = "".join(f"row {number}\n" for number in range(1, 12_001))
    desk = new_desk(
        {
            "a.py": code,
            "Dockerfile": "FROM x\nRUN y\n",
            "notes.unknown": "```\nfence\n````\n",
            "b.TS": "let a;\r\nlet b;\r\n",
        }
    )
    pack = desk.create(title="Everything")
    desk.section(
        pack, "words", section_title="Words only", section_description="First line\n\n# not a heading\n- item"
    )
    desk.section(pack, "code", section_title="Code")
    for key, path, start, end, group in (
        ("zulu", "a.py", 1, 2, "zoo"),
        ("wide", "a.py", 9_999, 10_001, None),
        ("docker", "Dockerfile", 1, 2, "apes"),
        ("fences", "notes.unknown", 1, 3, None),
        ("typed", "b.TS", 1, 2, "zoo"),
        ("lost", "lost.py", 1, 2, "apes"),
    ):
        more = {} if group is None else {"group": group}
        desk.ref(pack, key, start, end, section_key="code", path=path, **more)
    chart = "graph TD\n  a-->b"
    desk.change(
        pack,
        "upsert_diagram",
        section_key="code",
        diagram_key="flow",
        title="Flow",
        mermaid=chart,
        diagram_why="Order matters",
    )
    desk.change(pack, "upsert_diagram", section_key="code", diagram_key="again", title="Again", mermaid=chart)
    compare(desk.output(id=pack), golden / "everything.md", regenerate)
    compare(desk.output(id=pack, mode="compact"), golden / "everything_compact.md", regenerate)


@pytest.mark.clause("PK-43")
@pytest.mark.parametrize(
    ("meta", "heading"), [({"title": "T", "name": "nnn"}, "T"), ({"name": "nnn"}, "nnn"), ({}, "Untitled")]
)
def test_a_pack_is_headed_by_title_name_or_untitled(desk: Any, meta: dict[str, str], heading: str) -> None:
    pack = desk.create(**meta)
    assert desk.output(id=pack).split("\n")[:2] == ["[LEGEND]", f"# Context pack: {heading}"]
    assert f"— {heading} (draft, revision `1`, ttl `1h`)" in desk.output()


@pytest.mark.clause("PK-43")
def test_absent_values_are_left_out_of_the_legend(desk: Any) -> None:
    pack = desk.create()
    assert desk.output(id=pack) == (
        f"[LEGEND]\n# Context pack: Untitled\n- id: {pack}\n- status: draft\n- revision: 1\n"
        "- expires_at: 2026-01-02T04:04:05Z\n- ttl_remaining: 1h\n\n[CONTENT]"
    )


@pytest.mark.clause("PK-43")
def test_moments_are_whole_seconds_in_markdown_and_exact_in_json(desk: Any) -> None:
    desk.clock.advance(microseconds=250_000)
    pack = desk.create()
    assert "- expires_at: 2026-01-02T04:04:05Z\n" in desk.output(id=pack)
    assert desk.input(action="get", id=pack)["expires_at"] == "2026-01-02T04:04:05.250000Z"


@pytest.mark.clause("PK-44")
@pytest.mark.parametrize(("start", "end", "line"), [(5, 7, "   5: line 5"), (99, 100, " 100: line 100")])
def test_line_numbers_are_right_aligned_and_at_least_four_wide(
    desk: Any, start: int, end: int, line: str
) -> None:
    assert line in desk.output(id=desk.pack_with_ref(start, end)).split("\n")


@pytest.mark.clause("PK-44")
def test_the_widest_number_of_the_excerpt_sets_the_width(new_desk: Any) -> None:
    desk = new_desk({"src/app.py": "x\n" * 100_001})
    lines = desk.output(id=desk.pack_with_ref(99_999, 100_000)).split("\n")
    assert " 99999: x" in lines
    assert "100000: x" in lines


@pytest.mark.clause("PK-44")
def test_only_newlines_end_lines(new_desk: Any) -> None:
    text = "\ufeffone\u2028still one\r\ntwo\x85\x0c\x0bstill two\nthree\rstill three\r\r\n\nlast"
    desk = new_desk({"src/app.py": text.encode("utf-8")})
    shown = desk.output(id=desk.pack_with_ref(1, 5)).split("```")[1].split("\n")[1:-1]
    assert shown == [
        "   1: one\u2028still one",
        "   2: two\x85\x0c\x0bstill two",
        "   3: three\rstill three\r",
        "   4: ",
        "   5: last",
    ]


@pytest.mark.clause("PK-44")
@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a.py", "python"),
        ("a.RS", "rust"),
        ("x/Dockerfile", "dockerfile"),
        ("Makefile", "makefile"),
        ("a.zzz", ""),
        ("a.txt", ""),
        ("LICENSE", ""),
    ],
)
def test_the_fence_names_the_language(new_desk: Any, path: str, language: str) -> None:
    desk = new_desk({path: "x\n"})
    assert f"\n```{language}\n   1: x\n```" in desk.output(id=desk.pack_with_ref(1, 1, path=path))


@pytest.mark.clause("PK-44")
def test_unreadable_refs_are_shown_with_a_reason(new_desk: Any) -> None:
    files = {
        "good.py": "fine\n",
        "binary.py": b"a\x00b",
        "latin.py": b"caf\xe9\n",
        "big.py": "x" * 101 + "\n",
        "folder/inner.py": "x\n",
        ".env": "SECRET=1\n",
        "short.py": "one\n",
    }
    desk = new_desk(files, max_source_bytes=100)
    pack = desk.create()
    desk.section(pack)
    paths = ["gone.py", "binary.py", "latin.py", "big.py", "folder", ".env", "good.py"]
    for number, path in enumerate(paths):
        desk.ref(pack, f"r{number}", 1, 1, path=path)
    desk.ref(pack, "past", 1, 2, path="short.py")
    text = desk.output(id=pack)
    notes = [line for line in text.split("\n") if line.startswith("> stale ref: ")]
    assert notes == [
        "> stale ref: file not found",
        "> stale ref: binary file",
        "> stale ref: the file is not UTF-8 text",
        "> stale ref: the file is over the size cap",
        "> stale ref: not a regular file",
        "> stale ref: the path is denied by policy",
        "> stale ref: lines 1-2 are past the end of the file (1 line)",
    ]
    assert text.count("```") == 2
    assert "SECRET" not in text
    assert text.count("\n#### ") == 8


@pytest.mark.clause("PK-40")
def test_without_a_pack_it_lists_by_the_filters(desk: Any) -> None:
    desk.create(title="Alpha")
    desk.create(title="Beta")
    assert desk.output(query="alp").count("\n- `pk_") == 1
    assert desk.output(query="nothing") == "No context packs found."
    assert desk.output(offset=5) == "No context packs found."
    assert desk.output(status="draft").count("\n- `pk_") == 2


@pytest.mark.clause("PK-40")
@pytest.mark.parametrize("value", ["json", "markdown", None, 1])
def test_another_format_than_markdown_is_refused(desk: Any, value: Any) -> None:
    error = desk.refused("output", format=value)
    assert (error["code"], error["details"]["field"]) == ("invalid_data", "format")
    assert "always markdown" in error["message"]


@pytest.mark.clause("PK-40")
def test_a_wrong_argument_name_suggests_id_or_name(desk: Any) -> None:
    for wrong in ({"pack": "x"}, {"pack": "x", "limit": 5}, {"mode": "compact"}):
        message = desk.refused("output", **wrong)["message"]
        assert "id" in message.replace("'", " ").replace(",", " ").split()
        assert "name" in message.replace("'", " ").replace(",", " ").split()


@pytest.mark.clause("PK-40")
@pytest.mark.parametrize(
    ("call", "field"),
    [
        ({"id": "pk_aaaaaaaa", "query": "x"}, "query"),
        ({"id": "pk_aaaaaaaa", "limit": 5}, "limit"),
        ({"name": "abc", "offset": 1}, "offset"),
        ({"mode": "compact"}, "mode"),
        ({"action": "list"}, "action"),
        ({"id": "pk_aaaaaaaa", "nonsense": 1}, "nonsense"),
        ({"id": None}, "id"),
        ({"id": "  "}, "id"),
        ({"max_tokens": 499}, "max_tokens"),
        ({"id": "pk_aaaaaaaa", "max_tokens": 200_001}, "max_tokens"),
        ({"id": "pk_aaaaaaaa", "mode": "tiny"}, "mode"),
        ({"id": "pk_aaaaaaaa", "status": "open"}, "status"),
    ],
)
def test_output_arguments_that_exclude_each_other_are_refused(
    desk: Any, call: dict[str, Any], field: str
) -> None:
    error = desk.refused("output", **call)
    assert (error["code"], error["details"]["field"]) == ("invalid_data", field)


@pytest.mark.clause("PK-40")
def test_the_list_has_one_line_per_pack_the_last_changed_first(desk: Any) -> None:
    one = desk.create(title="First", name="first-pack", ttl_minutes=3)
    desk.clock.advance(minutes=1)
    two = desk.create(name="second", ttl_minutes=60 * 24 * 12 + 5)
    desk.clock.advance(seconds=61)
    assert desk.output() == (
        "# Context packs\n\n"
        f"- `{two}` — second (draft, revision `1`, ttl `12d`)\n"
        f"- `{one}` — First (draft, revision `1`, ttl `<1m`)"
    )


@pytest.mark.clause("PK-40")
def test_a_cut_list_says_how_to_go_on(desk: Any) -> None:
    made = {desk.create(title="x" * 200) for _ in range(30)}
    assert desk.output(limit=7).endswith('\n\n> truncated: 23 packs left; continue with output {"offset": 7}')
    seen: list[str] = []
    offset = 0
    while True:
        text = desk.output(max_tokens=500, offset=offset)
        assert len(text.encode()) <= 2000
        seen += [line[3:14] for line in text.split("\n") if line.startswith("- `")]
        if "> truncated: " not in text:
            break
        assert f"{30 - len(seen)} packs left" in text
        offset = int(text.rpartition(" ")[2].rstrip("}"))
        assert offset == len(seen)
    assert len(seen) == 30
    assert set(seen) == made


@pytest.mark.clause("PK-40")
def test_a_status_that_does_not_match_names_both(desk: Any) -> None:
    pack = desk.create()
    error = desk.refused("output", id=pack, status="finalized")
    assert (error["kind"], error["code"]) == ("invalid_state", "invalid_state")
    assert "draft" in error["message"]
    assert "finalized" in error["message"]
    assert desk.output(id=pack, status="draft").startswith("[LEGEND]\n")


@pytest.mark.clause("PK-57")
def test_compact_leaves_out_code_and_nothing_else(desk: Any) -> None:
    pack = desk.pack_with_ref(ref_title="R", ref_why="W")
    desk.ref(pack, "gone", path="gone.py")
    desk.change(pack, "upsert_diagram", section_key="main", diagram_key="dia", title="D", mermaid="graph TD")
    full, compact = desk.output(id=pack, mode="full"), desk.output(id=pack, mode="compact")
    assert full == desk.output(id=pack)
    code = "\n\n```python\n   5: line 5\n   6: line 6\n   7: line 7\n```"
    assert code in full
    assert compact == full.replace(code, "")


@pytest.mark.clause("PK-48", "KN-25")
def test_a_section_description_is_rendered_unchanged(desk: Any) -> None:
    text = (
        "---\nfirst\n\n```c\nint a;\fint b;\v\x85\u2028\u2029c\n```\n\n- one\n-\n- three\n\ntext\n\n"
        "    # as root\n\n1. run\n   ```sh\n   # as root\n   ```\n\n<details>\n\nmore\n\n</details>"
    )
    pack = desk.create()
    desk.section(pack, section_description=text)
    assert desk.output(id=pack).endswith(f"## Main [main]\n{text}")
