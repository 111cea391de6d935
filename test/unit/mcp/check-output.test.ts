import { expect, test } from 'vitest'
import type { WorkflowResult } from '../../../src/domain/model/execution.ts'
import { createBudget } from '../../../src/json-schema/check.ts'
import { checkedToolResult } from '../../../src/mcp/check-output.ts'
import { outputSchemaOf } from '../../../src/mcp/tool-schema.ts'
import { aCall } from '../call.ts'

const tool = {
  workflowName: 'count',
  outputSchema: outputSchemaOf({ type: 'integer', minimum: 1 }, () => createBudget(1_000_000)),
}

function ended(status: WorkflowResult['status'], output: unknown): WorkflowResult {
  return { workflowId: 'w', runId: 'r', status, input: null, output, trace: null, error: null, errorDetails: null }
}

test('checkedToolResult: an output that does not match the schema of the tool has another name', async () => {
  const call = aCall()
  const check = async (output: unknown) =>
    (await checkedToolResult(ended('completed', output), tool, call)).structuredContent

  expect(await check(2)).toMatchObject({ output: 2 })
  expect(await check('two')).toMatchObject({ status: 'completed', unexpectedOutput: 'two' })
  expect(await check('two')).not.toHaveProperty('output')
  expect(call.notes.unexpectedOutput).toMatch(/^\/output must/)
})

test('checkedToolResult: without a schema, and for a run that did not complete, nothing is checked', async () => {
  const unknown = await checkedToolResult(ended('completed', 'two'), { ...tool, outputSchema: null }, aCall())
  const ofNoTool = await checkedToolResult(ended('completed', 'two'), undefined, aCall())
  const failed = await checkedToolResult(ended('terminated', null), tool, aCall())

  expect([unknown, ofNoTool].map(({ structuredContent }) => structuredContent.output)).toEqual(['two', 'two'])
  expect([failed.isError, failed.structuredContent.status]).toEqual([true, 'terminated'])
})
