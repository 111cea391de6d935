import { afterEach, expect, test, vi } from 'vitest'
import { type Call, CREDENTIAL_EXPIRED, SHUTTING_DOWN } from '../../../../src/service/model/call.ts'
import type { RunCommand } from '../../../../src/service/model/commands.ts'
import type { Engine, EngineStart } from '../../../../src/service/model/engine.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import { run } from '../../../../src/service/start/start.ts'
import type { TraceTemplates } from '../../../../src/shared/wire/catalog.ts'
import type { Closing, Execution, Status } from '../../../../src/shared/wire/execution.ts'
import { aCall, rejection } from '../../call.ts'
import { aDescription, anEngine, aStart, DEPLOYMENT, publishedCatalogs, SEARCH_ATTRIBUTES } from '../catalog-fixture.ts'

afterEach(() => void vi.useRealTimers())

const COMPLETED: Closing = { outcome: { status: 'completed', output: 'done' }, nextRunId: null }
const COMMAND: RunCommand = {
  ...aStart({ workflowId: 'orders-17', workflowName: 'buy', args: [{ amount: 1 }] }),
  timeoutMs: 10_000,
}

interface Script {
  /** How the runs `run-1`, `run-2`, … end. */
  ends?: (Closing | Error | null)[]
  /** The states of a run, one for each description; the last one for all that follow. */
  statuses?: (Status | Error)[]
  read?: Engine['read']
  wait?: Engine['wait']
  start?: Engine['start']
  traces?: TraceTemplates
}

/** A run of a published workflow, on an engine that follows the script. */
function scripted({ ends = [COMPLETED], statuses = ['running'], traces = false, ...verbs }: Script = {}) {
  const started: EngineStart[] = []
  const waits: { runId: string; call: Call }[] = []
  const described: (string | undefined)[] = []
  const fixture = publishedCatalogs([{ name: 'order', aliases: ['buy'] }], { traces })
  const engine = anEngine({
    async start(request) {
      started.push(request)
      return { workflowId: request.workflowId, runId: 'run-1', firstRunId: 'run-1' }
    },
    async wait({ runId }, call) {
      waits.push({ runId, call })
      const end = ends[waits.length - 1] ?? null
      if (end instanceof Error) throw end
      return end
    },
    async describe(ref) {
      described.push(ref.runId)
      const status = statuses[Math.min(described.length, statuses.length) - 1] ?? 'running'
      if (status instanceof Error) throw status
      return aDescription({ ...ref, status })
    },
    ...verbs,
  })
  return {
    engine,
    started,
    waits,
    described,
    run: (command = COMMAND, call = aCall()) =>
      run(
        { engine, catalogs: fixture.catalogs, deployment: DEPLOYMENT, searchAttributes: SEARCH_ATTRIBUTES },
        command,
        call,
      ),
  }
}

function anExecution(overrides: Partial<Execution> = {}): Execution {
  return { ...aDescription({ status: 'completed' }), input: 'what was read', closing: COMPLETED, ...overrides }
}

function continued(nextRunId: string): Closing {
  return { outcome: { status: 'continued' }, nextRunId }
}

test('run: does not read the closing of the last run again', async () => {
  const known: (Closing | undefined)[] = []
  const read: Engine['read'] = async (_ref, _call, closing) => {
    known.push(closing)
    return anExecution()
  }

  await scripted({ ends: [continued('run-2'), COMPLETED], read }).run()

  expect(known).toEqual([COMPLETED])
})

const SILENT = new ServiceError('EngineUnavailableError', 'The workflow engine is not responding.')

test('run: the timeout names the time that was requested, not the time that the poll took', async () => {
  vi.useFakeTimers()
  const openAfter = (ms: number) =>
    scripted({
      async wait() {
        vi.advanceTimersByTime(ms)
        return null
      },
    })
  const requested = openAfter(1007)

  const { message } = await rejection(requested.run({ ...COMMAND, timeoutMs: 1000 }))

  expect(message).toContain('within 1000 ms')
})

