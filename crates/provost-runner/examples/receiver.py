"""A receiver of a run's reports that checks what it must and prints what it gets.

    CALLBACK_TOKEN=… python3 receiver.py 8099
"""
import hashlib, hmac, json, os, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

TOKEN = os.environ["CALLBACK_TOKEN"].encode()
WINDOW_MS = 5 * 60 * 1000
lock, nonces, last_sequence = Lock(), set(), 0


def check(headers, body):
    """401 says that the token is wrong: the run stops. 400 only refuses this report."""
    stamp, nonce = headers.get("x-supervisor-timestamp", ""), headers.get("x-supervisor-nonce", "")
    wanted = "sha256=" + hmac.new(TOKEN, f"{stamp}.{nonce}.".encode() + body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(wanted.encode(), headers.get("x-supervisor-signature", "").encode()):
        return 401
    if abs(time.time() * 1000 - int(stamp)) > WINDOW_MS or nonce in nonces:
        return 400
    nonces.add(nonce)  # a real receiver forgets those that are too old
    return 200


def take(report):
    global last_sequence
    # A heartbeat is outside of the order; a report that was seen is a retry whose answer was lost.
    if report["kind"] != "heartbeat":
        if report["sequence"] <= last_sequence:
            return
        last_sequence = report["sequence"]
    print(report["sequence"], report["kind"], len(report.get("notifications", [])), flush=True)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        with lock:
            status = check(self.headers, body)
            if status == 200:
                take(json.loads(body))
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Receiver)
print(f"listening on http://127.0.0.1:{server.server_port}/", flush=True)
server.serve_forever()
