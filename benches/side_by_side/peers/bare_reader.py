"""The floor of `read_file`: a loop that opens, reads and replies, and checks nothing.

One JSON line in, one out; the file comes as text and as structure, as a tool's answer does.
"""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    """Serve until the input ends."""
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if "id" not in request:
            continue
        result: dict[str, object] = {}
        if request["method"] == "tools/call":
            path = request["params"]["arguments"]["path"]
            with open(path, encoding="utf-8") as file:
                content = file.read()
            status = os.stat(path)
            read = {
                "file": {
                    "path": path,
                    "content": content,
                    "size": status.st_size,
                    "lines": content.count("\n"),
                }
            }
            text = json.dumps(read, ensure_ascii=False)
            result = {
                "content": [{"type": "text", "text": text}],
                "structuredContent": read,
                "isError": False,
            }
        reply = {"jsonrpc": "2.0", "id": request["id"], "result": result}
        sys.stdout.buffer.write(json.dumps(reply, ensure_ascii=False).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
