#!/usr/bin/env python3
"""The approval gate from end to end: create, reply, status, on Telegram and by e-mail.

    scripts/e2e_demo.py [path of the provost binary]

Starts a gateway in a folder of its own, a Bot API and a mail server on this machine, asks on both channels,
replies as a person would, and shows what the agent is told. Needs nothing but Python.
"""

import http.server
import json
import os
import pathlib
import queue
import re
import socketserver
import subprocess
import sys
import tempfile
import threading
import urllib.request

AGENT, INBOX, CHAT = "demo-agent-key", "demo-inbox-key", 42
CONFIG = """
listen: 127.0.0.1:0
data: data
auth:
  keys:
    - {{name: demo, role: agent, key: {agent}}}
    - {{name: forwarder, role: inbox, key: {inbox}}}
channels:
  telegram: {{token: "1:demo", api_url: "http://127.0.0.1:{bot}", allow: [{chat}]}}
  email: {{smtp: "smtp://127.0.0.1:{smtp}", from: "Provost <gate@example.org>"}}
"""


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


class Bot(http.server.BaseHTTPRequestHandler):
    """As much of the Bot API as it takes to be asked, and to tap a button."""

    sent, edited, updates = queue.Queue(), queue.Queue(), queue.Queue()

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])) or "{}")
        method = self.path.rsplit("/", 1)[1]
        self.answer(getattr(self, method, lambda _: True)(body))

    def answer(self, result):
        text = json.dumps({"ok": True, "result": result}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def getMe(self, _):
        return {"id": 1, "is_bot": True, "first_name": "demo", "username": "demo_bot"}

    def sendMessage(self, body):
        message = {"message_id": 7, "date": 0, "chat": {"id": body["chat_id"], "type": "private"}}
        Bot.sent.put(body)
        return message

    def editMessageText(self, body):
        Bot.edited.put(body)
        return {"message_id": 7, "date": 0, "chat": {"id": body["chat_id"], "type": "private"}}

    def getUpdates(self, _):
        try:
            return [Bot.updates.get(timeout=1)]
        except queue.Empty:
            return []

    def log_message(self, *_):
        pass


class Mail(socketserver.StreamRequestHandler):
    """As much of SMTP as it takes to be handed a mail."""

    received = queue.Queue()

    def handle(self):
        self.say("220 demo")
        for line in self.rfile:
            word = line.decode().strip().upper()
            if word.startswith("DATA"):
                self.say("354 go on")
                lines = iter(self.rfile.readline, b".\r\n")
                Mail.received.put(b"".join(lines).decode())
                self.say("250 taken")
            elif word.startswith("QUIT"):
                return self.say("221 bye")
            else:
                self.say("250 fine")

    def say(self, text):
        self.wfile.write(text.encode() + b"\r\n")


def call(base, key, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(base + path, data, headers)) as answer:
        return json.load(answer)


def create(base, preview, channel, target):
    return call(base, AGENT, "/v1/approvals", {
        "session_id": "sess_demo", "action_type": "exec_cmd", "title": "Run command",
        "preview": preview, "channel": channel, "target": target, "expires_in_sec": 600,
    })["approval_id"]


def tap(code):
    """Taps the button of a code, once the message is there."""
    message = Bot.sent.get(timeout=30)
    buttons = [b for row in message["reply_markup"]["inline_keyboard"] for b in row]
    data = next(b["callback_data"] for b in buttons if b["callback_data"].startswith(f"{code}:"))
    user = {"id": CHAT, "is_bot": False, "first_name": "You"}
    Bot.updates.put({"update_id": 1, "callback_query": {
        "id": "1", "from": user, "chat_instance": "1", "data": data,
        "message": {"message_id": 7, "date": 0, "chat": {"id": CHAT, "type": "private"}, "text": message["text"]},
    }})


def by_telegram(base):
    id = create(base, "npm run build", "telegram", {"tg_chat_id": str(CHAT)})
    tap("1")
    decided = call(base, AGENT, f"/v1/approvals/{id}?wait=30s")
    shown = Bot.edited.get(timeout=30)
    assert "reply_markup" not in shown or not shown["reply_markup"].get("inline_keyboard"), shown
    return decided


def by_mail(base):
    id = create(base, "npm run deploy", "email", {"email_to": "you@example.org"})
    mail = Mail.received.get(timeout=30)
    subject = re.search(r"^Subject: (.*(?:\r?\n[ \t].*)*)", mail, re.M).group(1)
    assert id in mail, mail
    reply = {"subject": f"Re: {subject} [{id}]", "body": "4 add logs\n\nOn Tue, Provost wrote:\n> Run command", "from": "you@example.org"}
    call(base, INBOX, "/v1/inbox/email-reply", reply)
    return call(base, AGENT, f"/v1/approvals/{id}?wait=30s")


def serve(provost, folder, bot, smtp):
    config = CONFIG.format(agent=AGENT, inbox=INBOX, bot=bot, smtp=smtp, chat=CHAT)
    pathlib.Path(folder, "provost.yaml").write_text(config)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PROVOST_")}
    gateway = subprocess.Popen([provost, "serve"], cwd=folder, env=clean, stderr=subprocess.PIPE, text=True)
    for line in gateway.stderr:
        found = re.search(r"listens on (http://\S+)", line)
        if found:
            threading.Thread(target=gateway.stderr.read, daemon=True).start()
            return gateway, found.group(1)
    sys.exit("the gateway did not start")


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    provost = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else here / "target/release/provost").resolve()
    bot, mail = Server(("127.0.0.1", 0), Bot), socketserver.ThreadingTCPServer(("127.0.0.1", 0), Mail)
    mail.daemon_threads = True
    for server in (bot, mail):
        threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        gateway, base = serve(provost, folder, bot.server_address[1], mail.server_address[1])
        try:
            for name, run, code, note in (("telegram", by_telegram, "1", None), ("email", by_mail, "4", "add logs")):
                decided = run(base)
                print(f"{name}: {decided['status']} with {decided['decision']['code']}, note {decided['decision']['note']}, by {decided['decision']['decided_by']}")
                assert (decided["status"], decided["decision"]["code"], decided["decision"]["note"]) == ("approved", code, note), decided
        finally:
            gateway.terminate()
            gateway.wait()
    print("both channels: create, reply, status")


if __name__ == "__main__":
    main()
