"""What Schemathesis does not do by itself: checks of our own, and requests that reach further. SCHEMATHESIS_HOOKS names this file."""

import json
import re

import jsonschema_rs
import schemathesis

# HTTP itself adds these, and a document does not list them.
HTTP_HEADERS = {"connection", "content-length", "content-type", "date", "keep-alive", "transfer-encoding"}

# Documented, but the engine of the fuzzer is healthy, and requests come one after another. `EngineUnavailableError` is not among
# them, because on a busy machine the engine can be late.
OUTAGES = {"InternalError", "EngineError", "PayloadCodecError", "OverloadedError"}

# What JSON Schema cannot say: why a request that matches its schema may be rejected with 400, with the reason. Each pattern
# is compared with the path of an issue, or with nothing, and its message.
INEXPRESSIBLE = {
    r"^\S+ must be a number of milliseconds or a duration": "the maximum of a duration that has a unit",
    r"^(/filter)?/searchAttributes\b(?!.* is not a valid key$)": "the attributes that are registered with the engine, and their types",
    r"^\S+ must be (at most|1 to) \d+ bytes of UTF-8": "the length of a string in bytes",
    r"^/versioningOverride\b": "a text or an object, for which generators of clients have no type; the versions of the workers",
    r"^/(payloads|inputPayloads)/\d+/data must be base64$": "the encoding of a text",
    r"^/cronSchedule ": "the language of schedules",
    r"^(/filter)?/query ": "the language of filters",
    r"^/filter matches \d+ open runs": "how many runs there are",
    r"^/(input|args/0|startArgs/0|payload)\b.* (must |is required$)": "the published schema of a name that is a part of the request",
    r"^/(input|payload) is required$": "whether the published workflow or handler of that name needs its argument",
    r"^/retry/maximumInterval must not be less": "the relation of two fields",
    r"^/(when/)?until must (not be before|be after) from": "the relation of two fields",
    r"^/when/every/\d+/offset must be less than interval": "the relation of two fields",
    r"^/when/every/\d+/(interval|offset) must be whole seconds": "the fractions of a duration that has a unit",
    r"^/catchupWindow must be at least": "the minimum of a duration that has a unit",
    r"^/when is rejected by the workflow engine": "the languages of calendars and of cron lines, the names of time zones",
    r"^If-(None-)?Match (must be|is not supported)": "the relation of two headers; the conditions that the engine has",
    r"^/\S+ is rejected by the workflow engine$": "the limits of the engine",
    r"^/(summary|details) is too large$": "the limits of the engine",
    r"^/eventId the run has no": "the history of the run",
    r"^Last-Event-ID (must be|\S+ is not an event of run)": "the history of the run",
    r"^Last-Event-ID and from must be the id of an item of this run": "the run of an item",
    r"^pageToken is damaged": "the tokens of the service",
    r"^wait and limit are only for JSON": "a header together with parameters",
    r"^startIndex is only for format=ui-message": "the relation of two parameters",
    r"^/workflowIdConflictPolicy must not be terminate-existing with an Idempotency-Key": "a header together with the body",
}


@schemathesis.check
def documented_headers(ctx, response, case):
    """No response has a header that the document does not list for its status."""
    documented = documented_response(case, response)
    if documented is None:
        return
    names = {name.lower() for name, _ in documented.headers.items()}
    undocumented = sorted(set(response.headers) - names - HTTP_HEADERS)
    assert not undocumented, f"Undocumented response header: {', '.join(undocumented)}"


@schemathesis.check
def documented_body(ctx, response, case):
    """A response for which the document lists no content has no body."""
    documented = documented_response(case, response)
    if documented is None:
        return
    assert documented.definition.get("content") or not response.content, "Undocumented body"


