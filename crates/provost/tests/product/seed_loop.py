"""A supervisor as the protocol's document describes one: poll, look, judge, act.

Usage: seed_loop.py URL KEY APPROVALS. Ends when so many approvals were acted upon, or after a minute;
prints what it did as JSON, one line each.
"""

import json
import sys
import time

import requests

MESH_URL, KEY, APPROVALS = sys.argv[1], sys.argv[2], int(sys.argv[3])
HEADERS = {"Authorization": f"Bearer {KEY}"}
CONFIDENCE_THRESHOLD = 0.8
PROJECT = "/home/user/project/"


def evaluate(detail):
    """Judges by structure: where the file is, and what the gateway says of the risk."""
    path = detail["params"]["path"]
    if detail["injection_risk"]:
        return {"action": "approve", "confidence": 0.1, "reasoning": "suspicious content"}
    if path.startswith(PROJECT):
        return {"action": "approve", "confidence": 0.95, "reasoning": "within the project"}
    if path.startswith("/etc/"):
        return {"action": "deny", "confidence": 0.84, "reasoning": "the system's own file"}
    return {"action": "approve", "confidence": 0.5, "reasoning": "outside the project"}


def notify_human(detail, reasoning):
    answer = requests.post(
        f"{MESH_URL}/approvals/{detail['id']}/escalate",
        headers=HEADERS,
        json={"reasoning": reasoning},
        timeout=10,
    )
    return answer.status_code


acted = 0
deadline = time.monotonic() + 60
while acted < APPROVALS and time.monotonic() < deadline:
    pending = requests.get(
        f"{MESH_URL}/approvals",
        headers=HEADERS,
        params={"status": "pending", "tool": "filesystem.*"},
        timeout=10,
    ).json()

    for approval in pending:
        detail = requests.get(
            f"{MESH_URL}/approvals/{approval['id']}", headers=HEADERS, timeout=10
        ).json()
        verdict = evaluate(detail)
        if verdict["confidence"] >= CONFIDENCE_THRESHOLD:
            did = verdict["action"]
            status = requests.post(
                f"{MESH_URL}/approvals/{approval['id']}/{did}",
                headers=HEADERS,
                json={
                    "resolved_by": "agent:supervisor",
                    "reasoning": verdict["reasoning"],
                    "confidence": verdict["confidence"],
                },
                timeout=10,
            ).status_code
        else:
            did = "escalate"
            status = notify_human(detail, verdict["reasoning"])
        acted += 1
        print(json.dumps({"id": approval["id"], "did": did, "status": status}), flush=True)

    time.sleep(0.05)

sys.exit(0 if acted == APPROVALS else 1)
