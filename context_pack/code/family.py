"""The code family: tools whose errors are `{"error": text, …}`."""

from __future__ import annotations

from context_pack.toolkit.spec import Family, worded_error

FAMILY = Family("code", worded_error)
