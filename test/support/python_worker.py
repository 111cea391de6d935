"""
A Temporal worker in Python that knows nothing of Portico: no catalog, no kit. Arguments: address, namespace, task queue
and, with encoded payloads, the URL of a codec server.
"""

import asyncio
import signal
import sys
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Sequence
from urllib.request import Request, urlopen

from google.protobuf import json_format
from google.protobuf.duration_pb2 import Duration
from temporalio import activity, workflow
from temporalio.api.common.v1 import Payload, Payloads
from temporalio.client import Client
from temporalio.common import RawValue
from temporalio.contrib.workflow_streams import WorkflowStream, WorkflowStreamClient, WorkflowStreamState
from temporalio.converter import DataConverter, PayloadCodec
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker


@activity.defn
async def py_compose(name: str) -> str:
    return f"Hello, {name}!"


@activity.defn
async def py_import(total: int) -> None:
    """Reports two details with each heartbeat, until the run ends."""
    while True:
        activity.heartbeat({"done": 2**53 + 1}, total)
        await asyncio.sleep(0.05)


SCORES = {"id": 2**53 + 1, "low": float("-inf"), "name": "NaN", "password": "hunter2", "score": float("nan")}


@activity.defn
async def py_report_scores(scores: dict, until_canceled: bool) -> dict:
    activity.heartbeat(scores)
    while until_canceled:
        await asyncio.sleep(0.05)
        activity.heartbeat(scores)
    return scores


@activity.defn
async def py_publish(batches: list[list[str]], permits: str | None) -> str:
    """
    Publishes batches of words to the topic `tokens`, and returns all words. With a folder `permits`, each batch waits
    for a file with its number, and removes it.
    """
    async with WorkflowStreamClient.from_within_activity(batch_interval=timedelta(milliseconds=50)) as stream:
        tokens = stream.topic("tokens")
        for number, batch in enumerate(batches):
            permit = Path(permits, str(number)) if permits else None
            while permit and not permit.exists():
                await asyncio.sleep(0.01)
            for text in batch:
                tokens.publish({"text": text})
            if permit:
                # The library sends the batch in the background, and tries again while the server is down.
                permit.unlink()
            else:
                await stream.flush()
    return "".join(text for batch in batches for text in batch)


@workflow.defn(name="py_import_all")
class PyImportAll:
    @workflow.run
    async def run(self, total: int) -> None:
        await workflow.execute_activity(
            py_import,
            total,
            start_to_close_timeout=timedelta(seconds=60),
            heartbeat_timeout=timedelta(seconds=2),
        )


@workflow.defn(name="py_greet")
class PyGreet:
    @workflow.run
    async def run(self, greeting: dict) -> str:
        return await workflow.execute_activity(
            py_compose, greeting["name"], start_to_close_timeout=timedelta(seconds=10)
        )


@workflow.defn(name="py_big_numbers")
class PyBigNumbers:
    """Returns what it was given, beside numbers that no double holds."""

    @workflow.run
    async def run(self, given: Any) -> dict:
        return {"id": 2**53 + 1, "wide": 10**30 + 7, "given": given}


@workflow.defn(name="py_fail")
class PyFail:
    @workflow.run
    async def run(self, given: Any) -> None:
        raise ApplicationError("no retry please", {"given": given}, type="BadInput", non_retryable=True) from ValueError("the root cause")


@workflow.defn(name="py_messages")
class PyMessages:
    """Signal `finish`, query `state`, update `set` (rejects what is negative). Ends when finished."""

    def __init__(self) -> None:
        self.value = 0
        self.finished: list = []

    @workflow.run
    async def run(self, given: Any) -> dict:
        await workflow.wait_condition(lambda: len(self.finished) > 0)
        return {"value": self.value, "finished": self.finished}

    @workflow.signal
    def finish(self, how: Any) -> None:
        self.finished.append(how)

    @workflow.query
    def state(self) -> dict:
        return {"value": self.value, "finished": self.finished}

    @workflow.update
    def set(self, value: int) -> dict:
        before, self.value = self.value, value
        return {"before": before, "after": value}

    @set.validator
    def check(self, value: int) -> None:
        if value < 0:
            raise ValueError(f"{value} is negative")


