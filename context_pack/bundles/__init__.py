"""Bundles of typed entities: exports with their dependencies and schemas, neighbours, documents."""
