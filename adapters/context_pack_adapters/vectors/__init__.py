"""Comparing vectors: exactly with numpy or, with the extra `hnswlib`, through a graph; nothing else here.

numpy and hnswlib are imported inside functions: a process that only reads or searches words never loads them.
"""
