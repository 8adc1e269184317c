"""Packs and memory of a team in Postgres; nothing here is imported unless a database is configured.

`connection` speaks to the server, `schema` makes the tables, and one module per port keeps what it is about.
Every statement is a constant with parameters; every one names the project, and row-level security does too.
"""
