"""
Runs a workflow with events, and reads their lines with the library's reader of lines. Arguments: `requests` or `httpx`,
URL, body. Prints the data of the last event.
"""

import json
import sys

import httpx
import requests

library, url, body = sys.argv[1:]
headers = {"Accept": "text/event-stream", "Content-Type": "application/json"}
if library == "requests":
    with requests.post(url, data=body, headers=headers, stream=True, timeout=120) as response:
        lines = list(response.iter_lines(decode_unicode=True))
else:
    with httpx.stream("POST", url, content=body, headers=headers, timeout=120) as response:
        lines = list(response.iter_lines())
print(json.dumps({"last": json.loads([line for line in lines if line.startswith("data: ")][-1][len("data: ") :])}))
