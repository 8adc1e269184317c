"""The command line: one module per group of commands, loaded when one of them is called.

A command is a function made one by `@command(…)`, which declares its arguments; its docstring is its help and
teaches by example. It prints its result on stdout and returns the exit code: 0 done, 1 the answer is a
failure, 2 wrong usage. Troubles are told in words on stderr; no traceback is ever shown.
"""
