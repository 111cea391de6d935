import { afterEach, expect, test, vi } from 'vitest'
import { type Call, SHUTTING_DOWN } from '../../../../src/domain/model/call.ts'
import type { Engine, StartRequest } from '../../../../src/domain/model/engine.ts'
import { ServiceError } from '../../../../src/domain/model/errors.ts'
import type { RunCommand } from '../../../../src/domain/model/workflows.ts'
import { run } from '../../../../src/domain/start/start.ts'
import type { TraceTemplates } from '../../../../src/protocol/catalog.ts'
import type { Closing, Execution, Status } from '../../../../src/protocol/execution.ts'
import { aCall, rejection } from '../../call.ts'
import { aDescription, anEngine, aStart, DEPLOYMENT, errorDetails, publishedCatalogs } from '../catalog-fixture.ts'

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
  const started: StartRequest[] = []
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
      run({ engine, catalogs: fixture.catalogs, deployment: DEPLOYMENT }, command, call),
  }
}

function anExecution(overrides: Partial<Execution> = {}): Execution {
  return { ...aDescription({ status: 'completed' }), input: 'what was read', closing: COMPLETED, ...overrides }
}

function continued(nextRunId: string): Closing {
  return { outcome: { status: 'continued' }, nextRunId }
}

test('run: starts the canonical name and returns the result with the input that was sent', async () => {
  const { run, started } = scripted()

  expect(await run()).toEqual({
    workflowId: 'orders-17',
    runId: 'run-1',
    status: 'completed',
    input: { amount: 1 },
    output: 'done',
    trace: null,
    error: null,
    errorDetails: null,
  })
  expect(started).toEqual([
    { workflowId: 'orders-17', workflowName: 'order', catalog: 'orders', args: [{ amount: 1 }] },
  ])
})

