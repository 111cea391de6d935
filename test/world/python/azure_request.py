"""Runs a workflow with azure-core's client and its default policies. Arguments: base URL, body of `run`."""

import json
import sys

from azure.core import PipelineClient
from azure.core.rest import HttpRequest

url, body = sys.argv[1:]
response = PipelineClient(url).send_request(HttpRequest("POST", f"{url}/workflow/run", json=json.loads(body)))
print(json.dumps({"status": response.status_code}))
