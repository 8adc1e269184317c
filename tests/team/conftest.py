"""These tests need the driver; without it they are not collected, and the contract suites say why."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("psycopg") else ["test_*.py"]
