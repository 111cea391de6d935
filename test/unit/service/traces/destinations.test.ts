import { expect, test } from 'vitest'
import type { Catalogs } from '../../../../src/service/catalog/catalogs.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { Description } from '../../../../src/service/model/execution.ts'
import { readTraceMeta, traceMetaOrNull } from '../../../../src/service/traces/destinations.ts'
import type { TraceTemplates } from '../../../../src/shared/wire/catalog.ts'
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

test('readTraceMeta: ignores a template that several runs would share (threat 84)', async () => {
  expect(await metaOf({}, { remote: 'https://b/{namespace}' })).toBeNull()
})

test("readTraceMeta: is read from the run's memo when the catalog has no templates", async () => {
  for (const traces of [undefined, null])
    expect(await metaOf({ memo: MEMO }, traces)).toEqual({ destinations: { remote: 'https://own/trace.json' } })
})

test('readTraceMeta: ignores a memo of another shape (threat 84)', async () => {
  const said = await Promise.all(
    [undefined, null, 'text', 7].map((trace) => metaOf({ memo: new Map([['trace', trace]]) }, null)),
  )

  expect(said).toEqual([null, null, null, null])
})

test('readTraceMeta: ignores destinations in the memo that are not strings', async () => {
  const memo = new Map([['trace', { remote: 7, local: '/t', other: 'x' }]])

  expect(await metaOf({ memo }, null)).toEqual({ destinations: { local: '/t' } })
})

test('traceMetaOrNull: is null when the catalog cannot be read', async () => {
  const broken = {
    published: () => Promise.reject(new ServiceError('EngineUnavailableError', 'gone')),
  } as unknown as Catalogs
  const call = aCall()

  expect(await traceMetaOrNull(aDescription(), broken, call)).toBeNull()
  expect(call.notes).toEqual({ traceUnknown: 'gone' })
})
