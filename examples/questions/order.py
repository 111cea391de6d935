# A workflow that asks a person. docs/protocol.md describes the memo.
from datetime import timedelta

from temporalio import workflow


@workflow.defn(name="order")
class Order:
    def __init__(self) -> None:
        self.answers: dict = {}

    @workflow.run
    async def run(self, amount: int) -> str:
        key = str(workflow.uuid4())
        schema = {"type": "object", "properties": {"approved": {"type": "boolean"}}, "required": ["approved"]}
        ask = {"signal": "answer", "message": f"Approve the order of {amount} EUR?", "schema": schema, "to": ["finance"]}
        now = workflow.now()
        self.write(key, {**ask, "askedAt": now.isoformat(), "due": (now + timedelta(days=3)).isoformat()})
        try:
            await workflow.wait_condition(lambda: key in self.answers)
        finally:
            self.write(key, None)
        return "shipped" if self.answers[key]["approved"] else "rejected"

    @workflow.signal
    def answer(self, answer: dict) -> None:
        self.answers.setdefault(answer["key"], answer["content"])

    def write(self, key: str, ask: dict | None) -> None:
        others = {k: v for k, v in workflow.memo_value("$asks", {}).items() if k != key}
        workflow.upsert_memo({"$asks": others if ask is None else {**others, key: ask}})