@activity.defn
async def py_wait_for_bytes() -> bytes:
    activity.raise_complete_async()


@workflow.defn(name="py_bytes")
class PyBytes:
    """Collects bytes, also with the signal `add` and the update `append`. Ends after its activity."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    @workflow.run
    async def run(self, first: bytes, pause: Duration) -> str:
        self.parts.append(first)
        last = await workflow.execute_activity(
            py_wait_for_bytes, activity_id="last", start_to_close_timeout=timedelta(seconds=60)
        )
        return b"".join([*self.parts, last]).hex() + f" after {pause.seconds} s"

    @workflow.signal
    def add(self, part: bytes) -> None:
        self.parts.append(part)

    @workflow.update
    def append(self, part: bytes) -> int:
        self.parts.append(part)
        return len(self.parts)

    @workflow.query
    def count(self, part: bytes) -> int:
        return self.parts.count(part)


@workflow.defn(name="py_pause")
class PyPause:
    """Takes a protobuf message, and returns it."""

    @workflow.run
    async def run(self, pause: Duration) -> Duration:
        return pause


@workflow.defn(name="py_scores")
class PyScores:
    """
    Has numbers that JSON does not have everywhere where a workflow can have a value. Query `peek`, update `swap`. After
    the signal `finish` it returns them, or fails with them.
    """

    @workflow.init
    def __init__(self, is_failing: bool) -> None:
        self.stream = WorkflowStream()
        self.is_finished = False

    @workflow.run
    async def run(self, is_failing: bool) -> dict:
        workflow.upsert_memo({"sensor": SCORES})
        self.stream.topic("scores").publish(SCORES)
        timeout = timedelta(seconds=60)
        await workflow.execute_activity(py_report_scores, args=[SCORES, False], start_to_close_timeout=timeout)
        reporting = workflow.start_activity(
            py_report_scores,
            args=[SCORES, True],
            start_to_close_timeout=timeout,
            heartbeat_timeout=timedelta(seconds=10),
            cancellation_type=workflow.ActivityCancellationType.ABANDON,
        )
        await workflow.wait_condition(lambda: self.is_finished)
        reporting.cancel()
        if is_failing:
            raise ApplicationError("bad scores", SCORES, non_retryable=True)
        return SCORES

    @workflow.signal
    def finish(self, scores: dict) -> None:
        self.is_finished = True

    @workflow.query
    def peek(self) -> dict:
        return SCORES

    @workflow.update
    def swap(self) -> dict:
        return SCORES


@dataclass
class PyStreamInput:
    batches: list[list[str]] = field(default_factory=list)
    permits: str | None = None
    # With `Any` the state would arrive as a dict.
    stream_state: WorkflowStreamState | None = None


@workflow.defn(name="py_stream")
class PyStream:
    """
    Has a stream to which clients publish, and to which an activity publishes `batches`. Signals: `publishItself` (how
    many numbers the workflow itself publishes), `truncate` (up to which offset), `continueAsNew` (with the items of
    the stream), `restart` (without them) and `finish`. Update `add` returns the sum of all numbers added.
    """

    @workflow.init
    def __init__(self, given: PyStreamInput | None = None) -> None:
        self.stream = WorkflowStream(prior_state=given.stream_state if given else None)
        self.sum = 0
        self.received: str | None = None

    @workflow.run
    async def run(self, given: PyStreamInput | None = None) -> str:
        text = "done"
        if given and given.batches:
            text = await workflow.execute_activity(
                py_publish, args=[given.batches, given.permits], start_to_close_timeout=timedelta(minutes=5)
            )
        await workflow.wait_condition(lambda: self.received is not None)
        if self.received == "continueAsNew":
            await self.stream.continue_as_new(lambda state: [PyStreamInput(stream_state=state)])
        if self.received == "restart":
            workflow.continue_as_new(PyStreamInput())
        return text

    # The library's signal handler is registered later than those of the class: let it run first.
    @workflow.signal(name="publishItself")
    async def publish_itself(self, count: int) -> None:
        await asyncio.sleep(0)
        for number in range(count):
            self.stream.topic("numbers").publish(number)

    @workflow.signal
    async def truncate(self, offset: int) -> None:
        await asyncio.sleep(0)
        self.stream.truncate(offset)

    @workflow.signal(name="continueAsNew")
    async def continue_as_new(self) -> None:
        await self.receive("continueAsNew")

    @workflow.signal
    async def restart(self) -> None:
        await self.receive("restart")

    @workflow.signal
    async def finish(self) -> None:
        await self.receive("finish")

    async def receive(self, name: str) -> None:
        await asyncio.sleep(0)
        self.received = self.received or name

    @workflow.update
    def add(self, number: int) -> int:
        self.sum += number
        return self.sum


@workflow.defn(name="py_ask")
class PyAsk:
    """Asks a person by the protocol's memo field, and returns the answer."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}

    @workflow.run
    async def run(self, message: str) -> Any:
        key = str(workflow.uuid4())
        schema = {"type": "object", "properties": {"approved": {"type": "boolean"}}, "required": ["approved"]}
        ask = {"signal": "answer", "message": message, "schema": schema, "to": ["finance"]}
        now = workflow.now()
        self.write(key, {**ask, "askedAt": now.isoformat(), "due": (now + timedelta(days=3)).isoformat()})
        try:
            await workflow.wait_condition(lambda: key in self.answers)
        finally:
            self.write(key, None)
        return self.answers[key]

    @workflow.signal
    def answer(self, answer: dict) -> None:
        self.answers.setdefault(answer["key"], answer["content"])

    def write(self, key: str, ask: dict | None) -> None:
        others = {k: v for k, v in workflow.memo_value("$asks", {}).items() if k != key}
        workflow.upsert_memo({"$asks": others if ask is None else {**others, key: ask}})


