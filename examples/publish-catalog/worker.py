import asyncio
import hashlib
import json
from datetime import timedelta

from temporalio import workflow
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Worker


@workflow.defn(name="greet")
class Greet:
    @workflow.run
    async def run(self, greeting: dict) -> str:
        return f"Hello, {greeting['name']}!"


# With pydantic: "inputSchema": input_schema(Greeting)
WORKFLOWS = [
    {
        "name": "greet",
        "description": "Greets somebody by name.",
        "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        "inputOptional": False,
        "outputSchema": {"type": "string"},
    }
]


def input_schema(model) -> dict:
    """The schema of a pydantic model. It accepts every name of a field; pydantic's own has one of them."""
    from pydantic import AliasChoices, AliasPath
    from pydantic.json_schema import GenerateJsonSchema

    class EveryName(GenerateJsonSchema):
        def model_schema(self, schema):
            result = super().model_schema(schema)
            properties, required = result.get("properties", {}), result.get("required", [])
            for name, field in schema["cls"].model_fields.items():
                alias, config = field.validation_alias, schema["cls"].model_config
                choices = alias.choices if isinstance(alias, AliasChoices) else [alias or name]
                if config.get("populate_by_name") or config.get("validate_by_name"):
                    choices = [*choices, name]
                paths = [choice.path if isinstance(choice, AliasPath) else [choice] for choice in choices]
                keys = list(dict.fromkeys(path[0] for path in paths))
                shown = next((key for key in [*keys, name] if key in properties), None)
                if shown is None or paths == [[shown]]:
                    continue
                value = properties.pop(shown)
                for key in keys:
                    properties.setdefault(key, value if all(len(path) == 1 for path in paths if path[0] == key) else {})
                if shown in required:
                    required.remove(shown)
                    result.setdefault("allOf", []).append({"anyOf": [{"required": [key]} for key in keys]})
            return result

    return model.model_json_schema(mode="validation", schema_generator=EveryName)


async def publish_catalog(client: Client, task_queue: str, workflows: list[dict]) -> None:
    """Publishes the catalog unless it is the current one. The client must not have a codec."""
    names = {name: entry["name"] for entry in workflows for name in [entry["name"], *entry.get("aliases", [])]}
    definition = {"workflows": workflows, "workflowNames": names}
    canonical = json.dumps(
        {"definition": definition, "traces": False}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    if await published_hash(client, task_queue) == digest:
        return
    await client.start_workflow(
        "$catalog",
        definition,
        id=f"$catalog:{task_queue}",
        task_queue="$catalog",
        start_delay=timedelta(days=3650),
        id_conflict_policy=WorkflowIDConflictPolicy.TERMINATE_EXISTING,
        memo={"workflowNames": names, "hash": digest, "traces": False},
    )


async def published_hash(client: Client, task_queue: str) -> str | None:
    try:
        run = await client.get_workflow_handle(f"$catalog:{task_queue}").describe()
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return None
        raise
    return (await run.memo()).get("hash") if run.status == WorkflowExecutionStatus.RUNNING else None


async def main() -> None:
    client = await Client.connect("localhost:7233")
    await publish_catalog(client, "shop", WORKFLOWS)
    await Worker(client, task_queue="shop", workflows=[Greet]).run()


if __name__ == "__main__":
    asyncio.run(main())