test('run: a wait that the service ends says why, with the ids, and may be repeated with a key at shutdown', async () => {
  async function ended(reason: DOMException, idempotencyKey?: string) {
    const command = idempotencyKey === undefined ? COMMAND : { ...COMMAND, idempotencyKey }
    const signal = AbortSignal.abort(reason)
    const rejected = await rejection(scripted({ ends: [null] }).run(command, aCall({ signal })))
    const facts = { error: 'WorkflowExecutionTimedOutError', runId: 'run-1', workflowStatus: 'running' }
    expect(rejected).toMatchObject(facts)
    return [rejected.message, rejected.retryAfterSeconds]
  }

  const stopping = 'The service is stopping; continue at Location'
  const expired = 'The credential has expired; continue at Location with a new one'
  expect(await ended(SHUTTING_DOWN)).toEqual([stopping, undefined])
  expect(await ended(SHUTTING_DOWN, 'key')).toEqual([stopping, 1])
  expect(await ended(CREDENTIAL_EXPIRED)).toEqual([expired, undefined])
  expect(await ended(CREDENTIAL_EXPIRED, 'key')).toEqual([expired, undefined])
})

test('run: returns the result of a run whose end no poll reported', async () => {
  const read: Engine['read'] = async (ref) => anExecution({ ...ref })
  const { run, described } = scripted({ ends: [null], statuses: ['completed'], read })

  expect(await run()).toMatchObject({ runId: 'run-1', status: 'completed', output: 'done' })
  expect(described).toEqual(['run-1'])
})

test('run: follows a chain whose continuation no poll reported', async () => {
  const read: Engine['read'] = async (ref) => anExecution({ ...ref, closing: continued('run-2') })
  const { run, described } = scripted({ ends: [null], statuses: ['continued', 'running'], read })

  expect(await rejection(run())).toMatchObject({ runId: 'run-2', workflowStatus: 'running' })
  expect(described).toEqual(['run-1', 'run-2'])
})

test('run: the timeout has no status when the run cannot be described', async () => {
  const { run } = scripted({ ends: [null], statuses: [SILENT] })

  const rejected = await rejection(run())

  expect(rejected).toMatchObject({ error: 'WorkflowExecutionTimedOutError', workflowId: 'orders-17', runId: 'run-1' })
  expect(rejected.message).toMatch(/its status could not be read$/)
  expect(rejected).not.toHaveProperty('workflowStatus')
})

test('run: a result that cannot be read is an error with the ids and without Retry-After', async () => {
  const details = { retryAfterSeconds: 1 }
  const read = () =>
    Promise.reject(
      new ServiceError('PayloadCodecError', 'The codec server could not decode the payloads.', { details }),
    )
  const { run } = scripted({ ends: [null], statuses: ['completed'], read })

  const rejected = await rejection(run())

  expect(rejected).toMatchObject({ error: 'PayloadCodecError', workflowId: 'orders-17', runId: 'run-1' })
  expect(rejected).not.toHaveProperty('retryAfterSeconds')
})

test('run: an error after the start has the ids and no Retry-After', async () => {
  const details = { workflowId: 'orders-17', retryAfterSeconds: 1, source: 'engine' as const }
  const { run } = scripted({
    ends: [continued('run-2'), new ServiceError('EngineError', 'odd', { cause: 'c', details })],
  })

  expect(await rejection(run())).toEqual({
    error: 'EngineError',
    message: 'odd',
    workflowId: 'orders-17',
    runId: 'run-2',
    source: 'engine',
    mayHaveTakenEffect: true,
  })
})

test('run: a bug after the start becomes an InternalError with the ids', async () => {
  const bug = new TypeError('a bug')
  const { run } = scripted({ ends: [bug] })

  const error = await run().catch((reason: unknown) => reason)

  expect(error).toMatchObject({
    error: 'InternalError',
    message: 'Internal error',
    cause: bug,
    details: { workflowId: 'orders-17', runId: 'run-1' },
  })
})
