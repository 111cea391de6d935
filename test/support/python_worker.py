"""A Temporal worker in Python that knows nothing of Portico: no catalog, no kit. Arguments: address, namespace, task queue."""

import asyncio
import signal
import sys
from datetime import timedelta
from typing import Any

from temporalio import activity, workflow
from temporalio.client import Client
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


async def main(address: str, namespace: str, task_queue: str) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, ended.set)
    client = await Client.connect(address, namespace=namespace)
    workflows = [PyGreet, PyImportAll, PyBigNumbers, PyFail, PyMessages]
    activities = [py_compose, py_import]
    async with Worker(client, task_queue=task_queue, workflows=workflows, activities=activities):
        await ended.wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
