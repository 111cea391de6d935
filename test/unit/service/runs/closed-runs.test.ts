import { expect, test } from 'vitest'
import type { Description, ExecutionRef } from '../../../../src/service/model/execution.ts'
import { keepClosedRuns } from '../../../../src/service/runs/closed-runs.ts'
import type { Execution } from '../../../../src/shared/wire/execution.ts'
import { isolateRequests } from '../../../support/isolate-requests.ts'
import { aCall, rejection } from '../../call.ts'
import { aDescription, anEngine, notFound } from '../catalog-fixture.ts'

const MEBIBYTE = 1024 * 1024
const REF = { workflowId: 'orders-17' }

/** An engine with these runs, which a test may change. Records its calls. */
function makeEngine(runs: Execution[], { maxBytes = MEBIBYTE } = {}) {
  const calls: string[] = []
  const clock = { now: 5000 }
  const find = ({ workflowId, runId }: ExecutionRef) => {
    const run = runs.findLast((one) => one.workflowId === workflowId && (runId === undefined || one.runId === runId))
    if (run === undefined) throw notFound(workflowId)
    return run
  }
  const answer = async <T>(verb: string, ref: ExecutionRef, make: (run: Execution) => T): Promise<T> => {
    calls.push(`${verb} ${ref.runId ?? 'latest'}`)
    // As of when the call arrived. The response takes some time.
    const run = runs.length === 0 ? null : find(ref)
    await new Promise(setImmediate)
    if (run === null) throw notFound(ref.workflowId)
    return make(run)
  }
  const engine = keepClosedRuns(
    anEngine({
      describe: (ref) => answer('describe', ref, (run): Description => aDescription(run)),
      read: (ref) => answer('read', ref, (run) => run),
    }),
    { maxBytes, now: () => clock.now },
  )
  return { engine, runs, calls, clock, read: (ref: ExecutionRef = REF) => engine.read(ref, aCall()) }
}

function aRun(
  runId: string,
  { output = 'done' as unknown, ...overrides }: Partial<Execution> & { output?: unknown } = {},
) {
  const closing = { outcome: { status: 'completed' as const, output }, nextRunId: null }
  return { ...aDescription({ runId }), status: 'completed' as const, input: null, closing, ...overrides }
}

const openRun = (runId: string) => aRun(runId, { status: 'running', closing: null })

test('keepClosedRuns: a run is read once, and then only described when its id is to be the latest', async () => {
  const { calls, read } = makeEngine([aRun('a')])

  const outputs = [await read(), await read(), await read({ ...REF, runId: 'a' })].map(
    ({ closing }) => closing?.outcome,
  )

  expect(outputs).toEqual(Array(3).fill({ status: 'completed', output: 'done' }))
  expect(calls).toEqual(['read latest', 'describe latest'])
})

test('keepClosedRuns: a run that was read with its run id is not taken for the latest', async () => {
  const { calls, read } = makeEngine([aRun('a'), aRun('b')])

  await read({ ...REF, runId: 'a' })
  const latest = await read()

  expect(latest.runId).toBe('b')
  expect(calls).toEqual(['read a', 'read latest'])
})

test('keepClosedRuns: a later run of the id is noticed, whether it is open or closed', async () => {
  const { runs, calls, read } = makeEngine([aRun('a')])
  await read()
  runs.push(openRun('b'))

  const open = await read()
  runs[1] = aRun('b')
  const closed = await read()

  expect([open.runId, open.closing, closed.runId]).toEqual(['b', null, 'b'])
  expect(calls).toEqual(['read latest', 'describe latest', 'read latest', 'read latest'])
})

test('keepClosedRuns: a run that the engine no longer has is dropped with the call that says so', async () => {
  const pinned = { ...REF, runId: 'a' }
  const { engine, runs, read } = makeEngine([aRun('a')])
  await read()
  runs.pop()
  const whileKept = await read(pinned)

  const latest = await rejection(read())
  const afterwards = await rejection(read(pinned))
  runs.push(aRun('a'))
  await read(pinned)
  runs.pop()
  await rejection(engine.describe(pinned, aCall()))

  expect(whileKept.runId).toBe('a')
  expect([latest.error, afterwards.error]).toEqual(['WorkflowNotFoundError', 'WorkflowNotFoundError'])
  expect((await rejection(read(pinned))).error).toBe('WorkflowNotFoundError')
})

test('keepClosedRuns: a run that another cluster has opened again is dropped', async () => {
  const { runs, read } = makeEngine([aRun('a')])
  await read()
  runs[0] = openRun('a')

  expect((await read()).closing).toBeNull()
  expect((await read({ ...REF, runId: 'a' })).closing).toBeNull()
})

test('keepClosedRuns: a run is read again after a minute', async () => {
  const pinned = { ...REF, runId: 'a' }
  const { calls, clock, read } = makeEngine([aRun('a')])
  await read(pinned)
  clock.now += 59_999
  await read(pinned)
  clock.now += 1

  await read(pinned)

  expect(calls).toEqual(['read a', 'read a'])
})

test('keepClosedRuns: a value that is stored elsewhere is not kept as missing', async () => {
  const outcome = { status: 'completed' as const, output: null, storedElsewhere: { sizeBytes: 17 } }
  const { calls, read } = makeEngine([aRun('a', { closing: { outcome, nextRunId: null } })])

  await read()
  await read()

  expect(calls).toEqual(['read latest', 'read latest'])
})

test('keepClosedRuns: a run with a large input, output or memo is not kept (threat 57)', async () => {
  const large = 'x'.repeat(MEBIBYTE / 4)
  const memo = new Map([['trace', large]])
  const { calls, read } = makeEngine([
    aRun('a', { input: large }),
    aRun('b', { output: large }),
    aRun('c', { memo }),
    aRun('d'),
  ])

  for (const runId of ['a', 'b', 'c', 'd', 'a', 'b', 'c', 'd']) await read({ ...REF, runId })

  expect(calls).toEqual(['read a', 'read b', 'read c', 'read d', 'read a', 'read b', 'read c'])
})

test('keepClosedRuns: all runs together stay within the limit (threat 57)', async () => {
  const output = 'x'.repeat(MEBIBYTE / 10)
  const runIds = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const { calls, read } = makeEngine(runIds.map((runId) => aRun(runId, { output })))
  for (const runId of runIds) await read({ ...REF, runId })
  calls.length = 0

  for (const runId of runIds.toReversed()) await read({ ...REF, runId })

  expect(calls).toEqual(['read c', 'read b', 'read a'])
})

test('keepClosedRuns: concurrent requests share a description that began after they arrived', async () => {
  const { runs, calls, clock, read } = makeEngine([aRun('a')])
  await read()
  const first = read()
  clock.now += 10
  runs.push(aRun('b'))
  const later = [read(), read(), read()]
  clock.now += 10

  expect((await first).runId).toBe('a')
  expect((await Promise.all(later)).map(({ runId }) => runId)).toEqual(['b', 'b', 'b'])
  expect(calls.slice(1, 3)).toEqual(['describe latest', 'describe latest'])
  expect(calls.filter((call) => call.startsWith('describe'))).toHaveLength(2)
})

test('keepClosedRuns: on workerd each request has a description of its own', async () => {
  isolateRequests()
  const { calls, read } = makeEngine([aRun('a')])
  await read()

  await Promise.all([read(), read()])

  expect(calls).toEqual(['read latest', 'describe latest', 'describe latest'])
})
