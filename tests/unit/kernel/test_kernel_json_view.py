"""An export's structured content is a dictionary like any other, read when somebody looks."""

from __future__ import annotations

import copy
import json
import operator
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from bundle_maker import desk_of, nodes, target

from context_pack.kernel.json_view import JsonView

TEXT = '{"ok":true,"data":{"a":[1,{"b":"ü"}]},"meta":{}}'
VALUE = json.loads(TEXT)


def called(**fields: Any) -> dict[str, Any]:
    """The arguments of a call."""
    return fields


@pytest.mark.clause("BD-38")
@pytest.mark.parametrize(
    "look",
    [
        json.dumps,
        lambda view: json.dumps(view, indent=2),
        lambda view: json.dumps(view, sort_keys=True),
        lambda view: json.dumps([view]),
        dict,
        list,
        len,
        repr,
        lambda view: {**view},
        lambda view: called(**view),
        lambda view: {} | view,
        lambda view: view | {"x": 1},
        lambda view: view == VALUE,
        lambda view: operator.eq(VALUE, view),
        lambda view: view != VALUE,
        lambda view: view.copy(),
        lambda view: copy.deepcopy(view),
        lambda view: pickle.loads(pickle.dumps(view)),
        lambda view: view["data"],
        lambda view: view.get("nothing", 3),
        lambda view: list(view.items()),
        lambda view: list(view.keys()),
        lambda view: list(view.values()),
        lambda view: list(reversed(view)),
        lambda view: ("ok" in view, "" in view),
        lambda view: (view.update(x=1), dict(view)),
        lambda view: (view.pop("ok"), dict(view)),
        lambda view: (view.popitem(), dict(view)),
        lambda view: (view.setdefault("x", 2), dict(view)),
        lambda view: (view.__setitem__("x", 1), dict(view)),
        lambda view: (view.__delitem__("ok"), dict(view)),
        lambda view: (view.__ior__({"x": 1}) and None, dict(view)),
        lambda view: (view.clear(), dict(view)),
    ],
)
def test_whoever_looks_sees_what_the_text_says(look: Callable[[Any], Any]) -> None:
    assert look(JsonView(TEXT)) == look(json.loads(TEXT))


@pytest.mark.clause("BD-38")
@pytest.mark.parametrize("form", ["json", "yaml"])
def test_the_structured_content_of_an_export_can_be_written_as_json(form: str) -> None:
    answer = desk_of(nodes({"a": ["b"], "b": []})).call("export_context", targets=[target("a")], format=form)
    written = json.dumps(answer.structured, ensure_ascii=False, separators=(",", ":"))
    assert isinstance(answer.structured, dict)
    assert json.loads(written)["data"]["exportMeta"]["format"] == form
    if form == "json":
        assert written == answer.text
