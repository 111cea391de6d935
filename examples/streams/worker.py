import asyncio
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.contrib.workflow_streams import WorkflowStream, WorkflowStreamClient
from temporalio.worker import Worker


@workflow.defn(name="story")
class Story:
    @workflow.init
    def __init__(self, about: str) -> None:
        self.stream = WorkflowStream()

    @workflow.run
    async def run(self, about: str) -> str:
        return await workflow.execute_activity(write_story, about, start_to_close_timeout=timedelta(minutes=1))


@activity.defn
async def write_story(about: str) -> str:
    story = ""
    # Sends the last batch when the block ends.
    async with WorkflowStreamClient.from_within_activity(batch_interval=timedelta(milliseconds=200)) as stream:
        tokens = stream.topic("tokens")
        attempt = activity.info().attempt
        if attempt > 1:
            tokens.publish({"attempt": attempt})
        for text in ask_model(about):
            await asyncio.sleep(0.1)
            tokens.publish({"text": text})
            story += text
    return story


def ask_model(about: str) -> list[str]:
    """In a real project, a call to a model provider."""
    words = f"Once upon a time there was {about}, and it lived happily ever after.".split(" ")
    return [f"{word} " for word in words[:-1]] + words[-1:]


async def main() -> None:
    client = await Client.connect("localhost:7233")
    await Worker(client, task_queue="stories", workflows=[Story], activities=[write_story]).run()


if __name__ == "__main__":
    asyncio.run(main())
