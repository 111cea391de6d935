"""A Temporal worker in Python with the OpenTelemetry interceptor of Temporal's SDK. Arguments: address, namespace, task queue."""

import asyncio
import signal
import sys
from datetime import timedelta

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.contrib.opentelemetry import TracingInterceptor
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

exporter = InMemorySpanExporter()


@activity.defn
async def py_step(name: str) -> str:
    return f"Hello, {name}!"


@activity.defn
async def py_finished_spans(trace_id: str) -> list[dict]:
    """The spans of this trace that have ended in this worker."""
    return [
        {
            "name": span.name,
            "id": format(span.context.span_id, "016x"),
            "parent": format(span.parent.span_id, "016x") if span.parent else None,
        }
        for span in exporter.get_finished_spans()
        if format(span.context.trace_id, "032x") == trace_id
    ]


@workflow.defn(name="py_traced")
class PyTraced:
    @workflow.run
    async def run(self, name: str) -> str:
        return await workflow.execute_activity(py_step, name, start_to_close_timeout=timedelta(seconds=10))


@workflow.defn(name="py_spans")
class PySpans:
    @workflow.run
    async def run(self, trace_id: str) -> list[dict]:
        return await workflow.execute_activity(
            py_finished_spans, trace_id, start_to_close_timeout=timedelta(seconds=10)
        )


async def main(address: str, namespace: str, task_queue: str) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, ended.set)
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    client = await Client.connect(address, namespace=namespace, interceptors=[TracingInterceptor()])
    async with Worker(
        client,
        task_queue=task_queue,
        workflows=[PyTraced, PySpans],
        activities=[py_step, py_finished_spans],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        await ended.wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