@schemathesis.check
def documented_error(ctx, response, case):
    """An error has a name that the document lists for its operation, and is none that only an outage explains."""
    error = problem_of(response).get("error")
    if error is None or is_other_method(response, case):
        return
    assert error not in OUTAGES, f"{error} without an outage"
    documented = case.operation.definition.raw["x-errors"]
    assert error in documented, f"Undocumented error: {error}"


@schemathesis.check
def documented_events(ctx, response, case):
    """Each server-sent event has a name that the document lists, and data that match its schema."""
    if response.status_code != 200 or media_type_of(response) != "text/event-stream":
        return
    schemas = documented_response(case, response).definition["content"]["text/event-stream"]["x-events"]
    root = case.operation.schema.raw_schema
    for name, data in events_of(response.text):
        assert name in schemas, f"Undocumented event: {name}"
        errors = jsonschema_rs.Draft202012Validator({**schemas[name], "components": root["components"]}).iter_errors(data)
        messages = [f"{error.instance_path}: {error.message}" for error in errors]
        assert not messages, f"Event {name}: {messages[0]}"


@schemathesis.check
def explained_rejection(ctx, response, case):
    """A request that matches its schema is rejected as invalid only for a reason that JSON Schema cannot say."""
    if response.status_code != 400 or case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if is_other_method(response, case):
        return
    body = problem_of(response)
    if not body:  # an error of JSON-RPC, whose messages the document does not describe one by one
        return
    issues = [f"{issue['path']} {issue['message']}" for issue in body.get("issues", [])] or [body["message"]]
    unexplained = [issue for issue in issues if not any(re.search(pattern, issue) for pattern in INEXPRESSIBLE)]
    assert not unexplained, f"Valid request rejected: {unexplained[0]}"


def documented_response(case, response):
    """What the document says about responses of this status; None if nothing, or if the method is not that of the operation."""
    if is_other_method(response, case):
        return None
    return case.operation.responses.find_by_status_code(response.status_code)


def is_other_method(response, case):
    """Whether the request probes a method that the path does not have."""
    return response.request.method.lower() != case.operation.method.lower()


def media_type_of(response):
    return response.headers.get("content-type", [""])[0].split(";")[0]


def problem_of(response):
    """The body of an error response; empty for any other response."""
    return response.json() if media_type_of(response) == "application/problem+json" and response.content else {}


def events_of(text):
    """The names and the data of server-sent events."""
    for block in text.split("\n\n"):
        # Not splitlines(), which takes U+0085 and others for the end of a line.
        lines = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line and not line.startswith(":"))
        if "event" in lines:
            yield lines["event"], json.loads(lines["data"])


@schemathesis.hook
def before_load_schema(ctx, raw_schema):
    """Schemathesis takes the schema of an event stream for that of each event: `documented_events` knows better."""
    # Each line of a bulk is one of the other requests.
    raw_schema["paths"].pop("/workflow/bulk", None)
    for item in raw_schema["paths"].values():
        for operation in item.values():
            for response in operation["responses"].values():
                response.get("content", {}).get("text/event-stream", {}).pop("schema", None)


calls = 0


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """Asks for an event stream now and then, and seldom sends a key that an earlier request has used."""
    global calls
    calls += 1
    ok = case.operation.responses.find_by_status_code(200)
    if calls % 4 == 0 and "text/event-stream" in (ok.definition.get("content", {}) if ok else {}):
        case.headers["Accept"] = "text/event-stream"
    key = case.headers.get("Idempotency-Key")
    if calls % 8 != 0 and isinstance(key, str) and re.fullmatch("[!-~]{1,240}", key):
        case.headers["Idempotency-Key"] = f"{key}-{calls}"


@schemathesis.hook
def filter_case(ctx, case):
    """Leaves out messages without an argument where a schema is published for it: the worker may accept them."""
    is_typed_message = "{id}" in case.operation.path and "#" in case.operation.path
    is_valid = case.meta is None or case.meta.generation.mode.is_positive
    return is_valid or not is_typed_message or (isinstance(case.body, dict) and "payload" in case.body)
