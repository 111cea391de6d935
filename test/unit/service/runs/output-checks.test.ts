import { expect, test } from 'vitest'
import { checked, forEveryone, type VerbPorts } from '../../../../src/service/access/guard.ts'
import type { ReadUpdateCommand, SendCommand, UpdateWithStartCommand } from '../../../../src/service/model/commands.ts'
import type { UpdateState } from '../../../../src/service/model/engine.ts'
import type { WorkflowResult } from '../../../../src/service/model/execution.ts'
import {
  type CheckedOutput,
  ofHandler,
  ofUpdate,
  ofUpdateWithStart,
  ofWorkflow,
} from '../../../../src/service/runs/output-checks.ts'
import { bindVerbs } from '../../../../src/service/stack.ts'
import { createKnownRuns } from '../../../../src/service/start/known-runs.ts'
import { aCall } from '../../call.ts'
import { aDescription, anEngine, makeCatalogs } from '../catalog-fixture.ts'
import { result as completed } from '../http/run-api.ts'

const NUMBER = { type: 'number' }

/** Verbs that return this result, on a catalog whose workflow `order` publishes `outputSchema`. */
function checking(overrides: Partial<WorkflowResult>, outputSchema: object = NUMBER, beforeDescribe = async () => {}) {
  const { catalogs, publish, pass, now } = makeCatalogs()
  const described: string[] = []
  const engine = anEngine({
    describe: async ({ workflowId, runId = 'run-1' }) => {
      described.push(`${workflowId} ${runId}`)
      await beforeDescribe()
      return aDescription({ workflowId, runId })
    },
  })
  const handlers = [{ name: 'handler', outputSchema }, { name: 'unchecked' }]
  publish('c1', [{ name: 'order', outputSchema, queries: handlers, updates: handlers }])
  const result = { ...completed, workflowId: 'orders-17', ...overrides }
  const read = async (_: unknown, __: unknown) => result
  const { output } = result
  const sent = { workflowId: 'orders-17', runId: 'run-1', updateId: 'u' }
  const state = ({ waitMs }: ReadUpdateCommand): UpdateState =>
    waitMs === 0 ? { ...sent, stage: 'accepted' } : { ...sent, stage: 'completed', result: output }
  const ports = { catalogs, knownRuns: createKnownRuns({ engine, now }), now, checksOutputs: true }
  function checkedOutput<Input, Output>(
    act: (_: unknown, input: Input) => Promise<Output>,
    outputOf: (output: Output, input: Input) => CheckedOutput | null,
  ) {
    const verb = checked(
      outputOf,
      forEveryone<Input, Output>(act, (it) => it),
    )
    return bindVerbs({ verb }, ports as unknown as VerbPorts).verb
  }
  const workflows = {
    run: checkedOutput(read, ofWorkflow),
    result: checkedOutput(read, ofWorkflow),
    query: checkedOutput(async (_, __: SendCommand) => output, ofHandler('query')),
    update: checkedOutput(async (_, __: SendCommand) => output, ofHandler('update')),
    readUpdate: checkedOutput(async (_, command: ReadUpdateCommand) => state(command), ofUpdate),
    updateWithStart: checkedOutput(
      async (_, __: UpdateWithStartCommand) => ({ ...sent, started: true, result: output }),
      ofUpdateWithStart,
    ),
  }
  const call = aCall()
  return { workflows, result, call, described, publish, pass }
}

const REF = { workflowId: 'orders-17' }
const RESULT = { ref: REF, followsChain: true, waitMs: null }
const START = { workflowName: 'buy', catalog: 'orders', args: [], argumentPointer: '/input', timeoutMs: 1 }

test('output checks: the workflow is that of the run in the result, whatever was started', async () => {
  const { workflows, call, described, result } = checking({ output: 'x' })

  await workflows.run({ ...START, workflowName: 'other', catalog: 'elsewhere' }, call)

  expect(described).toEqual([`orders-17 ${result.runId}`])
  expect(call.outputWarnings).toHaveLength(1)
})

test('output checks: say how many more issues there are', async () => {
  const { workflows, call } = checking({ output: {} }, { type: 'object', required: ['a', 'b', 'c'] })

  await workflows.result(RESULT, call)

  expect(call.outputWarnings[0]).toMatch(/^\/output\S* .+ \(and 2 more\)$/)
})

test('output checks: a schema that was published since is used before a warning', async () => {
  const { workflows, call, result, publish, pass } = checking({ output: 1 })
  await workflows.result(RESULT, call)
  publish('c2', [{ name: 'order', outputSchema: { type: ['number', 'string'] } }])
  pass(1)

  result.output = 'x'
  await workflows.result(RESULT, call)

  expect(call.outputWarnings).toEqual([])
})

test('output checks: a run that cannot be described is returned unchecked', async () => {
  const { workflows, call, result } = checking({ output: 'x' }, NUMBER, () => Promise.reject(new Error('gone')))

  expect(await workflows.result(RESULT, call)).toEqual(result)
  expect(call.notes.outputUnchecked).toContain('gone')
  expect(call.outputWarnings).toEqual([])
})

test('output checks: an output that takes too much work is returned unchecked, and the log line says so', async () => {
  // Each level is checked twice.
  const levels = Array.from({ length: 30 }, (_, at) => {
    const next = { $ref: `#/$defs/${at + 1}` }
    return [at, { allOf: [next, next] }]
  })
  const $defs = { ...Object.fromEntries(levels), 30: { type: 'string' } }
  const { workflows, call } = checking({ output: 'x' }, { $defs, $ref: '#/$defs/0' })

  await workflows.result(RESULT, call)

  expect([call.outputWarnings, Object.keys(call.notes)]).toEqual([[], ['outputUnchecked']])
})
