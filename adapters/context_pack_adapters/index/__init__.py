"""The search index on SQLite, on disk or in memory, and the worker that fills it: all derived data.

One mechanism: entries with their pieces, a keyword search over our own tokens, and float32 vectors. It
knows no tool and no feature. Comparing vectors is done by `vectors`, which lies below.
"""