test('run: generates an id that sorts by time', async () => {
  const { run, started } = scripted()
  const { workflowId: _, ...command } = COMMAND

  await run(command)

  expect(started[0]?.workflowId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
})

test('run: a failed workflow is a result', async () => {
  const error = errorDetails({ name: 'CardDeclined', message: 'declined', activityId: '1' })
  const { run } = scripted({ ends: [{ outcome: { status: 'failed', error }, nextRunId: null }] })

  expect(await run()).toMatchObject({ status: 'failed', output: null, error: 'declined', errorDetails: error })
})

test('run: returns the trace destination of the catalog without reading the run', async () => {
  const { run } = scripted({ traces: { remote: 'https://b/{namespace}/{runId}' } })

  expect((await run()).trace).toEqual({ destinations: { remote: 'https://b/default/run-1' } })
})

test('run: follows its chain to the end, however each run ended', async () => {
  const error = errorDetails({ retryable: true })
  const retried: Closing = { outcome: { status: 'failed', error }, nextRunId: 'run-3' }
  const read: Engine['read'] = async (ref) => anExecution({ ...ref, firstRunId: 'run-1' })
  const { run, waits } = scripted({
    ends: [continued('run-2'), retried, COMPLETED],
    read,
    traces: { local: '/t/{namespace}/{runId}' },
  })

  const result = await run()

  expect(waits.map(({ runId }) => runId)).toEqual(['run-1', 'run-2', 'run-3'])
  expect(result).toMatchObject({ runId: 'run-3', status: 'completed', input: 'what was read', output: 'done' })
  expect(result.trace).toEqual({ destinations: { local: '/t/default/run-3' } })
})

test('run: does not read the closing of the last run again', async () => {
  const known: (Closing | undefined)[] = []
  const read: Engine['read'] = async (_ref, _call, closing) => {
    known.push(closing)
    return anExecution()
  }

  await scripted({ ends: [continued('run-2'), COMPLETED], read }).run()

  expect(known).toEqual([COMPLETED])
})

test('run: reads the reason of a cancellation', async () => {
  const ended = (message: string): Closing => ({
    outcome: { status: 'canceled', error: errorDetails({ name: 'CanceledFailure', message }) },
    nextRunId: null,
  })
  const read: Engine['read'] = async (ref, _call, closing) =>
    anExecution({ ...ref, status: 'canceled', closing: closing ?? ended('canceled: no stock') })

  expect((await scripted({ ends: [ended('canceled')], read }).run()).error).toBe('canceled: no stock')
})

test("run: waits for the timeout of the command, whatever the call's deadline", async () => {
  const { run, waits } = scripted()
  vi.useFakeTimers({ toFake: ['Date'] })

  await run({ ...COMMAND, timeoutMs: 60_000 }, aCall({ deadlineAt: Date.now() + 5000 }))

  expect(waits[0]?.call.deadlineAt).toBe(Date.now() + 60_000)
})

test('run: a timeout carries the ids of the open run', async () => {
  const { run } = scripted({ ends: [continued('run-2'), null] })

  const rejected = await rejection(run())

  expect(rejected).toMatchObject({
    error: 'WorkflowExecutionTimedOutError',
    workflowId: 'orders-17',
    runId: 'run-2',
    workflowStatus: 'running',
  })
  expect(rejected).not.toHaveProperty('retryAfterSeconds')
})

const SILENT = new ServiceError('EngineUnavailableError', 'The workflow engine is not responding.')

test('run: the timeout names the time that was requested, or how long the service waited before it shut down', async () => {
  vi.useFakeTimers()
  const openAfter = (ms: number) =>
    scripted({
      async wait() {
        vi.advanceTimersByTime(ms)
        return null
      },
    })
  const requested = openAfter(1007)
  const shutDown = openAfter(300)

  const errors = [
    await rejection(requested.run({ ...COMMAND, timeoutMs: 1000 })),
    await rejection(shutDown.run({ ...COMMAND, timeoutMs: 1000 }, aCall({ signal: AbortSignal.abort(SHUTTING_DOWN) }))),
  ]

  expect(errors.map(({ message }) => /within \d+ ms/.exec(message)?.[0])).toEqual(['within 1000 ms', 'within 300 ms'])
})

test('run: the timeout says when the run is paused', async () => {
  const { run } = scripted({ ends: [null], statuses: ['paused'] })

  const { workflowStatus, message } = await rejection(run())

  expect([workflowStatus, message]).toEqual([
    'paused',
    expect.stringMatching(/did not complete within \d+ ms and is still paused$/),
  ])
})

test('run: at shutdown the timeout says that the run is still running', async () => {
  const { run } = scripted({ ends: [null] })

  const rejected = await rejection(run(COMMAND, aCall({ signal: AbortSignal.abort(SHUTTING_DOWN) })))

  expect(rejected).toMatchObject({ error: 'WorkflowExecutionTimedOutError', workflowStatus: 'running' })
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

test('run: describes the run at shutdown, but not after a disconnect', async () => {
  const left = scripted({ ends: [null] })
  const waits = scripted({ ends: [null] })

  await rejection(left.run(COMMAND, aCall({ signal: AbortSignal.abort() })))
  await rejection(waits.run(COMMAND, aCall({ signal: AbortSignal.abort(SHUTTING_DOWN) })))

  expect([left.described, waits.described]).toEqual([[], ['run-1']])
})

test('run: a rejected command is not started', async () => {
  const { run, started } = scripted()

  expect((await rejection(run({ ...COMMAND, workflowName: 'nope' }))).error).toBe('UnsupportedWorkflowError')
  expect(started).toEqual([])
})

test('run: an error of the start keeps Retry-After', async () => {
  const away = new ServiceError('EngineUnavailableError', 'away', {
    details: { workflowId: 'orders-17', retryAfterSeconds: 1 },
  })
  const { run, waits } = scripted({ start: () => Promise.reject(away) })

  expect(await rejection(run())).toMatchObject({ error: 'EngineUnavailableError', retryAfterSeconds: 1 })
  expect(waits).toEqual([])
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

test('run: a bug while the result is read becomes an InternalError with the ids', async () => {
  const { run } = scripted({
    ends: [continued('run-2'), COMPLETED],
    read: () => Promise.reject(new TypeError('a bug')),
  })

  expect(await rejection(run())).toEqual({
    error: 'InternalError',
    message: 'Internal error',
    workflowId: 'orders-17',
    runId: 'run-2',
  })
})

test('run: a bug before the start is passed on', async () => {
  const { run } = scripted({ start: () => Promise.reject(new TypeError('a bug')) })

  await expect(run()).rejects.toThrow(TypeError)
})
