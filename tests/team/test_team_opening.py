"""A team's store that cannot be opened."""

from __future__ import annotations

import pytest

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.postgres.opening import Unopened


@pytest.mark.clause("TM-09")
def test_an_unopened_store_refuses_every_call_and_has_nothing_to_close() -> None:
    store = Unopened(Failure(Code.IO_ERROR, "the driver does not load"))
    assert getattr(store, "close", None) is None
    with pytest.raises(Failure, match="the driver does not load"):
        store.get("pk_aaaaaaaa")
