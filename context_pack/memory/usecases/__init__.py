"""What memory does: record, import, keep its index true, search."""
