"""
Sends one request on a connection that has been used. Arguments: `requests` or `httpx`, URL, body or "" for a GET,
Idempotency-Key or "". The timeout is long enough for requests that wait; all else is the library's default.
"""

import json
import sys
from importlib import import_module
from urllib.parse import urljoin

library, url, body, key = sys.argv[1:]
client = {"requests": "Session", "httpx": "Client"}[library]
with getattr(import_module(library), client)() as session:
    session.get(urljoin(url, "/health"))
    headers = {"Content-Type": "application/json", **({"Idempotency-Key": key} if key else {})}
    sent = session.post(url, data=body, headers=headers, timeout=120) if body else session.get(url, timeout=120)
    print(json.dumps({"status": sent.status_code, "body": sent.json()}))
