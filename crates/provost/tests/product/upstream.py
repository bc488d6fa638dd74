"""An MCP server over stdio whose tools are in a file; each answers with its argument `path`."""
import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if id is None:
        continue
    answer = {"jsonrpc": "2.0", "id": id}
    if method == "initialize":
        answer["result"] = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "files", "version": "1"},
        }
    elif method == "tools/list":
        answer["result"] = {"tools": json.load(open(sys.argv[1]))}
    elif method == "tools/call":
        text = message["params"]["arguments"]["path"]
        answer["result"] = {"content": [{"type": "text", "text": text}], "isError": text == "fail"}
    else:
        answer["error"] = {"code": -32601, "message": "no such method"}
    print(json.dumps(answer), flush=True)
