"""An MCP server over stdio that does what a test asks of it.

upstream.py FOLDER [WAY]: its tools are in FOLDER/tools.json, read at every listing. Calls that it executes
and messages that it hears are written down, a line each, in FOLDER/calls and FOLDER/heard.
"""
import json
import os
import sys
import time

folder = sys.argv[1]
way = sys.argv[2] if len(sys.argv) > 2 else ""


def note(name, text):
    with open(os.path.join(folder, name), "a") as file:
        file.write(text + "\n")


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def text(said, **more):
    return {"content": [{"type": "text", "text": said}], **more}


listener = {}
note("starts", str(os.getpid()))
if way == "exits":
    print("no good: " + os.environ.get("TOKEN", ""), file=sys.stderr, flush=True)
    sys.exit(3)
if way == "noise":
    while True:
        print("x" * 1000, flush=True)
if way == "silent":
    time.sleep(3600)
if way == "banner":
    print("Welcome to the server!\n{\"not\": \"a message\"}", flush=True)

for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    params = message.get("params") or {}
    note("heard", method or "answer")
    if way == "modern" and method == "server/discover":
        result = {
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {"listChanged": True}},
            "ttlMs": 0,
            "cacheScope": "private",
        }
    elif way == "modern" and method == "subscriptions/listen":
        listener = {"_meta": {"io.modelcontextprotocol/subscriptionId": id}}
        send({"method": "notifications/subscriptions/acknowledged",
              "params": {**listener, "notifications": {"toolsListChanged": True}}})
        continue
    elif way == "modern" and method in ("initialize", "ping"):
        send({"id": id, "error": {"code": -32601, "message": "no such method"}})
        continue
    elif method == "initialize":
        version = {"old": "2024-11-05", "middle": "2025-06-18"}.get(way, params["protocolVersion"])
        result = {
            "protocolVersion": version,
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "scripted", "version": "1"},
        }
    elif method == "ping":
        result = {}
    elif method == "tools/list" and way == "endless":
        at = int(params.get("cursor") or 0)
        tool = {"name": "t%d" % at, "inputSchema": {"type": "object"}}
        result = {"tools": [tool], "nextCursor": str(at + 1)}
    elif method == "tools/list":
        tools = json.load(open(os.path.join(folder, "tools.json")))
        at = int(params.get("cursor") or 0)
        result = {"tools": tools[at:at + 2]}
        if at + 2 < len(tools):
            result["nextCursor"] = str(at + 2)
    elif method == "tools/call":
        name, arguments = params["name"], params["arguments"]
        note("calls", name)
        if name == "crash":
            print("it hurts", file=sys.stderr, flush=True)
            os._exit(7)
        elif name == "never":
            token = params["_meta"]["progressToken"]
            send({"method": "notifications/progress",
                  "params": {"progressToken": token, "progress": 1, "message": "begun"}})
            continue
        elif name == "big":
            result = text("x" * arguments["bytes"])
        elif name == "fails":
            result = text("no such\nfile", isError=True)
        elif name == "changes":
            send({"method": "notifications/tools/list_changed", "params": listener})
            result = text("changed")
        elif name == "refuses":
            send({"id": id, "error": {"code": -32602, "message": "bad arguments"}})
            continue
        else:
            result = text(json.dumps(arguments), novel={"kept": 1.50}, structuredContent={"n": 7})
            result["content"].append({"type": "hologram", "data": "kept"})
    elif id is not None:
        send({"id": id, "error": {"code": -32601, "message": "no such method"}})
        continue
    else:
        continue
    send({"id": id, "result": result})
