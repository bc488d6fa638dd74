"""An MCP server over stdio with one tool, `echo`, that writes down every call it executes. Like the servers of
Python's SDK it takes a carriage return for the end of a line."""
import io
import json
import os
import sys

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

done = open(sys.argv[1], "a", buffering=1)
for line in io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8"):
    try:
        message = json.loads(line)
    except ValueError:
        continue
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        result = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "echo", "version": "1"},
        }
    elif method == "tools/list":
        result = {"tools": [{"name": "echo", "inputSchema": SCHEMA}]}
    elif method == "tools/call":
        text = message["params"]["arguments"]["text"]
        done.write(text + "\n")
        if text == "die":
            sys.exit(1)
        if text == "refuse":
            error = {"code": -32000, "message": "not today"}
            print(json.dumps({"jsonrpc": "2.0", "id": id, "error": error}), flush=True)
            continue
        said = text + (" key" if "PROVOST_KEY" in os.environ else "")
        result = {"content": [{"type": "text", "text": said}], "isError": text == "fail"}
    elif id is not None and method:
        done.write(method + "\n")
        result = {"did": method}
    else:
        continue
    if id is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
