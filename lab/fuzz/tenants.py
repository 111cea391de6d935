"""The fuzzer as one of two tenants: it asks for the runs of the other one, and no response may contain anything of them.

SCHEMATHESIS_HOOKS names this file instead of checks.py, which it loads. FUZZ_FOREIGN names a file with the runs and page
tokens of the other tenant, which grows: tenants.ts.
"""

import base64
import json
import os
import re
import sys
from urllib.parse import unquote

import schemathesis

sys.path.append(os.path.dirname(__file__))
import checks  # Registers its checks and hooks.

FOREIGN_VALUE = re.compile(r"value-of-the-other-tenant")
# An id of the fuzzer may contain one of the other tenant: `t1:t2:ben:`.
FOREIGN_ID = re.compile(r"(?<![\w:])(?:t2|shared):ben:[\w-]+")
OWN = ("t1:", "shared:order:")
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
BASE64 = re.compile(r"[\w+/-]{24,}")

# Filters that match runs of the other tenant only.
FOREIGN_QUERIES = [
    'WorkflowId STARTS_WITH "t2:"',
    'WorkflowType = "nothing"',
    'WorkflowType = "greet" AND WorkflowId STARTS_WITH "shared:"',
    'Customer STARTS_WITH "value-of-the-other-tenant"',
]

# Filters that try to leave the condition around them.
LEAVING = [
    'ExecutionStatus = "Running" OR WorkflowId STARTS_WITH "t2:"',
    'WorkflowId STARTS_WITH "t1:") OR (WorkflowId STARTS_WITH "t2:"',
    "WorkflowId = '\\' OR WorkflowId STARTS_WITH \"t2:\" OR WorkflowId = \\''",
    'WorkflowId != "x" ORDER BY StartTime',
]

foreign = open(os.environ["FUZZ_FOREIGN"], encoding="utf-8")
runs = []
run_ids = set()
page_tokens = []


def read_foreign():
    """Reads the lines that were written since the last time."""
    for line in foreign.read().splitlines():
        fact = json.loads(line)
        if "runId" in fact:
            runs.append(fact)
            run_ids.add(fact["runId"])
        else:
            page_tokens.append(fact["pageToken"])


calls = 0


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """Gives the ids of valid requests a meaning: own ids, and those of the other tenant."""
    global calls
    calls += 1
    read_foreign()
    if not runs or (case.meta is not None and not case.meta.generation.mode.is_positive):
        return
    # The newest ones may still be open.
    run = runs[-1] if calls % 2 == 0 else runs[-1 - calls * 7 % min(len(runs), 30)]
    aim_at_run(case.path_parameters, run)
    aim_start(case.body, run)
    aim_query(case, run)


def aim_at_run(path, run):
    if not isinstance(path.get("id"), str):
        return
    turn = calls % 8
    if not unquote(path["id"]).startswith(OWN):
        if turn != 0:
            path.update(id=run["workflowId"], **({"rid": run["runId"]} if "rid" in path and turn > 2 else {}))
    elif turn == 0:
        path["id"] = run["workflowId"]
    elif turn == 1 and "rid" in path:
        path["rid"] = run["runId"]


def aim_start(body, run):
    if not isinstance(body, dict) or not isinstance(body.get("workflowId"), str):
        return
    prefixes = ["t1:", "t1:any:", "t1:", "shared:", None, ""]
    prefix = prefixes[calls % len(prefixes)]
    body["workflowId"] = run["workflowId"] if prefix is None else prefix + body["workflowId"]


def aim_query(case, run):
    names = {parameter.name for parameter in case.operation.query}
    turn = calls % 7
    if "pageToken" in names and page_tokens and turn == 0:
        case.query["pageToken"] = page_tokens[-1 - calls % min(len(page_tokens), 20)]
    if "query" in names and turn in (1, 2):
        queries = FOREIGN_QUERIES if turn == 1 else LEAVING
        case.query.clear()
        case.query["query"] = queries[calls % len(queries)]
    if case.operation.path in ("/workflow/run", "/workflow/{id}/history/stream") and turn == 4:
        case.headers["Last-Event-ID"] = f"{run['runId']}:1"


@schemathesis.check
def nothing_foreign(ctx, response, case):
    """No response contains an id or a value of the other tenant that its request did not contain."""
    read_foreign()
    found = facts_in(text_of(response)) - facts_in(text_of(response.request))
    assert not found, f"Of the other tenant: {', '.join(sorted(found))}"


@schemathesis.check
def nothing_done(ctx, response, case):
    """No request that names a run of the other tenant succeeds."""
    if checks.is_other_method(response, case) or response.status_code >= 400:
        return
    named = [*case.path_parameters.values(), case.body.get("workflowId") if isinstance(case.body, dict) else None]
    found = [name for name in named if isinstance(name, str) and (FOREIGN_ID.search(unquote(name)) or name in run_ids)]
    assert not found, f"Succeeded on the run of the other tenant: {found[0]}"


@schemathesis.check
def nothing_matches(ctx, response, case):
    """A filter that matches only runs of the other tenant finds nothing."""
    if response.status_code != 200 or checks.is_other_method(response, case):
        return
    if case.query.get("query") not in FOREIGN_QUERIES:
        return
    body = response.json()
    found = body.get("count", len(body.get("runs", [])))
    assert found == 0, f"Found runs of the other tenant: {found}"


def facts_in(text):
    """Ids and values of the other tenant, also inside of page tokens."""
    texts = [text, *(decoded(match) for match in BASE64.findall(text))]
    return {
        fact
        for part in texts
        for fact in (*FOREIGN_ID.findall(part), *FOREIGN_VALUE.findall(part), *run_ids.intersection(UUID.findall(part)))
    }


def decoded(text):
    """What a string in Base64 contains."""
    plain = text.replace("-", "+").replace("_", "/")
    plain = plain[: len(plain) - 1] if len(plain) % 4 == 1 else plain
    try:
        once = base64.b64decode(plain + "=" * (-len(plain) % 4)).decode("utf-8", "replace")
    except ValueError:
        return ""
    # The token of the engine stands in that of the service.
    return once + "".join(decoded(inner) for inner in BASE64.findall(once))


def text_of(message):
    """All that a request or response contains: the URL or status, headers and body."""
    body = message.body if hasattr(message, "body") else message.content
    body = body.decode("utf-8", "replace") if isinstance(body, bytes) else str(body or "")
    return unquote("\n".join([str(getattr(message, "url", "")), str(dict(message.headers)), body]))
