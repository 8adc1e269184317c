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
@pytest.mark.parametrize(
    ("call", "field"),
    [
        ({"id": "pk_aaaaaaaa", "query": "x"}, "query"),
        ({"id": "pk_aaaaaaaa", "limit": 5}, "limit"),
        ({"mode": "compact"}, "mode"),
        ({"id": "pk_aaaaaaaa", "nonsense": 1}, "nonsense"),
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
        f"- `{one}` — First (name `first-pack`, draft, revision `1`, ttl `<1m`)"
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
