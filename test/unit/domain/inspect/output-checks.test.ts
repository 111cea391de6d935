import { expect, test } from 'vitest'
import { createKnownRuns } from '../../../../src/domain/admission/known-runs.ts'
import { withOutputChecks } from '../../../../src/domain/inspect/output-checks.ts'
import type { Call } from '../../../../src/domain/model/call.ts'
import type { WorkflowResult } from '../../../../src/domain/model/execution.ts'
import type { Workflows } from '../../../../src/domain/model/workflows.ts'
import { aCall } from '../../call.ts'
import { onlyVerbs } from '../../http/api.ts'
import { result as completed } from '../../http/run-api.ts'
import { aDescription, anEngine, makeCatalogs } from '../catalog-fixture.ts'

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
  const read = async () => result
  const { output } = result
  const sent = { workflowId: 'orders-17', runId: 'run-1', updateId: 'u' }
  const verbs = onlyVerbs({
    ...{ run: read, result: read },
    query: async () => output,
    update: async () => output,
    readUpdate: async ({ waitMs }) =>
      waitMs === 0 ? { ...sent, stage: 'accepted' } : { ...sent, stage: 'completed', result: output },
    updateWithStart: async () => ({ ...sent, started: true, result: output }),
  })
  const workflows = withOutputChecks(verbs, { catalogs, knownRuns: createKnownRuns({ engine, now }), now })
  const call = aCall()
  return { workflows, result, call, described, publish, pass }
}

const REF = { workflowId: 'orders-17' }
const RESULT = { ref: REF, followsChain: true, waitMs: null }
const START = { workflowName: 'buy', catalog: 'orders', args: [], argumentPointer: '/input', timeoutMs: 1 }

test('output checks: an output that matches, or without a schema, gets no warning', async () => {
  for (const { workflows, call } of [checking({ output: 1 }), checking({ output: 'x' }, {})]) {
    await workflows.result(RESULT, call)
    expect([call.outputWarnings, call.warnings]).toEqual([[], []])
  }
})

test('output checks: warn of an output that does not match, for each verb that returns it, and do not change it', async () => {
  const { workflows, call, result } = checking({ output: 'x' })

  const results = [
    await workflows.run(START, call),
    await workflows.result(RESULT, call),
    await workflows.result({ ...RESULT, waitMs: 1 }, call),
  ]

  const message = '/output must be of type number, not string'
  expect(results).toEqual([result, result, result])
  expect(call.outputWarnings).toEqual([message, message, message])
  expect(call.warnings).toHaveLength(3)
  expect(call.warnings[0]).toMatchObject({ workflowId: 'orders-17', workflowName: 'order', message })
})

/** Each verb that returns what a handler has returned. */
async function sendAll(workflows: Workflows, name: string, call: Call) {
  const message = { name, args: [], argumentPointer: '/payload' }
  const update = { ref: REF, name, updateId: 'u' }
  return [
    await workflows.query({ ref: REF, message }, call),
    await workflows.update({ ref: REF, message }, call),
    await workflows.readUpdate({ ...update, waitMs: 1 }, call),
    await workflows.updateWithStart({ start: START, update: message }, call),
  ]
}

test('output checks: warn of the result of a query or an update that does not match, and do not change it', async () => {
  const { workflows, call } = checking({ output: 'x' })

  const results = await sendAll(workflows, 'handler', call)

  const message = '/result must be of type number, not string'
  expect(results).toMatchObject(['x', 'x', { stage: 'completed', result: 'x' }, { result: 'x' }])
  expect(call.outputWarnings).toEqual(results.map(() => message))
  const facts = { workflowId: 'orders-17', runId: 'run-1', workflowName: 'order', handlerName: 'handler', message }
  expect(call.warnings).toEqual(results.map(() => facts))
})

test('output checks: the result of a handler that matches, or without a schema, gets no warning', async () => {
  const [matching, unpublished] = [checking({ output: 1 }), checking({ output: 'x' })]

  await sendAll(matching.workflows, 'handler', matching.call)
  await sendAll(unpublished.workflows, 'unchecked', unpublished.call)

  expect([matching.call, unpublished.call].flatMap(({ outputWarnings }) => outputWarnings)).toEqual([])
})

test('output checks: an update that has not completed has no result to check', async () => {
  const { workflows, call, described } = checking({ output: 'x' })

  await workflows.readUpdate({ ref: REF, name: 'handler', updateId: 'u', waitMs: 0 }, call)

  expect([described, call.outputWarnings]).toEqual([[], []])
})

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

test('output checks: a failed workflow has no output to check', async () => {
  const { workflows, call, described } = checking({ status: 'failed', output: null })

  await workflows.result(RESULT, call)

  expect([described, call.outputWarnings]).toEqual([[], []])
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
