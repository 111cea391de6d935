import { expect, test } from 'vitest'
import type { Catalogs } from '../../../../src/domain/catalog/catalogs.ts'
import { ServiceError } from '../../../../src/domain/errors.ts'
import { fillTemplates, readTraceMeta, traceMetaOrNull } from '../../../../src/domain/trace/destinations.ts'
import type { TraceTemplates } from '../../../../src/protocol/catalog.ts'
import { aCall } from '../../call.ts'
import { aDescription, makeCatalogs } from '../catalog-fixture.ts'

const MEMO = new Map([['trace', { remote: 'https://own/trace.json' }]])

/** Null: nothing is published; undefined: what is published says nothing. */
function catalogs(traces: TraceTemplates | null | undefined) {
  const shelf = makeCatalogs()
  if (traces !== null) shelf.publish('c1', [{ name: 'order' }], traces === undefined ? {} : { traces })
  return shelf.catalogs
}

test('readTraceMeta: fills in what the catalog says', async () => {
  const run = aDescription({ runId: 'run-2', firstRunId: 'run-1' })
  const traces = { remote: 'https://b/{namespace}/{runId}', local: '/traces/{namespace}/{runId}' }

  expect(await readTraceMeta(run, catalogs(traces), aCall())).toEqual({
    destinations: { remote: 'https://b/default/run-2', local: '/traces/default/run-2' },
  })
})

test('readTraceMeta: a catalog that traces nowhere means nowhere, whatever the run says', async () => {
  expect(await readTraceMeta(aDescription({ memo: MEMO }), catalogs(false), aCall())).toBeNull()
})

test('readTraceMeta: a child has a trace of its own', async () => {
  const child = aDescription({ parent: { workflowId: 'root', runId: 'r' }, runId: 'child-1' })

  expect(await readTraceMeta(child, catalogs({ remote: 'https://b/{namespace}/{runId}' }), aCall())).toEqual({
    destinations: { remote: 'https://b/default/child-1' },
  })
})

test('readTraceMeta: a template that several runs would share is ignored', async () => {
  expect(await readTraceMeta(aDescription(), catalogs({ remote: 'https://b/{namespace}' }), aCall())).toBeNull()
})

test('readTraceMeta: the run itself says it where the catalog says nothing', async () => {
  const run = aDescription({ memo: MEMO })

  expect(await readTraceMeta(run, catalogs(undefined), aCall())).toEqual({
    destinations: { remote: 'https://own/trace.json' },
  })
  expect(await readTraceMeta(run, catalogs(null), aCall())).toEqual({
    destinations: { remote: 'https://own/trace.json' },
  })
})

test('readTraceMeta: what a run says in another shape is nothing', async () => {
  const said = await Promise.all(
    [undefined, null, 'text', 7].map((trace) =>
      readTraceMeta(aDescription({ memo: new Map([['trace', trace]]) }), catalogs(null), aCall()),
    ),
  )

  expect(said).toEqual([null, null, null, null])
})

test('readTraceMeta: of what a run says only text is a destination', async () => {
  const memo = new Map([['trace', { remote: 7, local: '/t', other: 'x' }]])

  expect(await readTraceMeta(aDescription({ memo }), catalogs(null), aCall())).toEqual({
    destinations: { local: '/t' },
  })
})

test('fillTemplates: false is nowhere', () => {
  expect(fillTemplates(false, aDescription(), 'default')).toBeNull()
})

test('traceMetaOrNull: an answer is not refused because its catalog can’t be read', async () => {
  const broken = {
    published: () => Promise.reject(new ServiceError('EngineUnavailableError', 'gone')),
  } as unknown as Catalogs
  const call = aCall()

  expect(await traceMetaOrNull(aDescription(), broken, call)).toBeNull()
  expect(call.notes).toEqual({ traceUnknown: 'gone' })
})
