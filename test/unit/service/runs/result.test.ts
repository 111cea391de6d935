import { expect, test } from 'vitest'
import { SHUTTING_DOWN } from '../../../../src/service/model/call.ts'
import type { ResultCommand } from '../../../../src/service/model/commands.ts'
import type { Engine } from '../../../../src/service/model/engine.ts'
import { type ErrorName, ServiceError } from '../../../../src/service/model/errors.ts'
import type { ExecutionRef } from '../../../../src/service/model/execution.ts'
import { result } from '../../../../src/service/runs/result.ts'
import type { TraceTemplates } from '../../../../src/shared/wire/catalog.ts'
import type { Closing, Execution } from '../../../../src/shared/wire/execution.ts'
import type { RunRef } from '../../../../src/shared/wire/run-ref.ts'
import { aCall, rejection } from '../../call.ts'
import { aDescription, anEngine, publishedCatalogs } from '../catalog-fixture.ts'

const COMPLETED: Closing = { outcome: { status: 'completed', output: 'done' }, nextRunId: null }
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
