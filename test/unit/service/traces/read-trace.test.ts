import { expect, test } from 'vitest'
import type { Catalogs } from '../../../../src/service/catalog/catalogs.ts'
import type { Call } from '../../../../src/service/model/call.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { TraceSource } from '../../../../src/service/model/trace-source.ts'
import { readTrace } from '../../../../src/service/traces/read-trace.ts'
import type { TraceEntry } from '../../../../src/shared/wire/trace/entry.ts'
import { aCall, rejection } from '../../call.ts'
import { makeCatalogs, publishedCatalogs } from '../catalog-fixture.ts'
import { FOUND, fails, has, hasNot, holds, ports, RUN, SPAN, source, trace } from './trace-sources.ts'

const unread = source('history', () => Promise.reject(new Error('asked')))

test('readTrace: returns the trace of the first source that has the run', async () => {
  expect(await trace([hasNot('remote'), has('kvstore'), has('history')])).toMatchObject({
    source: 'kvstore',
    runId: 'run-1',
    warnings: [],
    data: { id: 'run-1', kind: 'workflow', name: 'order', endedAt: null },
  })
})

test('readTrace: a failing source is a warning, and the next one is read', async () => {
  expect(await trace([fails('remote'), fails('local'), has('history')])).toMatchObject({
    source: 'history',
    warnings: ['remote: remote is away', 'local: local is away'],
  })
})

test('readTrace: entries without a root count as incomplete, whatever their source says', async () => {
  const rootless = source('kvstore', async () => ({ ...FOUND, entries: [SPAN] }))

  expect(await trace([rootless, has('history')])).toMatchObject({
    source: 'kvstore',
    data: { id: 'run-1', children: [{ id: 'span-1' }] },
  })
  expect(await rejection(trace([rootless]))).toMatchObject({ error: 'TraceNotAvailableError' })
})

test('readTrace: the end of another run of the trace does not make it complete', async () => {
  const ended = (id: string) => source('remote', async () => ({ ...FOUND, entries: [{ ...RUN, id, phase: 'ended' }] }))
  const [before, itself] = [await trace([ended('run-0')]), await trace([ended('run-1')])]

  expect([before.complete, before.data.endedAt]).toEqual([false, 1])
  expect(itself.complete).toBe(true)
})

test('readTrace: every source gets the resolved run and its own 3 s (threat 88)', async () => {
  const seen: { runId: string; leftMs: number }[] = []
  const watching = (name: string) =>
    source(name, async ({ runId }, { deadlineAt }) => {
      seen.push({ runId, leftMs: deadlineAt - Date.now() })
      return null
    })

  await rejection(trace([watching('remote'), watching('history')], { runId: 'run-7' }))

  expect(seen.map(({ runId }) => runId)).toEqual(['run-7', 'run-7'])
  expect(seen.every(({ leftMs }) => leftMs > 2000 && leftMs <= 3000)).toBe(true)
})

test('readTrace: rejects with the transient error of the last source', async () => {
  const passes = (error: 'EngineUnavailableError' | 'ResourceExhaustedError') =>
    source('history', () =>
      Promise.reject(new ServiceError(error, 'later', { details: { runId: 'run-1', retryAfterSeconds: 1 } })),
    )
  const rootless = source('kvstore', async () => ({ ...FOUND, entries: [SPAN], whole: false }))

  for (const error of ['EngineUnavailableError', 'ResourceExhaustedError'] as const) {
    const expected = { error, message: 'later', runId: 'run-1', retryAfterSeconds: 1 }
    expect(await rejection(trace([fails('remote'), passes(error)]))).toEqual(expected)
    expect(await rejection(trace([rootless, passes(error)]))).toEqual(expected)
    expect((await trace([passes(error), has('history')])).source).toBe('history')
  }
})

test('readTrace: merges incomplete sources, up to the first complete one', async () => {
  const part = (name: string, id: string) =>
    source(name, async () => ({ ...FOUND, entries: [{ ...SPAN, id }], whole: false }))
  const { source: name, data } = await trace([
    part('remote', 'stored'),
    part('kvstore', 'waiting'),
    has('local'),
    unread,
  ])

  expect(name).toBe('remote')
  expect(data.children.map(({ id }) => id)).toEqual(['stored', 'waiting'])
})

