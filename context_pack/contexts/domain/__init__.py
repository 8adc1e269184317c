"""The rules of directory contexts: format, fingerprints, freshness, the scan, and what is generated."""
