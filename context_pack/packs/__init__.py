"""Context packs: curated bundles of anchored code, notes and diagrams, from JSON to Markdown."""
