"""A JSON object that is still text: read when somebody looks into it.

An answer may be megabytes, and the same as the last one. A server sends its text and never looks; parsing it
for nobody, and handing out values that somebody keeps, are both avoided this way. Whoever looks finds an
ordinary dictionary of their own, which `json.dumps`, `==` and copies take for what it is.
"""

from __future__ import annotations

import json
from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from typing import Any


class JsonView(dict[str, Any]):
    """The object in a JSON text; every way to look into it reads the text first."""

    _text: str | None = None

    def __init__(self, text: str) -> None:
        # Not empty: `json` asks the dictionary itself whether there is anything, and no method of ours.
        super().__init__({"": None})
        self._text = text

    def _read(self) -> None:
        if self._text is not None:
            value, self._text = json.loads(self._text), None
            super().clear()
            super().update(value)

    def __getitem__(self, key: str) -> Any:
        self._read()
        return super().__getitem__(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._read()
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        self._read()
        super().__delitem__(key)

    def __contains__(self, key: object) -> bool:
        self._read()
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        self._read()
        return super().__iter__()

    def __reversed__(self) -> Iterator[str]:
        self._read()
        return super().__reversed__()

    def __len__(self) -> int:
        self._read()
        return super().__len__()

    def __eq__(self, other: object) -> bool:
        return dict(self) == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def __or__(self, other: Any) -> Any:
        return dict(self) | other

    def __ror__(self, other: Any) -> Any:
        return other | dict(self)

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def __repr__(self) -> str:
        self._read()
        return super().__repr__()

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or the default."""
        self._read()
        return super().get(key, default)

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        """The pairs."""
        self._read()
        return super().items()

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        """The keys."""
        self._read()
        return super().keys()

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        """The values."""
        self._read()
        return super().values()

    def copy(self) -> dict[str, Any]:
        """A plain dictionary of the same."""
        return dict(self)

    def pop(self, *arguments: Any) -> Any:
        """Take a key out."""
        self._read()
        return super().pop(*arguments)

    def popitem(self) -> tuple[str, Any]:
        """Take the last pair out."""
        self._read()
        return super().popitem()

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of a key, put there if it was absent."""
        self._read()
        return super().setdefault(key, default)

    def update(self, *others: Any, **more: Any) -> None:
        """Put pairs in."""
        self._read()
        super().update(*others, **more)

    def clear(self) -> None:
        """Take everything out."""
        self._text = None
        super().clear()
