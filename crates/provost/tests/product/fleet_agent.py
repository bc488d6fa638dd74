"""An ACP agent that does what its prompt says: `unasked`, `ask`, `hang`, `write` or anything else, which is answered at once."""
import json, os, sys

session, prompt, folder, model = f"s-{os.getpid()}", None, ".", "m1"


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def options():
    values = [{"value": name, "name": name} for name in ("m1", "m2")]
    return [{"id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": model, "options": values}]


def say(text):
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    send(method="session/update", params={"sessionId": session, "update": update})


def end(reason):
    global prompt
    if prompt is not None:
        send(id=prompt, result={"stopReason": reason})
    prompt = None


def prompted(message):
    global prompt
    prompt = message["id"]
    text = message["params"]["prompt"][0]["text"]
    say(f"model: {model}" if "which model" in text else f"heard: {text}")
    if "unasked" in text:
        call = {"toolCallId": "1", "title": "rm x", "kind": "execute", "status": "completed", "rawInput": {"command": "rm x"}}
        send(method="session/update", params={"sessionId": session, "update": {"sessionUpdate": "tool_call", **call}})
    elif "ask" in text:
        call = {"toolCallId": "1", "title": text, "kind": "execute", "rawInput": {"command": f"echo {text}"}}
        options = [{"optionId": k, "name": k, "kind": f"{k}_once"} for k in ("allow", "reject")]
        send(id=100, method="session/request_permission",
             params={"sessionId": session, "toolCall": call, "options": options})
    elif "hang" not in text:
        if "write" in text:
            with open(os.path.join(folder, "note.txt"), "a") as note:
                note.write(f"{text}\n")
        end("end_turn")


for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        can = {"loadSession": bool(os.environ.get("CAN_LOAD"))}
        secret = {"name": "scripted", "version": str("CARGO_MANIFEST_DIR" in os.environ)}
        send(id=message["id"], result={"protocolVersion": 1, "agentInfo": secret, "agentCapabilities": can})
    elif method == "session/new":
        folder = message["params"]["cwd"]
        send(id=message["id"], result={"sessionId": session, "configOptions": options()})
    elif method == "session/load":
        session, folder = message["params"]["sessionId"], message["params"]["cwd"]
        send(id=message["id"], result={"configOptions": options()})
    elif method == "session/set_config_option":
        if message["params"]["value"] in ("m1", "m2"):
            model = message["params"]["value"]
            send(id=message["id"], result={"configOptions": options()})
        else:
            send(id=message["id"], error={"code": -32602, "message": "no such model"})
    elif method == "session/prompt":
        prompted(message)
    elif method == "session/cancel":
        end("cancelled")
    elif message.get("id") == 100:
        outcome = message["result"]["outcome"]
        if outcome["outcome"] == "selected":
            say(f"chosen: {outcome['optionId']}")
            end("end_turn")
