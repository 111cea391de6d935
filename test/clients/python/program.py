"""Runs, updates and fails with a client of openapi-python-client. Prints what it received."""

import json
import os
import uuid

from portico_client import AuthenticatedClient
from portico_client.api.workflows import (
    query_order_progress,
    run_greet,
    run_order,
    signal_order_approve,
    start_order,
    update_order_priority,
)
from portico_client.models import (
    AcceptedSignal,
    GreetInput,
    GreetRequest,
    GreetResult,
    MessageRequest,
    OrderInput,
    OrderQueryProgressOutput,
    OrderRequest,
    OrderResult,
    OrderSignalApproveInput,
    OrderSignalApproveRequest,
    OrderUpdatePriorityInput,
    OrderUpdatePriorityOutput,
    OrderUpdatePriorityRequest,
    Problem400,
    StartedRun,
)

portico = AuthenticatedClient(base_url=os.environ["PORTICO_URL"], token=os.environ["PORTICO_TOKEN"])

greeting = run_greet.sync(
    client=portico, body=GreetRequest(workflow_name="greet", input_=GreetInput(name="Ada"))
)
assert isinstance(greeting, GreetResult), greeting
hello: str | None = greeting.output

order_id = str(uuid.uuid4())
order = OrderInput(order_id=order_id, amount=250, card="4242")
started = start_order.sync(
    client=portico, body=OrderRequest(workflow_name="order", workflow_id=order_id, input_=order)
)
assert isinstance(started, StartedRun), started
updated = update_order_priority.sync(
    started.workflow_id,
    client=portico,
    body=OrderUpdatePriorityRequest(payload=OrderUpdatePriorityInput(level="high")),
)
assert isinstance(updated, OrderUpdatePriorityOutput), updated
progress = query_order_progress.sync(started.workflow_id, client=portico, body=MessageRequest())
assert isinstance(progress, OrderQueryProgressOutput), progress
approved = signal_order_approve.sync(
    started.workflow_id,
    client=portico,
    body=OrderSignalApproveRequest(payload=OrderSignalApproveInput(by="Grace")),
)
assert isinstance(approved, AcceptedSignal), approved

card = OrderInput(order_id=str(uuid.uuid4()), amount=40, card="0000")
declined = run_order.sync(client=portico, body=OrderRequest(workflow_name="order", input_=card))
assert isinstance(declined, OrderResult), declined
assert declined.error_details is not None

rejected = run_greet.sync_detailed(
    client=portico, body=GreetRequest(workflow_name="greet", input_=GreetInput(name=""))
)
problem = rejected.parsed
assert isinstance(problem, Problem400), problem
assert problem.issues

print(
    json.dumps(
        {
            "hello": hello,
            "level": updated.after,
            "priority": progress.priority,
            "accepted": approved.accepted,
            "failed": [declined.status, declined.error_details.name],
            "problem": [rejected.status_code, problem.error, problem.issues[0].path],
        }
    )
)
