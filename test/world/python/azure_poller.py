"""Runs a workflow with azure-core's poller of long-running operations. Arguments: base URL, body of `run`."""

import json
import sys

from azure.core import PipelineClient
from azure.core.polling import LROPoller
from azure.core.polling.base_polling import LocationPolling, LROBasePolling
from azure.core.rest import HttpRequest

url, body = sys.argv[1:]
client = PipelineClient(url)
request = HttpRequest("POST", f"{url}/workflow/run", headers={"Prefer": "respond-async"}, json=json.loads(body))
initial = client._pipeline.run(request)
poller = LROPoller(
    client,
    initial,
    lambda response: response.http_response.json(),
    LROBasePolling(timeout=0.2, lro_algorithms=[LocationPolling()]),
)
print(json.dumps({"initial": initial.http_response.status_code, "result": poller.result()}))
