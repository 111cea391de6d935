import { expect, test } from 'vitest'
import type { Catalogs } from '../../../../src/domain/catalog/catalogs.ts'
import { ServiceError } from '../../../../src/domain/model/errors.ts'
import type { Description } from '../../../../src/domain/model/execution.ts'
import { fillTemplates, readTraceMeta, traceMetaOrNull } from '../../../../src/domain/trace/destinations.ts'
import type { TraceTemplates } from '../../../../src/protocol/catalog.ts'
import { aCall } from '../../call.ts'
import { aDescription, makeCatalogs } from '../catalog-fixture.ts'

const MEMO = new Map([['trace', { remote: 'https://own/trace.json' }]])

/** Null: nothing is published; undefined: what is published says nothing. */
function catalogs(traces: TraceTemplates | null | undefined) {
  const fixture = makeCatalogs()
  if (traces !== null) fixture.publish('c1', [{ name: 'order' }], traces === undefined ? {} : { traces })
  return fixture.catalogs
}

const metaOf = (run: Partial<Description>, traces: TraceTemplates | null | undefined) =>
  readTraceMeta(aDescription(run), catalogs(traces), aCall())

test('readTraceMeta: fills in the templates of the catalog', async () => {
  const run = { runId: 'run-2', firstRunId: 'run-1' }
  const traces = { remote: 'https://b/{namespace}/{runId}', local: '/traces/{namespace}/{runId}' }

  expect(await metaOf(run, traces)).toEqual({
    destinations: { remote: 'https://b/default/run-2', local: '/traces/default/run-2' },
  })
})

test('readTraceMeta: is null when the catalog disables traces, whatever the run says', async () => {
  expect(await metaOf({ memo: MEMO }, false)).toBeNull()
})

test('readTraceMeta: a child run has its own trace', async () => {
  const child = { parent: { workflowId: 'root', runId: 'r' }, runId: 'child-1' }

  expect(await metaOf(child, { remote: 'https://b/{namespace}/{runId}' })).toEqual({
    destinations: { remote: 'https://b/default/child-1' },
  })
})

test('readTraceMeta: ignores a template that several runs would share', async () => {
  expect(await metaOf({}, { remote: 'https://b/{namespace}' })).toBeNull()
})

test("readTraceMeta: is read from the run's memo when the catalog has no templates", async () => {
  for (const traces of [undefined, null])
    expect(await metaOf({ memo: MEMO }, traces)).toEqual({ destinations: { remote: 'https://own/trace.json' } })
})

test('readTraceMeta: ignores a memo of another shape', async () => {
  const said = await Promise.all(
    [undefined, null, 'text', 7].map((trace) => metaOf({ memo: new Map([['trace', trace]]) }, null)),
  )

  expect(said).toEqual([null, null, null, null])
})

test('readTraceMeta: ignores destinations in the memo that are not strings', async () => {
  const memo = new Map([['trace', { remote: 7, local: '/t', other: 'x' }]])

  expect(await metaOf({ memo }, null)).toEqual({ destinations: { local: '/t' } })
})

test('fillTemplates: is null for false', () => {
  expect(fillTemplates(false, aDescription(), 'default')).toBeNull()
})

test('traceMetaOrNull: is null when the catalog cannot be read', async () => {
  const broken = {
    published: () => Promise.reject(new ServiceError('EngineUnavailableError', 'gone')),
  } as unknown as Catalogs
  const call = aCall()

  expect(await traceMetaOrNull(aDescription(), broken, call)).toBeNull()
  expect(call.notes).toEqual({ traceUnknown: 'gone' })
})
