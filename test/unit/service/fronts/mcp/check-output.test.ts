import { expect, test } from 'vitest'
import { checkedToolResult } from '../../../../../src/service/fronts/mcp/check-output.ts'
import { outputSchemaOf } from '../../../../../src/service/fronts/mcp/schemas/tool-schema.ts'
import type { WorkflowResult } from '../../../../../src/service/model/execution.ts'
import { createBudget } from '../../../../../src/shared/json-schema/check.ts'
import { aCall } from '../../../call.ts'

const tool = {
  workflowName: 'count',
  outputSchema: outputSchemaOf({ type: 'integer', minimum: 1 }, () => createBudget(1_000_000)),
}

const WHOLE = { maxBytes: 65_536 }

function ended(status: WorkflowResult['status'], output: unknown): WorkflowResult {
  return { workflowId: 'w', runId: 'r', status, input: null, output, trace: null, error: null, errorDetails: null }
}

test('checkedToolResult: an output that does not match the schema of the tool has another name', async () => {
  const call = aCall()
  const check = async (output: unknown) =>
    (await checkedToolResult(ended('completed', output), tool, WHOLE, call)).structuredContent

  expect(await check(2)).toMatchObject({ output: 2 })
  expect(await check('two')).toMatchObject({ status: 'completed', unexpectedOutput: 'two' })
  expect(await check('two')).not.toHaveProperty('output')
  expect(call.notes.unexpectedOutput).toMatch(/^\/output must/)
})

test('checkedToolResult: without a schema, and for a run that did not complete, nothing is checked', async () => {
  const unknown = await checkedToolResult(ended('completed', 'two'), { ...tool, outputSchema: null }, WHOLE, aCall())
  const ofNoTool = await checkedToolResult(ended('completed', 'two'), undefined, WHOLE, aCall())
  const failed = await checkedToolResult(ended('terminated', null), tool, WHOLE, aCall())

  expect([unknown, ofNoTool].map(({ structuredContent }) => structuredContent.output)).toEqual(['two', 'two'])
  expect([failed.isError, failed.structuredContent.status]).toEqual([true, 'terminated'])
})
