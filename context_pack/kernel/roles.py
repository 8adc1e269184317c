"""Which files are tests, by their paths alone; names of folders are compared without case."""

from __future__ import annotations

import re

from context_pack.kernel.paths import RelativePath

TEST_FOLDERS = frozenset({"test", "tests", "__tests__", "spec", "specs", "testing", "e2e", "__mocks__"})
_TEST_NAME = re.compile(r"(?:test_.*|.*[._-](?:test|tests|spec)|conftest)\.[a-z0-9]+")
_TEST_CLASS = re.compile(r".*[a-z0-9](?:Test|Tests|TestCase|Spec|IT)\.(?:java|kt|cs|php|scala|swift)")


def is_test(path: RelativePath) -> bool:
    """Whether a file is a test, or there for tests."""
    folders = (part.lower() for part in path.parts[:-1])
    if not TEST_FOLDERS.isdisjoint(folders):
        return True
    return bool(_TEST_NAME.fullmatch(path.name.lower()) or _TEST_CLASS.fullmatch(path.name))