@workflow.defn(name="py_dynamic_handlers")
class PyDynamicHandlers:
    """Has no stream, but handlers for every name; returns the names that arrived after `finish`."""

    def __init__(self) -> None:
        self.names: list[str] = []

    @workflow.run
    async def run(self) -> list[str]:
        await workflow.wait_condition(lambda: "signal finish" in self.names)
        return self.names

    @workflow.signal(dynamic=True)
    def any_signal(self, name: str, args: Sequence[RawValue]) -> None:
        self.names.append(f"signal {name}")

    @workflow.update(dynamic=True)
    def any_update(self, name: str, args: Sequence[RawValue]) -> dict:
        self.names.append(f"update {name}")
        return {"update": name}

    @workflow.query(dynamic=True)
    def any_query(self, name: str, args: Sequence[RawValue]) -> dict:
        return {"query": name, "names": self.names}


class RemoteCodec(PayloadCodec):
    """Leaves encoding and decoding to a codec server, which alone has the key."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return await asyncio.to_thread(self.call, "encode", payloads)

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return await asyncio.to_thread(self.call, "decode", payloads)

    def call(self, operation: str, payloads: Sequence[Payload]) -> list[Payload]:
        body = json_format.MessageToJson(Payloads(payloads=payloads)).encode()
        request = Request(f"{self.url}/{operation}", body, {"Content-Type": "application/json"})
        with urlopen(request, timeout=10) as response:
            return list(json_format.Parse(response.read(), Payloads()).payloads)


async def main(address: str, namespace: str, task_queue: str, codec_url: str | None = None) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, ended.set)
    codec = RemoteCodec(codec_url) if codec_url else None
    converter = DataConverter(payload_codec=codec)
    client = await Client.connect(address, namespace=namespace, data_converter=converter)
    workflows = [PyGreet, PyImportAll, PyBigNumbers, PyFail, PyMessages, PyStream, PyDynamicHandlers, PyAsk]
    workflows += [PyScores, PyBytes, PyPause]
    activities = [py_compose, py_import, py_publish, py_report_scores, py_wait_for_bytes]
    async with Worker(client, task_queue=task_queue, workflows=workflows, activities=activities):
        await ended.wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
