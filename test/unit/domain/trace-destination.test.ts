import { expect, test } from 'vitest'
import type { Catalogs } from '../../../src/domain/catalog.ts'
import { ServiceError } from '../../../src/domain/errors.ts'
import { fillTemplates, traceOf, traceOrNull } from '../../../src/domain/trace-destination.ts'
import type { TraceTemplates } from '../../../src/protocol/catalog.ts'
import { aCall } from '../call.ts'
import { aDescription, aShelf } from './shelf.ts'

const MEMO = new Map([['trace', { remote: 'https://own/trace.json' }]])

/** Null: nothing is published; undefined: what is published says nothing. */
function catalogs(traces: TraceTemplates | null | undefined) {
  const shelf = aShelf()
  if (traces !== null) shelf.publish('c1', [{ name: 'order' }], traces === undefined ? {} : { traces })
  return shelf.catalogs
}

test('traceOf: fills in what the catalog says, for the first run of the chain', async () => {
  const run = aDescription({ workflowId: 'a/b', runId: 'run-2', firstRunId: 'run-1' })
  const traces = { remote: 'https://b/{workflowId}/{rootRunId}', local: '/traces/{rootRunId}' }

  expect(await traceOf(run, catalogs(traces), aCall())).toEqual({
    destinations: { remote: 'https://b/a%2Fb/run-1', local: '/traces/run-1' },
  })
})

test('traceOf: a catalog that traces nowhere means nowhere, whatever the run says', async () => {
  expect(await traceOf(aDescription({ memo: MEMO }), catalogs(false), aCall())).toBeNull()
})

test('traceOf: a child’s story is in its root’s', async () => {
  const child = aDescription({ parent: { workflowId: 'root', runId: 'r' }, memo: MEMO })

  expect(await traceOf(child, catalogs({ remote: 'https://b/{rootRunId}' }), aCall())).toBeNull()
})

test('traceOf: the run itself says it where the catalog says nothing', async () => {
  const run = aDescription({ memo: MEMO })

  expect(await traceOf(run, catalogs(undefined), aCall())).toEqual({ destinations: { remote: 'https://own/trace.json' } })
  expect(await traceOf(run, catalogs(null), aCall())).toEqual({ destinations: { remote: 'https://own/trace.json' } })
})

test('traceOf: what a run says in another shape is nothing', async () => {
  const said = await Promise.all(
    [undefined, null, 'text', 7].map((trace) => traceOf(aDescription({ memo: new Map([['trace', trace]]) }), catalogs(null), aCall())),
  )

  expect(said).toEqual([null, null, null, null])
})

test('traceOf: of what a run says only text is a destination', async () => {
  const memo = new Map([['trace', { remote: 7, local: '/t', other: 'x' }]])

  expect(await traceOf(aDescription({ memo }), catalogs(null), aCall())).toEqual({ destinations: { local: '/t' } })
})

test('fillTemplates: false is nowhere', async () => {
  expect(await fillTemplates(false, aDescription())).toBeNull()
})

test('traceOrNull: an answer is not refused because its catalog can’t be read', async () => {
  const broken = { published: () => Promise.reject(new ServiceError('EngineUnavailableError', 'gone')) } as unknown as Catalogs
  const call = aCall()

  expect(await traceOrNull(aDescription(), broken, call)).toBeNull()
  expect(call.notes).toEqual({ traceUnknown: 'gone' })
})
