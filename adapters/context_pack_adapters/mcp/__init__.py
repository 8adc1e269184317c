"""MCP over stdio: framing, JSON-RPC and the session, all free of I/O, and the pump, which has all of it."""
