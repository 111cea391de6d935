import { expect, test } from 'vitest'
import type { Call } from '../../../src/domain/call.ts'
import type { Catalogs } from '../../../src/domain/catalog.ts'
import { ServiceError } from '../../../src/domain/errors.ts'
import type { Description } from '../../../src/domain/execution.ts'
import { readTrace } from '../../../src/domain/trace.ts'
import type { FoundTrace, TraceSource } from '../../../src/domain/traces.ts'
import type { TraceEntry } from '../../../src/protocol/trace-entry.ts'
import { aCall, refusal } from '../call.ts'
import { aDescription, anEngine, aShelf } from './shelf.ts'

const RUN: TraceEntry = { id: 'run-1', parentId: null, kind: 'workflow', name: 'order', at: 1, phase: 'began' }
const SPAN: TraceEntry = { id: 'span-1', parentId: 'run-1', kind: 'llm', name: 'summarise', at: 2, phase: 'began' }
const FOUND: FoundTrace = { entries: [RUN], whole: true, warnings: [] }

function source(name: string, find: TraceSource['find']): TraceSource {
  return { name, find }
}

const has = (name: string) => source(name, async () => FOUND)
const hasNot = (name: string) => source(name, async () => null)
const fails = (name: string) => source(name, () => Promise.reject(new ServiceError('EngineError', `${name} is away`)))

function ports(sources: TraceSource[], description: Partial<Description> = {}) {
  return { engine: anEngine({ describe: async () => aDescription(description) }), catalogs: aShelf().catalogs, sources }
}

function trace(sources: TraceSource[], description: Partial<Description> = {}) {
  return readTrace(ports(sources, description), { workflowId: 'orders-17' }, aCall())
}

test('readTrace: answers from the first source that has the run', async () => {
  expect(await trace([hasNot('remote'), has('kvstore'), has('history')])).toMatchObject({
    source: 'kvstore',
    runId: 'run-1',
    warnings: [],
    data: { id: 'run-1', kind: 'workflow', name: 'order', endedAt: null },
  })
})

test('readTrace: asks no source beyond the one that answers', async () => {
  const unasked = source('history', () => Promise.reject(new Error('asked')))

  expect((await trace([has('remote'), unasked])).source).toBe('remote')
})

test('readTrace: a source in trouble is a warning, and the next one’s turn', async () => {
  expect(await trace([fails('remote'), fails('local'), has('history')])).toMatchObject({
    source: 'history',
    warnings: ['remote: remote is away', 'local: local is away'],
  })
})

test('readTrace: entries without a root are a part, whatever their source says', async () => {
  const rootless = source('kvstore', async () => ({ ...FOUND, entries: [SPAN] }))

  expect(await trace([rootless, has('history')])).toMatchObject({ source: 'kvstore', data: { id: 'run-1', children: [{ id: 'span-1' }] } })
  expect(await refusal(trace([rootless]))).toMatchObject({ error: 'TraceNotAvailableError' })
})

test('readTrace: is complete when the run has ended', async () => {
  expect((await trace([has('history')], { status: 'failed' })).complete).toBe(true)
  expect((await trace([has('history')], { status: 'running' })).complete).toBe(false)
  expect((await trace([has('history')], { status: 'paused' })).complete).toBe(false)
})

test('readTrace: a run is not complete because another one of its trace has ended', async () => {
  const ended = (id: string) => source('remote', async () => ({ ...FOUND, entries: [{ ...RUN, id, phase: 'ended' }] }))
  const [before, itself] = [await trace([ended('run-0')]), await trace([ended('run-1')])]

  expect([before.complete, before.data.endedAt]).toEqual([false, 1])
  expect(itself.complete).toBe(true)
})

test('readTrace: every source sees the run that the request was resolved to, and has 3 s of its own', async () => {
  const seen: { runId: string; leftMs: number }[] = []
  const watching = (name: string) =>
    source(name, async ({ runId }, { deadlineAt }) => {
      seen.push({ runId, leftMs: deadlineAt - Date.now() })
      return null
    })

  await refusal(trace([watching('remote'), watching('history')], { runId: 'run-7' }))

  expect(seen.map(({ runId }) => runId)).toEqual(['run-7', 'run-7'])
  expect(seen.every(({ leftMs }) => leftMs > 2000 && leftMs <= 3000)).toBe(true)
})

test('readTrace: what nobody has is TraceNotAvailableError, with what stood in the way', async () => {
  expect(await refusal(trace([fails('remote'), hasNot('history')]))).toEqual({
    error: 'TraceNotAvailableError',
    message: 'No trace of workflow orders-17 can be had. remote: remote is away',
    workflowId: 'orders-17',
    runId: 'run-1',
  })
})

