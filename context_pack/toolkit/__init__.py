"""Tools without features: specs, schemas, limits, metrics, and the one registry that calls them."""
