"""Programs in the shape of Temporal's Python samples, without a catalog. Arguments: address, namespace, task queue.

Workflows with pydantic models are on a task queue of their own, `<task queue>-pydantic`.
"""

import asyncio
import signal
import sys
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Optional

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

with workflow.unsafe.imports_passed_through():
    from pydantic import BaseModel, Field
    from temporalio.contrib.pydantic import pydantic_data_converter

SOON = {"start_to_close_timeout": timedelta(seconds=10), "heartbeat_timeout": timedelta(seconds=5)}
ONCE = RetryPolicy(maximum_attempts=1)


@activity.defn
async def compose(greeting: str, name: str) -> str:
    return f"{greeting}, {name}"


@activity.defn
async def fail() -> None:
    raise RuntimeError("the activity gave up")


@activity.defn
async def work_forever() -> None:
    while True:
        activity.heartbeat()
        await asyncio.sleep(0.05)


@activity.defn
async def clean_up() -> str:
    return "cleaned up"


@workflow.defn
class Activity:
    @workflow.run
    async def run(self, name: str, greeting: str = "Hello") -> str:
        return await workflow.execute_activity(compose, args=[greeting, name], **SOON)


@workflow.defn
class Signal:
    def __init__(self) -> None:
        self.names: list[str] = []
        self.closed = False

    @workflow.run
    async def run(self) -> list[str]:
        await workflow.wait_condition(lambda: self.closed)
        return self.names

    @workflow.signal
    def submit(self, name: str, times: int) -> None:
        self.names.extend([name] * times)

    @workflow.signal
    def close(self) -> None:
        self.closed = True


@workflow.defn
class Query:
    def __init__(self) -> None:
        self.name = "nobody"

    @workflow.run
    async def run(self, name: str) -> None:
        self.name = name

    @workflow.query
    def greeting(self) -> str:
        return f"Hello, {self.name}"

    @workflow.query
    def broken(self) -> str:
        raise ValueError("the query is broken")


@workflow.defn
class Update:
    def __init__(self) -> None:
        self.total = 0

    @workflow.run
    async def run(self) -> int:
        await workflow.wait_condition(lambda: self.total >= 10 and workflow.all_handlers_finished())
        return self.total

    @workflow.update
    async def add(self, number: int) -> int:
        await asyncio.sleep(0.001)
        self.total += number
        return self.total

    @add.validator
    def positive(self, number: int) -> None:
        if number <= 0:
            raise ValueError(f"{number} is not positive")


@workflow.defn
class Failing:
    @workflow.run
    async def run(self) -> None:
        await workflow.execute_activity(fail, retry_policy=ONCE, **SOON)


@workflow.defn
class Rejecting:
    @workflow.run
    async def run(self, number: int) -> None:
        raise ApplicationError(f"{number} is rejected", {"number": number}, type="Rejected", non_retryable=True)


@workflow.defn
class Child:
    @workflow.run
    async def run(self, name: str) -> str:
        return f"child {name}"


@workflow.defn
class Parent:
    @workflow.run
    async def run(self, names: list[str]) -> list[str]:
        return [await workflow.execute_child_workflow(Child.run, name) for name in names]


@workflow.defn
class Laps:
    @workflow.run
    async def run(self, total: int, done: int = 0) -> str:
        if done < total:
            workflow.continue_as_new(args=[total, done + 1])
        return f"{done} laps"


@workflow.defn
class Cancellation:
    @workflow.run
    async def run(self) -> None:
        try:
            await workflow.execute_activity(work_forever, cancellation_type=workflow.ActivityCancellationType.ABANDON, **SOON)
        finally:
            await workflow.execute_activity(clean_up, **SOON)


class Item(BaseModel):
    sku: str = Field(min_length=1)
    price: Decimal
    quantity: int = 1


class Order(BaseModel):
    placed_at: datetime
    deliver_on: Optional[date] = None
    window: timedelta = timedelta(hours=2)
    items: list[Item]


@workflow.defn
class Pydantic:
    @workflow.run
    async def run(self, order: Order) -> Order:
        assert isinstance(order.placed_at, datetime) and order.placed_at.tzinfo is None
        order.items[0].quantity += 1
        return order


async def main(address: str, namespace: str, task_queue: str) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, ended.set)
    client = await Client.connect(address, namespace=namespace)
    typed = await Client.connect(address, namespace=namespace, data_converter=pydantic_data_converter)
    workflows: list[Any] = [Activity, Signal, Query, Update, Failing, Rejecting, Child, Parent, Laps, Cancellation]
    activities: list[Any] = [compose, fail, work_forever, clean_up]
    async with Worker(typed, task_queue=f"{task_queue}-pydantic", workflows=[Pydantic]):
        async with Worker(client, task_queue=task_queue, workflows=workflows, activities=activities):
            await ended.wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
