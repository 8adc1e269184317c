"""`context.json`: what it configures, what is wrong with it, and edits that keep the rest."""

from __future__ import annotations

import json

import pytest

from context_pack.documents.config import edited, merged, parse_config
from context_pack.kernel.errors import Failure


def config(**collections: object) -> str:
    return json.dumps({"collections": collections})


@pytest.mark.clause("DC-01")
def test_collections_are_read_with_their_descriptions() -> None:
    found = parse_config(config(docs={"url": "./docs", "description": "ours"}, api={"url": "api"}))
    assert found.problems == ()
    assert [(one.alias, one.url, one.description) for one in found.entries] == [
        ("docs", "./docs", "ours"),
        ("api", "api", None),
    ]


@pytest.mark.clause("DC-01")
def test_a_bad_collection_entry_is_reported_and_others_load() -> None:
    found = parse_config(config(good={"url": "a"}, bad={"url": 3}, worse="x", far={"url": "http://x/y"}))
    assert [one.alias for one in found.entries] == ["good"]
    assert [problem.split(":")[1] for problem in found.problems] == [
        " collection 'bad'",
        " collection 'worse'",
        " collection 'far'",
    ]


@pytest.mark.clause("DC-01")
@pytest.mark.parametrize("text", ["", "{", "[]", '{"collections": []}', "[" * 100_000])
def test_an_unreadable_configuration_is_a_reported_problem(text: str) -> None:
    found = parse_config(text)
    assert found.entries == ()
    assert len(found.problems) == 1
    assert found.problems[0].startswith("context.json: ")


@pytest.mark.clause("DC-02")
def test_the_project_wins_over_the_user() -> None:
    project = parse_config(config(docs={"url": "./docs"}))
    user = parse_config(config(docs={"url": "/elsewhere"}, notes={"url": "/notes"}))
    found = merged(project, user)
    assert {alias: (entry.url, mine) for alias, (entry, mine) in found.items()} == {
        "docs": ("./docs", False),
        "notes": ("/notes", True),
    }


@pytest.mark.clause("DC-30")
def test_an_edit_keeps_everything_else() -> None:
    before = json.dumps({"theme": "dark", "collections": {"a": {"url": "x", "mine": 1}}})
    added = json.loads(edited(before, "b", {"url": "y"}))
    assert added == {"theme": "dark", "collections": {"a": {"url": "x", "mine": 1}, "b": {"url": "y"}}}
    changed = json.loads(edited(before, "a", {"url": "z"}))
    assert changed["collections"]["a"] == {"url": "z", "mine": 1}
    assert json.loads(edited(before, "a", None)) == {"theme": "dark", "collections": {}}
    assert json.loads(edited(None, "a", {"url": "x"})) == {"collections": {"a": {"url": "x"}}}


@pytest.mark.clause("DC-30")
@pytest.mark.parametrize("text", ["{", "[]", '{"collections": 3}'])
def test_a_broken_file_is_not_overwritten(text: str) -> None:
    with pytest.raises(Failure):
        edited(text, "a", {"url": "x"})


@pytest.mark.parametrize("alias", ["", " ", "a ", "a\nb", "x" * 201])
def test_a_collection_name_with_odd_characters_is_refused(alias: str) -> None:
    with pytest.raises(Failure):
        edited(None, alias, {"url": "x"})