test('readTrace: completes a source from the last one, with each node once', async () => {
  const part = source('remote', async () => ({
    entries: [RUN, SPAN],
    whole: false,
    warnings: ['one entry could not be read'],
  }))
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

test('readTrace: an aborted call ends the read', async () => {
  const leaving = new AbortController()
  const left = source('remote', () => {
    leaving.abort()
    return Promise.reject(leaving.signal.reason)
  })
  const reading = readTrace(
    ports([left, unread]),
    { ref: { workflowId: 'orders-17' } },
    aCall({ signal: leaving.signal }),
  )

  expect(await rejection(reading)).toMatchObject({ error: 'EngineUnavailableError', runId: 'run-1' })
})

test('readTrace: the catalog is read only for destinations and for entries that may have to be masked', async () => {
  const fixture = makeCatalogs()
  const asking = source('remote', async (run, call) => {
    await run.destinations(call)
    return null
  })
  const with_ = (sources: TraceSource[]) =>
    readTrace({ ...ports(sources), catalogs: fixture.catalogs }, { ref: { workflowId: 'orders-17' } }, aCall())

  await with_([holds({ 'run-1': [{ ...RUN, redacted: 'orders' }] })])
  expect(fixture.reads).toEqual([])

  await with_([asking, has('history')])
  expect(fixture.reads).toContain('describe $catalog:orders')
})

test('readTrace: the destinations are read once, within the time of the source, and again after a failure', async () => {
  const fixture = publishedCatalogs([{ name: 'order' }], { traces: { remote: 'https://b/{namespace}/{runId}' } })
  let isSilent = true
  const catalogs: Catalogs = {
    ...fixture.catalogs,
    published: (catalog) => (isSilent ? new Promise(() => {}) : fixture.catalogs.published(catalog)),
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

  const sources = [
    asking('remote', { deadlineAt: Date.now() }),
    hears,
    asking('local', {}),
    asking('other', {}),
    has('history'),
  ]
  const { warnings } = await readTrace({ ...ports(sources), catalogs }, { ref: { workflowId: 'orders-17' } }, call)

  expect(warnings).toEqual(['remote: The workflow engine is not responding.'])
  expect(seen).toEqual([{ remote: 'https://b/default/run-1' }, { remote: 'https://b/default/run-1' }])
  expect(fixture.reads.filter((read) => read.startsWith('describe'))).toHaveLength(1)
})

const CHILD = { id: 'run-1:child:5', parentId: 'run-1', kind: 'child_workflow', name: 'ship' }

function childOf(runId: string, childId: string, catalog = 'orders'): TraceEntry {
  const node = { ...CHILD, id: `${runId}:child:${childId}`, parentId: runId }
  return { ...node, at: 2, phase: 'began', attributes: { workflowId: childId, runId: childId, catalog } }
}

test('readTrace: child runs are below their nodes, each from the first source that has it', async () => {
  const remote = source('remote', async ({ runId }) =>
    runId === 'c2' ? { ...FOUND, entries: [{ ...RUN, id: 'c2', name: 'stored' }] } : null,
  )
  const history = holds({
    'run-1': [RUN, childOf('run-1', 'c1')],
    c1: [{ ...RUN, id: 'c1' }, childOf('c1', 'c2')],
    c2: [{ ...RUN, id: 'c2', name: 'from history' }],
  })

  const { source: name, data } = await trace([remote, history])

  expect(name).toBe('history')
  expect(data.children).toMatchObject([
    {
      kind: 'child_workflow',
      children: [{ id: 'c1', children: [{ kind: 'child_workflow', children: [{ id: 'c2', name: 'stored' }] }] }],
    },
  ])
})

test('readTrace: a child run that cannot be read, or is beyond the limit, is marked as truncated', async () => {
  const many = Array.from({ length: 300 }, (_, index) => childOf('run-1', `c${index}`))
  const history = source('history', async ({ runId }) => ({
    ...FOUND,
    entries: runId === 'run-1' ? [RUN, ...many] : [{ ...RUN, id: runId }],
  }))
  const incomplete = holds({ 'run-1': [RUN, childOf('run-1', 'gone')] })

  const [bounded, unread] = [await trace([history]), await trace([incomplete])]

  expect(bounded.data.children.filter(({ attributes }) => attributes.truncated)).toHaveLength(300 - 199)
  expect(bounded.warnings).toEqual([expect.stringContaining('101 child runs were not read')])
  expect(unread.data.children).toMatchObject([{ attributes: { truncated: true } }])
})
