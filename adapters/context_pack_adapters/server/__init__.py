"""MCP over stdio: framing, JSON-RPC and the session without I/O; only the pump reads and writes."""
