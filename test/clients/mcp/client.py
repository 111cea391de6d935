"""Calls tools with the official client. Arguments: URL, token, era, and the calls as JSON. Prints JSON lines."""

import asyncio
import json
import sys
from typing import Any, Literal

import httpx2
import mcp_types as types
from mcp import Client, ClientSession, MCPError
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.streamable_http import streamable_http_client

URL, TOKEN, ERA, CALLS = sys.argv[1:]
TASKS = "io.modelcontextprotocol/tasks"


class CreatedTask(types.Result):
    result_type: Literal["task"] = "task"
    task_id: str


class TaskParams(types.RequestParams):
    task_id: str


class GetTask(types.Request[TaskParams, Literal["tasks/get"]]):
    method: Literal["tasks/get"] = "tasks/get"
    params: TaskParams
    name_param = "taskId"


class Task(types.Result):
    status: str
    result: types.CallToolResult | None = None
    error: dict[str, Any] | None = None


class Tasks(ClientExtension):
    """The package has no client of tasks: a host brings one like this."""

    identifier = TASKS

    def claims(self) -> list[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=CreatedTask, resolve=resolve)]


followed: list[str] = []


async def resolve(created: CreatedTask, context: ClaimContext) -> types.CallToolResult:
    show({"task": created.task_id})
    followed.append(created.task_id)
    return await poll(context.session, created.task_id)


async def poll(session: ClientSession, task_id: str) -> types.CallToolResult:
    while True:
        task = await session.send_request(GetTask(params=TaskParams(task_id=task_id)), Task)
        if task.result is not None:
            return task.result
        if task.status not in ("working", "input_required"):
            raise RuntimeError(f"The task is {task.status}: {task.error}")
        await asyncio.sleep(1)


async def follow(task_id: str) -> types.CallToolResult:
    """Connects again until the server answers: the package gives up a client whose connection is refused."""
    while True:
        try:
            async with connect() as client:
                return await poll(client.session, task_id)
        except Exception as error:
            show({"interrupted": str(error)})
            await asyncio.sleep(0.5)


def show(value: object) -> None:
    print(json.dumps(value), flush=True)


def show_result(result: types.CallToolResult) -> None:
    show({"isError": bool(result.is_error), "structuredContent": result.structured_content})


def connect() -> Client:
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60)
    extensions = [] if ERA == "legacy" else [Tasks()]
    return Client(streamable_http_client(URL, http_client=http), mode=ERA, extensions=extensions)


async def call(client: Client, name: str, arguments: dict[str, Any]) -> None:
    try:
        show_result(await client.call_tool(name, arguments))
    except MCPError as error:
        show({"code": error.error.code, "message": error.error.message})


async def main() -> None:
    try:
        async with connect() as client:
            show({"tools": [tool.name for tool in (await client.list_tools()).tools]})
            for name, arguments in json.loads(CALLS):
                await call(client, name, arguments)
    except* httpx2.HTTPError as error:
        if not followed:
            raise
        show({"interrupted": str(error)})
        show_result(await follow(followed[-1]))


asyncio.run(main())
