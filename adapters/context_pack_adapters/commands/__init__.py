"""The command line: one module per command, loaded when it is called.

A command module has `configure(parser)`, which declares its arguments and teaches by example, and
`run(options, shell) -> int`, which prints its result on stdout and returns the exit code: 0 done, 1 the
answer is a failure, 2 wrong usage. Troubles are told in words on stderr; no traceback is ever shown.
"""
