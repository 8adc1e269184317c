"""Comparing vectors: exactly with numpy, or through a graph of hnswlib; no database and no feature here.

numpy and hnswlib are imported inside functions: a process that only reads or searches words never loads them.
"""
