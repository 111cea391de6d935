import { expect, test } from 'vitest'
import { SHUTTING_DOWN } from '../../../../src/domain/model/call.ts'
import type { Engine } from '../../../../src/domain/model/engine.ts'
import { type ErrorName, ServiceError } from '../../../../src/domain/model/errors.ts'
import type { ExecutionRef } from '../../../../src/domain/model/execution.ts'
import type { ResultCommand } from '../../../../src/domain/model/workflows.ts'
import { result } from '../../../../src/domain/wait/result.ts'
import type { TraceTemplates } from '../../../../src/protocol/catalog.ts'
import type { Closing, Execution } from '../../../../src/protocol/execution.ts'
import type { RunRef } from '../../../../src/protocol/run-ref.ts'
import { aCall, rejection } from '../../call.ts'
import { aDescription, anEngine, publishedCatalogs } from '../catalog-fixture.ts'

const COMPLETED: Closing = { outcome: { status: 'completed', output: 'done' }, nextRunId: null }
const CONTINUED: Closing = { outcome: { status: 'continued' }, nextRunId: 'run-2' }
const REF = { workflowId: 'orders-17' }
const PINNED = { ...REF, runId: 'run-1' }

interface Script {
  /** How the runs `run-1`, `run-2`, … end; null for those that do not. */
  ends?: (Closing | null)[]
  /** What the first read of a run returns, by its id. */
  found?: Record<string, Closing | null | Error>
  traces?: TraceTemplates
  engine?: Partial<Engine>
}

/** A published workflow whose latest run is `run-1`. */
function scripted({ ends = [COMPLETED], found = {}, traces, engine: verbs = {} }: Script = {}) {
  const calls: string[] = []
  const fixture = publishedCatalogs([{ name: 'order' }], { ...(traces !== undefined && { traces }) })
  const engine = anEngine({
    ...fixture.engine,
    async read({ workflowId, runId = 'run-1' }, _call, known) {
      calls.push(`read ${runId}`)
      const closing = known ?? found[runId] ?? null
      if (closing instanceof Error) throw closing
      return { ...aDescription({ workflowId, runId }), input: `input of ${runId}`, closing } satisfies Execution
    },
    async wait({ runId }) {
      calls.push(`wait ${runId}`)
      return ends[Number(runId.slice(-1)) - 1] ?? null
    },
    async describe(ref) {
      calls.push(`describe ${ref.runId}`)
      return aDescription({ ...ref })
    },
    ...verbs,
  })
  const waits: RunRef[] = []
  let waiting = 0
  const wait = (ref: ExecutionRef, more: Partial<ResultCommand> = {}, call = aCall()) =>
    result(
      { engine, catalogs: fixture.catalogs },
      { ref, followsChain: true, waitMs: 10_000, onFound: (run) => void waits.push(run), ...more },
      { ...call, startWaiting: () => void waiting++ },
    )
  return { wait, calls, found: waits, waiting: () => waiting }
}

test('wait for result: a closed run is read once, and does not count as waiting', async () => {
  const { wait, calls, found, waiting } = scripted({ found: { 'run-1': COMPLETED } })

  expect(await wait(REF)).toMatchObject({ ...PINNED, status: 'completed', input: 'input of run-1', output: 'done' })
  expect([calls, found, waiting()]).toEqual([['read run-1'], [PINNED], 0])
})

test('wait for result: an open run is not read again if its catalog says where traces are', async () => {
  const { wait, calls, waiting } = scripted({ traces: { local: '/t/{namespace}/{runId}' } })

  expect(await wait(REF)).toMatchObject({
    input: 'input of run-1',
    output: 'done',
    trace: { destinations: { local: '/t/default/run-1' } },
  })
  expect([calls, waiting()]).toEqual([['read run-1', 'wait run-1'], 1])
})

test('wait for result: otherwise it is, because its memo may have changed', async () => {
  const { wait, calls } = scripted()

  await wait(REF)

  expect(calls).toEqual(['read run-1', 'wait run-1', 'read run-1'])
})

test('wait for result: follows the chain, also from a run that has ended', async () => {
  const open = scripted({ ends: [CONTINUED, COMPLETED] })
  const ended = scripted({ found: { 'run-1': CONTINUED }, ends: [null, COMPLETED] })
  const last = { runId: 'run-2', status: 'completed', input: 'input of run-2', output: 'done' }

  expect([await open.wait(REF), await ended.wait(PINNED)]).toMatchObject([last, last])
  expect(open.calls).toEqual(['read run-1', 'wait run-1', 'wait run-2', 'read run-2'])
  expect(ended.calls).toEqual(['read run-1', 'wait run-2', 'read run-2'])
  expect([open.found, ended.found]).toEqual([[PINNED], [PINNED]])
})

test('wait for result: does not follow it for one run', async () => {
  const open = scripted({ ends: [CONTINUED] })
  const ended = scripted({ found: { 'run-1': CONTINUED } })
  const continued = { runId: 'run-1', status: 'continued', output: null }

  expect([
    await open.wait(PINNED, { followsChain: false }),
    await ended.wait(PINNED, { followsChain: false }),
  ]).toMatchObject([continued, continued])
})

test('wait for result: the error of a run that is still open allows a retry', async () => {
  const { wait, calls } = scripted({ ends: [CONTINUED, null] })

  expect(await rejection(wait(REF))).toMatchObject({
    error: 'WorkflowExecutionTimedOutError',
    workflowId: 'orders-17',
    runId: 'run-2',
    workflowStatus: 'running',
    retryAfterSeconds: 1,
  })
  expect(calls.at(-1)).toBe('describe run-2')
})

test('wait for result: at shutdown the run is described, after a disconnect it is not', async () => {
  const { wait, calls } = scripted({ ends: [null] })
  const aborted = (reason?: unknown) => rejection(wait(REF, {}, aCall({ signal: AbortSignal.abort(reason) })))

  await aborted()
  const left = calls.splice(0)
  await aborted(SHUTTING_DOWN)

  expect([left, calls]).toEqual([
    ['read run-1', 'wait run-1'],
    ['read run-1', 'wait run-1', 'describe run-1'],
  ])
})

const fails = (name: ErrorName) => ({ 'run-1': new ServiceError(name, 'no', { details: { retryAfterSeconds: 1 } }) })

test.for(['EngineUnavailableError', 'ResourceExhaustedError', 'PayloadCodecError'] as const)(
  'wait for result: %s does not end the wait for a run that is known',
  async (name) => {
    const read: Engine['read'] = async (ref) => {
      if (++reads === 1) throw fails(name)['run-1']
      return { ...aDescription({ ...ref }), input: 'read later', closing: COMPLETED }
    }
    let reads = 0
    const { wait, found } = scripted({ engine: { read } })

    expect(await wait(PINNED)).toMatchObject({ ...PINNED, input: 'read later', output: 'done' })
    expect(found).toEqual([PINNED])
  },
)

test('wait for result: without a run id the error is the response, and any other error always', async () => {
  const unavailable = scripted({ found: fails('EngineUnavailableError') })
  const missing = scripted({ found: fails('WorkflowNotFoundError') })

  expect(await rejection(unavailable.wait(REF))).toMatchObject({
    error: 'EngineUnavailableError',
    retryAfterSeconds: 1,
  })
  expect((await rejection(missing.wait(PINNED))).error).toBe('WorkflowNotFoundError')
  expect([unavailable.calls, missing.calls]).toEqual([['read run-1'], ['read run-1']])
})