test('readTrace: where the last source could tell later, that is the answer', async () => {
  const passes = (error: 'EngineUnavailableError' | 'ResourceExhaustedError') =>
    source('history', () => Promise.reject(new ServiceError(error, 'later', { details: { runId: 'run-1', retryAfterSeconds: 1 } })))
  const rootless = source('kvstore', async () => ({ ...FOUND, entries: [SPAN], whole: false }))

  for (const error of ['EngineUnavailableError', 'ResourceExhaustedError'] as const) {
    const told = { error, message: 'later', runId: 'run-1', retryAfterSeconds: 1 }
    expect(await refusal(trace([fails('remote'), passes(error)]))).toEqual(told)
    expect(await refusal(trace([rootless, passes(error)]))).toEqual(told)
    expect((await trace([passes(error), has('history')])).source).toBe('history')
  }
})

test('readTrace: a bug in a source is a bug', async () => {
  await expect(trace([source('remote', () => Promise.reject(new TypeError('a bug'))), has('history')])).rejects.toThrow(TypeError)
})

test('readTrace: a part is completed from source to source, up to one that has the whole', async () => {
  const part = (name: string, id: string) => source(name, async () => ({ ...FOUND, entries: [{ ...SPAN, id }], whole: false }))
  const unasked = source('history', () => Promise.reject(new Error('asked')))

  const { source: name, data } = await trace([part('remote', 'stored'), part('kvstore', 'waiting'), has('local'), unasked])

  expect(name).toBe('remote')
  expect(data.children.map(({ id }) => id)).toEqual(['stored', 'waiting'])
})

test('readTrace: what a source has in part is completed from the last one, each node once', async () => {
  const part = source('remote', async () => ({ entries: [RUN, SPAN], whole: false, warnings: ['one entry could not be read'] }))
  const history = source('history', async () => ({
    ...FOUND,
    entries: [RUN, { ...RUN, id: 'step-1', parentId: 'run-1' }],
    warnings: ['not all'],
  }))

  const { source: name, data, warnings } = await trace([part, history])

  expect(name).toBe('remote')
  expect(data.children.map(({ id }) => id)).toEqual(['step-1', 'span-1'])
  expect(warnings).toEqual(['remote: one entry could not be read', 'history: not all'])
})

test('readTrace: a part that nothing can complete is better than nothing', async () => {
  const part = source('local', async () => ({ ...FOUND, whole: false }))

  expect(await trace([part, fails('history')])).toMatchObject({ source: 'local', warnings: ['history: history is away'] })
})

test('readTrace: a caller who has left ends the reading', async () => {
  const leaving = new AbortController()
  const left = source('remote', () => {
    leaving.abort()
    return Promise.reject(leaving.signal.reason)
  })
  const unasked = source('history', () => Promise.reject(new Error('asked')))

  const reading = readTrace(ports([left, unasked]), { workflowId: 'orders-17' }, aCall({ signal: leaving.signal }))

  expect(await refusal(reading)).toMatchObject({ error: 'EngineUnavailableError', runId: 'run-1' })
})

test('readTrace: where the trace is written is asked of the catalog by those sources that need it', async () => {
  const shelf = aShelf()
  const asking = source('remote', async (run, call) => {
    await run.destinations(call)
    return null
  })
  const with_ = (sources: TraceSource[]) => readTrace({ ...ports(sources), catalogs: shelf.catalogs }, { workflowId: 'orders-17' }, aCall())

  await with_([has('history')])
  expect(shelf.reads).toEqual([])

  await with_([asking, has('history')])
  expect(shelf.reads).toContain('describe $catalog:orders')
})

test('readTrace: where the trace is written is asked once, within the time of the source that asks, again after a failure', async () => {
  const shelf = aShelf()
  shelf.publish('c1', [{ name: 'order' }], { traces: { remote: 'https://b/{rootRunId}' } })
  let isSilent = true
  const catalogs: Catalogs = {
    ...shelf.catalogs,
    published: (catalog) => (isSilent ? new Promise(() => {}) : shelf.catalogs.published(catalog)),
  }
  const seen: unknown[] = []
  const asking = (name: string, more: Partial<Call>) =>
    source(name, async (run, call) => {
      seen.push(await run.destinations({ ...call, ...more }))
      return null
    })
  const hears = source('kvstore', async () => {
    isSilent = false
    return null
  })
  // The request's own time is over.
  const call = aCall({ deadlineAt: Date.now() - 1 })

  const sources = [asking('remote', { deadlineAt: Date.now() }), hears, asking('local', {}), asking('other', {}), has('history')]
  const { warnings } = await readTrace({ ...ports(sources), catalogs }, { workflowId: 'orders-17' }, call)

  expect(warnings).toEqual(['remote: The workflow engine does not answer.'])
  expect(seen).toEqual([{ remote: 'https://b/run-1' }, { remote: 'https://b/run-1' }])
  expect(shelf.reads.filter((read) => read.startsWith('describe'))).toHaveLength(1)
})
