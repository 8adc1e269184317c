"""Every answer of every tool, and every error it may give, fits the output schema that the tool declares.

Some clients check errors, too, and show only that they do not fit.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from bundle_maker import SAMPLE
from context_trees import MINIMAL
from document_trees import handbook
from file_trees import lay
from jsonschema import Draft202012Validator

from context_pack.app import build
from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.call import QuietCall
from context_pack.toolkit.registry import Registry
from context_pack.toolkit.spec import Answer, FailedCall
from context_pack_adapters.disk_ports import open_ports
from context_pack_adapters.settings import read_settings

ANSWERED: Mapping[str, Mapping[str, Any]] = {
    "input": {"action": "create", "ttl_minutes": 5},
    "context_for": {"path": "src/app.py"},
    "read_file": {"path": "src/app.py", "includeDeps": True},
    "grep_codebase": {"pattern": "def"},
    "export_context": {"targets": [{"entityType": "Feature", "entityId": "ride-end"}]},
    "get_context": {"entityType": "Feature", "id": "ride-end"},
    "export_entity_markdown": {"entityType": "Feature", "entityId": "ride-end"},
    "list_contexts": {},
    "check_freshness": {"scope": "src"},
    "query_context": {"scope": "src", "filter": ["summary", "nonsense"]},
    "documents_list_collections": {},
    "documents_search": {"query": "rotate keys"},
    "documents_get_document": {"collection": "handbook", "document": "guide.md"},
    "documents_list_documents": {"collection": "handbook"},
    "documents_get_outline": {"collection": "handbook", "document": "guide.md"},
    "documents_get_section": {"collection": "handbook", "document": "guide.md", "section": "Setup"},
    "documents_search_batch": {"queries": [{"query": "keys"}, {"query": "pasta"}]},
    "documents_find_related": {"collection": "handbook", "document": "guide.md"},
    "documents_sync": {},
    "context_search": {"query": "where is the answer made"},
    "context_record": {"type": "pattern", "content": "Answers are made once."},
}


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    """The tools over a project with something of everything."""
    handbook(tmp_path)
    lay(
        tmp_path,
        {"src/app.py": "import src.tool\n\n\ndef answer():\n    return 42\n", "src/tool.py": "A = 1\n"},
    )
    lay(tmp_path, {"src/.context.yaml": MINIMAL, ".context.config.yaml": "min_tokens: 0\n"})
    shutil.copytree(SAMPLE, tmp_path / "specs")
    return build(open_ports(read_settings({}, str(tmp_path))))


def misfits(registry: Registry, name: str, answer: Answer) -> list[str]:
    """What the tool's output schema has against an answer whose text is JSON."""
    try:
        value = json.loads(answer.text)
    except ValueError:
        return [] if answer.is_error else ["not JSON"]
    schema = registry.tools[name].output_schema
    assert schema is not None
    return [f"{name}: {fault.message}" for fault in Draft202012Validator(schema).iter_errors(value)]


@pytest.mark.clause("PG-12")
def test_every_tool_with_a_json_answer_declares_the_fields_of_that_answer(registry: Registry) -> None:
    declared = {name: tool.output_schema for name, tool in registry.tools.items() if tool.output_schema}
    assert set(declared) == set(ANSWERED)
    for name, arguments in ANSWERED.items():
        answer = registry.call(name, arguments, QuietCall())
        assert not answer.is_error, answer.text
        assert misfits(registry, name, answer) == []
        assert answer.structured is not None
        assert json.loads(answer.text) == answer.structured
        assert set(answer.structured) <= set(declared[name]["properties"]), name
        assert "required" not in declared[name], name


@pytest.mark.clause("PG-12")
def test_every_error_fits_the_schema_of_its_tool(registry: Registry) -> None:
    wrong: list[Mapping[str, Any]] = [{"nonsense": 1}, {"path": 5, "query": 5, "scope": [], "id": {}}]
    wrong += [{"path": "gone.py"}, {"scope": "gone"}, {"pattern": "("}, {"entityType": "Gone", "id": "x"}]
    wrong += [{"collection": "gone", "document": "x"}, {"action": "get", "id": "pk_aaaaaaaa"}, {"query": " "}]
    seen = 0
    for name in ANSWERED:
        answers = [registry.call(name, arguments, QuietCall()) for arguments in wrong]
        for code in Code:
            failure = Failure(code, "it went wrong", {"field": "path", "retryAfterMs": 5, "reason": "ENOSPC"})
            for arguments in wrong:
                answers.append(registry.tools[name].family.error(failure, FailedCall(name, 7, arguments)))
        errors = [answer for answer in answers if answer.is_error]
        assert [fault for answer in errors for fault in misfits(registry, name, answer)] == []
        seen += len(errors)
    assert seen > len(ANSWERED) * len(Code)
