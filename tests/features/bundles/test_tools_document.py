"""`export_entity_markdown`: a document that people can read, and that no value can forge."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bundle_maker import bundle_files, desk_of, nodes, refs, schema, target
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

SCHEMAS = {
    "Feature": {
        **schema(
            status={"type": "string", "title": "State of work"},
            requirementIds=refs("Requirement", title="Realizes"),
            steps={"title": "Steps", "items": {"properties": {"actorName": {"title": "Who"}}}},
        ),
        "title": "A feature",
    },
    "Requirement": schema(refinesIds=refs("Requirement")),
}
FILES = bundle_files(
    {
        "Feature": [
            {
                "id": "login",
                "title": "User login",
                "status": "draft",
                "description": "First line.\n\n- a list\n",
                "requirementIds": ["R1", "R2", "gone"],
                "steps": [{"actorName": "Rider", "note": 5}, {"actorName": "Nobody"}],
                "empty": [],
                "nothing": None,
                "flag": True,
            }
        ],
        "Requirement": [
            {"id": "R1", "title": "Be secure", "refinesIds": ["R3"]},
            {"id": "R2", "title": "Be quick"},
            {"id": "R3", "name": "Be good"},
        ],
    },
    SCHEMAS,
)


def markdown(files: Any = FILES, key: str = "login", type_: str = "Feature", **more: Any) -> str:
    text: str = desk_of(files).answer("export_entity_markdown", **target(key, type_), **more)["data"][
        "markdown"
    ]
    return text


def headings(text: str) -> list[tuple[str, str]]:
    """The headings that a Markdown reader sees."""
    tokens = MarkdownIt().parse(text)
    return [
        (token.tag, tokens[at + 1].content) for at, token in enumerate(tokens) if token.type == "heading_open"
    ]


@pytest.mark.clause("BD-52")
def test_a_document_has_a_title_field_titles_and_related_entities() -> None:
    text = markdown()
    assert text.startswith("# User login\n\n- **Type:** A feature\n- **ID:** login\n")
    for line in (
        "- **State of work:** draft",
        "**Description:**",
        "- a list",
        "- **Realizes:**",
        "  - R1 — Be secure",
        "  - gone",
        "    - **Who:** Rider",
        "    - **Note:** 5",
        "- **Flag:** true",
    ):
        assert line in text.splitlines()
    assert "Empty" not in text
    assert "Nothing" not in text
    assert headings(text) == [
        ("h1", "User login"),
        ("h2", "Related entities"),
        ("h3", "Requirement"),
        ("h4", "Be secure"),
        ("h4", "Be quick"),
        ("h4", "Be good"),
    ]


@pytest.mark.clause("BD-52")
def test_a_document_shows_the_nearest_as_far_as_there_is_room_and_says_so() -> None:
    near = {f"n{number}": [f"far{number}"] for number in range(50)}
    edges = {"t": list(near), **near, **{key: [] for keys in near.values() for key in keys}}
    files = nodes(edges)
    for name, value in files.items():
        if name.startswith("bundle/"):
            value["text"] = "x" * 1_500
    body = desk_of(files).answer("export_entity_markdown", **target("t"))
    text, shown = body["data"]["markdown"], [one["id"] for one in body["data"]["includedDependencies"]]
    assert shown == list(edges)[1 : len(shown) + 1]
    assert 25 <= len(shown) <= 33
    assert body["meta"]["truncated"] is True
    assert body["meta"]["leftOut"] == 100 - len(shown)
    assert len(json.dumps(body).encode()) < 50_000
    assert f"\n> truncated: {100 - len(shown)} related entities left; " in text
    assert [level for level, _ in headings(text)] == ["h1", "h2", "h3", *["h4"] * len(shown)]
    assert (
        desk_of(nodes({"t": []})).answer("export_entity_markdown", **target("t"))["meta"]["truncated"]
        is False
    )


EVIL = st.text(st.sampled_from("#>-*+`~=|[]().1 \n\r\t\\<a/b!\u2028\x85:_"), max_size=25)


@pytest.mark.clause("BD-52")
@given(EVIL, EVIL, EVIL)
def test_no_value_forges_the_structure_of_the_document(title: str, text: str, key: str) -> None:
    files = bundle_files(
        {
            "Node": [
                {
                    "id": "a",
                    "title": title,
                    "text": text,
                    "list": [text, [text, {key: text}]],
                    key: {text: key},
                },
                {"id": "b"},
            ]
        }
    )
    files["bundle/node/0000.yaml"]["id"] = "a"
    files["bundle/node/0000.yaml"]["refs"] = ["b"]
    found = headings(markdown(files, "a", "Node"))
    assert [tag for tag, _ in found] == ["h1", "h2", "h3", "h4"]
    assert [name for _, name in found[1:]] == ["Related entities", "Node", "b"]
